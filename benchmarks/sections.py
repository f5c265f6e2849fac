"""What the results page says of a race: scores, where a peer is ahead, time ratios, calibration, and each set."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

from .contestants import CONTESTANTS, OURS
from .curves import METRICS, Comparison, time_ratio
from .problems import MADE
from .results import LATE, Summary, comparisons, data_of, set_ratio, summarise, verdict, verdicts
from .tables import best_in_bold, number, table

Race = dict[str, dict[str, Summary]]  # rows by name, by set
SHOWN = {"accuracy": "accuracy", "log_loss": "log-loss"}
MANY_ROWS = 10_000  # training rows; sets with more are summed up apart


# ---- all sets -------------------------------------------------------------------------------------------------------


def tally(race: Race) -> list[str]:
    """On how many sets we are behind no peer, a line per metric."""
    lines = []
    rules = {"log_loss": "at or below the best peer's", "accuracy": "at or above the best peer's less 0.1 point"}
    for metric, rule in rules.items():
        found = list(verdicts(race, metric))
        if found:
            held = sum(one.holds for one in found)
            lines.append(f"{SHOWN[metric]} {rule} on **{held} of {len(found)}** sets.")
    return lines


def ratio_lines(race: Race, rows: dict[str, int]) -> list[str]:
    """The smallest and the median time ratio by accuracy, of large sets and of others."""
    lines = []
    for large, words in ((True, "more than"), (False, "at most")):
        sets = [dataset for dataset in race if (rows[dataset] > MANY_ROWS) == large]
        ratios = [ratio for dataset in sets if (ratio := set_ratio(race[dataset], "accuracy")) is not None]
        if ratios:
            span = f"smallest {min(ratios):.2f}, median {median(ratios):.2f} over {len(ratios)} set(s)"
            never = sum(ratio == 0 for ratio in ratios)
            span += f", 0 on {never} of them, where a peer's accuracy is not reached" if never else ""
            lines.append(f"time ratio (accuracy), {words} {MANY_ROWS} training rows: {span}.")
    return lines


def scores(race: Race) -> str:
    """Accuracy and log-loss of all sets beside the best peer's, and time ratios."""
    head = ["set", "log-loss", "best peer", "its name", "accuracy", "best peer", "its name"]
    rows = []
    for dataset, summaries in race.items():
        row = [dataset]
        for metric in ("log_loss", "accuracy"):
            one = verdict(summaries, dataset, metric)
            ours = getattr(summaries.get(OURS), metric, None)
            better = METRICS[metric].higher_is_better
            row += best_in_bold([ours, one.best if one else None], 4, higher_is_better=better)
            row += [one.peer if one else "–"]
        rows.append([*row, *(number(set_ratio(summaries, metric), 2) for metric in METRICS)])
    return table([*head, "ratio (accuracy)", "ratio (log-loss)"], rows)


def ahead(race: Race, *, own_rounds: bool = False) -> Iterator[list[str]]:
    """Rows of "where a peer is ahead": by log-loss, by accuracy, by time; that of whole fits for ``own_rounds``."""
    for metric in ("log_loss", "accuracy"):
        for one in verdicts(race, metric):
            if one.lead < 0:
                points = metric == "accuracy"
                by = f"{-100 * one.lead:.2f} point(s)" if points else f"{-one.lead / one.best:.1%}"
                more = " (counts as equal)" if one.holds else ""
                yield [one.dataset, SHOWN[metric], one.peer, f"{one.best:.4f}", f"{one.ours:.4f}", by + more]
    for dataset, summaries in race.items():
        yield from faster(dataset, summaries) if own_rounds else slower(dataset, comparisons(summaries, "accuracy"))


def faster(dataset: str, summaries: dict[str, Summary]) -> Iterator[list[str]]:
    """The fastest peer that finished before we did, whatever came of it."""
    times = {name: s.seconds for name, s in summaries.items() if name == OURS or not s.stopped}
    first = min(times, key=lambda name: times[name], default=OURS)
    if OURS in times and first != OURS:
        shown = [f"{times[name]:.3g} s" for name in (first, OURS)]
        yield [dataset, "time of the whole fit", first, *shown, f"{times[OURS] / times[first]:.2f} times as fast"]


def slower(dataset: str, compared: Sequence[Comparison]) -> Iterator[list[str]]:
    """The peers that count and reach their accuracy sooner than we do."""
    for c in compared:
        if c.counts and c.ratio < 1:
            never = math.isinf(c.our_seconds)
            ours = "never" if never else f"{c.our_seconds:.3g} s"
            by = "not reached" if never else f"{1 / c.ratio:.2f} times as fast"
            yield [dataset, f"time to accuracy {c.target:.4f}", c.peer, f"{c.peer_seconds:.3g} s", ours, by]


AHEAD_HEAD = ["set", "by", "peer", "its", "ours", "how much"]


# ---- problems made on the spot --------------------------------------------------------------------------------------


def made(race: Race, cells: dict[str, Any]) -> str:
    """Log-loss and fit time of everyone's defaults; who did not finish is marked."""
    names = [name for name in CONTESTANTS if any(name in summaries for summaries in race.values())]
    losses, times = [], []
    for dataset, summaries in race.items():
        values = [summaries[name].log_loss if name in summaries else None for name in names]
        floor = number(MADE[dataset].floor, 3)
        losses.append([dataset, *best_in_bold(values, 4, higher_is_better=False), floor])
        times.append([dataset, *(fit_time(summaries.get(name)) for name in names)])
    kinds = [
        "- {}: {}, {n_train} + {n_test} rows, {p} features, {K} classes".format(
            dataset, MADE[dataset].words, **data_of(cells, dataset)
        )
        for dataset in race
        if data_of(cells, dataset)
    ]
    parts = ["\n".join(kinds), "Log-loss; the floor is that of who knows the probabilities:"]
    parts += [table(["set", *names, "floor"], losses)]
    parts += ["Fit time in seconds; *: the budget ended the fit before its last round; –: no round in time:"]
    return "\n\n".join([*parts, table(["set", *names], times)])


def fit_time(summary: Summary | None) -> str:
    """Seconds, with a star where the budget ended the fit."""
    return "–" if summary is None else f"{summary.seconds:.1f}{'*' if summary.stopped else ''}"


# ---- calibration ----------------------------------------------------------------------------------------------------


def calibration(race: Race) -> str:
    """Expected calibration errors in percent, a row for every set."""
    names = list(dict.fromkeys(name for summaries in race.values() for name in summaries))
    rows = []
    for dataset, summaries in race.items():
        bins = [summaries[name].reliability if name in summaries else None for name in names]
        values = [100 * one.error if one else None for one in bins]
        rows.append([dataset, *best_in_bold(values, 2, higher_is_better=False)])
    return table(["set", *names], rows)


# ---- one set --------------------------------------------------------------------------------------------------------


def one_set(cells: dict[str, Any], dataset: str) -> str:
    """Heading, final figures and time ratios of a set."""
    summaries = summarise(cells, dataset)
    parts = [f"### {dataset}", shape(cells, dataset), figures(summaries)]
    for metric in METRICS:
        compared = comparisons(summaries, metric)
        if compared:
            parts.append(f"Time ratio, {SHOWN[metric]}: **{number(time_ratio(compared), 2)}**\n\n{ratios(compared)}")
    parts += [failure(name, cell["error"]) for name, cell in failures(cells, dataset)]
    return "\n\n".join(part for part in parts if part)


def failure(name: str, error: str) -> str:
    """A cell that failed, in words."""
    return f"{name}: {error}." if error.startswith(LATE) else f"{name} failed: {error}"


def shape(cells: dict[str, Any], dataset: str) -> str:
    """Rows, features and classes in words."""
    about = data_of(cells, dataset)
    return "{n_train} + {n_test} rows, {p} features, {K} classes".format(**about) if about else "nothing finished"


def failures(cells: dict[str, Any], dataset: str) -> list[tuple[str, dict[str, Any]]]:
    """The cells of a set that failed."""
    return [(n, cell) for n, cell in cells.items() if n.startswith(f"{dataset}/") and "error" in cell]


def figures(summaries: dict[str, Summary]) -> str:
    """The table of final figures."""
    head = "contestant,setting,accuracy,best,log-loss,best,fit s,rounds,trees,model kB,predict rows/s,memory MB"
    rows = [
        [
            s.name,
            s.setting,
            *(f"{value:.4f}" for value in (s.accuracy, s.best_accuracy, s.log_loss, s.best_log_loss)),
            f"{s.seconds:.2f}{'*' if s.stopped else ''}",
            *(f"{value:.0f}" for value in (s.rounds, s.n_trees, s.model_bytes / 1000, s.rows_per_second, s.memory_mb)),
        ]
        for s in summaries.values()
    ]
    return table(head.split(","), rows) if rows else ""


def ratios(compared: Sequence[Comparison]) -> str:
    """The table of time ratios; peers that do not count are in brackets, and we say how far we got."""
    rows = []
    for c in compared:
        ours = f"{c.our_seconds:.3g}" if math.isfinite(c.our_seconds) else f"never (best {c.our_best:.4f})"
        ratio = number(c.ratio, 2)
        cells = [c.peer, f"{c.best:.4f}", f"{c.target:.4f}", f"{c.peer_seconds:.3g}", ours]
        rows.append([*cells, ratio if c.counts else f"({ratio})"])
    return table(["peer", "its best", "target", "its s", "our s", "ratio"], rows)
