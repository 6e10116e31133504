"""`[tool.gymbridge]` gives the values of missing options."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gymbridge_generator.errors import SettingsError
from gymbridge_generator.settings import Settings, settings

if TYPE_CHECKING:
    from pathlib import Path


def test_paths_are_relative_to_the_file(project: Path) -> None:
    below = project / "src/mine"
    below.mkdir(parents=True)
    expected = Settings(project / "my.toml", project / "src/mine/bridges")
    assert settings(project) == settings(below) == expected


@pytest.mark.parametrize("text", ["", "[project]\n", "tool = 1\n", "[tool.another]\nout = 1\n"])
def test_the_nearest_pyproject_wins_even_without_a_table(project: Path, text: str) -> None:
    (project / "inner").mkdir()
    (project / "inner/pyproject.toml").write_text(text, encoding="utf-8")
    assert settings(project / "inner") == Settings()


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        (
            '[tool.gymbridge]\nspecs = "a"\nout = 5\n',
            [
                "2: tool.gymbridge.specs: unknown key; did you mean 'spec'?",
                "3: tool.gymbridge.out: 5 is of the wrong kind; use a path, in quotes",
            ],
        ),
        (
            "[tool.gymbridge]\ncolour = 1\n",
            ["2: tool.gymbridge.colour: unknown key; allowed are backends, out, spec, tests"],
        ),
        (
            '[tool.gymbridge]\nbackends = "warp"\n',
            ["2: tool.gymbridge.backends: 'warp' is of the wrong kind; use names, in an array"],
        ),
        (
            '[tool.gymbridge]\nbackends = ["warp", 1]\n',
            [
                "2: tool.gymbridge.backends: ['warp', 1] is of the wrong kind; use names, in an "
                "array"
            ],
        ),
        ("tool.gymbridge = 1\n", ["1: tool.gymbridge: is of the wrong kind; use a table"]),
    ],
)
def test_wrong_settings_are_errors_with_a_line(
    project: Path, text: str, messages: list[str]
) -> None:
    file = project / "pyproject.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        settings(project)
    assert str(caught.value).splitlines() == [f"{file}:{message}" for message in messages]


def test_a_pyproject_that_is_no_toml_is_an_error(project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool\n", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"pyproject\.toml:1: not TOML: expected"):
        settings(project)
