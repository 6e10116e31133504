"""Look at the site that was built: `python scripts/check_site.py [FOLDER]`.

Every link leads somewhere, nothing is fetched from other sites, and no Markdown is left over.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from typing_extensions import override

ROOT = Path(__file__).resolve().parent.parent
FETCHED = {("link", "href"), ("script", "src"), ("img", "src"), ("iframe", "src")}


class Page(HTMLParser):
    """The links of a page, what they can lead to, and its text."""

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
    """Return everything that is wrong with the site in ``folder``."""
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
            if name == "404.html":  # it is shown at any depth, and its links are absolute
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


def main() -> int:
    """Say what is wrong; return 1 if anything is."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site"
    found = faults(folder.resolve())
    print(*found, sep="\n", end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
