"""Measure what conversions cost: `python scripts/benchmark.py --quick`.

Every case is measured four times in one process, turn about: bare, with a wrapper written by hand
for exactly that case (the floor), with gymbridge, and with Gymnasium's own wrapper.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.benchmarks.command import main

if __name__ == "__main__":
    sys.exit(main(__doc__ or ""))
