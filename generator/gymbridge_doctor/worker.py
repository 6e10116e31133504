"""The process that looks and tries: it writes every finding at once, for it may not live on.

Run as ``python -m gymbridge_doctor.worker FINDINGS``, with what is to be looked at pickled on its
standard input. An error ends it, which is a finding as well.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from gymbridge_doctor.attempt import attempt
from gymbridge_doctor.look import look
from gymbridge_doctor.package import Library

if TYPE_CHECKING:
    from gymbridge_doctor.package import Pair


def main() -> None:
    """Find out about one thing after the other."""
    subjects = cast("list[Library | Pair]", pickle.load(sys.stdin.buffer))
    with Path(sys.argv[1]).open("wb") as findings:
        for subject in subjects:
            finding = look(subject) if isinstance(subject, Library) else attempt(subject)
            pickle.dump(finding, findings)
            findings.flush()


if __name__ == "__main__":
    main()
