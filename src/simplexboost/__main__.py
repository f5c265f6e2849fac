"""Runs the commands of `simplexboost.cli` for ``simplexboost`` and ``python -m simplexboost``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec

from ._util import __version__
from ._util.compat import install_command

EXTRA = ("click", "rich", "pyarrow")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; without the libraries of the extra ``cli``, only ``list`` and ``--version`` work."""
    missing = [name for name in EXTRA if find_spec(name) is None]
    if missing:
        sys.exit(without_extra(sys.argv[1:] if arguments is None else list(arguments), missing))
    from .cli.app import main as run

    run(arguments)


def without_extra(arguments: list[str], missing: list[str]) -> int:
    """Run ``list`` or ``--version`` without the extra ``cli``; return the exit code, 1 for any other command."""
    if arguments == ["--version"]:
        print(f"simplexboost {__version__}")
        return 0
    if arguments == ["list"]:
        from .cli.algorithms import list_classifiers

        print(list_classifiers())
        return 0
    print(f"simplexboost: the command line needs {', '.join(missing)}: {install_command(*missing)}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    main()
