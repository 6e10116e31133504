"""Step wrappers of every pair for hours, and look for growth: `python scripts/soak.py`.

Memory, file descriptors, threads, environments and compiled JAX imports must stop growing after a
while; the exit code is 1 if one does not.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.soaks.command import main

if __name__ == "__main__":
    sys.exit(main(__doc__ or ""))
