"""The pages of the documentation: their links lead somewhere, and the tests that they name exist."""

import re
from pathlib import Path

import pytest

from promises import all_promises

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
PROMISES = ROOT / "docs" / "promises.md"
MADE = ("gallery_pages/", "reference/generated/")  # written when the site is built
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s]+)\)")
NAMED = re.compile(r"((?:tests|promises)/\w+\.py)::(\w+)")


def anchors(page):
    """What the headings of a page are called in links."""
    heads = re.findall(r"^#+ (.*)$", CODE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", head) for head in heads)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in plain}


def dead_links(page):
    """The links of a page that lead to no file or no heading."""
    for link in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8"))):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            yield link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    if not str(page.relative_to(ROOT / "docs") if page.is_relative_to(ROOT / "docs") else page).startswith(MADE):
        assert list(dead_links(page)) == []


def test_dead_links_are_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A `code` head, and [more](x)\n[a](#a-code-head-and-more) [b](#b) [c](c.md) [d](page.md#b)\n")
    assert list(dead_links(page)) == ["x", "#b", "c.md", "page.md#b"]


def test_promises_name_tests_that_exist():
    named = NAMED.findall(PROMISES.read_text(encoding="utf-8"))
    assert len(named) > 30
    for path, name in named:
        assert path.startswith("promises/") or f"\ndef {name}(" in (ROOT / path).read_text(encoding="utf-8"), name


def test_every_promise_that_is_tried_is_on_the_page():
    named = {f"{path}::{name}" for path, name in NAMED.findall(PROMISES.read_text(encoding="utf-8"))}
    tried = {f"promises/{promise.subject}.py::{name}" for name, promise in all_promises().items()}
    assert {name for name in named if name.startswith("promises/")} == tried


def test_every_promise_of_the_page_names_what_tests_it():
    rows = re.findall(r"^\| (.*) \| (.*) \|$", PROMISES.read_text(encoding="utf-8"), re.MULTILINE)
    for promise, tested in rows:
        assert promise == "promise" or NAMED.search(tested) or "`make " in tested, promise


def test_the_list_of_files_names_every_module():
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    listed = page[page.index("## The files") : page.index("## Who may import whom")]
    together = {"generated"}  # folders whose modules are of one kind
    modules = [*(ROOT / "src" / "simplexboost").rglob("*.py"), *(ROOT / "promises").rglob("*.py")]
    missing = [module for module in modules if not re.search(rf"\b{module.stem}\b", listed)]
    assert [m for m in missing if m.parent.name not in together and m.stem not in ("__init__", "__main__")] == []


def test_every_tutorial_is_listed():
    index = (ROOT / "docs" / "tutorials" / "index.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs" / "tutorials").glob("*.md"):
        assert page.stem == "index" or (f"({page.name})" in index and f"\n{page.stem}\n" in index), page.name
