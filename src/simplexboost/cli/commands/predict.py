"""``simplexboost predict``."""

from __future__ import annotations

from typing import Any

import click
import numpy as np
import pyarrow as pa

from ..._typing import AnyArray
from ..errors import ArgumentError, InputError, count
from ..options import FILE, names, talk_of, wishes_of, with_options
from ..scoring import Model, chunks, open_model
from ..writing import check_writable, output_format, table_writer
from .evaluate import predictions

OUTPUT = "CSV, TSV, Parquet or Feather by its extension; - is standard output."
TOP = "The N most probable classes and their probabilities: class_1, proba_1, class_2, …"


@click.command("predict")
@click.argument("model")
@click.argument("data")
@click.option("-o", "--output", default="-", show_default=True, metavar="FILE", help=OUTPUT)
@click.option("--proba", is_flag=True, help="Also a column of probabilities for every class, proba_LABEL.")
@click.option("--top", type=click.IntRange(1), metavar="N", help=TOP)
@click.option("--keep", multiple=True, metavar="COL,…", help="Columns of DATA to carry along, for instance an id.")
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
    """
    talk, wishes = talk_of(options), wishes_of(options)
    if options["proba"] and options["top"]:
        raise ArgumentError("--proba and --top both say which probabilities to write; pass one of them.")
    output_format(options["output"])
    check_writable(options["output"])
    model, n = open_model(options["model"]), 0
    rows = chunks(options["data"], model, wishes, talk, names(options["keep"]))
    with table_writer(options["output"]) as writer, talk.counting("rows predicted") as advance:
        for chunk in rows:
            answers = predicted_columns(model, chunk.X, options["proba"], options["top"])
            clash = [name for name in chunk.kept.column_names if name in answers]
            if clash:
                raise InputError(f"--keep {clash[0]}: the output has a column of that name already.")
            writer.write(pa.table({**dict(zip(chunk.kept.column_names, chunk.kept.columns, strict=True)), **answers}))
            n += len(answers["prediction"])
            advance(len(answers["prediction"]))
    if options["output"] != "-":
        talk.say(f"saved {options['output']}: {count(n, 'prediction')}")


def predicted_columns(model: Model, X: Any, proba: bool, top: int | None) -> dict[str, Any]:
    """The columns of the output, by name."""
    labels = pa.array(model.classes.tolist())
    best, P = predictions(model.classifier, X)
    out = {"prediction": labels.take(pa.array(best))}
    if (proba or top) and P is None:
        raise InputError(f"a {type(model.classifier).__name__} has no probabilities; leave out --proba and --top.")
    if proba:
        out |= {f"proba_{label}": pa.array(P[:, k]) for k, label in enumerate(model.classes.tolist())}
    if top:
        out |= top_columns(P, labels, min(top, P.shape[1]))
    return out


def top_columns(P: AnyArray, labels: pa.Array, top: int) -> dict[str, Any]:
    """The most probable classes of every row and their probabilities."""
    order = np.argsort(-P, axis=1, kind="stable")[:, :top]  # (n, top)
    best = np.take_along_axis(P, order, axis=1)
    columns: dict[str, Any] = {}
    for i in range(top):
        columns |= {f"class_{i + 1}": labels.take(pa.array(order[:, i])), f"proba_{i + 1}": pa.array(best[:, i])}
    return columns
