"""The command: ``python -m experiments list | run NAMES | report``."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from simplexboost.datasets import ENVIRONMENT

from . import cells, papers  # noqa: F401  importing papers registers the experiments
from .registry import EXPERIMENTS, Plan, chosen, in_order

HERE = Path(__file__).resolve().parent


def arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    helps = {
        "list": "names, cells and forecasts in core-minutes",
        "run": "compute the cells of some experiments; what is finished is not computed again",
        "report": "write the tables, figures and claims from finished cells",
    }
    for name, text in helps.items():
        command = commands.add_parser(name, help=text)
        command.add_argument(
            "names", nargs="+" if name == "run" else "*", help="jmlr-table9, jmlr, all", default=["all"]
        )
        command.add_argument("--quick", action="store_true", help="few rows and rounds: minutes instead of hours")
        command.add_argument("--seeds", type=int, default=5, help="repetitions of what is random (default 5)")
        command.add_argument("--results", type=Path, default=HERE / "cells", help="folder of finished cells")
        if name == "run":
            command.add_argument(
                "--data-home", default=os.environ.get(ENVIRONMENT), help="folder of .npz sets; else OpenML"
            )
            command.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (default: one per core)")
            command.add_argument("--match", default="", help="only cells whose name has this in it")
        if name == "report":
            command.add_argument("--out", type=Path, default=HERE, help="folder for RESULTS.md and figures/")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Do what was asked."""
    options = arguments(argv)
    plan = Plan(options.quick, options.seeds)
    results = cells.Results(options.results)
    experiments = chosen(options.names)
    if options.command == "list":
        print(listing(experiments, plan, results))
        return 0
    if options.command == "report":
        from .report import write  # draws: needs matplotlib

        print(write(experiments, plan, results, options.out))
        return 0
    home = str(Path(options.data_home).resolve()) if options.data_home else None
    wanted = [cell for cell in in_order(experiments, plan) if options.match in cell.name]
    failed = cells.run(wanted, results, options.jobs, home)
    if failed:
        print(f"{len(failed)} cells failed:", *(f"  {cell.name}" for cell in failed), sep="\n")
    return 1 if failed else 0


def listing(experiments: Sequence[object], plan: Plan, results: cells.Results) -> str:
    """A line per experiment: cells finished, forecast of the rest."""
    lines = [f"{'experiment':22} {'finished':>11} {'core-minutes left':>18}  title"]
    for e in (e for e in EXPERIMENTS.values() if e in experiments):
        own = {cell.key: cell for cell in e.cells(plan)}.values()
        left = [cell for cell in own if results.get(cell) is None]
        minutes = sum(cell.cost for cell in left) / 60
        lines.append(f"{e.name:22} {f'{len(own) - len(left)}/{len(own)}':>11} {minutes:18.1f}  {e.title}")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
