"""The command line as a process of its own: in a pipe, on a terminal, interrupted, with little memory."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from cli_runner import PROGRAM, inside, on_terminal, process

import simplexboost

CSV = "x,z,y\n" + "\n".join(f"{i},{i % 7},{'ab'[i % 2]}" for i in range(60)) + "\n"
CONTROL = "\x1b["  # begins what moves the cursor and colours text


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table and a model."""
    path = tmp_path_factory.mktemp("terminal")
    (path / "d.csv").write_text(CSV)
    assert inside("fit", path / "d.csv", "-o", path / "m.sb", "--set", "n_estimators=3", "-q").code == 0
    return path


def test_importing_the_package_does_not_import_the_command_line():
    code = "import sys, simplexboost; print({'click', 'simplexboost.cli'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


# A command that fits, one that prints, one that writes, and so on: (arguments, what is on standard output).
COMMANDS = {
    "fit": (["fit", "d.csv", "-o", "new.sb", "--set", "n_estimators=3"], ""),
    "predict": (["predict", "m.sb", "d.csv"], "prediction\n"),
    "evaluate": (["evaluate", "m.sb", "d.csv"], "60 rows"),
    "inspect": (["inspect", "m.sb"], "m.sb: SimplexBoostClassifier"),
    "compare": (["compare", "d.csv", "--algorithms", "SAMME", "--folds", "2"], "60 rows, 2 folds"),
    "list": (["list"], "SimplexBoost"),
    "completion": (["completion", "bash"], "_simplexboost_completion"),
    "version": (["--version"], f"simplexboost {simplexboost.__version__}\n"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_in_a_pipe(folder, name, monkeypatch):
    monkeypatch.chdir(folder)
    arguments, out = COMMANDS[name]
    done = process(*arguments)
    assert done.code == 0, done.err
    assert out in done.out
    assert CONTROL not in done.out + done.err
    if name == "fit":
        assert "round 3/3" in done.err


@pytest.mark.parametrize("name", [*COMMANDS])
def test_on_a_terminal(folder, name, monkeypatch):
    monkeypatch.chdir(folder)
    arguments, out = COMMANDS[name]
    done = on_terminal(*arguments)
    assert done.code == 0, done.err
    assert out in done.out
    assert CONTROL not in done.out
    assert (CONTROL in done.err) == (name in ("fit", "predict", "evaluate", "compare"))  # they have bars
    if name == "fit":
        assert "boosting" in done.err
        assert "round 3/3" not in done.err


def test_quiet_on_a_terminal(folder, monkeypatch):
    monkeypatch.chdir(folder)
    done = on_terminal(*COMMANDS["fit"][0], "--quiet")
    assert done.code == 0
    assert done.err == ""


def test_wrong_input_on_a_terminal(folder):
    done = on_terminal("fit", folder / "no.csv", "-o", folder / "x.sb")
    assert done.code == 1
    assert done.err.strip() == f"simplexboost: {folder / 'no.csv'}: there is no such file."


def test_debug_shows_the_traceback(folder):
    done = inside("--debug", "fit", folder / "no.csv", "-o", folder / "x.sb")
    os.environ.pop("SIMPLEXBOOST_DEBUG", None)
    assert done.code == 1
    assert "Traceback" in done.err


def test_head_ends_it_quietly(folder):
    rows = folder / "long.csv"
    rows.write_text("x,z\n" + "1,2\n" * 400_000)
    line = f"{' '.join(PROGRAM)} predict {folder / 'm.sb'} {rows} --proba | head -n 2; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert lines[0] == "prediction,proba_a,proba_b"
    assert lines[2] == "141"
    assert "Traceback" not in done.stderr
    assert "rror" not in done.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_fits_leave_nothing(folder, tmp_path, number, code):
    # Minutes of rounds, whose trees have room in the memory; more rounds would be refused at once.
    arguments = ["fit", str(folder / "d.csv"), "-o", str(tmp_path / "m.sb"), "--set", "n_estimators=1000000"]
    with subprocess.Popen([*PROGRAM, *arguments], stderr=subprocess.PIPE, text=True) as child:
        assert child.stderr is not None
        seen = ""
        for line in child.stderr:
            seen += line
            if line.startswith("round"):
                child.send_signal(number)
                break
        seen += child.stderr.read()
    assert child.returncode == code, seen
    assert "Traceback" not in seen
    assert list(tmp_path.iterdir()) == []


def writes_in(child, folder):
    """Whether a process has begun a file in a folder: with a name, or open and without one, as Linux has them."""
    links = []
    for descriptor in Path(f"/proc/{child.pid}/fd").glob("*"):
        with contextlib.suppress(OSError):  # closed meanwhile
            links.append(os.readlink(descriptor))
    return any(folder.iterdir()) or any(link.startswith(f"{folder}/") for link in links)


def test_interrupted_predictions_leave_nothing(folder, tmp_path):
    """The input is a pipe that never ends, so the output has begun when the signal comes."""
    arguments = ["predict", str(folder / "m.sb"), "-", "-o", str(tmp_path / "out.csv")]
    with subprocess.Popen([*PROGRAM, *arguments], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdin is not None and child.stderr is not None
        child.stdin.write(b"x,z\n" + b"1,2\n" * 5_000_000)
        for _ in range(1000):
            if writes_in(child, tmp_path):
                break
            time.sleep(0.02)
        assert writes_in(child, tmp_path) and not (tmp_path / "out.csv").exists()
        child.send_signal(signal.SIGINT)
        assert child.wait(60) == 130
        child.stderr.read()
        child.stdin.close()
    assert list(tmp_path.iterdir()) == []


def test_without_the_extra(monkeypatch, capsys):
    from simplexboost import __main__

    monkeypatch.setattr(__main__, "find_spec", lambda name: None)
    for arguments, code, words in (
        (["--version"], 0, f"simplexboost {simplexboost.__version__}"),
        (["list"], 0, "AdaBoostMH"),
        (["fit", "d.csv"], 1, "the command line needs click, rich, pyarrow: pip install click rich pyarrow"),
    ):
        with pytest.raises(SystemExit) as end:
            __main__.main(arguments)
        assert end.value.code == code
        printed = capsys.readouterr()
        assert words in printed.out + printed.err


# ---- memory ---------------------------------------------------------------------------------------------------------


needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell the memory")

MEASURED = """
import sys
from simplexboost.cli.app import run
code = run(sys.argv[1:])
# not ru_maxrss, which a process inherits from the one that started it
(peak,) = (line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(code, peak, file=sys.stderr)
"""


def peak_memory(*arguments):
    """The largest memory of a command, in megabytes."""
    environment = {**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"}
    command = [sys.executable, "-c", MEASURED, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    code, kilobytes = done.stderr.split()[-2:]
    assert code == "0", done.stderr
    return int(kilobytes) / 1e3


@needs_proc
def test_memory_of_predictions_does_not_depend_on_the_length(folder, tmp_path):
    lines = b"".join(b"%.12f,%.12f\n" % (i / 7, i / 3) for i in range(100_000))
    peaks = []
    for repeats in (8, 32):  # 27 and 110 MB, both of many blocks
        path = tmp_path / f"{repeats}.csv"
        path.write_bytes(b"x,z\n" + lines * repeats)
        peaks.append(peak_memory("predict", folder / "m.sb", path, "-o", tmp_path / "o.parquet", "-q"))
    assert peaks[1] < peaks[0] + 60, peaks


@needs_proc
def test_memory_of_a_fit_is_that_of_a_few_tables(tmp_path):
    """A number takes 8 bytes, whatever its text takes; a fit holds a few such tables, and the 32 MB read ahead."""
    rng = np.random.default_rng(0)
    p = 20
    rows = "".join(
        ",".join(f"{x:.15f}" for x in row) + f",{i % 5}\n" for i, row in enumerate(rng.normal(size=(1000, p)))
    )
    header = ",".join([*(f"x{j}" for j in range(p)), "y"]) + "\n"
    peaks = []
    for repeats in (1, 200):
        path = tmp_path / f"{repeats}.csv"
        path.write_text(header + rows * repeats)
        peaks.append(peak_memory("fit", path, "-o", tmp_path / "m.sb", "--set", "n_estimators=2", "-q"))
    table = 8 * p * 200_000 / 1e6  # 32 MB; the text is 73 MB
    assert peaks[1] - peaks[0] < 6 * table + 60, peaks  # measured: 201 MB
