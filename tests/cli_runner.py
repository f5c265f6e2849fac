"""Runs the command line: inside this process (quick), as a process of its own, and on a terminal."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest import mock

from simplexboost.cli.app import run

PROGRAM = [sys.executable, "-m", "simplexboost"]


@dataclass
class Result:
    """What a command left: its exit code, and what it wrote."""

    code: int
    out: str
    err: str


def inside(*arguments, stdin=b""):
    """Run a command in this process."""
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True), io.StringIO()
    source = io.TextIOWrapper(io.BytesIO(stdin))
    with redirect_stdout(out), redirect_stderr(err), mock.patch.object(sys, "stdin", source):
        code = run([str(argument) for argument in arguments])
    return Result(code, out.buffer.getvalue().decode(), err.getvalue())


def process(*arguments, stdin=b"", **options):
    """Run a command as a process; standard output and error are pipes."""
    done = subprocess.run(
        [*PROGRAM, *map(str, arguments)], input=stdin, capture_output=True, timeout=120, check=False, **options
    )
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def on_terminal(*arguments):
    """Run a command on a terminal; standard output is a pipe, standard error the terminal."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(
        [*PROGRAM, *map(str, arguments)], stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, env=environment
    ) as child:
        os.close(theirs)
        seen = read_all(ours)
        assert child.stdout is not None
        out = child.stdout.read().decode()
    os.close(ours)
    return Result(child.returncode, out, seen)


def read_all(terminal):
    """What is written to a terminal until nobody holds it."""
    seen = b""
    while True:
        try:
            block = os.read(terminal, 1 << 16)
        except OSError:  # the other side is closed
            break
        if not block:
            break
        seen += block
    return seen.decode(errors="replace")
