"""The race: SimplexBoost with its defaults against other boosting libraries, accuracy and log-loss against fit time.

Every fit has a process of its own. SimplexBoost runs to its end; a fit of a peer has a budget in seconds, or as long as
SimplexBoost took on the set where that is longer. First, each peer's three settings are fitted on four fifths
of the training rows; the fifth held out chooses the setting and how many rounds are kept. Then all are fitted on all
training rows, several times and in alternating order: everyone with its defaults, and the peers with what was chosen.
On problems that are made on the spot, everyone runs with its defaults only, once.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import runner
from runner import Countdown, File, Workers
from simplexboost.datasets import ENVIRONMENT, available

from . import cell, machine, sections
from .cell import Spec
from .contestants import CONTESTANTS, OURS
from .problems import MADE, STANDARD
from .results import LATE, choose, found, summarise

Item = TypeVar("Item")


def race(
    names: Sequence[str],
    results: File,
    options: argparse.Namespace,
    workers: Workers | None = None,
    compute: Callable[[Spec], dict[str, Any]] = cell.run,
) -> None:
    """Run what is not done yet: ours once, for budgets; what validates settings; everything on all training rows."""
    peers = [name for name in names if name != OURS]
    tuned = {dataset: peers if validations(dataset, peers, options) else [] for dataset in options.sets}
    fits = sum(repeats(dataset, options) * len([*names, *tuned[dataset]]) for dataset in options.sets)
    total = fits + sum(len(validations(dataset, tuned[dataset], options)) for dataset in options.sets)
    countdown, ran = Countdown(total, float(total)), set[str]()
    waves: list[Callable[[str], list[Spec]]] = [
        lambda dataset: finals(dataset, [OURS], {}, options)[:1],
        lambda dataset: validations(dataset, tuned[dataset], options, budget(dataset, results.cells, options)),
        lambda dataset: finals(dataset, names, results.cells, options, budget(dataset, results.cells, options)),
    ]
    for wave in waves:
        specs = [spec for dataset in options.sets for spec in wave(dataset) if spec.key not in ran]
        runner.run(hopeful(specs, results), results, compute, workers, outcome, countdown)
        ran |= {spec.key for spec in specs}


def budget(dataset: str, cells: dict[str, Any], options: argparse.Namespace) -> float:
    """Seconds that a peer has on a set: what is asked for, or the time of our first fit where that is longer."""
    ours = [cell["fit_seconds"] for _, cell in found(cells, dataset, OURS, "plain")[:1]]
    return max([options.budget, *ours])


def validations(
    dataset: str, peers: Sequence[str], options: argparse.Namespace, budget: float | None = None
) -> list[Spec]:
    """Every setting of every peer; with one setting, or on a problem made on the spot, there is nothing to validate."""
    turns = range(options.settings) if options.settings > 1 and dataset not in MADE else ()
    settings = {name: list(CONTESTANTS[name].settings) for name in peers}
    return [
        Spec(dataset, name, settings[name][i], "validate", 0, **same_for_all(options, budget))
        for i in turns
        for name in alternate(peers, i)
    ]


def finals(
    dataset: str,
    names: Sequence[str],
    cells: dict[str, Any],
    options: argparse.Namespace,
    budget: float | None = None,
) -> list[Spec]:
    """Repeated fits of everyone with its defaults, and with the setting and rounds that validation chose."""
    plain = [dict(contestant=name, setting=next(iter(CONTESTANTS[name].settings)), phase="plain") for name in names]
    choices = {name: choose(cells, dataset, name) for name in names}
    tuned = [
        dict(
            contestant=name,
            setting=choice.setting,
            phase="final",
            max_rounds=choice.max_rounds,
            keep=choice.rounds["accuracy"],
            calibrate=choice.rounds["log_loss"],
        )
        for name, choice in choices.items()
        if choice is not None
    ]
    return [
        Spec(dataset=dataset, repeat=repeat, **what, **same_for_all(options, budget))
        for repeat in range(repeats(dataset, options))
        for what in alternate([*plain, *tuned], repeat)
    ]


def repeats(dataset: str, options: argparse.Namespace) -> int:
    """How often everyone is fitted."""
    return 1 if dataset in MADE else int(options.repeats)


def hopeful(specs: Sequence[Spec], results: File) -> list[Spec]:
    """Without those that were given up before because they took too long: they would again."""
    return [spec for spec in specs if not results.cells.get(spec.key, {}).get("error", "").startswith(LATE)]


def same_for_all(options: argparse.Namespace, budget: float | None) -> dict[str, Any]:
    """What all cells of a set have in common."""
    common = {name: getattr(options, name) for name in ("threads", "data_home", "scale")}
    return {**common, "budget": budget or options.budget}


def alternate(items: Sequence[Item], turn: int) -> list[Item]:
    """Forwards, then backwards, and so on."""
    return list(items)[:: -1 if turn % 2 else 1]


def outcome(result: dict[str, Any]) -> str:
    """A cell in a few words."""
    curve = result["curve"]
    if not curve["rounds"]:
        return "no round within the budget"
    best = f"best accuracy {max(curve['accuracy']):.4f}, log-loss {min(curve['log_loss']):.4f}"
    return f"{best} in {curve['rounds'][-1]} rounds, {result['fit_seconds']:.1f} s"


# ---- the command line -----------------------------------------------------------------------------------------------


def arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.race", description=__doc__)
    peers = [name for name in CONTESTANTS if name != OURS]
    add = parser.add_argument
    groups = "; 'standard' for those of RESULTS.md, 'made' for the problems made on the spot"
    add("--sets", default="digits,wine", help=f"names, separated by commas{groups}, 'all' for every file of the folder")
    add("--threads", type=int, default=2, help="of each fit")
    add("--jobs", type=int, default=1, help="fits side by side; threads times jobs should not exceed the cores")
    add(
        "--budget",
        type=float,
        default=120.0,
        help="seconds per fit of a peer; as many as ours took, where these are more",
    )
    add("--limit", type=float, help="seconds after which a cell is given up; by default 5 budgets and 10 minutes")
    add("--repeats", type=int, default=3, help="fits of everyone on all training rows")
    add("--scale", type=float, default=1.0, help="size of the problems made on the spot, 1 the full one")
    add("--data-home", default=os.environ.get(ENVIRONMENT), help="a folder of .npz sets; scikit-learn's need none")
    add("--json", type=Path, default=Path("race.json"), help="finished cells go there at once")
    add("--resume", action="store_true", help="go on with that file")
    add("--peers", default=",".join(peers), help=f"some of {', '.join(peers)}")
    add("--settings", type=int, default=3, choices=(1, 2, 3), help="of each peer; 1: its defaults, not validated")
    options = parser.parse_args(argv)
    options.data_home = str(Path(options.data_home).resolve()) if options.data_home else None
    options.sets = list(every_set(options))
    options.peers = installed([name for name in options.peers.split(",") if name], parser)
    return options


def every_set(options: argparse.Namespace) -> Iterator[str]:
    """The names asked for, checked."""
    files = sorted(path.stem for path in Path(options.data_home or ".").glob("*.npz"))
    groups = {"standard": list(STANDARD), "made": list(MADE), "all": files}
    known = {*available(options.data_home), *MADE}
    for name in [one for word in options.sets.split(",") for one in groups.get(word, [word])]:
        if name not in known:
            raise SystemExit(f"--sets: {name!r} is unknown; choose from {', '.join(sorted(known))}.")
        yield name


def installed(names: Sequence[str], parser: argparse.ArgumentParser) -> list[str]:
    """The peers that can run; the others are named."""
    unknown = [name for name in names if name not in CONTESTANTS]
    if unknown:
        parser.error(f"--peers: {', '.join(unknown)} unknown; choose from {', '.join(CONTESTANTS)}.")
    missing = [name for name in names if not CONTESTANTS[name].is_installed()]
    if missing:
        print(f"not installed, left out: {', '.join(missing)} (pip install '.[bench]')", flush=True)
    return [name for name in names if name not in missing and name != OURS]


def main(argv: Sequence[str] | None = None) -> None:
    """Run the race and print its tables."""
    options = arguments(argv)
    what = {name: getattr(options, name) for name in ("threads", "jobs", "budget", "settings", "scale")}
    header = {"kind": "race", "machine": machine.describe(), "options": what}
    results = File(options.json, header, options.resume)
    limit = options.limit or 5 * options.budget + 600  # a round may be long, and curves take time to evaluate
    workers = Workers(count=options.jobs, threads=options.threads, fresh=True, limit=limit)
    race([OURS, *options.peers], results, options, workers)
    for dataset in options.sets:
        print("\n" + sections.one_set(results.cells, dataset))
    print("\n" + sections.scores({dataset: summarise(results.cells, dataset) for dataset in options.sets}))


if __name__ == "__main__":
    main()
