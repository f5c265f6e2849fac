"""``python -m simplexboost list`` prints the table of the named boosters."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from .algorithms import TABLE, table_text


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command."""
    parser = argparse.ArgumentParser("python -m simplexboost", description="Multiclass boosting.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="the named boosters and their parts")
    parser.parse_args(arguments)
    print(table_text(TABLE))
    print("\n* the default of a parameter; parts without a star are fixed")


if __name__ == "__main__":
    main()
