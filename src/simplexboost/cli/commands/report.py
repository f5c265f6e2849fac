"""``simplexboost report``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
from scipy.sparse import issparse, vstack

from ..._sizes import in_bytes
from ..._typing import AnyArray
from ...report.contents import Wishes
from ...report.writing import write_report
from ..errors import ArgumentError, InputError, count, some
from ..options import FILE, talk_of, wishes_of, with_options
from ..scoring import Chunk, Model, chunks, model_size, open_model
from ..talk import Talk
from ..writing import check_writable

TITLE = "The heading of the page; the names of MODEL and DATA if it is left out."
ID = "A column of DATA that says what the rows are called on the page, instead of their numbers."
FOLDS = "Find doubtful labels by models fitted to N folds of DATA: for rows that MODEL was fitted to."


@click.command("report", short_help="Write a page about a model: one HTML file.")
@click.argument("model")
@click.argument("data")
@click.option("-o", "--output", default="report.html", show_default=True, metavar="FILE", help="Where to write.")
@click.option("--title", metavar="TEXT", help=TITLE)
@click.option("--id", "id_", metavar="COL", help=ID)
@click.option("--folds", type=click.IntRange(2), metavar="N", help=FOLDS)
@with_options(FILE)
def command(**options: Any) -> None:
    """Write a page about MODEL and how it does on the rows of DATA, which have labels.

    The page is one HTML file that needs no network. It has scores with intervals, learning curves, all classes, the
    confusions with examples, importances, calibration, doubtful labels and a model card. Take rows that the fit has not
    seen. The labels are in the column --target, or in the only column beside the model's that has its classes.

    \b
    Examples:
      simplexboost report model.sb test.csv -o report.html
      simplexboost report model.sb test.parquet --target species --id id --title "Pets, second try"
      simplexboost report model.sb train.csv --folds 5
    """
    talk, output = talk_of(options), options["output"]
    if output == "-":
        raise ArgumentError("-o - is standard output; a report is a file, so pass its name.")
    check_writable(output, {"the model": options["model"], "the table": options["data"]})
    model, keep = open_model(options["model"]), () if options["id_"] is None else (options["id_"],)
    rows = chunks(options["data"], model, wishes_of(options), talk, keep, labelled=True, option="--id")
    X, c, names = whole(model, rows, talk)
    table = Path(options["data"]).name
    title = options["title"] or f"{Path(options['model']).name} on {table}"
    wishes = Wishes(title, table, options["folds"], model_size(model.path), None if keep else 1)
    try:
        write_report(model.classifier, X, model.classes[c], output, wishes, names)
    except (TypeError, ValueError) as error:
        raise InputError(f"{options['model']}: {error}") from error
    talk.say(f"saved {output}: {count(len(c), 'row')}, {in_bytes(Path(output).stat().st_size)}")


def whole(model: Model, rows: Iterable[Chunk], talk: Talk) -> tuple[Any, AnyArray, AnyArray]:
    """All rows with labels that the model knows, the numbers of their classes (n,), and what they are called (n,)."""
    tables, classes, names, seen, unknown = [], [], [], 0, set()
    for chunk in rows:
        c, labelled = chunk.codes(model.classes)
        known = np.flatnonzero(labelled & (c >= 0))
        assert chunk.labels is not None
        unknown |= set(chunk.labels.filter(pa.array(labelled & (c < 0))).to_pylist())
        tables.append(chunk.X.take(known) if isinstance(chunk.X, pa.Table) else chunk.X[known])
        classes.append(c[known])
        names.append(np.array(chunk.kept.column(0).to_pylist())[known] if chunk.kept.num_columns else seen + known + 1)
        seen += len(c)
    c = np.concatenate(classes) if classes else np.empty(0, dtype=np.intp)
    if len(c) == 0:
        raise InputError("no row has a label that the model knows.")
    if unknown:
        talk.warn(f"rows with labels that the model does not know are left out: {some(sorted(unknown))}.")
    if len(c) < seen:
        talk.say(f"{count(seen - len(c), 'row')} of {seen} left out: without a label, or with an unknown one.")
    return joined(tables), c, np.concatenate(names)


def joined(tables: list[Any]) -> Any:
    """Blocks of one table below each other."""
    if isinstance(tables[0], pa.Table):
        return pa.concat_tables(tables)
    return vstack(tables, format="csr") if issparse(tables[0]) else np.concatenate(tables)
