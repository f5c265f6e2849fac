"""``simplexboost compare``."""

from __future__ import annotations

import json
import time
import warnings
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import click
import numpy as np
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from ..._typing import AnyArray
from ..algorithms import algorithm_names, classifier_class, make_classifier, short_name
from ..errors import ArgumentError, InputError, count, did_you_mean, explain
from ..metrics import TINY
from ..options import FILE, TABLE, talk_of, wishes_of, with_options, words
from ..peers import PACKAGES, encoded, installed, make_peer
from ..talk import Talk
from ..training import Training, read_training

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
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the folds and of the algorithms.")
@click.option("--jobs", type=click.IntRange(1), help="Number of threads; all cores by default.")
@with_options(TABLE, FILE)
def command(**options: Any) -> None:
    """Cross-validate algorithms on the table in DATA, all with their defaults, and print a table sorted by log-loss.

    \b
    Examples:
      simplexboost compare train.csv --target species
      simplexboost compare train.csv --target species --algorithms SimplexBoost,SAMME,LightGBM --folds 3 --rows 10000
    """
    talk, folds = talk_of(options), options["folds"]
    chosen = algorithms(options["algorithms"])
    training = read_training(options["data"], wishes_of(options), talk)
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
    splits = make_splits(c, folds, options["seed"])
    with talk.counting("fits", len(chosen) * folds) as advance:
        entries = [cross_validated(name, training, c, splits, options, advance, talk) for name in chosen]
    entries.sort(key=lambda entry: (entry["log_loss"] is None, entry["log_loss"] or 0.0))
    print(json.dumps(entries, indent=1) if options["as_json"] else table(entries, training.n, folds))


def algorithms(given: str | None) -> list[str]:
    """The names of the algorithms to compare."""
    if given is None:
        return [*USUAL, *installed()]
    if given.strip().lower() == "all":
        return [name for name in algorithm_names() if name != "OutputCode"] + installed()
    peers = {name.lower(): name for name in PACKAGES}
    out = []
    for name in words(given):
        peer = peers.get(name.lower())
        if peer is not None and peer not in installed():
            raise InputError(f"--algorithms {name}: {PACKAGES[peer]} is not installed.")
        if peer is None:
            try:
                out.append(short_name(classifier_class(name).__name__))
            except ArgumentError as error:
                hint = did_you_mean(name, [*algorithm_names(), *PACKAGES]) or "; `simplexboost list` shows all."
                raise ArgumentError(f"--algorithms {name!r} is unknown{hint}") from error
        else:
            out.append(peer)
    if not out:
        raise ArgumentError("--algorithms names none.")
    return list(dict.fromkeys(out))


def make_splits(c: AnyArray, folds: int, seed: int) -> list[tuple[AnyArray, AnyArray]]:
    """Rows to fit and rows to predict; every class is spread over the folds as far as possible."""
    if np.bincount(c).max() < folds:
        raise InputError(f"--folds {folds} is more than the {np.bincount(c).max()} rows of the largest class.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # rare classes: told already
        return list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(c, c))


def cross_validated(
    name: str, training: Training, c: AnyArray, splits: Any, options: dict[str, Any], advance: Any, talk: Talk
) -> dict[str, Any]:
    """Means and deviations over the folds of one algorithm; an error in words if it cannot be fitted."""
    results = []
    for fit_rows, test_rows in splits:
        try:
            with redirect_stdout(StringIO()), threadpool_limits(options["jobs"]):  # some obey only the latter
                results.append(one_fold(name, training, c, fit_rows, test_rows, options))
        except Exception as error:  # whatever a library raises: the others go on
            talk.warn(f"{name} failed: {explain(error)}", about=name)
            advance(len(splits) - len(results))
            nothing = dict.fromkeys(("accuracy", "deviation", "log_loss", "seconds"))
            return {"algorithm": name, **nothing, "error": explain(error)}
        advance(1)
    accuracy, loss, seconds = np.array(results, dtype=float).T
    return {
        "algorithm": name,
        "accuracy": float(accuracy.mean()),
        "deviation": float(accuracy.std(ddof=1)),
        "log_loss": None if np.isnan(loss).any() else float(loss.mean()),
        "seconds": float(seconds.mean()),
    }


def one_fold(
    name: str, training: Training, c: AnyArray, fit_rows: AnyArray, test_rows: AnyArray, options: dict[str, Any]
) -> tuple[float, float, float]:
    """Accuracy, log-loss and seconds of the fit."""
    if name in PACKAGES:
        X, mask = encoded(training.X)
        peer = make_peer(name, X, mask, options["seed"], options["jobs"])
        begin = time.perf_counter()
        peer.fit(X[fit_rows], c[fit_rows])
        seconds, P, classes = time.perf_counter() - begin, peer.predict_proba(X[test_rows]), peer.classes
    else:
        model = make_classifier(name, (), options["seed"], options["jobs"])
        part = training.rows(fit_rows)
        weight = {} if part.weight is None else {"sample_weight": part.weight}
        begin = time.perf_counter()
        model.fit(part.frame(model), c[fit_rows], **weight)
        seconds, frame, classes = time.perf_counter() - begin, training.rows(test_rows).frame(model), model.classes_
        if not hasattr(model, "predict_proba"):
            return float((model.predict(frame) == c[test_rows]).mean()), np.nan, seconds
        P = model.predict_proba(frame)
    truth = c[test_rows]
    full = np.zeros((len(truth), int(c.max()) + 1))
    full[:, classes] = P
    loss = -np.log(np.maximum(full[np.arange(len(truth)), truth], TINY)).mean()
    return float((full.argmax(axis=1) == truth).mean()), float(loss), seconds


def table(entries: list[dict[str, Any]], n: int, folds: int) -> str:
    """The results, aligned."""
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
