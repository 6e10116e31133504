"""Measure what conversions cost: `python scripts/benchmark.py --quick`, or `gymbridge bench`.

Every row is measured in several ways, in turn in one process: the bare environment, a wrapper
written by hand for exactly that row, gymbridge, and Gymnasium's own wrapper.
"""

from __future__ import annotations

import sys

from gymbridge_tools.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["bench", *sys.argv[1:]]))
