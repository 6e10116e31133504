"""The JSON Schema of specs; editors complete and check specs with it."""

from __future__ import annotations

import json

from gymbridge_generator.model import Spec


def schema() -> str:
    """Return the schema as JSON."""
    model = {"$schema": "https://json-schema.org/draft/2020-12/schema", **Spec.model_json_schema()}
    return json.dumps(model, indent=2) + "\n"
