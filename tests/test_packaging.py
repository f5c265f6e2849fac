"""What a distributed package needs: one version everywhere, wheels for any processor, a citation, a smoke test."""

import re
import tomllib
from pathlib import Path

import simplexboost

ROOT = Path(__file__).parent.parent
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
