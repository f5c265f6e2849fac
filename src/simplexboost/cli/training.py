"""Reading of a whole file as the table, labels and weights of a fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from .._util.arrays import AnyArray, Array
from .errors import ArgumentError, InputError, did_you_mean, some
from .kinds import Column, Target, TurnedTextError, as_frame, check_target, find_column, shown
from .readers import Declared, Source, TextOptions, blocks_of, check_options, find_source, on_disk, read_libsvm
from .terminal import Talk

NEARLY_UNIQUE = 0.9  # text with more different values than this part of the rows tells nothing about new rows


@dataclass(frozen=True)
class Wishes:
    """What the user says about a file: its target (None: the last column) and weight, and columns of certain kinds."""

    target: str | None = None
    weight: str | None = None
    categorical: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    format: str | None = None
    zero_based: bool = False
    text: TextOptions = field(default_factory=TextOptions)


@dataclass(eq=False)
class Training:
    """What a classifier is fitted on.

    Attributes
    ----------
    X : a table, or a sparse matrix without names; (n, p)
    y : labels (n,)
    weight : (n,) or None
    kinds : of the columns, by name
    target : the name of the target column
    """

    X: Any
    y: AnyArray
    weight: Array | None
    kinds: dict[str, str]
    target: str

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.y)

    def frame(self, classifier: Any) -> Any:
        """X as the classifier takes it."""
        return as_frame(self.X, classifier)

    def rows(self, rows: AnyArray) -> Training:
        """Some of the rows."""
        X = self.X.take(pa.array(rows)) if isinstance(self.X, pa.Table) else self.X[rows]
        weight = None if self.weight is None else self.weight[rows]
        return Training(X, self.y[rows], weight, self.kinds, self.target)


def read_training(path: str, wishes: Wishes, talk: Talk) -> Training:
    """Read a file for a fit."""
    source = find_source(path, wishes.format)
    check_options(source, delimiter=wishes.text.delimiter)
    with on_disk(source) as source:
        if source.format == "libsvm":
            X, y = read_libsvm(source, wishes.zero_based)
            check_target(y, "label", talk)
            return Training(X, y, None, {}, "label")
        forced: set[str] = set()
        while True:
            try:
                return gather(source, wishes, forced, talk)
            except TurnedTextError as late:  # rare: its first values were numbers, so the words are no longer at hand
                forced.add(late.name)


def gather(source: Source, wishes: Wishes, forced: set[str], talk: Talk) -> Training:
    """Read all blocks; columns in ``forced`` are text."""
    with blocks_of(source, wishes.text) as table, talk.counting("rows read") as advance:
        names = table.declared.names
        target = Target(find_column(wishes.target, names))
        weight = None
        if wishes.weight is not None:
            weight = Column(find_column(wishes.weight, names, "--weight"), "number", True, table.declared.decimal)
        columns = planned(table.declared, wishes, forced, {target.name, weight.name if weight else ""})
        for block in table.blocks:
            target.add(block[target.name])
            for column in columns + ([weight] if weight else []):
                column.add(block[column.name])
            advance(block.num_rows)
    y, labelled = target.finish() if target._parts else (np.array([]), np.array([], dtype=bool))
    if not len(labelled):
        raise InputError(f"{source.name} has a header, but no rows.")
    finished = {column.name: column.finish() for column in columns}
    X = pa.table(finished)
    if not labelled.all():
        talk.warn(f"{(~labelled).sum()} of {len(labelled)} rows have no label in column {target.name!r}: left out.")
        X = X.filter(pa.array(labelled))
    check_target(y, target.name, talk)
    tell_about(columns, X, talk)
    weights = None if weight is None else check_weights(weight, labelled)
    return Training(X, y, weights, {column.name: str(column.kind) for column in columns}, target.name)


def planned(declared: Declared, wishes: Wishes, forced: set[str], taken: set[str]) -> list[Column]:
    """The columns to learn from, with the kinds that are known before anything is read."""
    names, given = declared.names, dict(declared.kinds)
    for option, listed, kind in (
        ("--categorical", wishes.categorical, "text"),
        ("--numeric", wishes.numeric, "number"),
        ("--drop", wishes.drop, "drop"),
    ):
        for name in listed:
            if name not in names:
                hint = did_you_mean(name, names) or f"; there are {shown(names)}."
                raise InputError(f"{option} {name!r}: there is no such column{hint}")
            if given.get(name, kind) != kind and name not in declared.kinds:
                raise ArgumentError(f"column {name!r} is named by two of --categorical, --numeric and --drop.")
            given[name] = kind
    fixed = {**given, **dict.fromkeys(forced - set(given), "text")}
    columns = [
        Column(name, fixed.get(name), name in given, declared.decimal)
        for name in names
        if name not in taken and fixed.get(name) != "drop"
    ]
    if not columns:
        raise InputError(
            "no column is left to learn from: the file has only the target, the weight and dropped columns."
        )
    return columns


def check_weights(column: Column, labelled: AnyArray) -> Array:
    """The weights of the rows that have labels."""
    weights = column.finish().to_numpy()[labelled]
    if np.isnan(weights).any() or (weights < 0).any():
        raise InputError(
            f"--weight {column.name!r}: {int((~(weights >= 0)).sum())} rows have no weight, or a negative one."
        )
    return weights


def tell_about(columns: list[Column], X: pa.Table, talk: Talk) -> None:
    """Say what was decided about columns that are not clear."""
    for column in columns:
        tell_bad_words(column, talk)
        if column.coded:
            talk.say(
                f"column {column.name!r} has numbers that begin with a zero, {column.padded} of {column.present}: "
                f"codes, taken as categories (--numeric {column.name} takes them as numbers)."
            )
        if column.kind == "text" and X.num_rows >= 20:
            different = len(X[column.name].unique())
            if different > NEARLY_UNIQUE * X.num_rows:
                talk.warn(
                    f"column {column.name!r} has {different} different texts in {X.num_rows} rows, like a name or a "
                    f"number of a row; probably it should not be learned from (--drop {column.name})."
                )
        elif column.kind == "number" and counts_rows(X[column.name]):
            talk.warn(f"column {column.name!r} just counts the rows; do not learn from it (--drop {column.name}).")


def counts_rows(values: pa.ChunkedArray) -> bool:
    """Whether each number is one more than the number before, as in an index that was saved with the table."""
    if len(values) < 20 or values.null_count or values[1].as_py() != values[0].as_py() + 1:
        return False
    numbers = values.to_numpy()
    return bool((np.diff(numbers) == 1).all())


def tell_bad_words(column: Column, talk: Talk) -> None:
    """Say which words of a column of numbers became missing."""
    if column.bad:
        n, words = sum(column.bad.values()), [word for word, _ in column.bad.most_common()]
        talk.warn(
            f"column {column.name!r} holds {column.kind}s, but {n} of {column.present} values are not: "
            f"{some(words, 3)}; taken as missing.",
            about=f"words in {column.name}",
        )
