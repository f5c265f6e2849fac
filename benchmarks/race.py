"""The race: SimplexBoost with its defaults against other boosting libraries, accuracy and log-loss against fit time.

Every fit has a process of its own and a budget in seconds. First, each peer's three settings are fitted on four fifths
of the training rows; the fifth held out chooses the setting and how many rounds are kept. Then everyone is fitted on
all training rows, several times and in alternating order.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import runner
from runner import Countdown, File, Workers
from simplexboost.datasets import ENVIRONMENT, available

from . import cell, machine, report
from .cell import Spec
from .contestants import CONTESTANTS, OURS
from .curves import METRICS
from .results import Choice, choose


def race(
    names: Sequence[str],
    results: File,
    options: argparse.Namespace,
    workers: Workers | None = None,
    compute: Callable[[Spec], dict[str, Any]] = cell.run,
) -> None:
    """Run what is not done yet, set after set; what was validated on a set chooses the settings of its final fits."""
    peers = [name for name in names if name != OURS]
    total = len(options.sets) * (len(validations("", peers, options)) + len(names) * options.repeats)
    countdown = Countdown(total, float(total))
    for dataset in options.sets:
        runner.run(validations(dataset, peers, options), results, compute, workers, outcome, countdown)
        runner.run(finals(dataset, names, results.cells, options), results, compute, workers, outcome, countdown)


def validations(dataset: str, peers: Sequence[str], options: argparse.Namespace) -> list[Spec]:
    """Every setting of every peer; with one setting there is nothing to validate."""
    turns = range(options.settings) if options.settings > 1 else ()
    settings = {name: list(CONTESTANTS[name].settings) for name in peers}
    return [
        Spec(dataset, name, settings[name][i], "validate", 0, **same_for_all(options))
        for i in turns
        for name in alternate(peers, i)
    ]


def finals(dataset: str, names: Sequence[str], cells: dict[str, Any], options: argparse.Namespace) -> list[Spec]:
    """Repeated fits of everyone, with the settings and rounds that validation chose."""
    choices = {name: choose(cells, dataset, name) or defaults(name) for name in names}
    return [
        Spec(
            dataset,
            name,
            choices[name].setting,
            "final",
            repeat,
            **same_for_all(options),
            max_rounds=choices[name].max_rounds,
            keep=choices[name].rounds["accuracy"],
        )
        for repeat in range(options.repeats)
        for name in alternate(names, repeat)
    ]


def defaults(name: str) -> Choice:
    """A contestant's first setting, for as many rounds as the budget allows."""
    return Choice(next(iter(CONTESTANTS[name].settings)), dict.fromkeys(METRICS))


def same_for_all(options: argparse.Namespace) -> dict[str, Any]:
    """What all cells of a race have in common."""
    return {"threads": options.threads, "budget": options.budget, "data_home": options.data_home}


def alternate(names: Sequence[str], turn: int) -> list[str]:
    """Forwards, then backwards, and so on."""
    return list(names)[:: -1 if turn % 2 else 1]


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
    add("--sets", default="digits,wine", help="names, separated by commas; 'all' for every .npz file of the folder")
    add("--threads", type=int, default=2)
    add("--budget", type=float, default=120.0, help="seconds per fit")
    add("--repeats", type=int, default=3, help="final fits of everyone")
    add("--data-home", default=os.environ.get(ENVIRONMENT), help="a folder of .npz sets; scikit-learn's need none")
    add("--json", type=Path, default=Path("race.json"), help="finished cells go there at once")
    add("--resume", action="store_true", help="go on with that file")
    add("--peers", default=",".join(peers), help=f"some of {', '.join(peers)}")
    add("--settings", type=int, default=3, choices=(1, 2, 3), help="of each peer; 1: its defaults, not validated")
    add("--plot", type=Path, metavar="FOLDER", help="draw the curves there, a PNG per set")
    options = parser.parse_args(argv)
    options.data_home = str(Path(options.data_home).resolve()) if options.data_home else None
    options.sets = list(every_set(options))
    options.peers = installed([name for name in options.peers.split(",") if name], parser)
    return options


def every_set(options: argparse.Namespace) -> Iterator[str]:
    """The names asked for, checked."""
    if options.sets == "all":
        yield from sorted(path.stem for path in Path(options.data_home or ".").glob("*.npz"))
        return
    known = set(available(options.data_home))
    for name in options.sets.split(","):
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
        print(f"not installed, left out: {', '.join(missing)} (pip install 'simplexboost[bench]')", flush=True)
    return [name for name in names if name not in missing and name != OURS]


def main(argv: Sequence[str] | None = None) -> None:
    """Run the race and print its tables."""
    options = arguments(argv)
    what = {name: getattr(options, name) for name in ("threads", "budget", "settings")}
    results = File(options.json, {"machine": machine.describe(), "options": what}, options.resume)
    limit = 5 * options.budget + 600  # a round may be long, and curves take time to evaluate
    workers = Workers(threads=options.threads, fresh=True, limit=limit)  # one at a time: others would disturb its clock
    race([OURS, *options.peers], results, options, workers)
    for dataset in options.sets:
        print("\n" + report.set_section(results.cells, dataset))
    print("\n" + report.overview(results.cells, options.sets))
    if options.plot:
        from . import plots

        for dataset in options.sets:
            print(plots.draw(results.cells, dataset, options.plot))


if __name__ == "__main__":
    main()
