"""Declares the command-line options that several commands share, and parses their values."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable
from typing import Any

import click

from .errors import ArgumentError
from .readers import FORMATS, MISSING, TableOptions
from .terminal import Talk

DELIMITERS = {"comma": ",", "tab": "\t", "semicolon": ";", "pipe": "|", "space": " ", "\\t": "\t"}
TARGET = "The column with the labels: its name, or its position (1, 2, …; -1 is the last)."
FORMAT = "The format of DATA, where its extension does not tell."
DELIMITER = "Between the cells of a CSV: a character, or tab, comma, semicolon, pipe, space."
DECIMAL = "What stands before the fraction of a number; a comma too where semicolons are between the cells."
ABSENT = f"Words that mean a missing value, instead of {' '.join(MISSING[1:])}; an empty cell always does."
SETTING = "A parameter of the algorithm; of a part as learner.max_depth=3."

QUIET = click.option("-q", "--quiet", is_flag=True, help="Say nothing on standard error but errors.")
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
FILE = [
    click.option("--target", metavar="COL", help=TARGET),
    click.option("--format", type=click.Choice(sorted(set(FORMATS.values()))), help=FORMAT),
    click.option("--delimiter", metavar="CHAR", help=DELIMITER),
    click.option("--decimal", type=click.Choice([".", ","]), help=DECIMAL),
    click.option("--no-header", is_flag=True, help="The first line of the CSV has data; columns are named c1, c2, …"),
    click.option("--encoding", default="utf-8", show_default=True, help="Of a text file, for instance latin-1."),
    click.option("--missing", metavar="WORD,…", help=ABSENT),
    click.option("--zero-based", is_flag=True, help="The features of the LIBSVM file are numbered from 0."),
    QUIET,
]
TABLE = [
    click.option("--weight", metavar="COL", help="A column with the weights of the rows."),
    click.option("--categorical", multiple=True, metavar="COL,…", help="Columns to be taken as categories."),
    click.option("--numeric", multiple=True, metavar="COL,…", help="Columns of numbers; words in them become missing."),
    click.option("--drop", multiple=True, metavar="COL,…", help="Columns not to be learned from."),
]
MODEL = [
    click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help=SETTING),
    click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random numbers."),
    click.option("--jobs", type=int, help="Number of threads; -1 takes all cores."),
]


def with_options(*groups: list[Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds groups of click options to a command."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed([option for group in groups for option in group]):
            function = option(function)
        return function

    return decorate


def table_options(options: dict[str, Any]) -> TableOptions:
    """Return the `TableOptions` that the options of a command describe."""
    found = {name: options[name] for name in ("target", "format", "decimal", "encoding", "zero_based")}
    found |= {name: split_names(options[name]) for name in ("categorical", "numeric", "drop") if name in options}
    if options["missing"] is not None:
        found["missing"] = ("", *split_words(options["missing"]))
    delimiter = options["delimiter"]
    if delimiter is not None:
        delimiter = DELIMITERS.get(delimiter, delimiter)
        if len(delimiter) != 1:
            raise ArgumentError(
                f"--delimiter {options['delimiter']!r} must be one character, or one of {', '.join(DELIMITERS)}."
            )
    return TableOptions(**found, weight=options.get("weight"), delimiter=delimiter, header=not options["no_header"])


def split_words(text: str) -> list[str]:
    """Split text at its commas, except commas in quotes."""
    return [word.strip() for word in next(csv.reader([text], skipinitialspace=True), []) if word.strip()]


def split_names(lists: tuple[str, ...]) -> tuple[str, ...]:
    """Return all column names in the values of an option that may be repeated."""
    return tuple(name for text in lists for name in split_words(text))


def make_talk(options: dict[str, Any]) -> Talk:
    """Return the `Talk` that prints the messages of a command; with ``--quiet``, also silence warnings of libraries."""
    if options["quiet"]:
        warnings.simplefilter("ignore")
    return Talk(options["quiet"])
