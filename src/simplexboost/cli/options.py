"""Options that several commands share."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import click

from .errors import ArgumentError
from .readers import DELIMITERS, FORMATS, MISSING, TextOptions
from .terminal import Talk
from .training import Wishes

Function = Callable[..., Any]

TARGET = "The column with the labels: its name, or its position (1, 2, …; -1 is the last)."
DELIMITER = "Between the cells of a CSV: a character, or tab, comma, semicolon, pipe, space."
DECIMAL = "What stands before the fraction of a number; a comma too where semicolons are between the cells."
ABSENT = f"Words that mean a missing value, instead of {' '.join(MISSING[1:])}; an empty cell always does."

FILE = [
    click.option("--target", metavar="COL", help=TARGET),
    click.option(
        "--format",
        "format_",
        type=click.Choice(sorted(set(FORMATS.values()))),
        help="The format of DATA, where its extension does not tell.",
    ),
    click.option("--delimiter", metavar="CHAR", help=DELIMITER),
    click.option("--decimal", type=click.Choice([".", ","]), help=DECIMAL),
    click.option("--no-header", is_flag=True, help="The first line of the CSV has data; columns are named c1, c2, …"),
    click.option("--encoding", default="utf-8", show_default=True, help="Of a text file, for instance latin-1."),
    click.option("--missing", metavar="WORD,…", help=ABSENT),
    click.option("--zero-based", is_flag=True, help="The features of the LIBSVM file are numbered from 0."),
    click.option("-q", "--quiet", is_flag=True, help="Say nothing on standard error but errors."),
]

TABLE = [
    click.option("--weight", metavar="COL", help="A column with the weights of the rows."),
    click.option("--categorical", multiple=True, metavar="COL,…", help="Columns to be taken as categories."),
    click.option("--numeric", multiple=True, metavar="COL,…", help="Columns of numbers; words in them become missing."),
    click.option("--drop", multiple=True, metavar="COL,…", help="Columns not to be learned from."),
]

MODEL = [
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="NAME=VALUE",
        help="A parameter of the algorithm; of a part as learner.max_depth=3.",
    ),
    click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random numbers."),
    click.option("--jobs", type=int, help="Number of threads; -1 takes all cores."),
]


def with_options(*groups: list[Any]) -> Callable[[Function], Function]:
    """A decorator that adds groups of options."""

    def decorate(function: Function) -> Function:
        for option in reversed([option for group in groups for option in group]):
            function = option(function)
        return function

    return decorate


def wishes_of(options: dict[str, Any]) -> Wishes:
    """What the user says about the file."""
    text = TextOptions(
        delimiter_of(options["delimiter"]),
        not options["no_header"],
        options["encoding"],
        options["decimal"],
        tuple(MISSING) if options["missing"] is None else ("", *words(options["missing"])),
    )
    return Wishes(
        options["target"],
        options.get("weight"),
        names(options.get("categorical", ())),
        names(options.get("numeric", ())),
        names(options.get("drop", ())),
        options["format_"],
        options["zero_based"],
        text,
    )


def delimiter_of(word: str | None) -> str | None:
    """The character that a word stands for."""
    if word is None:
        return None
    found = DELIMITERS.get(word, word)
    if len(found) != 1:
        raise ArgumentError(f"--delimiter {word!r} must be one character, or one of {', '.join(DELIMITERS)}.")
    return found


def words(text: str) -> list[str]:
    """The words of a list with commas, a quoted one with commas inside being one."""
    import csv

    return [word.strip() for word in next(csv.reader([text], skipinitialspace=True), []) if word.strip()]


def names(lists: tuple[str, ...]) -> tuple[str, ...]:
    """The names of columns in some lists."""
    return tuple(name for text in lists for name in words(text))


def talk_of(options: dict[str, Any]) -> Talk:
    """Says things, unless quiet; then libraries do not warn either."""
    if options["quiet"]:
        warnings.simplefilter("ignore")
    return Talk(options["quiet"])
