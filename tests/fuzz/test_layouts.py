"""Random memory layouts, converted in a process of their own."""

from __future__ import annotations

import pytest

from tests.support import LIBRARIES, require, run_python


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.slow
def test_no_memory_layout_crashes_or_changes_a_value(seed: int) -> None:
    for name in LIBRARIES:
        require(name)
    code = f"""
        import faulthandler
        from tests.fuzz.layouts import fuzz
        faulthandler.enable()
        print(fuzz({seed}, 200))
    """
    assert run_python(code) == "1200\n"
