"""The soak: `python -m promises` tries every promise very often and prints a table."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from runner.run import duration

from .page import count, page, summary
from .promise import Promise, all_promises
from .trying import Tally, try_promise


def main() -> int:
    """Run the command line; 1 where a promise was broken."""
    options = parser().parse_args()
    promises = chosen(options.names)
    if options.case is not None:
        for promise in promises:
            promise.attempt(options.case)
        print("kept")
        return 0
    until = time.monotonic() + 60 * options.minutes
    tallies = [
        kept(options.keep, promise)
        or try_one(promise, options.cases or cases_of(promise, options.part), options.jobs, until, options.keep)
        for promise in promises
    ]
    print(summary(tallies))
    if options.out:
        options.out.write_text(page(tallies), encoding="utf-8")
    return int(any(tally.failures for tally in tallies))


def parser() -> argparse.ArgumentParser:
    """What can be asked for."""
    parser = argparse.ArgumentParser(prog="python -m promises", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="promises or subjects to try; all where none is named")
    parser.add_argument("--case", type=int, help="try this one case, in this process, and show the whole error")
    parser.add_argument("--cases", type=int, help="try so many cases of each instead of what a soak takes")
    parser.add_argument(
        "--part",
        type=float,
        default=1.0,
        help="try this part of a soak's cases, but as many as `make test` (%(default)g)",
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time (%(default)s)")
    parser.add_argument("--minutes", type=float, default=60.0, help="stop after so long (%(default)g)")
    parser.add_argument("--out", type=Path, help="write the table to this page, in Markdown")
    parser.add_argument(
        "--keep", type=Path, help="list promises that were kept in this file, and do not try again those that it has"
    )
    return parser


def chosen(names: list[str]) -> list[Promise]:
    """The promises that are named, by their own names or by their subjects."""
    promises = list(all_promises().values())
    known = {name for promise in promises for name in (promise.name, promise.subject)}
    if unknown := set(names) - known:
        sys.exit(f"no promise is called {', '.join(sorted(unknown))}; choose among {', '.join(sorted(known))}")
    return [promise for promise in promises if not names or {promise.name, promise.subject} & set(names)]


def cases_of(promise: Promise, part: float) -> int:
    """How many cases are tried in a part of a soak: no fewer than `make test` tries, and no more than the soak has."""
    return min(max(round(part * promise.soak), promise.fast), promise.soak)


def kept(file: Path | None, promise: Promise) -> Tally | None:
    """What came of a promise in an earlier run that was kept; None if it is to be tried."""
    lines = file.read_text(encoding="utf-8").splitlines() if file is not None and file.exists() else []
    found = next((facts for facts in map(json.loads, lines) if facts.pop("name") == promise.name), None)
    return None if found is None else Tally(promise, **found)


def keep(file: Path, tally: Tally) -> None:
    """Add what came of a promise to a file, unless it was broken or time ran out before all of its cases were tried."""
    if tally.cases == tally.planned and not tally.failures:
        facts = {"name": tally.promise.name, "planned": tally.planned, "cases": tally.cases, "seconds": tally.seconds}
        with file.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(facts) + "\n")


def try_one(promise: Promise, cases: int, jobs: int, until: float, file: Path | None = None) -> Tally:
    """Try a promise, with a line that says how far it is."""
    tally = try_promise(promise, range(cases), jobs=jobs, until=until, watch=show_progress)
    if file is not None:
        keep(file, tally)
    print(f"{CLEAR}{line(tally)}", flush=True)
    for case, error in list(tally.failures.items())[:5]:
        print(f"  case {case}: {error}", flush=True)
    return tally


CLEAR = "\r\033[K" if sys.stdout.isatty() else ""


def show_progress(tally: Tally) -> None:
    """Rewrite the line, on a terminal."""
    if CLEAR:
        print(f"{CLEAR}{line(tally)}", end="", flush=True)


def line(tally: Tally) -> str:
    """What came of a promise so far."""
    return f"{tally.promise.name}: {count(tally)} tried, {len(tally.failures)} broken, {duration(tally.seconds)}"


if __name__ == "__main__":
    sys.exit(main())
