"""The command line: ``python -m simplexboost COMMAND``.

A command is a function of the parsed arguments and an entry of `COMMANDS`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .algorithms import TABLE, table_text


@dataclass(frozen=True)
class Command:
    """A command: its description, its function, and `arguments`, which adds the command's own options to the parser."""

    help: str
    run: Callable[[argparse.Namespace], None]
    arguments: Callable[[argparse.ArgumentParser], None] = lambda parser: None


def list_boosters(options: argparse.Namespace) -> None:
    """Print the table of the named boosters."""
    print(table_text(TABLE))
    print("\n* the default of a parameter; parts without a star are fixed")


COMMANDS = {"list": Command("the named boosters and their parts", list_boosters)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command."""
    parser = argparse.ArgumentParser("python -m simplexboost", description="Multiclass boosting.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        command.arguments(commands.add_parser(name, help=command.help))
    options = parser.parse_args(arguments)
    COMMANDS[options.command].run(options)


if __name__ == "__main__":
    main()
