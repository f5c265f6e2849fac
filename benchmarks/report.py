"""Tables of a race, and the results page: ``python -m benchmarks.report out.json …`` writes benchmarks/RESULTS.md.

Several files may be races with other options, on other sets or other machines.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from runner.stores import read

from .contestants import CONTESTANTS, OURS
from .curves import METRICS, Comparison, time_ratio
from .results import Summary, comparisons, summarise

ENOUGH_TEST_ROWS = 1000  # ranks are taken over sets with at least so many
SHOWN = {"accuracy": "accuracy", "log_loss": "log-loss"}
HOW = """\
Every fit has a process of its own and the same float32 numbers. SimplexBoost runs with its defaults. Times are fit time
alone, taken after every round; curves are evaluated afterwards.

{races}

*accuracy* and *log-loss* are those after the rounds kept, *best* those of the best round of the test curve; figures
are medians over repeats. **Time ratio**: for every peer whose best accuracy is within 0.5 point of the best peer's, its
time to its own best − 0.1 point, divided by our time to the same accuracy; the set's ratio is the smallest of these,
and 0 where we never get there; ratios in brackets are of peers that do not count. For log-loss: peers within 5 % of the
best one, and a target of their own best + 1 %.
"""
RACE = "{threads} thread(s), {budget:g} s a fit, peers {peers}: {sets}."
ONE_SETTING = "with their defaults, for as long as the budget lasts"
VALIDATED = """\
with the best of {settings} settings (their defaults and alternatives, `benchmarks/peers.py`) and as
many rounds as was best, both chosen by accuracy on a fifth of the training rows"""


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, padded so that it also reads as text; numbers to the right."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        first = cells[0].ljust(widths[0])
        return "| " + " | ".join([first, *(c.rjust(w) for c, w in zip(cells[1:], widths[1:], strict=True))]) + " |"

    rule = "|" + "|".join(["-" * (widths[0] + 2), *("-" * (w + 1) + ":" for w in widths[1:])]) + "|"
    return "\n".join([line(head), rule, *map(line, rows)])


# ---- one set --------------------------------------------------------------------------------------------------------


def set_section(cells: dict[str, Any], dataset: str) -> str:
    """Heading, final figures and time ratios of a set."""
    summaries = summarise(cells, dataset)
    parts = [f"## {dataset}", shape(cells, dataset), figures(summaries)]
    for metric in METRICS:
        compared = comparisons(summaries, metric)
        if compared:
            parts.append(f"Time ratio, {SHOWN[metric]}: **{number(time_ratio(compared), 2)}**\n\n{ratios(compared)}")
    parts += [f"{name} failed: {cell['error']}" for name, cell in failures(cells, dataset)]
    return "\n\n".join(part for part in parts if part)


def shape(cells: dict[str, Any], dataset: str) -> str:
    """Rows, features and classes in words."""
    about = data_of(cells, dataset)
    return "{n_train} + {n_test} rows, {p} features, {K} classes".format(**about) if about else "nothing finished"


def data_of(cells: dict[str, Any], dataset: str) -> dict[str, int]:
    """The sizes of a set, from any final cell."""
    finals = (cell for name, cell in cells.items() if name.startswith(f"{dataset}/") and "/final/" in name)
    return next((cell["data"] for cell in finals if "data" in cell), {})


def failures(cells: dict[str, Any], dataset: str) -> list[tuple[str, dict[str, Any]]]:
    """The cells of a set that failed."""
    return [(n, cell) for n, cell in cells.items() if n.startswith(f"{dataset}/") and "error" in cell]


def figures(summaries: dict[str, Summary]) -> str:
    """The table of final figures."""
    head = "contestant,setting,accuracy,best,log-loss,best,fit s,rounds,trees,model kB,predict rows/s,memory MB"
    rows = [
        [
            s.contestant,
            s.setting,
            *(f"{value:.4f}" for value in (s.accuracy, s.best_accuracy, s.log_loss, s.best_log_loss)),
            number(s.seconds, 2),
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


def number(value: float | None, digits: int) -> str:
    """A number, or a dash."""
    return "–" if value is None or math.isnan(value) else f"{value:.{digits}f}"


# ---- all sets -------------------------------------------------------------------------------------------------------


def overview(cells: dict[str, Any], sets: Sequence[str]) -> str:
    """Time ratios and scores of all sets beside the best peer's, and mean ranks."""
    head = ["set", "classes", "ratio (accuracy)", "ratio (log-loss)", "accuracy", "best peer", "log-loss", "best peer"]
    rows = []
    for dataset in sets:
        summaries = summarise(cells, dataset)
        row = [dataset, str(data_of(cells, dataset).get("K", "–"))]
        row += [number(time_ratio(comparisons(summaries, metric)), 2) for metric in METRICS]
        for name, metric in METRICS.items():
            theirs = [getattr(s, name) for s in summaries.values() if s.contestant != OURS]
            row += [number(getattr(summaries.get(OURS), name, None), 4)]
            row += [number(metric.best(theirs) if theirs else None, 4)]
        rows.append(row)
    return "\n\n".join(["## All sets", table(head, rows), ranks(cells, sets)])


def ranks(cells: dict[str, Any], sets: Sequence[str]) -> str:
    """Mean ranks over the sets with many test rows; who did not finish comes last, ties share a rank."""
    large = [dataset for dataset in sets if data_of(cells, dataset).get("n_test", 0) >= ENOUGH_TEST_ROWS]
    everyone = [name for name in CONTESTANTS if any(name in summarise(cells, dataset) for dataset in large)]
    if not large:
        return f"No set has {ENOUGH_TEST_ROWS} test rows: no ranks."
    rows = []
    for contestant in everyone:
        means = [mean_rank(cells, large, contestant, metric, everyone) for metric in METRICS]
        rows.append([contestant, *(number(mean, 2) for mean in means)])
    text = f"Mean rank over the {len(large)} set(s) with at least {ENOUGH_TEST_ROWS} test rows (not finished: last)"
    return f"{text}:\n\n{table(['contestant', 'accuracy', 'log-loss'], rows)}"


def mean_rank(
    cells: dict[str, Any], sets: Sequence[str], contestant: str, metric: str, everyone: Sequence[str]
) -> float:
    """The mean over sets of a contestant's rank, 1 the best."""
    sign = -1 if METRICS[metric].higher_is_better else 1
    total = 0.0
    for dataset in sets:
        summaries = summarise(cells, dataset)
        values = {n: sign * getattr(summaries[n], metric) if n in summaries else math.inf for n in everyone}
        own = values[contestant]
        total += 1 + sum(v < own for v in values.values()) + (sum(v == own for v in values.values()) - 1) / 2
    return total / len(sets)


# ---- the page -------------------------------------------------------------------------------------------------------


def sets_of(content: dict[str, Any]) -> list[str]:
    """The sets of a file, in order."""
    return list(dict.fromkeys(name.partition("/")[0] for name in content["cells"]))


def conditions(races: Sequence[dict[str, Any]]) -> str:
    """A line per set of options: threads, budget, settings, the sets that were raced with them, and the file's note."""
    groups: dict[str, list[str]] = {}
    for content in races:
        options = content["options"]
        peers = VALIDATED.format(**options) if options["settings"] > 1 else ONE_SETTING
        line = RACE.format(**options, peers=peers, sets="{sets}") + content.get("note", "")
        groups.setdefault(line, []).extend(sets_of(content))
    return "\n".join("- " + line.format(sets=", ".join(sets)) for line, sets in groups.items())


def machines(races: Sequence[dict[str, Any]]) -> str:
    """What the races ran on; where there are several machines, with their sets."""
    groups: dict[str, list[str]] = {}
    for content in races:
        about = content["machine"]
        versions = ", ".join(f"{name} {version}" for name, version in sorted(about["versions"].items()))
        line = f"{about['processor']}, {about['cores']} cores, {about['memory_gb']} GB, {about['system']}; {versions}"
        groups.setdefault(line, []).extend(sets_of(content))
    if len(groups) == 1:
        return f"Machine: {next(iter(groups))}."
    return "Machines:\n\n" + "\n".join(f"- {', '.join(sets)}: {line}." for line, sets in groups.items())


def page(races: Sequence[dict[str, Any]], pictures: dict[str, str]) -> str:
    """The results page."""
    cells = {name: cell for content in races for name, cell in content["cells"].items()}
    sets = [dataset for content in races for dataset in sets_of(content)]
    how = HOW.format(races=conditions(races))
    parts = ["# The race", "Generated by `python -m benchmarks.report`; do not edit.", how]
    parts += [machines(races), overview(cells, sets)]
    for dataset in sets:
        parts.append(set_section(cells, dataset))
        if dataset in pictures:
            parts.append(f"![{dataset}: accuracy and log-loss against fit time]({pictures[dataset]})")
    return "\n\n".join(part.strip() for part in parts) + "\n"


def main(argv: Sequence[str] | None = None) -> None:
    """Write the page, and the pictures beside it where matplotlib is installed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.report", description=__doc__)
    parser.add_argument("json", type=Path, nargs="+")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("RESULTS.md"))
    options = parser.parse_args(argv)
    races = [read(path) for path in options.json]
    pictures = {}
    if find_spec("matplotlib"):
        from . import plots

        for content in races:
            for dataset in sets_of(content):
                picture = plots.draw(content["cells"], dataset, options.output.parent / "plots")
                pictures[dataset] = os.path.relpath(picture, options.output.parent)
    options.output.write_text(page(races, pictures), encoding="utf-8")
    print(options.output)


if __name__ == "__main__":
    main()
