"""The race: SimplexBoost with its defaults against other boosting libraries, accuracy and log-loss against fit time.

Every fit has a process of its own and a budget in seconds. First, each peer's three settings are fitted on four fifths
of the training rows; the fifth held out chooses the setting and how many rounds are kept. Then everyone is fitted on
all training rows, several times and in alternating order.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from simplexboost.datasets import ENVIRONMENT, available

from . import machine, report
from .cell import Spec
from .contestants import CONTESTANTS, OURS
from .results import Choice, Results, choose, key

ROOT = Path(__file__).resolve().parents[1]
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


@dataclass(frozen=True)
class Task:
    """A cell to be run; the setting of a final one is chosen when its turn comes."""

    dataset: str
    contestant: str
    phase: str
    repeat: int
    setting: str | None = None


def plan(sets: Sequence[str], names: Sequence[str], settings: int, repeats: int) -> list[Task]:
    """All cells in order; with one setting there is nothing to validate."""
    tasks: list[Task] = []
    for dataset in sets:
        if settings > 1:
            peers = [name for name in names if name != OURS]
            for i in range(settings):
                choices = {name: list(CONTESTANTS[name].settings)[i] for name in peers}
                tasks += [Task(dataset, name, "validate", 0, choices[name]) for name in alternate(peers, i)]
        for repeat in range(repeats):
            tasks += [Task(dataset, name, "final", repeat) for name in alternate(names, repeat)]
    return tasks


def alternate(names: Sequence[str], turn: int) -> list[str]:
    """Forwards, then backwards, and so on."""
    return list(names)[:: -1 if turn % 2 else 1]


def race(tasks: Sequence[Task], results: Results, options: argparse.Namespace) -> None:
    """Run what is not done yet."""
    begin, ran = time.perf_counter(), 0
    for i, task in enumerate(tasks):
        choice = choose(results.cells, task.dataset, task.contestant) if task.phase == "final" else None
        spec = specify(task, choice, options)
        name = key(spec.dataset, spec.contestant, spec.setting, spec.phase, spec.repeat)
        if results.is_done(name):
            continue
        cell = run_cell(spec)
        results.put(name, cell)
        ran += 1
        to_go = (time.perf_counter() - begin) / ran * (len(tasks) - i - 1)
        print(f"[{i + 1}/{len(tasks)}] {name}: {outcome(cell)}; {duration(to_go)} to go", flush=True)


def specify(task: Task, choice: Choice | None, options: argparse.Namespace) -> Spec:
    """The cell in full."""
    default = next(iter(CONTESTANTS[task.contestant].settings))
    return Spec(
        task.dataset,
        task.contestant,
        task.setting or (choice.setting if choice else default),
        task.phase,
        task.repeat,
        options.threads,
        options.budget,
        max_rounds=choice.max_rounds if choice else None,
        keep=choice.rounds["accuracy"] if choice else None,
        data_home=options.data_home,
    )


def run_cell(spec: Spec) -> dict[str, Any]:
    """In a process of its own; what goes wrong there is part of the result."""
    environment = os.environ | dict.fromkeys(THREAD_VARIABLES, str(spec.threads))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cell.json"
        command = [sys.executable, "-m", "benchmarks.cell", json.dumps(asdict(spec)), str(path)]
        limit = 5 * spec.budget + 600  # a round may be long, and curves take time to evaluate
        try:
            done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return {"error": f"not done after {limit:.0f} s"}
        if done.returncode or not path.exists():
            errors = [line for line in done.stderr.splitlines() if re.match(r"[\w.]*(Error|Exception)\b", line)]
            return {"error": errors[-1] if errors else f"ended with status {done.returncode}"}
        result: dict[str, Any] = json.loads(path.read_text())
        return result


def outcome(cell: dict[str, Any]) -> str:
    """A cell in a few words."""
    if "error" in cell:
        return f"failed ({cell['error']})"
    curve = cell["curve"]
    if not curve["rounds"]:
        return "no round within the budget"
    best = f"best accuracy {max(curve['accuracy']):.4f}, log-loss {min(curve['log_loss']):.4f}"
    return f"{best} in {curve['rounds'][-1]} rounds, {cell['fit_seconds']:.1f} s"


def duration(seconds: float) -> str:
    """Seconds, minutes or hours."""
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


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
    results = Results(options.json, {"machine": machine.describe(), "options": what}, options.resume)
    race(plan(options.sets, [OURS, *options.peers], options.settings, options.repeats), results, options)
    for dataset in options.sets:
        print("\n" + report.set_section(results.cells, dataset))
    print("\n" + report.overview(results.cells, options.sets))
    if options.plot:
        from . import plots

        for dataset in options.sets:
            print(plots.draw(results.cells, dataset, options.plot))


if __name__ == "__main__":
    main()
