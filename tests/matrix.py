"""The tests with the oldest and with the newest Python and packages: `make test-matrix`.

"oldest" takes the lowest versions that pyproject.toml allows, and the oldest Python; "newest" takes what pip finds, and
the newest Python of this machine. Each gets an environment in build/matrix, with the packages that most tests need;
tests of what other packages bring (Dask, ONNX, shap, …) are run by `make test` only.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PYTHONS = [re.sub(r"cp3(\d+)-.*", r"3.\1", build) for build in PROJECT["tool"]["cibuildwheel"]["build"]]  # 3.11, …
PACKAGES = ["pytest", "pytest-xdist", "hypothesis", "pandas", "polars", "pyarrow", "matplotlib", "click", "rich"]
# Tests of what other packages bring, of pages, and of what is no part of the library.
LEFT_OUT = re.compile(
    "cli_|cluster|copies|dask|errata|experiments|explain|export|file_survival|following|gallery|packaging|pages|papers|"
    "plot|promises|race|ranks|ray|reference|report|runner|scheduling|served|serving|shipping|site"
)


def main() -> int:
    """Run the tests in the environments that are named, or in both; 1 if any fails."""
    wanted = sys.argv[1:] or ["oldest", "newest"]
    return int(any([run_tests(make_environment(which)) for which in wanted]))


def make_environment(which: str) -> Path:
    """A new environment with the library and what the tests need; its interpreter."""
    folder = ROOT / "build" / "matrix" / which
    interpreter = find_python(PYTHONS if which == "oldest" else PYTHONS[::-1])
    shutil.rmtree(folder, ignore_errors=True)
    call(interpreter, "-m", "venv", folder)
    python = folder / "bin" / "python"
    install = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    call(*install, *requirements(lowest=which == "oldest"))
    call(*install, "--no-deps", f"--config-settings=build-dir={folder / 'cmake'}", ROOT)
    print(f"{which}:", call(python, "-c", VERSIONS), flush=True)
    return python


VERSIONS = """
import platform, importlib.metadata as found
packages = "numpy scipy scikit-learn joblib threadpoolctl narwhals pandas polars pyarrow".split()
print("Python", platform.python_version(), *(f"{name} {found.version(name)}" for name in packages), sep=", ")
"""


def find_python(versions: list[str]) -> str:
    """The interpreter of the first of these versions that this machine has."""
    for version in versions:
        for command in (f"python{version}", *map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))):
            if shutil.which(command) and not subprocess.run([command, "-c", ""], capture_output=True).returncode:
                return command
    raise SystemExit(f"no Python of the versions {', '.join(versions)} is installed")


def requirements(lowest: bool) -> list[str]:
    """What the library and the tests need, with the lowest versions that pyproject.toml allows or with any."""
    project = PROJECT["project"]
    optional = [line for extra in ("plot", "cli", "test") for line in project["optional-dependencies"][extra]]
    chosen = [line for line in optional if re.split("[>=[]", line)[0] in PACKAGES]
    lines = list(dict.fromkeys(project["dependencies"] + chosen))
    return [line.replace(">=", "==") if lowest else line for line in lines]


def run_tests(python: Path) -> int:
    """Run the tests with this interpreter."""
    files = [path for path in sorted((ROOT / "tests").glob("test_*.py")) if not LEFT_OUT.match(path.stem[5:])]
    command = [python, "-m", "pytest", "-q", "-m", "not slow", "-n", "auto", "--dist", "loadfile", *files]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": "0"}).returncode


def call(*command: object) -> str:
    """Run a command and return what it prints; end with its complaint if it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
