"""The blocks of a file, one by one, in the form that a fitted model takes: memory does not grow with the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from .._typing import AnyArray, Mask
from ..files import load
from .blocks import blocks_of
from .errors import InputError, count, some
from .frames import as_frame
from .kinds import TIMES, Column
from .labels import codes_of, find_column, label_words
from .matrices import libsvm_blocks
from .sources import check_options, check_readable, find_source
from .talk import Talk
from .texts import Texts
from .training import Wishes, tell_bad_words

FEWEST_KNOWN = 0.5  # a column of which more labels than this are classes of the model is taken for the target


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted classifier, and what it wants to read.

    Attributes
    ----------
    names : of its columns; None if it was fitted on a matrix without names
    kinds : "text", "number", "date", "duration" or "time" for each of its columns, in their order
    """

    path: str
    classifier: Any
    names: list[str] | None
    kinds: list[str]

    @property
    def classes(self) -> AnyArray:
        """The labels, (K,)."""
        return self.classifier.classes_


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some rows: a frame (n, p), the columns to be carried along, and label words (n,) if they were asked for."""

    X: Any
    kept: pa.Table
    labels: pa.Array | None

    def codes(self, classes: AnyArray) -> tuple[AnyArray, Mask]:
        """The classes of the rows, −1 for those the model does not know; and which rows have labels."""
        assert self.labels is not None
        return codes_of(self.labels, classes)


def open_model(path: str) -> Model:
    """Load a model and see what it wants to read."""
    check_readable(path)
    try:
        classifier = load(path)
    except ValueError as error:
        raise InputError(" ".join(str(error).split())) from error
    if classifier._answers != "one":
        raise InputError(
            f"{path} predicts several {classifier._answers} per row; the commands take models of one class."
        )
    names = getattr(classifier, "feature_names_in_", None)
    return Model(path, classifier, None if names is None else [str(name) for name in names], kinds_of(classifier))


def kinds_of(classifier: Any) -> list[str]:
    """How each column is read: "text", "number", or as a time; categories that are numbers are read as such."""
    p = classifier.n_features_in_
    kinds = getattr(classifier, "feature_kinds_", None) or ["number"] * p
    categories = getattr(classifier, "categories_", None)
    sets = [None] * p if categories is None else categories.columns
    return [
        "text" if holds_text(values) else kind if kind in TIMES else "number"
        for kind, values in zip(kinds, sets, strict=True)
    ]


def holds_text(categories: AnyArray | None) -> bool:
    """Whether these are categories, and text."""
    return categories is not None and (len(categories) == 0 or isinstance(categories.tolist()[0], str))


def chunks(
    path: str,
    model: Model,
    wishes: Wishes,
    talk: Talk,
    keep: tuple[str, ...] = (),
    labelled: bool = False,
    option: str = "--keep",
) -> Iterator[Chunk]:
    """The rows of a file, block by block, in input order; with their labels if they are wanted.

    ``keep`` has the names of columns to be kept, and ``option`` says by which option they were named.
    """
    source = find_source(path, wishes.format)
    check_options(source, delimiter=wishes.text.delimiter)
    if source.format == "libsvm":
        for X, y in libsvm_blocks(source, wishes.zero_based, model.classifier.n_features_in_):
            labels = label_words(pa.array(y), "label") if labelled else None
            yield Chunk(as_frame(X, model.classifier), pa.table({}), labels)
        return
    with blocks_of(source, wishes.text, "test") as table:
        for name in keep:
            find_column(name, table.declared.names, option)
        blocks, first = peek(table)
        if first is None:
            raise InputError(f"{source.name} has a header, but no rows.")
        target = None
        if labelled or wishes.target is not None:
            target = find_target(model, first, wishes, source.name)
        columns = match(model, table.declared.names, target, source.name, talk)
        bad: dict[str, Column] = {}
        for block in blocks:
            frame = as_frame(converted(block, columns, model, bad, table.declared.decimal), model.classifier)
            labels = label_words(block[target], target) if labelled and target is not None else None
            yield Chunk(frame, block_table(block, keep), labels)
        for column in bad.values():
            tell_bad_words(column, talk)


def peek(table: Texts) -> tuple[Iterator[pa.RecordBatch], pa.RecordBatch | None]:
    """All blocks, and the first one beforehand."""
    first = next(table.blocks, None)

    def all_blocks() -> Iterator[pa.RecordBatch]:
        if first is not None:
            yield first
        yield from table.blocks

    return all_blocks(), first


def block_table(block: pa.RecordBatch, keep: tuple[str, ...]) -> pa.Table:
    """The columns to be carried along."""
    return pa.table({name: block[name] for name in (find_column(name, block.schema.names) for name in keep)})


def match(model: Model, names: list[str], target: str | None, where: str, talk: Talk) -> list[str]:
    """The columns of the file that the model wants, in its order: by name; by position if the model has no names."""
    if model.names is None:
        rest = [name for name in names if name != target]
        p = model.classifier.n_features_in_
        if len(rest) != p:
            beside = " beside the target" if len(rest) < len(names) else ""
            raise InputError(
                f"{where} has {len(rest)} columns{beside}; the model was fitted on {p} columns without names."
            )
        return rest
    missing = [name for name in model.names if name not in set(names)]
    if missing:
        raise InputError(
            f"{where} lacks {len(missing)} of the model's {len(model.names)} columns: {some(missing, 10)}; it has "
            f"{some(names, 10)}."
        )
    wanted = set(model.names)
    extra = [name for name in names if name not in wanted and name != target]
    if extra:
        talk.say(f"{count(len(extra), 'column')} that the model does not use: {some(extra)}.")
    return model.names


def find_target(model: Model, block: pa.RecordBatch, wishes: Wishes, where: str) -> str:
    """The column with the labels: the one that was named, or the only one that the model does not use and that holds
    its classes.
    """
    names = block.schema.names
    if wishes.target is not None:
        return find_column(wishes.target, names)
    unused = [name for name in names if name not in set(model.names or [])]
    found = [name for name in unused if share_known(block[name], name, model) > FEWEST_KNOWN]
    if model.names is None and len(names) == model.classifier.n_features_in_ + 1:
        found = names[-1:]
    if len(found) == 1:
        return found[0]
    raise InputError(
        f"{where}: which column has the labels? Pass --target; "
        + (f"{some(found)} would do." if found else f"no column beside the model's has its classes: {some(unused)}.")
    )


def share_known(values: Any, name: str, model: Model) -> float:
    """The part of a column's values that are classes of the model."""
    try:
        numbers, labelled = codes_of(label_words(values, name), model.classes)
    except InputError:
        return 0.0
    return float((numbers[labelled] >= 0).mean()) if labelled.any() else 0.0


def converted(
    block: pa.RecordBatch, columns: list[str], model: Model, bad: dict[str, Column], decimal: str
) -> pa.Table:
    """The model's columns of a block, each of its kind; words among numbers are noted in ``bad``."""
    out = {}
    for name, kind in zip(columns, model.kinds, strict=True):
        column = Column(name, kind, fixed=True, decimal=decimal)
        column.add(block[name])
        out[name] = column.finish()
        noted = bad.setdefault(name, Column(name, column.kind, bad=Counter()))
        noted.bad += column.bad
        noted.present += column.present
    return pa.table(out)


def model_size(path: str) -> int:
    """The bytes of a model file."""
    return Path(path).stat().st_size
