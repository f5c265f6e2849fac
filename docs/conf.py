"""Settings of the documentation: ``make docs`` writes the site to ``build/docs``, and every warning is an error."""

from __future__ import annotations

import inspect
import os
import re
import shutil
from dataclasses import is_dataclass
from importlib.metadata import version as installed_version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent

project = "simplexboost"
author = "The simplexboost developers"
copyright = author
release = version = installed_version("simplexboost")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["gallery", "gallery_pages/**/*.py", "gallery_pages/**/*.ipynb", "**/*.md5"]
templates_path = ["_templates"]

# ---- pages in Markdown -----------------------------------------------------------------------------------------------
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4  # links name headings like GitHub does: page.md#a-heading
default_role = "py:obj"  # `Name` in a docstring links to the page of the name, where there is one
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# ---- the API reference -----------------------------------------------------------------------------------------------
autosummary_generate = True
autosummary_imported_members = True
autodoc_typehints = "none"  # the docstrings say more, and in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the template of a class does it
numpydoc_xref_param_type = False
add_module_names = False
toc_object_entries_show_parents = "hide"  # "fit()" on a page's own contents, not "SimplexBoostClassifier.fit()"

# ---- the gallery -----------------------------------------------------------------------------------------------------
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "gallery_pages",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 10_000,  # times of the machine that built the pages help nobody
    "show_memory": False,
    "abort_on_example_error": True,
    "doc_module": ("simplexboost",),
    "backreferences_dir": "reference/generated/backreferences",
    "matplotlib_animations": (True, "jshtml"),
}

# ---- the look --------------------------------------------------------------------------------------------------------
html_theme = "pydata_sphinx_theme"
html_title = "simplexboost"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_logo = html_favicon = "_static/logo.svg"
html_sidebars = {"index": [], "theory": []}  # they have no pages below them
html_copy_source = html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "simplexboost"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_nav_level": 1,
    "navigation_depth": 3,
    "show_toc_level": 2,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

# Formulas are drawn by one file of MathJax that needs no fonts, so that the pages work without a network.
mathjax_path = "mathjax/tex-svg.js"


def copy_mathjax(app: Any, error: Exception | None) -> None:
    """Put MathJax beside the other static files."""
    package = find_spec("sphinx-mathjax-offline")
    if error is None and package is not None and package.origin is not None:
        target = Path(app.outdir, "_static", "mathjax")
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(package.origin).parent / "static" / "mathjax" / "tex-svg.js", target)


# Pages that belong to other folders of the repository, and the pages of the site that show them.
SHOWN = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/RESULTS.md": "measured/race.md",
    "benchmarks/TUNING.md": "measured/tuning.md",
    "benchmarks/SERVING.md": "measured/serving.md",
    "benchmarks/SETS.md": "measured/sets.md",
    "benchmarks/COSTS.md": "measured/costs.md",
    "benchmarks/LABELS.md": "measured/labels.md",
    "benchmarks/MANY.md": "measured/many.md",
    "benchmarks/EXPORTS.md": "measured/exports.md",
    "benchmarks/TEXT.md": "measured/text.md",
    "benchmarks/CLASSES.md": "measured/classes.md",
    "benchmarks/ORDINAL.md": "measured/ordinal.md",
    "benchmarks/HIERARCHY.md": "measured/hierarchy.md",
    "benchmarks/CODES.md": "measured/codes.md",
    "experiments/RESULTS.md": "measured/papers.md",
    "src/simplexboost/kernels/README.md": "measured/kernels.md",
    "src/simplexboost/engine/cuda/source/README.md": "measured/gpu_kernels.md",
}
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)")  # the file of a link or picture in Markdown

# Examples end with a blank line, because otherwise doctest would take the fence for output; readers need not see it.
BLANK_BEFORE_FENCE = re.compile(r"^((?:>>> |\.\.\. ).*|.*\S)\n\n(```)$", re.MULTILINE)


def show_and_link(app: Any, name: str, source: list[str]) -> None:
    """Fill a page that shows a file of another folder, and let links to such files lead to the pages that show them."""
    page = Path(app.env.doc2path(name))
    if page.suffix != ".md":
        return
    origin = next((ROOT / outside for outside, inside in SHOWN.items() if HERE / inside == page), page)
    text = source[0] if origin == page else source[0] + "\n" + origin.read_text(encoding="utf-8")

    def relinked(match: re.Match[str]) -> str:
        target = Path(os.path.normpath(origin.parent / match[1]))
        inside = SHOWN.get(os.path.relpath(target, ROOT))
        return os.path.relpath(HERE / inside if inside else target, page.parent)

    source[0] = BLANK_BEFORE_FENCE.sub(r"\1\n\2", LINK.sub(relinked, text))


def signature_of(app: Any, what: str, name: str, value: Any, *others: Any) -> tuple[str, str] | None:
    """The signature of a class by its parameters: many have a ``__new__`` that only answers misspelt ones."""
    if what != "class" or not is_dataclass(value):
        return None
    parameters = inspect.signature(value).parameters.values()
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    return str(inspect.Signature(plain)), ""


def is_described(member: Any) -> bool:
    """Whether a member of a class is a method or property of this package with a docstring of its own."""
    function = getattr(member, "fget", None) or getattr(member, "__func__", None) or member
    inside = str(getattr(function, "__module__", "")).startswith("simplexboost")
    return inside and callable(function) and bool(getattr(function, "__doc__", None))


def skip_member(app: Any, what: str, name: str, member: Any, skip: bool, options: Any) -> bool:
    """Leave out what scikit-learn adds to every estimator, and fields, which the docstring of the class describes."""
    return what == "class" and (name.startswith("_") or not is_described(member))


def setup(app: Any) -> None:
    """Connect the functions above."""
    app.connect("build-finished", copy_mathjax)
    app.connect("source-read", show_and_link)
    app.connect("autodoc-process-signature", signature_of)
    app.connect("autodoc-skip-member", skip_member)
