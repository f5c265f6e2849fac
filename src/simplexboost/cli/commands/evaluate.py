"""``simplexboost evaluate``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import click
import numpy as np

from ..errors import InputError, count
from ..metrics import Scores
from ..options import FILE, talk_of, wishes_of, with_options
from ..scoring import Chunk, Model, chunks, open_model
from ..talk import Talk

FEW = 20  # classes that are shown; --classes shows all


@click.command("evaluate")
@click.argument("model")
@click.argument("data")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--classes", "all_classes", is_flag=True, help=f"Show all classes, not only the {FEW} with the lowest recall."
)
@with_options(FILE)
def command(**options: Any) -> None:
    """Compare the predictions of MODEL with the labels in DATA.

    The labels are in the column --target, or in the only column beside the model's that has its classes.

    \b
    Examples:
      simplexboost evaluate model.sb test.csv
      simplexboost evaluate model.sb test.parquet --target species --json
    """
    talk = talk_of(options)
    model = open_model(options["model"])
    scores = score(model, chunks(options["data"], model, wishes_of(options), talk, labelled=True), talk)
    if options["as_json"]:
        print(json.dumps(report(scores), indent=1))
    else:
        print(text(scores, None if options["all_classes"] else FEW))


def score(model: Model, rows: Iterable[Chunk], talk: Talk) -> Scores:
    """The scores of a model on rows with labels; rows without labels are left out."""
    scores, unlabelled, unknown = Scores(model.classes), 0, set()
    with talk.counting("rows evaluated") as advance:
        for chunk in rows:
            c, labelled = chunk.codes(model.classes)
            predicted, P = predictions(model.classifier, chunk.X)
            scores.add(c[labelled], predicted[labelled], None if P is None else P[labelled])
            unlabelled += int((~labelled).sum())
            if (c[labelled] < 0).any() and chunk.labels is not None:
                unknown |= set(chunk.labels.filter(c < 0).drop_null().unique().to_pylist())
            advance(len(c))
    if unlabelled:
        talk.warn(f"{count(unlabelled, 'row')} without a label: left out.")
    if unknown:
        shown = ", ".join(sorted(unknown)[:5])
        talk.warn(f"labels that the model does not know count as errors, and not in the log-loss: {shown}.")
    if scores.n == 0:
        raise InputError("no row has a label.")
    return scores


def predictions(classifier: Any, X: Any) -> tuple[Any, Any]:
    """The numbers of the predicted classes (n,), and probabilities (n, K); None if the classifier has none."""
    P = classifier.predict_proba(X) if hasattr(classifier, "predict_proba") else None
    if P is None or getattr(classifier, "class_order_", None) is not None:  # ordered classes: the median is predicted
        return np.searchsorted(classifier.classes_, classifier.predict(X)), P
    return classifier._best(P), P


def report(scores: Scores) -> dict[str, Any]:
    """All scores, for machines."""
    return {
        **scores.summary(),
        "confusions": scores.worst_pairs(20),
        "classes": list(scores.of_classes().values()),
    }


def lines_of(summary: dict[str, Any]) -> list[str]:
    """The scores in words."""
    words = {
        "accuracy": "accuracy",
        "balanced_accuracy": "balanced accuracy",
        "log_loss": "log-loss",
        "top_5_accuracy": "top-5 accuracy",
    }
    return [f"{word} {summary[name]:.4f}" for name, word in words.items() if summary[name] is not None]


def text(scores: Scores, most: int | None) -> str:
    """All scores, for people."""
    summary = scores.summary()
    lines = [count(summary["rows"], "row"), *lines_of(summary)]
    if pairs := scores.worst_pairs():
        lines += ["", "most frequent errors"]
        lines += [
            f"  {count(pair['rows'], 'time')} {pair['class']} was taken for {pair['taken_for']}" for pair in pairs
        ]
    classes = sorted(scores.of_classes().values(), key=lambda entry: (entry["recall"], -entry["rows"]))
    width = max([5, *(len(str(entry["class"])) for entry in classes[:most])])
    lines += ["", f"{'class':{width}}  {'rows':>8}  recall  precision"]
    for entry in classes[:most]:
        precision = "      –" if entry["precision"] is None else f"{entry['precision']:.4f}"
        lines.append(f"{entry['class']!s:{width}}  {entry['rows']:8}  {entry['recall']:.4f}  {precision:>9}")
    if most is not None and len(classes) > most:
        lines.append(f"… and {len(classes) - most} classes of higher recall (--classes shows all)")
    return "\n".join(lines)
