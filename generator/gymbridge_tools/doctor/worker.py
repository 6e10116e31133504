"""The process that examines subjects. It writes each finding at once, because it may crash.

Run as ``python -m gymbridge_tools.doctor.worker FINDINGS``, with the questions pickled on its
standard input. An error ends the process, which is a finding as well.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from gymbridge_tools.doctor.attempt import attempt
from gymbridge_tools.doctor.look import look
from gymbridge_tools.doctor.package import Library

if TYPE_CHECKING:
    from gymbridge_tools.doctor.package import Pair


def main() -> None:
    """Examine one subject after the other."""
    subjects = cast("list[Library | Pair]", pickle.load(sys.stdin.buffer))
    with Path(sys.argv[1]).open("wb") as findings:
        for subject in subjects:
            finding = look(subject) if isinstance(subject, Library) else attempt(subject)
            pickle.dump(finding, findings)
            findings.flush()


if __name__ == "__main__":
    main()
