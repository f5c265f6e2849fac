"""The map of the folders in docs/design.md is that of the tree."""

from tools import maps


def test_the_map_is_that_of_the_tree():
    text = maps.PAGE.read_text(encoding="utf-8")
    assert text == maps.page_with_map(text), "python -m tools.maps writes the map anew"


def test_every_folder_is_on_the_map():
    folders = {path.parent.relative_to(maps.SOURCE).parts[0] for path in maps.SOURCE.glob("*/__init__.py")}
    assert folders == set(maps.LAYERS)


def test_a_page_without_the_map_is_another():
    text = maps.PAGE.read_text(encoding="utf-8")
    assert maps.page_with_map(text.replace("  model/", "  models/")) == text


def test_the_page_of_the_kernels_names_every_file():
    kernels = maps.SOURCE / "kernels"
    page = (kernels / "README.md").read_text(encoding="utf-8")
    files = [path.relative_to(kernels) for path in kernels.rglob("*.?pp")] + [
        path.relative_to(kernels) for path in kernels.rglob("*.inl")
    ]
    missing = [str(path) for path in files if f"`{path}`" not in page and not path.name.startswith("bind")]
    assert missing == []
