"""Measure what conversions cost: `python scripts/benchmark.py --quick`, or `gymbridge bench`.

Every case is measured four times in one process, turn about: bare, with a wrapper written by hand
for exactly that case (the floor), with gymbridge, and with Gymnasium's own wrapper.
"""

from __future__ import annotations

import sys

from gymbridge_tools.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["bench", *sys.argv[1:]]))
