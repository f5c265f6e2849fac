"""The commands that fit classifiers: ``fit``, ``evaluate``, ``compare`` and ``demo``."""

from __future__ import annotations

import json
import os
import time
import warnings
from collections import Counter
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import click
import numpy as np
import pyarrow as pa
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, train_test_split
from threadpoolctl import threadpool_limits

from .._util.arrays import AnyArray
from .._util.messages import format_bytes
from ..classifiers import SimplexBoostClassifier
from ..classifiers.metrics import log_losses
from .algorithms import CLASSIFIERS, DEFAULT, find_algorithm, make_classifier
from .errors import ArgumentError, InputError, count, did_you_mean, explain, one_line
from .kinds import as_frame, codes_of, label_words
from .options import AS_JSON, FILE, MODEL, TABLE, make_talk, split_words, table_options, with_options
from .peers import PACKAGES, Peer, encode_table, find_installed
from .scoring import Scores, open_model, predict_rows, read_chunks, score_rows, scores_text, summary_words
from .terminal import Talk, show_rounds
from .training import Training, read_training
from .writing import check_writable

FEW = 20  # classes that are shown
ALL = f"Show all classes, not only the {FEW} with the lowest recall."


@click.command("evaluate")
@click.argument("model")
@click.argument("data")
@AS_JSON
@click.option("--classes", "all_classes", is_flag=True, help=ALL)
@with_options(FILE)
def evaluate_command(**options: Any) -> None:
    """Compare the predictions of MODEL with the labels in DATA.

    Without --target, the labels are in the only column that has the model's classes and is no feature.

    \b
    Examples:
      simplexboost evaluate model.sb test.csv
      simplexboost evaluate model.sb test.parquet --target species --json
    """
    talk = make_talk(options)
    model = open_model(options["model"])
    scores = score_rows(model, read_chunks(options["data"], model, table_options(options), talk, labelled=True), talk)
    if options["as_json"]:
        found = {**scores.summary(), "confusions": scores.worst_pairs(20), "classes": scores.of_classes()}
        print(json.dumps(found, indent=1))
    else:
        print(scores_text(scores, None if options["all_classes"] else FEW))


HOLDOUT = "Hold out this part of the rows and evaluate on it, for instance 0.2; the model is fitted on the others."


@click.command("fit")
@click.argument("data")
@click.option("-o", "--output", required=True, metavar="MODEL", help="The model file to write, for instance model.sb.")
@click.option(
    "--algorithm",
    default=DEFAULT,
    show_default=True,
    metavar="NAME",
    help="`simplexboost list` shows them.",
    shell_complete=lambda ctx, param, word: [name for name in CLASSIFIERS if name.startswith(word)],
)
@click.option("--eval", "eval_", metavar="FILE", help="Evaluate the model on the rows of another file.")
@click.option("--holdout", type=click.FloatRange(0, 1, True, True), metavar="PART", help=HOLDOUT)
@with_options(MODEL, TABLE, FILE)
def fit_command(**options: Any) -> None:
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
    talk, about = make_talk(options), table_options(options)
    if options["eval_"] and options["holdout"]:
        raise ArgumentError("--eval and --holdout both say what to evaluate on; pass one of them.")
    if options["output"] == "-":
        raise ArgumentError("-o - : a model is written to a file, not to standard output.")
    check_writable(options["output"], {"the table": options["data"], "the table of --eval": options["eval_"]})
    classifier = make_classifier(options["algorithm"], options["settings"], options["seed"], options["jobs"])
    begin = time.perf_counter()
    training = read_training(options["data"], about, talk)
    describe(training, talk)
    held_out = None
    if options["holdout"]:
        training, held_out = split(training, options["holdout"], options["seed"])
    fit(classifier, training, talk)
    if held_out is not None:
        c, _ = codes_of(label_words(pa.array(held_out.y), held_out.target), classifier.classes_)
        scores = Scores(classifier.classes_.tolist())
        scores.add(c, *predict_rows(classifier, as_frame(held_out.X, classifier)))
        talk.say(f"on {count(held_out.n, 'row')} held out: {', '.join(summary_words(scores))}")
    classifier.save(options["output"])
    seconds = time.perf_counter() - begin
    model = open_model(options["output"])
    talk.say(f"saved {options['output']}: {format_bytes(os.path.getsize(model.path))}, {seconds:.1f} s in all")
    if options["eval_"]:
        scores = score_rows(model, read_chunks(options["eval_"], model, about, talk, labelled=True), talk)
        talk.say(f"on {options['eval_']}: {', '.join(summary_words(scores))}")


def fit(classifier: Any, training: Training, talk: Talk) -> None:
    """Fit a classifier and show the progress; ``training.X`` is set to None, to save memory."""
    frame = as_frame(training.X, classifier)
    training.X = None  # the frame has the columns now: keep one copy only
    try:
        with show_rounds(classifier, talk):
            classifier.fit(frame, training.y, sample_weight=training.weight)
    except (ValueError, TypeError) as error:
        raise InputError(f"{type(classifier).__name__}: {one_line(error)}") from error


KINDS = {"number": "numeric", "date": "of dates", "duration": "of durations", "time": "of times", "text": "categorical"}


def describe(training: Training, talk: Talk) -> None:
    """Print how many rows there are, how many columns of each kind, and the most frequent classes."""
    kinds = Counter(training.kinds.values())
    columns = ", ".join(f"{kinds[kind]} {word}" for kind, word in KINDS.items() if kinds[kind])
    p = training.X.shape[1]
    talk.say(f"{count(training.n, 'row')}, {count(p, 'column')}{f' ({columns})' if columns else ''}")
    classes, counts = np.unique(training.y, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    shown = ", ".join(f"{classes[k]} {counts[k]}" for k in order[:8])
    more = f", … down to {counts.min()}" if len(classes) > 8 else ""
    talk.say(f"{len(classes)} classes in column {training.target!r}: {shown}{more}")


def split(training: Training, part: float, seed: int) -> tuple[Training, Training]:
    """Return training rows and held-out rows, stratified by class if possible; ``part`` is the held-out fraction."""
    _, inverse, counts = np.unique(training.y, return_inverse=True, return_counts=True)
    several = np.flatnonzero(counts[inverse] > 1)  # a class with a single row stays among those to fit
    if len(several) * part < 1 or len(several) * (1 - part) < 1:
        raise InputError(f"--holdout {part}: there are too few rows ({training.n}) to hold some out.")
    stratify = inverse[several] if len(several) * min(part, 1 - part) >= len(np.unique(inverse[several])) else None
    _, held = train_test_split(several, test_size=part, random_state=seed, stratify=stratify)
    is_held = np.zeros(training.n, dtype=bool)
    is_held[held] = True
    return training.rows(np.flatnonzero(~is_held)), training.rows(np.flatnonzero(is_held))


USUAL = ("SimplexBoost", "GDMCBoost", "LogitBoost")
NAMES = (
    f"Names of `simplexboost list`, or {', '.join(PACKAGES)}; 'all' is everything. Usually {', '.join(USUAL)} and the "
    "other libraries that are installed."
)


@click.command("compare", short_help="Cross-validate algorithms on a table.")
@click.argument("data")
@click.option("--algorithms", metavar="NAME,…", help=NAMES)
@click.option("--folds", type=click.IntRange(2), default=5, show_default=True, help="Of the cross-validation.")
@click.option("--rows", type=click.IntRange(10), help="Compare on so many rows, drawn at random.")
@AS_JSON
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the folds and of the algorithms.")
@click.option("--jobs", type=click.IntRange(1), help="Number of threads; all cores by default.")
@with_options(TABLE, FILE)
def compare_command(**options: Any) -> None:
    """Cross-validate algorithms on the table in DATA, all with their defaults, and print a table sorted by log-loss.

    \b
    Examples:
      simplexboost compare train.csv --target species
      simplexboost compare train.csv --target species --algorithms SimplexBoost,SAMME,LightGBM --folds 3 --rows 10000
    """
    talk, folds = make_talk(options), options["folds"]
    chosen = find_algorithms(options["algorithms"])
    training = read_training(options["data"], table_options(options), talk)
    if options["rows"] is not None and options["rows"] < training.n:
        drawn = np.random.default_rng(options["seed"]).choice(training.n, options["rows"], replace=False)
        training = training.rows(np.sort(drawn))
    classes, c = np.unique(training.y, return_inverse=True)
    if len(classes) < 2 or training.n < 2 * folds:
        raise InputError(f"{training.n} rows of {len(classes)} classes are too few for --folds {folds}.")
    rare = int((np.bincount(c) < folds).sum())
    if rare:
        talk.warn(
            f"{count(rare, 'class')} with fewer than {folds} rows: some folds have to predict what they never saw."
        )
    if np.bincount(c).max() < folds:
        raise InputError(f"--folds {folds} is more than the {np.bincount(c).max()} rows of the largest class.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # rare classes were told already
        splits = list(StratifiedKFold(folds, shuffle=True, random_state=options["seed"]).split(c, c))
    with talk.counting("fits", len(chosen) * folds) as advance:
        entries = [cross_validate(name, training, c, splits, options, advance, talk) for name in chosen]
    entries.sort(key=lambda entry: (entry["log_loss"] is None, entry["log_loss"] or 0.0))
    print(json.dumps(entries, indent=1) if options["as_json"] else format_results(entries, training.n, folds))


def find_algorithms(given: str | None) -> list[str]:
    """Return the names of the algorithms to compare, given the value of --algorithms or None."""
    if given is None:
        return [*USUAL, *find_installed()]
    if given.strip().lower() == "all":
        return [name for name in CLASSIFIERS if name != "OutputCode"] + find_installed()
    peers = {name.lower(): name for name in PACKAGES}
    out = []
    for name in split_words(given):
        if name.lower() in peers:
            out.append(peers[name.lower()])
            if out[-1] not in find_installed():
                raise InputError(f"--algorithms {name}: {PACKAGES[out[-1]]} is not installed.")
            continue
        try:
            out.append(find_algorithm(name))
        except ArgumentError as error:
            hint = did_you_mean(name, [*CLASSIFIERS, *PACKAGES]) or "; `simplexboost list` shows all."
            raise ArgumentError(f"--algorithms {name!r} is unknown{hint}") from error
    if not out:
        raise ArgumentError("--algorithms names none.")
    return list(dict.fromkeys(out))


def cross_validate(
    name: str, training: Training, c: AnyArray, splits: Any, options: dict[str, Any], advance: Any, talk: Talk
) -> dict[str, Any]:
    """Return a dict with an algorithm's mean scores over the folds, or with an error message if a fold fails."""
    results = []
    for fit_rows, test_rows in splits:
        try:
            with redirect_stdout(StringIO()), threadpool_limits(options["jobs"]):  # some obey only the latter
                results.append(score_fold(name, training, c, fit_rows, test_rows, options))
        except Exception as error:  # whatever a library raises, the other algorithms are compared
            talk.warn(f"{name} failed: {explain(error)}", about=name)
            advance(len(splits) - len(results))
            nothing = dict.fromkeys(("accuracy", "deviation", "log_loss", "seconds"))
            return {"algorithm": name, **nothing, "error": explain(error)}
        advance(1)
    accuracy, loss, seconds = np.mean(results, axis=0).tolist()
    deviation, loss = float(np.std([result[0] for result in results], ddof=1)), None if np.isnan(loss) else loss
    return {"algorithm": name, "accuracy": accuracy, "deviation": deviation, "log_loss": loss, "seconds": seconds}


def score_fold(
    name: str, training: Training, c: AnyArray, fit_rows: AnyArray, test_rows: AnyArray, options: dict[str, Any]
) -> tuple[float, float, float]:
    """Fit an algorithm to ``fit_rows``; return accuracy and log-loss on ``test_rows``, and the seconds of the fit."""
    if name in PACKAGES:
        X, mask = encode_table(training.X)
        peer = Peer(name, X, mask, options["seed"], options["jobs"])
        begin = time.perf_counter()
        peer.fit(X[fit_rows], c[fit_rows])
        seconds, P, classes = time.perf_counter() - begin, peer.predict_proba(X[test_rows]), peer.classes
    else:
        model = make_classifier(name, (), options["seed"], options["jobs"])
        part = training.rows(fit_rows)
        begin = time.perf_counter()
        model.fit(as_frame(part.X, model), c[fit_rows], sample_weight=part.weight)
        seconds, frame = time.perf_counter() - begin, as_frame(training.rows(test_rows).X, model)
        if not hasattr(model, "predict_proba"):
            return float((model.predict(frame) == c[test_rows]).mean()), np.nan, seconds
        P, classes = model.predict_proba(frame), model.classes_
    truth = c[test_rows]
    full = np.zeros((len(truth), int(c.max()) + 1))
    full[:, classes] = P
    loss = log_losses(full, truth).mean()
    return float((full.argmax(axis=1) == truth).mean()), float(loss), seconds


def format_results(entries: list[dict[str, Any]], n: int, folds: int) -> str:
    """Return the cross-validation results of all algorithms as an aligned table."""
    width = max(9, *(len(entry["algorithm"]) for entry in entries))
    lines = [
        f"{n} rows, {folds} folds; seconds are those of a fit",
        "",
        f"{'algorithm':{width}}  log-loss  accuracy          seconds",
    ]
    for entry in entries:
        if entry["accuracy"] is None:
            lines.append(f"{entry['algorithm']:{width}}  failed")
            continue
        loss = "       –" if entry["log_loss"] is None else f"{entry['log_loss']:8.4f}"
        accuracy = f"{entry['accuracy']:.4f} ± {entry['deviation']:.4f}"
        lines.append(f"{entry['algorithm']:{width}}  {loss}  {accuracy}  {entry['seconds']:8.2f}")
    return "\n".join(lines)


ROUNDS = 400


@click.command("demo", short_help="Handwritten digits, beside scikit-learn's boosting.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on standard error.")
def demo_command(quiet: bool) -> None:
    """Compare this package with scikit-learn's gradient boosting on handwritten digits, in one thread.

    \b
    Example:
      simplexboost demo
    """
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    models = {
        "SimplexBoost, defaults": SimplexBoostClassifier(random_state=0),
        f"SimplexBoost, {ROUNDS} rounds": SimplexBoostClassifier(n_estimators=ROUNDS, random_state=0),
        "scikit-learn HGB, defaults": HistGradientBoostingClassifier(random_state=0),
    }
    print(f"Digits: {len(X)} images of 8 x 8 pixels, 10 classes; {len(X_train)} to fit, {len(X_test)} to predict.\n")
    print(f"{'':28}{'accuracy':>9}{'log-loss':>10}{'trees':>7}{'fit time':>10}", flush=True)
    with threadpool_limits(1), Talk(quiet).counting("models fitted", len(models)) as advance:
        lines = []
        for name, model in models.items():
            begin = time.perf_counter()
            model.fit(X_train, y_train)
            seconds = time.perf_counter() - begin
            P = model.predict_proba(X_test)
            accuracy = np.mean(model.classes_[P.argmax(axis=1)] == y_test)
            trees = model.n_iter_ * (1 if hasattr(model, "model_") else len(model.classes_))
            lines.append(f"{name:28}{accuracy:9.4f}{log_loss(y_test, P):10.4f}{trees:7}{seconds:8.2f} s")
            advance(1)
    print("\n".join(lines))
    print("\nOne of our trees answers for all ten classes at once, so a round costs one tree, not ten.")
