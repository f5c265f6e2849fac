"""The site of the documentation: the check of its links, and what its settings say of pages."""

import ast
import importlib.util
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"


def load(name):
    """A script of the documentation as a module."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_dead_links_are_found(tmp_path, capsys):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "index.html").write_text('<h1 id="top">B</h1><a href="../a.html#one">a</a>')
    links = ["#one", "#two", "b/", "b/index.html#top", "b/index.html#no", "c.html", "pic.png", "https://example.org"]
    page = '<h1 id="one">A</h1>' + "".join(f'<a href="{link}">x</a>' for link in links) + '<img src="pic.svg">'
    (tmp_path / "a.html").write_text(page)
    check_links = load("check_links")
    dead = ["a.html: #two", "a.html: b/index.html#no", "a.html: c.html", "a.html: pic.png", "a.html: pic.svg"]
    assert check_links.dead_links(tmp_path) == dead
    assert check_links.main(str(tmp_path)) == 1
    assert capsys.readouterr().out.split("\n")[:-1] == dead


def test_a_site_without_dead_links_passes(tmp_path):
    (tmp_path / "a.html").write_text('<a href="a.html?v=1">a</a><a href="#">top</a>')
    assert load("check_links").main(str(tmp_path)) == 0


def test_pages_that_show_other_files_exist_on_both_sides():
    """Sphinx is not needed for this: the table is read from the settings."""
    settings = ast.parse((DOCS / "conf.py").read_text(encoding="utf-8"))
    tables = [node.value for node in settings.body if isinstance(node, ast.Assign) and node.targets[0].id == "SHOWN"]
    shown = ast.literal_eval(tables[0])
    assert [path for path in shown if not (DOCS.parent / path).is_file()] == []
    assert [path for path in shown.values() if not (DOCS / path).is_file()] == []


def test_every_page_is_in_the_contents():
    """A page that is in no list of contents could not be found from the start page."""
    listed = set()
    for path in [*DOCS.glob("*.md"), *DOCS.glob("*/*.md")]:
        for block in path.read_text(encoding="utf-8").split("```{toctree}")[1:]:
            lines = [line for line in block.split("```")[0].splitlines()[1:] if line and not line.startswith(":")]
            listed |= {(path.parent / line.split("<")[-1].rstrip(">")).with_suffix("") for line in lines}
    pages = {path.with_suffix("") for pattern in ("*.md", "*/*.md", "reference/*.rst") for path in DOCS.glob(pattern)}
    made = {path for path in pages if path.parent.name == "gallery_pages"}
    assert pages - made - listed == {DOCS / "index"}
