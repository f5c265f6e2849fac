"""Runs the command ``simplexboost`` and turns errors into one sentence on standard error and an exit code."""

from __future__ import annotations

import os
import signal
import sys
import traceback
import warnings
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

import click

from .._util import __version__
from .errors import INTERRUPTED, USAGE, WRONG, ArgumentError, did_you_mean, explain

COMMANDS = {  # in the order of a session, with the modules that have them
    "fit": "fit_commands",
    "predict": "model_commands",
    "evaluate": "fit_commands",
    "compare": "fit_commands",
    "inspect": "model_commands",
    "report": "model_commands",
    "export": "model_commands",
    "list": "model_commands",
    "demo": "fit_commands",
    "completion": "model_commands",
}
CLOSED_PIPE = 141  # what shells report for programs that end because nobody reads on
DEBUG = "SIMPLEXBOOST_DEBUG"


class Commands(click.Group):
    """A group of click commands that imports the module of each command on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        return getattr(import_module(f".{COMMANDS[name]}", __package__), f"{name}_command")

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            hint = did_you_mean(args[0], COMMANDS) or f"; there are {', '.join(COMMANDS)}."
            raise click.UsageError(f"there is no command {args[0]!r}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:  # for which click itself would end with 1
            raise ClosedPipeError from error


class ClosedPipeError(Exception):
    """The error for output to a pipe that the reading program, such as ``head``, has closed."""


@click.command(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Messages go to standard error, data to standard output. Exit codes: 0 all is well, 1 the data or the model "
    "is wrong, 2 the arguments are. `simplexboost COMMAND --help` has examples.",
)
@click.version_option(__version__, prog_name="simplexboost", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show where an error comes from.")
def app(debug: bool) -> None:
    """Multiclass boosting: fit a classifier to a table in a file, and predict the rows of another file.

    \b
      simplexboost fit train.csv --target species -o model.sb
      simplexboost evaluate model.sb test.csv
      simplexboost predict model.sb new.csv -o predictions.csv --proba
    """
    if debug:
        os.environ[DEBUG] = "1"


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command, print its errors on standard error, and return its exit code."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("once")
            warnings.showwarning = show_warning  # type: ignore[assignment]
            app.main(arguments, prog_name="simplexboost", standalone_mode=False)
            sys.stdout.flush()
        return 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except (BrokenPipeError, ClosedPipeError):
        with suppress(OSError, ValueError):  # otherwise Python would complain when it flushes standard output
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE
    except (KeyboardInterrupt, click.Abort):
        return complain("interrupted.", INTERRUPTED)
    except click.UsageError as error:
        error.show()
        return USAGE
    except click.ClickException as error:
        return complain(error.format_message(), WRONG)
    except Exception as error:
        if os.environ.get(DEBUG):
            traceback.print_exc()
        return complain(explain(error), USAGE if isinstance(error, ArgumentError) else WRONG)


def complain(sentence: str, code: int) -> int:
    """Print an error sentence on standard error and return the exit code ``code``."""
    print(f"simplexboost: {sentence}", file=sys.stderr, flush=True)
    return code


def show_warning(message: Any, *where: Any) -> None:
    """Print a warning of a library on standard error, in one line."""
    print(f"warning: {' '.join(str(message).split())}", file=sys.stderr, flush=True)


def terminate(number: int, frame: Any) -> None:
    """Raise SystemExit after a signal, so that unfinished files are removed."""
    raise SystemExit(128 + number)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and end the process with its exit code."""
    signal.signal(signal.SIGTERM, terminate)
    try:
        code = run(arguments)
    except SystemExit as stop:
        code = int(stop.code or 0)
    if code in (0, WRONG, USAGE):
        sys.exit(code)
    sys.stderr.flush()
    os._exit(code)  # interrupted: threads of pyarrow may still read, and would crash while Python shuts down
