"""``simplexboost predict``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click
import numpy as np
import pyarrow as pa

from ..._typing import AnyArray
from ...deciding.sets import sets_of
from ..errors import ArgumentError, InputError, count
from ..options import FILE, names, talk_of, wishes_of, with_options
from ..scoring import Model, chunks, open_model
from ..writing import check_writable, output_format, table_writer
from .evaluate import predictions

OUTPUT = "CSV, TSV, Parquet or Feather by its extension; - is standard output."
SETS = "Also a column set: the most probable labels, as many as it takes to have the true one in this part of the rows."
ESCAPE = "For spreadsheets: an apostrophe before text that they would compute, such as =1+1 (CSV and TSV)."
EACH = "With --coverage: for this part of the rows of every class, and not only of all rows."
ABSTAIN = "Leave the prediction empty where the probability of its class is below P."
BETWEEN = ";"  # the labels of a set
TOP = "The N most probable classes and their probabilities: class_1, proba_1, class_2, …"


@click.command("predict")
@click.argument("model")
@click.argument("data")
@click.option("-o", "--output", default="-", show_default=True, metavar="FILE", help=OUTPUT)
@click.option("--proba", is_flag=True, help="Also a column of probabilities for every class, proba_LABEL.")
@click.option("--top", type=click.IntRange(1), metavar="N", help=TOP)
@click.option("--coverage", type=click.FloatRange(0, 1, min_open=True, max_open=True), metavar="P", help=SETS)
@click.option("--per-class", is_flag=True, help=EACH)
@click.option("--abstain", type=click.FloatRange(0, 1), metavar="P", help=ABSTAIN)
@click.option("--keep", multiple=True, metavar="COL,…", help="Columns of DATA to carry along, for instance an id.")
@click.option("--escape-formulas", is_flag=True, help=ESCAPE)
@with_options(FILE)
def command(**options: Any) -> None:
    """Predict the class of every row of DATA, in input order.

    Columns are matched by name: their order is free, others are ignored, missing ones are an error. DATA is read block
    by block, so it may be larger than the memory.

    \b
    Examples:
      simplexboost predict model.sb new.csv -o predictions.csv
      simplexboost predict model.sb new.parquet -o predictions.parquet --proba --keep id
      cat new.csv | simplexboost predict model.sb - --top 5 | head
      simplexboost predict model.sb new.csv --coverage 0.95 --abstain 0.8
    """
    talk, wishes = talk_of(options), wishes_of(options)
    if options["proba"] and options["top"]:
        raise ArgumentError("--proba and --top both say which probabilities to write; pass one of them.")
    if options["per_class"] and options["coverage"] is None:
        raise ArgumentError("--per-class says how the sets of --coverage are made; pass --coverage, too.")
    kind, _ = output_format(options["output"])
    if options["escape_formulas"] and kind not in ("csv", "tsv"):
        raise ArgumentError(f"--escape-formulas is for CSV and TSV; {options['output']} is {kind}, where text is text.")
    check_writable(options["output"], {"the model": options["model"], "the table": options["data"]})
    model, n = open_model(options["model"]), 0
    wanted = wanted_of(model, options)
    rows = chunks(options["data"], model, wishes, talk, names(options["keep"]))
    escaping = options["escape_formulas"]
    with table_writer(options["output"], escaping) as writer, talk.counting("rows predicted") as advance:
        for chunk in rows:
            answers = predicted_columns(model, chunk.X, wanted)
            clash = [name for name in chunk.kept.column_names if name in answers]
            if clash:
                raise InputError(f"--keep {clash[0]}: the output has a column of that name already.")
            writer.write(pa.table({**dict(zip(chunk.kept.column_names, chunk.kept.columns, strict=True)), **answers}))
            n += len(answers["prediction"])
            advance(len(answers["prediction"]))
    if options["output"] != "-":
        talk.say(f"saved {options['output']}: {count(n, 'prediction')}")


@dataclass(frozen=True, eq=False)
class Wanted:
    """What is written beside the prediction; thresholds (K,) are those of sets, if they are wanted."""

    proba: bool = False
    top: int | None = None
    thresholds: AnyArray | None = None
    abstain: float | None = None


def wanted_of(model: Model, options: dict[str, Any]) -> Wanted:
    """What the options ask for, after checking that the model has it."""
    clf, thresholds = model.classifier, None
    asked = [f"--{name}" for name in ("proba", "top", "coverage", "abstain") if options[name] not in (None, False)]
    if asked and not hasattr(clf, "predict_proba"):
        raise InputError(f"a {type(clf).__name__} has no probabilities; leave out {' and '.join(asked)}.")
    if options["coverage"] is not None:
        if not hasattr(clf, "predict_set"):
            raise InputError(f"a {type(clf).__name__} has no sets of classes; leave out --coverage.")
        clash = [label for label in model.classes.tolist() if BETWEEN in str(label)]
        if clash:
            raise InputError(f"--coverage writes labels with {BETWEEN!r} between them, which {clash[0]!r} has in it.")
        try:
            thresholds = clf._set_scores().thresholds(options["coverage"], options["per_class"])
        except ValueError as error:
            raise InputError(f"--coverage: {error}") from error
    return Wanted(options["proba"], options["top"], thresholds, options["abstain"])


def predicted_columns(model: Model, X: Any, wanted: Wanted) -> dict[str, Any]:
    """The columns of the output, by name."""
    labels = pa.array(model.classes.tolist())
    best, P = predictions(model.classifier, X)
    unsure = None if wanted.abstain is None else P.max(axis=1) < wanted.abstain
    out = {"prediction": labels.take(pa.array(best, mask=unsure))}
    if wanted.thresholds is not None:
        out["set"] = set_column(P, sets_of(P, wanted.thresholds), model.classes.tolist())
    if wanted.proba:
        out |= {f"proba_{label}": pa.array(P[:, k]) for k, label in enumerate(model.classes.tolist())}
    if wanted.top:
        out |= top_columns(P, labels, min(wanted.top, P.shape[1]))
    return out


def set_column(P: AnyArray, S: AnyArray, classes: list[Any]) -> pa.Array:
    """The labels of every set in one text, the most probable first."""
    order = np.argsort(-P, axis=1, kind="stable")
    rows = zip(order.tolist(), np.take_along_axis(S, order, axis=1).tolist(), strict=True)
    return pa.array([BETWEEN.join(str(classes[k]) for k, in_set in zip(*row, strict=True) if in_set) for row in rows])


def top_columns(P: AnyArray, labels: pa.Array, top: int) -> dict[str, Any]:
    """The most probable classes of every row and their probabilities."""
    order = np.argsort(-P, axis=1, kind="stable")[:, :top]  # (n, top)
    best = np.take_along_axis(P, order, axis=1)
    columns: dict[str, Any] = {}
    for i in range(top):
        columns |= {f"class_{i + 1}": labels.take(pa.array(order[:, i])), f"proba_{i + 1}": pa.array(best[:, i])}
    return columns
