"""Reads a whole file as the features, the labels and the sample weights for a fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from .._util.arrays import AnyArray, Array
from .errors import ArgumentError, InputError, list_some
from .kinds import Column, check_target, find_column, read_column, read_labels
from .readers import OpenTable, TableOptions, find_source, open_table, read_libsvm
from .terminal import Talk

NEARLY_UNIQUE = 0.9  # text with more different values than this part of the rows tells nothing about new rows


@dataclass(eq=False)
class Training:
    """The labelled rows of a file, to which a classifier is fitted."""

    X: Any  # a table, or a sparse matrix without names, (n, p)
    y: AnyArray  # labels, (n,)
    weight: Array | None  # sample weights, (n,)
    kinds: dict[str, str]  # of the columns, by name
    target: str  # the name of the target column

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.y)

    def rows(self, rows: AnyArray) -> Training:
        """Return the training data restricted to the rows with these indices."""
        X = self.X.take(pa.array(rows)) if isinstance(self.X, pa.Table) else self.X[rows]
        weight = None if self.weight is None else self.weight[rows]
        return Training(X, self.y[rows], weight, self.kinds, self.target)


def read_training(path: str, options: TableOptions, talk: Talk) -> Training:
    """Read a whole file for a fit, and print how its columns are interpreted where that is not obvious."""
    source = find_source(path, options)
    if source.format == "libsvm":
        X, y = read_libsvm(source)
        check_target(y, "label", talk)
        return Training(X, y, None, {}, "label")
    with open_table(source) as table, talk.counting("rows read") as advance:
        target, weight = find_column(options.target, table.names), None
        if options.weight is not None:
            weight = find_column(options.weight, table.names, "--weight")
        kinds = find_features(table, options, {target, weight})
        read: dict[str, list[pa.Array]] = {name: [] for name in dict.fromkeys([*kinds, target, weight]) if name}
        for block in table.blocks:
            for name, parts in read.items():
                parts.append(block[name])
            advance(block.num_rows)
    if not read[target]:
        raise InputError(f"{source.name} has a header, but no rows.")
    y, labelled = read_labels(pa.chunked_array(read[target]), target)
    weights = None
    if weight is not None:
        found = read_column(weight, pa.chunked_array(read[weight]), "number", table.decimal)
        weights = found.values.to_numpy()[labelled]
        if bad := int((~(weights >= 0)).sum()):
            raise InputError(f"--weight {weight!r}: {bad} rows have no weight, or a negative one.")
    columns = []
    for name, kind in kinds.items():  # one by one, so that the text of a column goes when its numbers are there
        columns.append(read_column(name, pa.chunked_array(read.pop(name)), kind, table.decimal))
    X = pa.table({column.name: column.values for column in columns})
    if not labelled.all():
        talk.warn(f"{(~labelled).sum()} of {len(labelled)} rows have no label in column {target!r}: left out.")
        X = X.filter(pa.array(labelled))
    check_target(y, target, talk)
    for column in columns:
        tell_about(column, X[column.name], talk)
    return Training(X, y, weights, {column.name: column.kind for column in columns}, target)


def find_features(table: OpenTable, options: TableOptions, taken: set[str | None]) -> dict[str, str | None]:
    """Return a dict from feature column to its declared kind or None; ``taken`` names the other columns."""
    given = dict(table.kinds)
    for option, kind in (("categorical", "text"), ("numeric", "number"), ("drop", "drop")):
        for name in getattr(options, option):
            find_column(name, table.names, f"--{option}", by_position=False)
            if given.get(name, kind) != kind and name not in table.kinds:
                raise ArgumentError(f"column {name!r} is named by two of --categorical, --numeric and --drop.")
            given[name] = kind
    kinds = {name: given.get(name) for name in table.names if name not in taken and given.get(name) != "drop"}
    if not kinds:
        raise InputError("no column is left to learn from: each is the target, the weight or dropped.")
    return kinds


def tell_about(column: Column, values: pa.ChunkedArray, talk: Talk) -> None:
    """Print how a column was interpreted if that is not obvious; ``values`` are its values in labelled rows."""
    name, n = column.name, len(values)
    tell_bad_words(column, talk)
    if column.padded:
        talk.say(
            f"column {name!r} has numbers that begin with a zero, {column.padded} of {column.present}: "
            f"codes, taken as categories (--numeric {name} takes them as numbers)."
        )
    if column.kind == "text" and n >= 20 and (different := len(values.unique())) > NEARLY_UNIQUE * n:
        talk.warn(
            f"column {name!r} has {different} different texts in {n} rows, like a name or a number of a row; probably "
            f"it should not be learned from (--drop {name})."
        )
    # an index that was saved with the table: each number is one more than the number before
    if column.kind == "number" and n >= 20 and not values.null_count and (np.diff(values.to_numpy()) == 1).all():
        talk.warn(f"column {name!r} just counts the rows; do not learn from it (--drop {name}).")


def tell_bad_words(column: Column, talk: Talk) -> None:
    """Warn of words in a column of numbers or times that became missing values."""
    if column.bad:
        words = [word for word, _ in column.bad.most_common()]
        talk.warn(
            f"column {column.name!r} holds {column.kind}s, but {column.bad.total()} of {column.present} values are "
            f"not: {list_some(words, 3)}; taken as missing.",
            about=f"words in {column.name}",
        )
