"""The page about types quotes the type checkers correctly."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.support import REPOSITORY, require
from tests.typing.checkers import CHECKERS, Project, run_all

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (REPOSITORY / "docs" / "guides" / "types.md").read_text(encoding="utf-8")

SCRIPT = """\
from typing import Any, assert_type
import gymnasium as gym
import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from gymbridge import NumpyToTorch
def use(made: gym.Env[Any, Any], known: gym.Env[tuple[NDArray[np.float32], int], np.int64]) -> None:
    {example}
    assert_type(obs, Tensor)
    assert_type(info, dict[str, Any])
    assert_type(named.reset()[0], dict[str, Tensor])
    assert_type(found.reset()[0], tuple[Tensor, Tensor])
"""


def block(opening: str) -> list[str]:
    """Return the lines of the one code block that begins with ``opening``."""
    (found,) = re.findall(rf"^{re.escape(opening)}.*?^```$", PAGE, re.DOTALL | re.MULTILINE)
    return [line for line in found.splitlines() if not line.startswith("```")]


def test_the_page_quotes_the_errors_of_the_type_checkers(tmp_path: Path) -> None:
    for name in ("torch", *CHECKERS):
        require(name)
    example = block('```{ .python data-run="tests/typing/test_types_page.py" }\n')
    script = SCRIPT.format(example="\n    ".join(example))
    (mistake,) = [
        number for number, line in enumerate(script.splitlines(), 1) if line.endswith("# an error")
    ]
    folders = [tmp_path / checker / "scripts" for checker in CHECKERS]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "script.py").write_text(script, encoding="utf-8")
    said = run_all(map(Project, folders))
    quoted = {
        checker: message
        for line in block("```{ .text .mistake }\n")
        for names, _, message in [line.partition(": ")]
        for checker in names.split(", ")
    }
    assert quoted.keys() == said.keys()
    for checker, message in quoted.items():
        (reported,) = said[checker]["script.py"].items()
        assert reported[0] == mistake, checker
        assert message in " ".join(reported[1]), checker
