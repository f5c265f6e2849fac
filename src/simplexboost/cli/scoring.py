"""Rows of a file for a fitted model, block by block, and scores of its predictions, added up over the blocks.

So memory does not grow with the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from .._util.arrays import AnyArray, Array, Labels, Mask
from ..classifiers.metrics import among_top, log_losses
from ..persist import load
from .errors import InputError, count, some
from .kinds import TIMES, Column, as_frame, codes_of, find_column, label_words
from .readers import Texts, blocks_of, check_options, check_readable, find_source, libsvm_blocks
from .terminal import Talk
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
    several = classifier._problem.several
    if several is not None:
        raise InputError(f"{path} predicts several {several} per row; the commands take models of one class.")
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


@dataclass
class Scores:
    """What is known of some predictions.

    Attributes
    ----------
    pairs : how often class c was taken for class k, by (c, k); a label that the model does not know is −1
    top : rows whose class is among the five most probable ones
    loss : the sum of −log p over rows of known classes; None without probabilities
    """

    classes: AnyArray
    pairs: Counter[tuple[int, int]] = field(default_factory=Counter)
    top: int = 0
    loss: float | None = 0.0

    def add(self, c: Labels, predicted: Labels, P: Array | None) -> None:
        """Add rows: their classes (n,), predictions (n,) and probabilities (n, K) if there are any."""
        pairs, counts = np.unique(np.stack([c, predicted]), axis=1, return_counts=True)
        self.pairs.update(dict(zip(map(tuple, pairs.T.tolist()), counts.tolist(), strict=True)))
        if P is None or self.loss is None:
            self.loss = None
            return
        known = c >= 0
        self.loss += float(log_losses(P[known], c[known]).sum())
        self.top += int(among_top(P[known], c[known], 5).sum())

    @property
    def n(self) -> int:
        """The number of rows."""
        return sum(self.pairs.values())

    def of_classes(self) -> dict[int, dict[str, Any]]:
        """Rows, recall and precision of every class that has rows; precision is None if it was never predicted."""
        rows: Counter[int] = Counter()
        said: Counter[int] = Counter()
        for (c, k), times in self.pairs.items():
            rows[c] += times
            said[k] += times
        return {
            c: {
                "class": self.label(c),
                "rows": rows[c],
                "recall": self.pairs[c, c] / rows[c],
                "precision": self.pairs[c, c] / said[c] if said[c] else None,
            }
            for c in sorted(rows)
            if c >= 0
        }

    def label(self, c: int) -> Any:
        """The label of a class."""
        return self.classes[c].item() if isinstance(self.classes[c], np.generic) else self.classes[c]

    def summary(self) -> dict[str, Any]:
        """The scores by name; None where they need probabilities."""
        right = sum(count for (c, k), count in self.pairs.items() if c == k)
        unknown = sum(count for (c, _), count in self.pairs.items() if c < 0)
        recalls = [entry["recall"] for entry in self.of_classes().values()]
        with_loss = self.loss is not None and self.n > unknown
        return {
            "rows": self.n,
            "unknown_labels": unknown,
            "accuracy": right / self.n,
            "balanced_accuracy": float(np.mean(recalls)) if recalls else None,
            "log_loss": self.loss / (self.n - unknown) if with_loss and self.loss is not None else None,
            "top_5_accuracy": self.top / self.n if with_loss and len(self.classes) > 5 else None,
        }

    def worst_pairs(self, most: int = 5) -> list[dict[str, Any]]:
        """The most frequent confusions."""
        wrong = [((c, k), count) for (c, k), count in self.pairs.items() if c != k and c >= 0]
        wrong.sort(key=lambda entry: (-entry[1], entry[0]))
        return [{"class": self.label(c), "taken_for": self.label(k), "rows": n} for (c, k), n in wrong[:most]]
