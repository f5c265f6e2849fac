"""What a distributed package needs: one version everywhere, wheels for any processor, a citation, a smoke test."""

import hashlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import simplexboost
from simplexboost import evaluate, explain, export
from simplexboost._util.compat import install_command

ROOT = Path(__file__).parent.parent
LIBRARY = Path(simplexboost.__file__).parent / "evaluate" / "html_report" / "assets" / "library"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_version_is_the_same_everywhere():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert PROJECT["project"]["version"] == simplexboost.__version__
    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == [simplexboost.__version__]
    assert f"\nlicense: {PROJECT['project']['license']}\n" in citation


def test_the_smoke_test_of_wheels_is_there():
    command = PROJECT["tool"]["cibuildwheel"]["test-command"]
    script = command.removeprefix("python {project}/")
    assert (ROOT / script).is_file()
    assert script in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_wheels_are_built_for_all_pythons_that_are_supported():
    oldest = int(PROJECT["project"]["requires-python"].removeprefix(">=3."))
    built = [int(re.match(r"cp3(\d+)-", build)[1]) for build in PROJECT["tool"]["cibuildwheel"]["build"]]
    assert built == list(range(oldest, oldest + len(built)))


def test_pythons_that_are_named_get_wheels():
    """Newer ones, with which the tests have not been run, may get wheels but are not named."""
    lines = " ".join(PROJECT["project"]["classifiers"])
    named = [f"cp3{minor}-*" for minor in re.findall(r"Python :: 3\.(\d+)", lines)]
    assert named and named == PROJECT["tool"]["cibuildwheel"]["build"][: len(named)]


def test_the_page_says_which_versions_are_needed():
    page = " ".join((ROOT / "docs" / "index.md").read_text(encoding="utf-8").lower().split())
    for needed in (*PROJECT["project"]["dependencies"], "python" + PROJECT["project"]["requires-python"]):
        assert re.search(rf"\b{re.escape(needed.replace('>=', ' '))}(?![.\d]*\d)", page), needed


def test_kernels_are_not_compiled_for_the_processor_at_hand():
    """Such a wheel would end with an illegal instruction on an older one."""
    assert "-march" not in (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")


def test_extras_name_no_package_twice_and_all_has_what_users_need():
    extras = PROJECT["project"]["optional-dependencies"]
    for name, packages in extras.items():
        bare = [re.split(r"[<>=\[ ]", package)[0] for package in packages]
        assert len(bare) == len(set(bare)), name
    wanted = set(extras) - {"bench", "test", "dev", "docs", "wheel", "all", "cuda"}  # which few machines can use
    assert set(re.search(r"\[(.*)\]", extras["all"][0])[1].split(",")) == wanted


# ---- optional packages ----------------------------------------------------------------------------------------------

NO_RELEASE = re.compile(r"(?<!\.)simplexboost\[|pip install (?:-\S+ )*'?simplexboost\b|=\[\"simplexboost\"\]")
TEXTS = [
    path
    for pattern in (
        "*.md",
        "docs/**/*.md",
        "docs/**/*.py",
        "docs/**/*.rst",
        "src/**/*.py",
        "examples/*",
        "benchmarks/*",
    )
    for path in sorted(ROOT.glob(pattern))
    if path.suffix in (".md", ".rst", ".py")
]


def test_nothing_asks_to_install_what_is_not_released():
    """No page, docstring or error names simplexboost to pip: on an index that name need not be this package."""
    found = [
        f"{path.relative_to(ROOT)}: {line}"
        for path in TEXTS
        for line in path.read_text().splitlines()
        if NO_RELEASE.search(line) and path.name != "CHANGELOG.md"
    ]
    assert len(TEXTS) > 300 and not found, "\n".join(found)
    for wrong in (
        "pip install 'simplexboost[plot]'",
        "pip install simplexboost",
        "pip install -U simplexboost",
        "the extra ``simplexboost[cuda]``",
        'pip_requirements=["simplexboost"]',
    ):
        assert NO_RELEASE.search(wrong), wrong
    assert not NO_RELEASE.search("pip install '.[plot]'")


# What the parts of the library need, by extra: the modules, as in an import.
NEEDED = {
    "plot": ["matplotlib"],
    "cli": ["click", "rich", "pyarrow"],
    "explain": ["shap", "pandas"],
    "cuda": ["cupy"],
    "dask": ["dask", "distributed"],
    "export": ["onnx", "treelite"],
}


@pytest.mark.parametrize("extra", NEEDED)
def test_the_command_installs_what_the_extra_does(extra):
    """Without the versions, and with what is in brackets."""
    listed = [re.split("[<>=]", package)[0] for package in PROJECT["project"]["optional-dependencies"][extra]]
    asked = install_command(*NEEDED[extra]).replace("'", "").split()
    assert asked == ["pip", "install", *listed]


def test_every_install_command_of_the_pages_is_one_of_the_package():
    commands = {install_command(*names) for modules in NEEDED.values() for names in ([name] for name in modules)}
    commands |= {install_command(*modules) for modules in NEEDED.values()}
    others = {"pip install atheris", "pip install mapie"}
    for path in TEXTS:
        for command in re.findall(r"pip install (?:'[^'\s]*'|[^'`|#(),;:\n\"])*", path.read_text(encoding="utf-8")):
            if "{" not in command and not command.startswith(("pip install .", "pip install '.")):
                assert command.rstrip(" .") in commands | others, f"{path}: {command}"


@pytest.mark.parametrize(
    ("module", "use", "message"),
    [
        ("onnx", lambda clf: export.onnx(clf, "model.onnx"), "this export needs onnx: pip install onnx."),
        ("treelite", lambda clf: export.treelite(clf), "this export needs treelite: pip install treelite."),
        (
            "shap",
            lambda clf: explain.shap_explanation(clf, [[0.0]]),
            "shap_explanation needs the package shap: pip install shap.",
        ),
        ("pandas", lambda clf: explain.trees_to_frame(clf), "trees_to_frame needs pandas: pip install pandas."),
        ("matplotlib.pyplot", evaluate.plot_importance, "plots need matplotlib: pip install matplotlib."),
    ],
)
def test_a_missing_package_is_named(module, use, message, monkeypatch):
    clf = simplexboost.SimplexBoostClassifier(n_estimators=2).fit([[0.0], [1.0]] * 5, [0, 1] * 5)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError) as caught:
        use(clf)
    assert str(caught.value) == message


def test_a_missing_dask_is_named():
    code = """
import sys
sys.modules["distributed"] = None
try:
    import simplexboost.distributed.dask
except ImportError as error:
    assert str(error) == "simplexboost.distributed.dask needs Dask: pip install 'dask[array,dataframe]' distributed."
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_library_of_the_report_is_what_was_recorded():
    digest, name = (LIBRARY / "SHA256SUMS").read_text(encoding="utf-8").split()
    assert (name, digest) == ("echarts.min.js", hashlib.sha256((LIBRARY / "echarts.min.js").read_bytes()).hexdigest())


def test_the_library_of_the_report_is_built_from_locked_packages():
    """Of every package the lock file has a checksum, and it names no server; licences are those of these versions."""
    lock = json.loads((LIBRARY / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    wanted = json.loads((LIBRARY / "package.json").read_text(encoding="utf-8"))
    assert {**lock[""]["dependencies"], **lock[""]["devDependencies"]} == {
        **wanted["dependencies"],
        **wanted["devDependencies"],
    }
    packages = {name.removeprefix("node_modules/"): about for name, about in lock.items() if name}
    assert packages and all(about["integrity"].startswith("sha512-") for about in packages.values())
    assert not any("resolved" in about for about in packages.values())
    licences = (LIBRARY / "LICENSES.txt").read_text(encoding="utf-8")
    shipped = {name: about["version"] for name, about in packages.items() if not about.get("dev")}
    assert set(shipped) == {"echarts", "zrender", "tslib"}
    assert all(f"======== {name} {version} ========" in licences for name, version in shipped.items())
    assert "npm ci" in (LIBRARY / "build.sh").read_text(encoding="utf-8")
