"""Three type checkers accept the lowest Gymnasium, whose vector wrappers are not generic.

`scripts/versions.py` runs this test, and passes the folder of that Gymnasium.
"""

from __future__ import annotations

import os

import pytest

from tests.support import require
from tests.typing.checkers import ROOTS, Project, differences, run_all
from tests.typing.test_checkers import LIBRARIES, generate, scripts

FOLDER = os.environ.get("LOWEST_GYMNASIUM", "")
AGREE = ("mypy", "pyright", "basedpyright")
"""ty and pyrefly do not agree: the page on types says where."""
SCRIPTS = (
    *("accepted.py", "rejected.py", "own.py"),
    *("gymbridge_numpy_to_torch.py", "gymbridge_jax_to_numpy.py"),
)


@pytest.mark.skipif(not FOLDER, reason="LOWEST_GYMNASIUM names no folder; see scripts/versions.py")
def test_three_checkers_agree_with_the_lowest_gymnasium(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    for library in LIBRARIES:
        require(library)
    texts = {name: _for_the_lowest(text) for name, text in scripts().items() if name in SCRIPTS}
    folders = [tmp_path_factory.mktemp("scripts") for _ in AGREE]
    for folder in folders:
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        generate(folder)
    # strict checkers report unknown types in Gymnasium's own functions
    projects = [Project(folder, roots=(FOLDER, *ROOTS), strict=False) for folder in folders]
    said = run_all(projects, AGREE)
    assert differences(texts, said) == []


def _for_the_lowest(text: str) -> str:
    """Return a script without the lines that need the types of Gymnasium 1.4."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if "# needs Gymnasium 1.4" not in line)
