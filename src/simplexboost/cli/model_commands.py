"""The commands ``predict``, ``export``, ``inspect`` and ``report`` of a fitted model, and ``list``, ``completion``."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
from click.shell_completion import get_completion_class
from scipy.sparse import issparse, vstack

from .. import export
from .._util.arrays import AnyArray
from .._util.messages import format_bytes
from ..decide.sets import set_thresholds, sets_of
from ..evaluate.html_report.page import write_report
from .algorithms import list_classifiers
from .errors import ArgumentError, InputError, count, list_some
from .kinds import NEARLY_ALL, codes_of
from .options import AS_JSON, FILE, QUIET, make_talk, split_names, table_options, with_options
from .scoring import Chunk, Model, open_model, predict_rows, read_chunks
from .terminal import Talk
from .writing import check_writable, output_format, table_writer

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
def predict_command(**options: Any) -> None:
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
    talk = make_talk(options)
    if options["proba"] and options["top"]:
        raise ArgumentError("--proba and --top both say which probabilities to write; pass one of them.")
    if options["per_class"] and options["coverage"] is None:
        raise ArgumentError("--per-class says how the sets of --coverage are made; pass --coverage, too.")
    kind, _ = output_format(options["output"])
    if options["escape_formulas"] and kind not in ("csv", "tsv"):
        raise ArgumentError(f"--escape-formulas is for CSV and TSV; {options['output']} is {kind}, where text is text.")
    check_writable(options["output"], {"the model": options["model"], "the table": options["data"]})
    model, n = open_model(options["model"]), 0
    thresholds = check_probabilities(model, options)
    rows = read_chunks(options["data"], model, table_options(options), talk, split_names(options["keep"]))
    escaping = options["escape_formulas"]
    with table_writer(options["output"], escaping) as write, talk.counting("rows predicted") as advance:
        for chunk in rows:
            answers = predict_columns(model, chunk.X, options, thresholds)
            clash = [name for name in chunk.kept.column_names if name in answers]
            if clash:
                raise InputError(f"--keep {clash[0]}: the output has a column of that name already.")
            write(pa.table({**{name: chunk.kept[name] for name in chunk.kept.column_names}, **answers}))
            n += len(answers["prediction"])
            advance(len(answers["prediction"]))
    if options["output"] != "-":
        talk.say(f"saved {options['output']}: {count(n, 'prediction')}")


def check_probabilities(model: Model, options: dict[str, Any]) -> AnyArray | None:
    """Return the thresholds (K,) of prediction sets, or None; raise if options need probabilities the model lacks."""
    clf = model.classifier
    asked = [f"--{name}" for name in ("proba", "top", "coverage", "abstain") if options[name] not in (None, False)]
    if asked and not hasattr(clf, "predict_proba"):
        raise InputError(f"a {type(clf).__name__} has no probabilities; leave out {' and '.join(asked)}.")
    if options["coverage"] is None:
        return None
    if not hasattr(clf, "set_scores_"):
        raise InputError(f"a {type(clf).__name__} has no sets of classes; leave out --coverage.")
    clash = [label for label in model.classes.tolist() if BETWEEN in str(label)]
    if clash:
        raise InputError(f"--coverage writes labels with {BETWEEN!r} between them, which {clash[0]!r} has in it.")
    try:
        return set_thresholds(clf, options["coverage"], options["per_class"])
    except ValueError as error:
        raise InputError(f"--coverage: {error}") from error


def predict_columns(model: Model, X: Any, options: dict[str, Any], thresholds: AnyArray | None) -> dict[str, Any]:
    """Return a dict of the output columns; ``thresholds`` (K,) are for prediction sets, and None omits the sets."""
    classes = model.classes.tolist()
    labels, (best, P) = pa.array(classes), predict_rows(model.classifier, X)
    unsure = None if options["abstain"] is None else P.max(axis=1) < options["abstain"]
    out = {"prediction": labels.take(pa.array(best, mask=unsure))}
    if thresholds is not None or options["top"]:
        order = np.argsort(-P, axis=1, kind="stable")  # the most probable class first
        ranked = np.take_along_axis(P, order, axis=1)
    if thresholds is not None:
        in_set = np.take_along_axis(sets_of(P, thresholds), order, axis=1)
        members = [row[of_set].tolist() for row, of_set in zip(order, in_set, strict=True)]
        out["set"] = pa.array([BETWEEN.join(str(classes[k]) for k in row) for row in members])
    if options["proba"]:
        out |= {f"proba_{label}": pa.array(P[:, k]) for k, label in enumerate(classes)}
    for i in range(min(options["top"] or 0, P.shape[1])):
        out |= {f"class_{i + 1}": labels.take(pa.array(order[:, i])), f"proba_{i + 1}": pa.array(ranked[:, i])}
    return out


ROUTES = {  # the formats: their functions, their extensions, and what is written beside FILE
    "onnx": (export.onnx, ".onnx", []),
    "treelite": (export.treelite, ".treelite", []),
    "c": (export.c, ".c", [".h"]),
    "python": (export.python, ".py", []),
    "js": (export.javascript, ".js", [".sb"]),
}
TO = "The format; where it is left out, the extension of FILE tells."
SCORES = "Leave probabilities out where the format cannot hold them (onnx, treelite, c)."
SINGLE = "Take values in single precision (onnx, treelite)."


@click.command("export", short_help="Write a model for another program.")
@click.argument("model")
@click.option("--to", type=click.Choice(list(ROUTES)), help=TO)
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to write.")
@click.option("--no-proba", is_flag=True, help=SCORES)
@click.option("--float32", is_flag=True, help=SINGLE)
@QUIET
def export_command(**options: Any) -> None:
    """Write MODEL for another program: as ONNX, for treelite, as C, Python or JavaScript source.

    ONNX needs the package onnx, and treelite the package treelite (pip install onnx treelite). C comes with a header
    (.h), JavaScript with the model file (.sb) that it reads; Python has the model inside, and needs NumPy alone.

    \b
    Examples:
      simplexboost export model.sb --to onnx -o model.onnx
      simplexboost export model.sb -o model.py
      simplexboost export model.sb -o model.c --no-proba
    """
    talk, output = make_talk(options), options["output"]
    if output == "-":
        raise ArgumentError("-o - is standard output; an exported model is a file, so pass its name.")
    to = options["to"] or next((to for to, (_, suffix, _) in ROUTES.items() if Path(output).suffix == suffix), None)
    if to is None:
        known = ", ".join(f"{suffix} ({to})" for to, (_, suffix, _) in ROUTES.items())
        raise ArgumentError(f"-o {output} does not tell the format; pass --to, or one of the extensions {known}.")
    function, _, beside = ROUTES[to]
    more = export_options(to, options)
    check_writable(output, {"the model": options["model"]}, beside)
    classifier = open_model(options["model"]).classifier
    try:
        function(classifier, output, **more)
    except (TypeError, ValueError, ImportError) as error:
        hint = str(error).replace("probabilities=False", "--no-proba")
        raise InputError(f"{options['model']}: {hint}") from error
    for path in [Path(output), *map(Path(output).with_suffix, beside)]:
        talk.say(f"saved {path}: {format_bytes(path.stat().st_size)}")


def export_options(to: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments of the export function for format ``to``; raise for options it does not take."""
    found: dict[str, Any] = {}
    for option, formats, argument in (
        ("no_proba", ("onnx", "treelite", "c"), {"probabilities": False}),
        ("float32", ("onnx", "treelite"), {"dtype": "float32"}),
    ):
        if options[option] and to not in formats:
            name = option.replace("_", "-")
            raise ArgumentError(f"--{name} is for {', '.join(formats)}; leave it out with --to {to}.")
        found |= argument if options[option] else {}
    return found


PADDED = re.compile(r"0\d+")
MOST = 20  # classes and columns that are shown; --all shows more


@click.command("inspect", short_help="Show what is in a model.")
@click.argument("model")
@AS_JSON
@click.option("--all", "everything", is_flag=True, help=f"Show all classes and columns, not only {MOST}.")
def inspect_command(model: str, as_json: bool, everything: bool) -> None:
    """Show what is in MODEL: algorithm, parameters, classes, columns, rounds and importances.

    \b
    Examples:
      simplexboost inspect model.sb
      simplexboost inspect model.sb --json | jq .columns
    """
    found = summarize_model(open_model(model))
    print(json.dumps(found, indent=1, default=str) if as_json else summary_text(found, None if everything else MOST))


def summarize_model(model: Model) -> dict[str, Any]:
    """Return a summary of a model as JSON values: parameters, classes, columns, importances and more."""
    classifier = model.classifier
    importances = getattr(classifier, "feature_importances_", None)
    names = model.names or [f"column {i + 1}" for i in range(classifier.n_features_in_)]
    categories = getattr(getattr(classifier, "categories_", None), "columns", [None] * len(names))
    kinds = getattr(classifier, "feature_kinds_", None) or ["number"] * len(names)
    columns = [
        {
            "name": name,
            "kind": kind if values is None else "categories",
            **({} if values is None else {"categories": len(values)}),
            **({} if (code := find_code(values)) is None else {"code": code}),
            **({} if importances is None else {"importance": float(importances[j])}),
        }
        for j, (name, kind, values) in enumerate(zip(names, kinds, categories, strict=True))
    ]
    default = type(classifier)().get_params(deep=False)
    parameters = classifier.get_params(deep=False)
    changed = [name for name in parameters if name != "callbacks" and repr(parameters[name]) != repr(default[name])]
    return {
        "file": model.path,
        "bytes": os.path.getsize(model.path),
        "algorithm": type(classifier).__name__,
        "parameters": {name: parameter_to_json(parameters[name]) for name in changed},
        "rounds": getattr(classifier, "n_iter_", None),
        "classes": model.classes.tolist(),
        "columns": columns,
        "choice": None if (choice := getattr(classifier, "choice_", None)) is None else str(choice),
    }


def find_code(categories: Any) -> str | None:
    """Return a category with a leading zero, such as 06000, if nearly all categories consist of digits; else None."""
    texts = [] if categories is None else [text for text in categories.tolist() if isinstance(text, str)]
    if sum(text.isdecimal() for text in texts) < NEARLY_ALL * len(texts):
        return None
    return next((text for text in texts if PADDED.fullmatch(text)), None)


def parameter_to_json(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value if value is None or isinstance(value, bool | int | float | str | list) else repr(value)


def summary_text(found: dict[str, Any], most: int | None) -> str:
    """Return the summary of a model as text, with at most ``most`` classes and columns; None shows all."""
    settings = ", ".join(f"{name}={value}" for name, value in found["parameters"].items()) or "all as by default"
    rounds = "" if found["rounds"] is None else f", {found['rounds']} rounds"
    labels, columns = found["classes"], found["columns"]
    lines = [
        f"{found['file']}: {found['algorithm']}{rounds}, {format_bytes(found['bytes'])}",
        f"parameters: {settings}",
        f"{len(labels)} classes: {', '.join(map(str, labels[:most]))}{', …' if most and len(labels) > most else ''}",
        f"{len(columns)} columns:",
    ]
    columns = sorted(columns, key=lambda column: -column.get("importance", 0.0))
    width = max(len(column["name"]) for column in columns[:most])
    for column in columns[:most]:
        kind = column["kind"] if "categories" not in column else f"{column['categories']} categories"
        kind += f", codes such as {column['code']}" if "code" in column else ""
        importance = f"  importance {column['importance']:.4f}" if "importance" in column else ""
        lines.append(f"  {column['name']:{width}}  {kind:15}{importance}".rstrip())
    if most and len(columns) > most:
        lines.append(f"  … and {len(columns) - most} more (--all)")
    return "\n".join(lines + ([f"chosen by {found['choice']}"] if found["choice"] else []))


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
def report_command(**options: Any) -> None:
    """Write an HTML page about MODEL and its scores on the labelled rows of DATA.

    The page is one HTML file that needs no network. It has scores with intervals, learning curves, all classes, the
    confusions with examples, importances, calibration, doubtful labels and a model card. Use rows that the fit did not
    use. Without --target, the labels are in the only column that has the model's classes and is no feature.

    \b
    Examples:
      simplexboost report model.sb test.csv -o report.html
      simplexboost report model.sb test.parquet --target species --id id --title "Pets, second try"
      simplexboost report model.sb train.csv --folds 5
    """
    talk, output = make_talk(options), options["output"]
    if output == "-":
        raise ArgumentError("-o - is standard output; a report is a file, so pass its name.")
    check_writable(output, {"the model": options["model"], "the table": options["data"]})
    model, keep = open_model(options["model"]), () if options["id_"] is None else (options["id_"],)
    rows = read_chunks(options["data"], model, table_options(options), talk, keep, labelled=True, option="--id")
    X, c, names = read_labelled(model, rows, talk)
    table = Path(options["data"]).name
    title = options["title"] or f"{Path(options['model']).name} on {table}"
    wishes = {"title": title, "data": table, "folds": options["folds"], "first_row": None if keep else 1}
    try:
        write_report(model.classifier, X, model.classes[c], output, names, **wishes)
    except (TypeError, ValueError) as error:
        raise InputError(f"{options['model']}: {error}") from error
    talk.say(f"saved {output}: {count(len(c), 'row')}, {format_bytes(Path(output).stat().st_size)}")


def read_labelled(model: Model, rows: Iterable[Chunk], talk: Talk) -> tuple[Any, AnyArray, AnyArray]:
    """Return X, class indices and names (--id or row numbers) of the rows whose label is a class of the model."""
    tables, classes, names, seen, unknown = [], [], [], 0, set()
    for chunk in rows:
        c, labelled = codes_of(chunk.labels, model.classes)
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
        talk.warn(f"rows with labels that the model does not know are left out: {list_some(sorted(unknown))}.")
    if len(c) < seen:
        talk.say(f"{count(seen - len(c), 'row')} of {seen} left out: without a label, or with an unknown one.")
    if isinstance(tables[0], pa.Table):
        X = pa.concat_tables(tables)
    else:
        X = vstack(tables, format="csr") if issparse(tables[0]) else np.concatenate(tables)
    return X, c, np.concatenate(names)


@click.command("list", short_help="List all classifiers.")
def list_command() -> None:
    """List all classifiers: their short names, classes, parts and papers.

    \b
    Example:
      simplexboost list | grep AdaBoost
    """
    print(list_classifiers())


@click.command("completion", short_help="Print the completion script of a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print the script that lets a shell complete commands and options.

    \b
    Examples:
      simplexboost completion bash >> ~/.bashrc
      simplexboost completion zsh >> ~/.zshrc
      simplexboost completion fish > ~/.config/fish/completions/simplexboost.fish
    """
    from .app import app

    kind = get_completion_class(shell)
    assert kind is not None
    print(kind(app, {}, "simplexboost", "_SIMPLEXBOOST_COMPLETE").source())
