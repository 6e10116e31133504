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
    {action}
    assert_type(obs, Tensor)
    assert_type(info, dict[str, Any])
    assert_type(named.reset()[0], dict[str, Tensor])
    assert_type(found.reset()[0], tuple[Tensor, Tensor])
{alias}
def use_structured(robot: Robot) -> None:
    {structured}
"""


def block(opening: str) -> list[str]:
    """Return the lines of the one code block that begins with ``opening``."""
    (found,) = re.findall(rf"^{re.escape(opening)}.*?^```$", PAGE, re.DOTALL | re.MULTILINE)
    return [line for line in found.splitlines() if not line.startswith("```")]


def quotes(opening: str) -> dict[str, str]:
    """Return the message of each type checker in a code block."""
    return {
        checker: message
        for line in block(opening)
        for names, _, message in [line.partition(": ")]
        for checker in names.split(", ")
    }


def test_the_page_quotes_the_errors_of_the_type_checkers(tmp_path: Path) -> None:
    for name in ("torch", *CHECKERS):
        require(name)
    run_by = 'data-run="tests/typing/test_types_page.py" }\n'
    alias, *structured = block(f"```{{ .python .structured {run_by}")
    script = SCRIPT.format(
        action="\n    ".join(block(f"```{{ .python {run_by}")),
        alias=alias,
        structured="\n    ".join(structured),
    )
    mistakes = [
        number for number, line in enumerate(script.splitlines(), 1) if line.endswith("# an error")
    ]
    folders = [tmp_path / checker / "scripts" for checker in CHECKERS]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "script.py").write_text(script, encoding="utf-8")
    said = run_all(map(Project, folders))
    quoted = [quotes("```{ .text .mistake }\n"), quotes("```{ .text .structured-mistake }\n")]
    assert [messages.keys() for messages in quoted] == [said.keys()] * 2
    for checker, files in said.items():
        reported = files["script.py"]
        assert list(reported) == mistakes, checker
        for messages, line in zip(quoted, mistakes, strict=True):
            assert messages[checker] in " ".join(reported[line]), checker
