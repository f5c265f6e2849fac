"""``simplexboost list``."""

from __future__ import annotations

import click

from ..listing import listing


@click.command("list", short_help="List all classifiers.")
def command() -> None:
    """List all classifiers: their short names, classes, parts and papers.

    \b
    Example:
      simplexboost list | grep AdaBoost
    """
    print(listing())
