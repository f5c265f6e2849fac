"""Predicts the rows of a file block by block and accumulates scores, so that memory does not grow with the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from .._util.arrays import AnyArray, Array, Labels
from ..classifiers.metrics import among_top, log_losses
from ..persist.saving import load
from .errors import InputError, count, list_some, one_line
from .kinds import TIMES, Column, as_frame, codes_of, find_column, label_words, read_column
from .readers import TableOptions, check_readable, find_source, libsvm_blocks, open_table
from .terminal import Talk
from .training import tell_bad_words

FEWEST_KNOWN = 0.5  # a column of which more labels than this are classes of the model is taken for the target


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted classifier from a model file, with the names and kinds of its columns."""

    path: str
    classifier: Any
    names: list[str] | None  # of its columns; None if it was fitted on a matrix without names
    kinds: list[str]  # "text", "number", "date", "duration" or "time" for each of its columns

    @property
    def classes(self) -> AnyArray:
        """The class labels (K,)."""
        return self.classifier.classes_


def predict_rows(classifier: Any, X: Any) -> tuple[Labels, Any]:
    """Return predicted class indices (n,), and probabilities (n, K) or None if the classifier has no probabilities."""
    P = classifier.predict_proba(X) if hasattr(classifier, "predict_proba") else None
    if P is None or getattr(classifier, "class_order_", None) is not None:  # ordered classes: the median is predicted
        return np.searchsorted(classifier.classes_, classifier.predict(X)), P
    return classifier._best(P), P


@dataclass(frozen=True, eq=False)
class Chunk:
    """A block of rows of a file, with their labels and the columns to copy to the output."""

    X: Any  # as the classifier takes it, (n, p)
    kept: pa.Table  # the columns that are carried along
    labels: Any = None  # as text, (n,), if they were asked for


def open_model(path: str) -> Model:
    """Return the `Model` in a file; raise unless it can be loaded and the classifier predicts one class per row."""
    check_readable(path)
    try:
        classifier = load(path)
        classifier._problem.check_one_class(
            f"{path} predicts several {{several}} per row; the commands take models of one class."
        )
    except ValueError as error:
        raise InputError(one_line(error)) from error
    p = classifier.n_features_in_
    names = getattr(classifier, "feature_names_in_", None)
    kinds = list(getattr(classifier, "feature_kinds_", None) or ["number"] * p)
    known = getattr(classifier, "categories_", None)
    sets = [None] * p if known is None else known.columns
    for j, categories in enumerate(sets):  # those that are numbers are read as numbers
        texts = categories is not None and (len(categories) == 0 or isinstance(categories.tolist()[0], str))
        kinds[j] = "text" if texts else kinds[j] if kinds[j] in TIMES else "number"
    return Model(path, classifier, None if names is None else [str(name) for name in names], kinds)


def read_chunks(
    path: str,
    model: Model,
    options: TableOptions,
    talk: Talk,
    keep: tuple[str, ...] = (),
    labelled: bool = False,
    option: str = "--keep",
) -> Iterator[Chunk]:
    """Yield the rows of a file as `Chunk` objects, in input order; with ``labelled``, they include the labels.

    ``keep`` has names of columns to copy to the output, and ``option`` is the option that named them, for messages.
    """
    source = find_source(path, options)
    if source.format == "libsvm":
        for X, y in libsvm_blocks(source, model.classifier.n_features_in_):
            labels = label_words(pa.array(y), "label") if labelled else None
            yield Chunk(as_frame(X, model.classifier), pa.table({}), labels)
        return
    with open_table(source, "test") as table:
        kept = [find_column(name, table.names, option) for name in keep]
        first = next(table.blocks, None)
        if first is None:
            raise InputError(f"{source.name} has a header, but no rows.")
        target = find_target(model, first, options, source.name) if labelled or options.target is not None else None
        names = match_columns(model, table.names, target, source.name, talk)
        seen = {name: Column(name, kind, None, 0, Counter()) for name, kind in zip(names, model.kinds, strict=True)}
        for block in chain([first], table.blocks):
            found = {}
            for name, before in seen.items():
                column = read_column(name, block[name], before.kind, table.decimal)
                found[name] = column.values
                bad, present = before.bad + column.bad, before.present + column.present
                seen[name] = Column(name, column.kind, None, present, bad)
            labels = label_words(block[target], target) if labelled and target is not None else None
            yield Chunk(as_frame(pa.table(found), model.classifier), pa.table({n: block[n] for n in kept}), labels)
        for column in seen.values():
            tell_bad_words(column, talk)


def match_columns(model: Model, names: list[str], target: str | None, where: str, talk: Talk) -> list[str]:
    """Return the file's columns in the model's order: by name, or all except the target if the model has no names."""
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
            f"{where} lacks {len(missing)} of the model's {len(model.names)} columns: {list_some(missing, 10)}; it has "
            f"{list_some(names, 10)}."
        )
    extra = [name for name in names if name not in {*model.names, target}]
    if extra:
        talk.say(f"{count(len(extra), 'column')} that the model does not use: {list_some(extra)}.")
    return model.names


def find_target(model: Model, block: pa.RecordBatch, options: TableOptions, where: str) -> str:
    """Return the label column: --target, or the only column that has the model's classes and is no feature."""
    names = block.schema.names
    if options.target is not None:
        return find_column(options.target, names)
    unused = [name for name in names if name not in set(model.names or [])]
    found = [name for name in unused if share_known(block[name], name, model) > FEWEST_KNOWN]
    if model.names is None and len(names) == model.classifier.n_features_in_ + 1:
        found = names[-1:]
    if len(found) == 1:
        return found[0]
    why = f"{list_some(found)} would do." if found else f"no other column has the model's classes: {list_some(unused)}."
    raise InputError(f"{where}: which column has the labels? Pass --target; {why}")


def share_known(values: Any, name: str, model: Model) -> float:
    """Return the fraction of the labels in a column that are classes of the model; 0 if there are no labels."""
    try:
        numbers, labelled = codes_of(label_words(values, name), model.classes)
    except InputError:
        return 0.0
    return float((numbers[labelled] >= 0).mean()) if labelled.any() else 0.0


# ---- scores ---------------------------------------------------------------------------------------------------------


@dataclass
class Scores:
    """The counts and losses of predictions, summed over blocks of rows, from which scores are computed."""

    labels: list[Any]  # of the K classes
    pairs: Counter[tuple[int, int]] = field(default_factory=Counter)  # rows by class, −1 if unknown, and prediction
    top: int = 0  # rows whose class is among the five most probable ones
    loss: float = 0.0  # the sum of −log p over rows of known classes; NaN without probabilities

    def add(self, c: Labels, predicted: Labels, P: Array | None) -> None:
        """Add rows: class indices c (n,), −1 if unknown, predicted class indices (n,), and probabilities or None."""
        self.pairs.update(zip(c.tolist(), predicted.tolist(), strict=True))
        if P is None:
            self.loss = np.nan
            return
        known = c >= 0
        self.loss += float(log_losses(P[known], c[known]).sum())
        self.top += int(among_top(P[known], c[known], 5).sum())

    @property
    def n(self) -> int:
        """The number of rows added so far."""
        return self.pairs.total()

    def of_classes(self) -> list[dict[str, Any]]:
        """Return a dict per class that has rows: label, number of rows, recall, and precision or None if undefined."""
        rows: Counter[int] = Counter()
        predicted: Counter[int] = Counter()
        for (c, k), times in self.pairs.items():
            rows[c] += times
            predicted[k] += times
        found = []
        for c in sorted(c for c in rows if c >= 0):
            right = self.pairs[c, c]
            precision = right / predicted[c] if predicted[c] else None
            found.append({"class": self.labels[c], "rows": rows[c], "recall": right / rows[c], "precision": precision})
        return found

    def summary(self) -> dict[str, Any]:
        """Return the scores by name; scores that cannot be computed, for instance without probabilities, are None."""
        unknown = sum(count for (c, _), count in self.pairs.items() if c < 0)
        recalls = [entry["recall"] for entry in self.of_classes()]
        with_loss = not np.isnan(self.loss) and self.n > unknown
        return {
            "rows": self.n,
            "unknown_labels": unknown,
            "accuracy": sum(count for (c, k), count in self.pairs.items() if c == k) / self.n,
            "balanced_accuracy": float(np.mean(recalls)) if recalls else None,
            "log_loss": self.loss / (self.n - unknown) if with_loss else None,
            "top_5_accuracy": self.top / self.n if with_loss and len(self.labels) > 5 else None,
        }

    def worst_pairs(self, most: int = 5) -> list[dict[str, Any]]:
        """Return dicts of the ``most`` most frequent confusions: true class, predicted class, number of rows."""
        wrong = [((c, k), count) for (c, k), count in self.pairs.items() if c != k and c >= 0]
        wrong.sort(key=lambda entry: (-entry[1], entry[0]))
        return [{"class": self.labels[c], "taken_for": self.labels[k], "rows": n} for (c, k), n in wrong[:most]]


def score_rows(model: Model, rows: Iterable[Chunk], talk: Talk) -> Scores:
    """Return the scores of a model on blocks of rows; rows without a label are skipped with a warning."""
    scores, unlabelled, unknown = Scores(model.classes.tolist()), 0, set()
    with talk.counting("rows evaluated") as advance:
        for chunk in rows:
            c, labelled = codes_of(chunk.labels, model.classes)
            predicted, P = predict_rows(model.classifier, chunk.X)
            scores.add(c[labelled], predicted[labelled], None if P is None else P[labelled])
            unlabelled += int((~labelled).sum())
            if (c[labelled] < 0).any():
                unknown |= set(chunk.labels.filter(pa.array(c < 0)).drop_null().unique().to_pylist())
            advance(len(c))
    if unlabelled:
        talk.warn(f"{count(unlabelled, 'row')} without a label: left out.")
    if unknown:
        shown = ", ".join(sorted(unknown)[:5])
        talk.warn(f"labels that the model does not know count as errors, and not in the log-loss: {shown}.")
    if scores.n == 0:
        raise InputError("no row has a label.")
    return scores


SHOWN = {"accuracy": "accuracy", "balanced_accuracy": "balanced accuracy", "log_loss": "log-loss"}
SHOWN |= {"top_5_accuracy": "top-5 accuracy"}


def summary_words(scores: Scores) -> list[str]:
    """Return the scores that are not None as texts such as "accuracy 0.9500"."""
    summary = scores.summary()
    return [f"{word} {summary[name]:.4f}" for name, word in SHOWN.items() if summary[name] is not None]


def scores_text(scores: Scores, most: int | None) -> str:
    """Return all scores as text, with the ``most`` classes of lowest recall; None shows all classes."""
    lines, pairs = [count(scores.n, "row"), *summary_words(scores)], scores.worst_pairs()
    lines += ["", "most frequent errors"] if pairs else []
    lines += [f"  {count(pair['rows'], 'time')} {pair['class']} was taken for {pair['taken_for']}" for pair in pairs]
    classes = sorted(scores.of_classes(), key=lambda entry: (entry["recall"], -entry["rows"]))
    width = max([5, *(len(str(entry["class"])) for entry in classes[:most])])
    lines += ["", f"{'class':{width}}  {'rows':>8}  recall  precision"]
    for entry in classes[:most]:
        precision = "      –" if entry["precision"] is None else f"{entry['precision']:.4f}"
        lines.append(f"{entry['class']!s:{width}}  {entry['rows']:8}  {entry['recall']:.4f}  {precision:>9}")
    if most is not None and len(classes) > most:
        lines.append(f"… and {len(classes) - most} classes of higher recall (--classes shows all)")
    return "\n".join(lines)
