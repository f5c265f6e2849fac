"""Check the links inside a built site: every file and every anchor that a page names must be there.

``python docs/check_links.py build/docs`` prints the links that lead nowhere and fails if there are any. Links to other
sites are not followed, so that the check needs no network.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The anchors of a page, and the files and anchors that it names."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = {""}
        self.links: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note ids and names, links, pictures and scripts."""
        for name, value in attrs:
            if value and (name == "id" or (name == "name" and tag == "a")):
                self.anchors.add(value)
            elif value and name in ("href", "src"):
                self.links.append(value)


def dead_links(folder: Path) -> list[str]:
    """The links between the pages of a folder that lead nowhere, as ``page: link``."""
    files = [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts]  # the theme's templates
    pages = {path.resolve(): Page(path) for path in files}
    dead = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue  # another site, or data
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            anchors = pages[target].anchors if target in pages else None
            if not target.exists() or (anchors is not None and unquote(parts.fragment) not in anchors):
                dead.append(f"{path.relative_to(folder.resolve())}: {link}")
    return dead


def main(folder: str) -> int:
    """Print dead links; the exit status says whether there are any."""
    dead = dead_links(Path(folder))
    print("\n".join(dead) if dead else f"All links inside {folder} lead somewhere.")
    return int(bool(dead))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
