"""Promises about the command line: what it reads is not lost by what it writes."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import numpy as np

from simplexboost.cli.app import COMMANDS, app, run

from .promise import promise

FAST = ["--set", "n_estimators=2"]
# Commands that write a file, the files that they read, their arguments, and the ending of the output if it is another.
WRITING = [
    ("fit", ["data.csv", "test.csv"], ["data.csv", "--target", "label", "--eval", "test.csv", *FAST], None),
    ("predict", ["model.sb", "data.csv"], ["model.sb", "data.csv"], None),
    ("report", ["model.sb", "data.csv"], ["model.sb", "data.csv"], None),
    ("export", ["model.py"], ["model.py", "--to", "python"], None),
    ("export", ["model.sb"], ["model.sb", "--to", "js"], ".js"),  # which writes a model file beside
]


def linked(name: str, link: Callable[[str, str], None]) -> str:
    """A link to a file, of another name and the same extension."""
    other = f"other-{Path(name).name}"
    link(name, other)
    return other


SPELLINGS: dict[str, Callable[[str], str]] = {
    "the same": lambda name: name,
    "with a dot": lambda name: f"./{name}",
    "through a folder": lambda name: f"folder/../{name}",
    "with two slashes": lambda name: f".//{name}",
    "absolute": lambda name: str(Path.cwd() / name),
    "a symbolic link": lambda name: linked(name, os.symlink),
    "a link to a link": lambda name: linked(linked(name, os.symlink), os.symlink),
    "a hard link": lambda name: linked(name, os.link),
    "a folder that is a link": lambda name: f"here/{name}",
}


def command_of(name: str) -> click.Command:
    """The command of a name."""
    found = app.get_command(click.Context(app), name)
    assert found is not None
    return found


def answer(*arguments: str) -> tuple[int, str]:
    """The exit code of a command, and what it says on standard error."""
    err = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(err):
        code = run(arguments)
    return code, err.getvalue()


def prepare() -> None:
    """A table, another one, a model under two names, and folders, in the working directory."""
    rng = np.random.default_rng(0)
    lines = [f"{a:.3f},{b},{'pq'[k]}" for a, b, k in zip(rng.normal(size=40), "xy" * 20, [0, 1] * 20, strict=True)]
    for name in ("data.csv", "test.csv"):
        Path(name).write_text("\n".join(["a,b,label", *lines]) + "\n", encoding="utf-8")
    code, said = answer("fit", "data.csv", "--target", "label", "-o", "model.sb", "--quiet", *FAST)
    assert code == 0, said
    Path("model.py").write_bytes(Path("model.sb").read_bytes())
    Path("folder").mkdir()
    os.symlink(".", "here")


@promise(
    "A command whose output is one of its inputs, however its name is spelled and through links, refuses: the input is "
    "as it was.",
    fast=9,
    soak=200,
)
def no_input_is_overwritten(case: int) -> None:
    """One case: every command that writes a file, each of its inputs, and one spelling."""
    writing = {name for name in COMMANDS if any("--output" in option.opts for option in command_of(name).params)}
    known = {command for command, _, _, _ in WRITING}
    assert writing <= known, f"no case for {writing - known}"
    how, spell = list(SPELLINGS.items())[case % len(SPELLINGS)]
    for command, names, arguments, ending in WRITING:
        for name in names:
            try_output([command, *arguments], name, how, spell, ending)


def try_output(arguments: list[str], name: str, how: str, spell: Callable[[str], str], ending: str | None) -> None:
    """Run a command in a folder of its own; its output is one of its inputs."""
    before = Path.cwd()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            prepare()
            output = spell(name)
            if ending is not None:
                output = output.removesuffix(Path(output).suffix) + ending
            kept = {path: Path(path).read_bytes() for path in ("data.csv", "test.csv", "model.sb", "model.py")}
            code, said = answer(*arguments, "-o", output)
            story = f"{' '.join(arguments)} -o {output} ({name}, {how})"
            for path, data in kept.items():
                assert Path(path).read_bytes() == data, f"{story} has replaced {path}"
            assert code in (1, 2) and output in said, f"{story}: code {code}, {said}"
        finally:
            os.chdir(before)
