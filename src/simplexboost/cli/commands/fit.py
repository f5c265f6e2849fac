"""``simplexboost fit``."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import click
import numpy as np
import pyarrow as pa
from sklearn.model_selection import train_test_split

from ..._sizes import in_bytes
from ..algorithms import DEFAULT, algorithm_names, make_classifier
from ..errors import ArgumentError, InputError, count
from ..labels import codes_of, label_words
from ..metrics import Scores
from ..options import FILE, MODEL, TABLE, talk_of, wishes_of, with_options
from ..progress import watched
from ..scoring import chunks, model_size, open_model
from ..talk import Talk
from ..training import Training, read_training
from ..writing import check_writable
from .evaluate import lines_of, predictions, score

HOLDOUT = (
    "Hold out this part of the rows and evaluate on it, for instance 0.2; the saved model is fitted on the others."
)


@click.command("fit")
@click.argument("data")
@click.option("-o", "--output", required=True, metavar="MODEL", help="The model file to write, for instance model.sb.")
@click.option(
    "--algorithm",
    default=DEFAULT,
    show_default=True,
    metavar="NAME",
    help="`simplexboost list` shows them.",
    shell_complete=lambda ctx, param, word: [name for name in algorithm_names() if name.startswith(word)],
)
@click.option("--eval", "eval_", metavar="FILE", help="Evaluate the model on the rows of another file.")
@click.option("--holdout", type=click.FloatRange(0, 1, True, True), metavar="PART", help=HOLDOUT)
@with_options(MODEL, TABLE, FILE)
def command(**options: Any) -> None:
    """Fit a classifier to the table in DATA and save it.

    DATA is a CSV, TSV, Parquet, Feather, ARFF, LIBSVM or NPZ file, perhaps compressed, or - for standard input. Without
    --target the last column has the labels. Columns of numbers, dates and text are told apart; text is categories.

    \b
    Examples:
      simplexboost fit iris.csv --target species -o iris.sb
      simplexboost fit train.csv.gz --target y -o model.sb --holdout 0.2 --drop id,name
      simplexboost fit train.parquet -o model.sb --algorithm GDMCBoost --set n_estimators=200 --set learning_rate=0.1
      zcat data.gz | simplexboost fit - --target label -o model.sb --categorical zip
    """
    talk, wishes = talk_of(options), wishes_of(options)
    if options["eval_"] and options["holdout"]:
        raise ArgumentError("--eval and --holdout both say what to evaluate on; pass one of them.")
    if options["output"] == "-":
        raise ArgumentError("-o - : a model is written to a file, not to standard output.")
    check_writable(options["output"], {"the table": options["data"], "the table of --eval": options["eval_"]})
    classifier = make_classifier(options["algorithm"], options["settings"], options["seed"], options["jobs"])
    begin = time.perf_counter()
    training = read_training(options["data"], wishes, talk)
    describe(training, talk)
    held_out = None
    if options["holdout"]:
        training, held_out = split(training, options["holdout"], options["seed"])
    fit(classifier, training, talk)
    if held_out is not None:
        tell(score_frame(classifier, held_out), f"{count(held_out.n, 'row')} held out", talk)
    classifier.save(options["output"])
    seconds = time.perf_counter() - begin
    talk.say(f"saved {options['output']}: {in_bytes(model_size(options['output']))}, {seconds:.1f} s in all")
    if options["eval_"]:
        model = open_model(options["output"])
        scores = score(model, chunks(options["eval_"], model, wishes, talk, labelled=True), talk)
        tell(scores, options["eval_"], talk)


def fit(classifier: Any, training: Training, talk: Talk) -> None:
    """Fit, with progress."""
    weight = {} if training.weight is None else {"sample_weight": training.weight}
    frame, y = training.frame(classifier), training.y
    training.X = None  # the frame has the columns now: keep one copy only
    try:
        with watched(classifier, talk):
            classifier.fit(frame, y, **weight)
    except (ValueError, TypeError) as error:
        raise InputError(f"{type(classifier).__name__}: {' '.join(str(error).split())}") from error


def describe(training: Training, talk: Talk) -> None:
    """Say what was read."""
    kinds = Counter(training.kinds.values())
    words = {
        "number": "numeric",
        "date": "of dates",
        "duration": "of durations",
        "time": "of times",
        "text": "categorical",
    }
    columns = ", ".join(f"{kinds[kind]} {word}" for kind, word in words.items() if kinds[kind])
    p = training.X.shape[1]
    talk.say(f"{count(training.n, 'row')}, {count(p, 'column')}{f' ({columns})' if columns else ''}")
    classes, counts = np.unique(training.y, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    shown = ", ".join(f"{classes[k]} {counts[k]}" for k in order[:8])
    more = f", … down to {counts.min()}" if len(classes) > 8 else ""
    talk.say(f"{len(classes)} classes in column {training.target!r}: {shown}{more}")


def split(training: Training, part: float, seed: int) -> tuple[Training, Training]:
    """Rows to fit and rows held out, of every class as far as possible."""
    _, inverse, counts = np.unique(training.y, return_inverse=True, return_counts=True)
    several = np.flatnonzero(counts[inverse] > 1)  # a class with a single row stays among those to fit
    if len(several) * part < 1 or len(several) * (1 - part) < 1:
        raise InputError(f"--holdout {part}: there are too few rows ({training.n}) to hold some out.")
    stratify = inverse[several] if len(several) * min(part, 1 - part) >= len(np.unique(inverse[several])) else None
    _, held = train_test_split(several, test_size=part, random_state=seed, stratify=stratify)
    is_held = np.zeros(training.n, dtype=bool)
    is_held[held] = True
    return training.rows(np.flatnonzero(~is_held)), training.rows(np.flatnonzero(is_held))


def score_frame(classifier: Any, held_out: Training) -> Scores:
    """The scores on rows that were held out."""
    scores = Scores(classifier.classes_)
    c, _ = codes_of(label_words(pa.array(held_out.y), held_out.target), classifier.classes_)
    scores.add(c, *predictions(classifier, held_out.frame(classifier)))
    return scores


def tell(scores: Scores, where: str, talk: Talk) -> None:
    """Say how good the model is, in a line."""
    talk.say(f"on {where}: " + ", ".join(lines_of(scores.summary())))
