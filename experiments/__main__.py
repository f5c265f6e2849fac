"""The command: ``python -m experiments status | run NAMES | keep | report``."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from simplexboost.datasets import ENVIRONMENT

from . import cells, kept, papers  # noqa: F401  importing papers registers the experiments
from .forecast import Forecast, status
from .registry import EXPERIMENTS, Plan, chosen, owners

HERE = Path(__file__).resolve().parent
WORKING = kept.FOLDER / "new"
PARTS = Path("build/experiments")  # where a page goes that must not take the place of the whole one


def arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    helps = {
        "status": "names, cells that are finished, forecasts of the rest in core-minutes",
        "run": "compute the cells of some experiments that are not finished, first those that verdicts wait for",
        "keep": "add the finished cells of the working folder to those kept in the repository",
        "report": "write the tables, figures and verdicts from finished cells",
    }
    for name, text in helps.items():
        command = commands.add_parser(name, help=text)
        command.add_argument(
            "names", nargs="+" if name == "run" else "*", help="jmlr-table9, jmlr, all", default=["all"]
        )
        command.add_argument("--quick", action="store_true", help="few rows and rounds: minutes instead of hours")
        command.add_argument("--seeds", type=int, default=5, help="repetitions of what is random (default 5)")
        working = None if name == "report" else WORKING
        command.add_argument("--results", type=Path, default=working, help="working folder of finished cells")
        command.add_argument("--kept", type=Path, default=kept.FOLDER, help="folder of the cells that are kept")
        if name == "run":
            command.add_argument(
                "--data-home", default=os.environ.get(ENVIRONMENT), help="folder of .npz sets; else OpenML"
            )
            command.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (default: one per core)")
            command.add_argument("--match", default="", help="only cells whose name has this in it")
        if name == "report":
            command.add_argument(
                "--out",
                type=Path,
                help=f"folder for RESULTS.md and figures/ (default: experiments; {PARTS} for a part or a quick run)",
            )
            command.add_argument("--no-figures", dest="figures", action="store_false", help="write the page alone")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Do what was asked."""
    options = arguments(argv)
    plan = Plan(options.quick, options.seeds)
    results = cells.Results(options.results, options.kept)
    experiments = chosen(options.names)
    if options.command == "status":
        print(status([e for e in EXPERIMENTS.values() if e in experiments], plan, results))
        return 0
    if options.command == "keep":
        changed = kept.keep(owners(plan), results.record, options.kept)
        print(*(f"{name}: {n} cells" for name, n in changed.items()), sep="\n")
        return 0
    if options.command == "report":
        from .report import write  # draws: needs matplotlib

        whole = len(experiments) == len(EXPERIMENTS) and plan == Plan()
        out = options.out or (HERE if whole else PARTS)
        print(write(experiments, plan, results, out, options.figures))
        return 0
    home = str(Path(options.data_home).resolve()) if options.data_home else None
    every = [cell for e in experiments for cell in e.cells(plan)]
    from .schedule import by_verdicts  # reads the ledger

    ordered = by_verdicts(experiments, plan, results, Forecast(every, results))
    wanted = [cell for cell in ordered if options.match in cell.name]
    failed = cells.run(wanted, results, options.jobs, home)
    if failed:
        print(f"{len(failed)} cells failed:", *(f"  {cell.name}" for cell in failed), sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
