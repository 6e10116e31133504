"""Step wrappers of every pair for hours, and watch what grows: `python scripts/soak.py`.

Memory, file descriptors, threads, environments and what JAX has compiled have to stay as they are
after a while; exit code 1 if one does not.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.soaks.command import main

if __name__ == "__main__":
    sys.exit(main(__doc__ or ""))
