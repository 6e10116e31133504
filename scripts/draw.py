"""Draw the pictures of the documentation from the spec: `python scripts/draw.py [--check]`.

The README's table of versions is drawn as well, from pyproject.toml and the runs of the tests.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gymbridge_generator.load import load
from gymbridge_generator.resources import shipped_spec
from scripts.drawing.attack import attack_picture
from scripts.drawing.core import core_picture
from scripts.drawing.matrix import names, sharing_picture
from scripts.drawing.versions import with_table

DOCS = Path(__file__).resolve().parent.parent / "docs"
README = DOCS.parent / "README.md"


def drawn() -> dict[Path, str]:
    """Return every drawn file."""
    selection = load(Path(str(shipped_spec())))
    return {
        DOCS / "pictures" / "sharing.svg": sharing_picture(selection),
        DOCS / "pictures" / "core.svg": core_picture(selection),
        DOCS / "pictures" / "attack.svg": attack_picture(),
        DOCS / "snippets" / "names.md": names(selection),
        README: with_table(README.read_text(encoding="utf-8")),
    }


def main() -> int:
    """Write the pictures, or print which are out of date."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if any differ")
    checks: bool = parser.parse_args().check
    stale = [
        path
        for path, new in drawn().items()
        if not path.exists() or path.read_text(encoding="utf-8") != new
    ]
    for path in stale:
        name = path.relative_to(DOCS.parent).as_posix()
        if checks:
            print(f"{name} is out of date; run: python scripts/draw.py")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(drawn()[path], encoding="utf-8", newline="\n")
            print(f"wrote {name}")
    return int(checks and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
