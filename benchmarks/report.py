"""The results page: ``python -m benchmarks.report race.json ranks.json …`` writes RESULTS.md and its pictures.

The files are those of `benchmarks.race` and of `benchmarks.ranks`. Several of a kind may have other options, other
sets or other machines; the page says which.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from runner.stores import read

from . import sections, standings
from .calibration import BINS
from .contestants import CONTESTANTS, OURS
from .problems import MADE
from .results import Summary, data_of, sets_of, summarise
from .tables import table

ENOUGH_TEST_ROWS = 1000  # with fewer, reliability diagrams show chance more than anything else
TEXTS = Path(__file__).with_name("TEXT.md")  # written by `benchmarks.text`
RULES = f"""\
SimplexBoost runs with its defaults. Every peer runs in two ways: with its **defaults**, its own number of rounds among
them (LightGBM, XGBoost and HistGradientBoosting 100, CatBoost 1000); and **tuned**, with the best of three settings
(its defaults and two alternatives, `benchmarks/peers.py`) and the best number of rounds, both chosen on a fifth of the
training rows that is held out; the final fit is on all of them. The setting is chosen by accuracy, the rounds by
accuracy for the accuracy and by log-loss for the log-loss. Every fit has a process of its own and the same float32
numbers; figures are medians over repeats.

- The **best peer** of a set is the best of all these rows, for log-loss and for accuracy each its own.
- **Log-loss** must be at or below that of the best peer; **accuracy** at or above that of the best peer less 0.1 point.
- **Time** is fit time alone, from the call of `fit`, all that a library tries or chooses in it included; it is taken
  after every round, and curves are evaluated afterwards. SimplexBoost runs to its end. A peer's fit is ended after its
  budget, or after our time where that is longer; * marks those with defaults that were.
- **Time ratio**: for every row of a peer whose best accuracy is within 0.5 point of the best peer's, its time to its
  own best − 0.1 point, divided by our time to the same accuracy; the set's ratio is the smallest of these, and 0 where
  we never get there; ratios in brackets are of rows that do not count. For log-loss: rows within 5 % of the best one,
  and a target of their own best + 1 %. The *best* of a curve is that of its best round on the test rows.
- **Expected calibration error**: test rows are sorted by the probability of the predicted class and cut into {BINS}
  bins of equally many rows; it is the mean over rows of the distance between the accuracy of their bin and its mean
  probability. Few test rows make it larger by chance alone, for everyone.
- Probabilities are clipped at 1e-15 in log-losses, for everyone."""
SMALL = """\
The defaults of {libraries} on {sets} sets, {repeats} times two stratified folds of all rows (vowel: its own two parts,
whose speakers differ, with {repeats} seeds). A library's rank on a set is that of its mean over folds; the table shows
means of ranks over sets. A class that is missing in a training half has the same clipped probability from everyone."""
AHEAD = {
    "race": "The race, the best row of any peer:",
    "made": "Problems made on the spot, the best peer's defaults:",
    "small": "Small sets, the best peer's defaults by means over folds:",
}
MADE_WORDS = (
    "Everyone with its defaults, once; who does not finish within the budget is scored by the rounds there are."
)
RANK_WORDS = "Libraries under one bar do not differ by more than the critical difference:"


@dataclass
class Page:
    """Everything the page is made of.

    Attributes
    ----------
    cells, small : finished cells of the races and of the folds on small sets
    headers : machine, options, note and sets of every file
    pictures : paths relative to the page, by what they show
    """

    cells: dict[str, Any] = field(default_factory=dict)
    small: dict[str, Any] = field(default_factory=dict)
    headers: list[dict[str, Any]] = field(default_factory=list)
    pictures: dict[str, str] = field(default_factory=dict)

    def add(self, content: dict[str, Any]) -> None:
        """Take up a file."""
        (self.small if content.get("kind") == "ranks" else self.cells).update(content["cells"])
        header = {name: content.get(name) for name in ("kind", "machine", "options", "note")}
        self.headers.append({**header, "sets": sets_of(content["cells"])})

    def race(self, made: bool) -> dict[str, dict[str, Summary]]:
        """Rows by set, of the problems made on the spot or of the others."""
        return {s: summarise(self.cells, s) for s in sets_of(self.cells) if (s in MADE) == made}

    def picture(self, name: str, words: str) -> str:
        """A link to a picture, if there is one."""
        return f"![{words}]({self.pictures[name]})" if name in self.pictures else ""

    # ---- sections -----------------------------------------------------------------------------------------------

    def summary(self) -> str:
        """The first thing to read."""
        race, made = self.race(made=False), self.race(made=True)
        rows = {dataset: data_of(self.cells, dataset).get("n_train", 0) for dataset in race}
        lines = [*sections.tally(race), *sections.ratio_lines(race, rows)]
        lines += [f"problems made on the spot, defaults against defaults: {line}" for line in sections.tally(made)]
        lines += standings.summary(standings.standings(self.small), OURS) if self.small else []
        return "\n".join(f"- {line[0].upper()}{line[1:]}" for line in lines)

    def ahead(self) -> str:
        """Where a peer is better, however little, and where one is faster."""
        rows = {
            "race": list(sections.ahead(self.race(made=False))),
            "made": list(sections.ahead(self.race(made=True), own_rounds=True)),
            "small": standings.ahead(standings.standings(self.small), OURS) if self.small else [],
        }
        parts = [f"{AHEAD[name]}\n\n{table(sections.AHEAD_HEAD, found)}" for name, found in rows.items() if found]
        return "\n\n".join(parts) or "Nowhere."

    def small_sets(self) -> str:
        """Mean ranks, and the picture of them."""
        repeats = next(header["options"]["repeats"] for header in self.headers if header["kind"] == "ranks")
        found = standings.standings(self.small)
        words = SMALL.format(libraries=", ".join(found.libraries), sets=len(found.sets), repeats=repeats)
        link = self.picture("ranks", "mean ranks by log-loss and by accuracy, with the critical difference")
        return "\n\n".join([words, *([RANK_WORDS, link] if link else []), standings.section(self.small)])

    def calibration(self) -> str:
        """Reliability diagrams and the table of errors."""
        race = {**self.race(made=False), **self.race(made=True)}
        words = "Expected calibration error in percent; tuned rows after the rounds that were chosen by log-loss:"
        link = self.picture("reliability", "reliability diagrams: accuracy against confidence")
        shown = f"The defaults of everyone on the sets with at least {ENOUGH_TEST_ROWS} test rows, {BINS} bins each:"
        return "\n\n".join([*([shown, link] if link else []), words, sections.calibration(race)])

    def sets(self) -> str:
        """Every set."""
        parts = []
        for dataset in sets_of(self.cells):
            link = self.picture(dataset, f"{dataset}: accuracy and log-loss against fit time")
            parts += [sections.one_set(self.cells, dataset), link]
        return "\n\n".join(filter(None, parts))

    def conditions(self) -> str:
        """Machines and options, with the sets that ran on and with them."""
        groups: dict[str, list[str]] = {}
        for header in self.headers:
            groups.setdefault(condition(header), []).extend(header["sets"])
        return "\n".join(f"- {', '.join(dict.fromkeys(sets))}: {line}" for line, sets in groups.items())

    def text(self) -> str:
        """The whole page."""
        parts = {"Summary": self.summary(), "Rules": RULES, "Machine": self.conditions()}
        if race := self.race(made=False):
            parts["All sets"] = sections.scores(race)
        parts["Where a peer is ahead"] = self.ahead()
        if made := self.race(made=True):
            parts["Problems made on the spot"] = f"{MADE_WORDS}\n\n{sections.made(made, self.cells)}"
        if TEXTS.exists():
            parts["Texts"] = TEXTS.read_text()
        if self.small:
            parts["Small sets, defaults"] = self.small_sets()
        if self.cells:
            parts["Calibration"] = self.calibration()
            parts["Set by set"] = self.sets()
        body = "\n\n".join(f"## {title}\n\n{text.strip()}" for title, text in parts.items())
        return f"# The race\n\nGenerated by `python -m benchmarks.report`; do not edit.\n\n{body}\n"


def condition(header: dict[str, Any]) -> str:
    """The machine and the options of a file, in a line."""
    about, options = header["machine"], header["options"]
    versions = ", ".join(f"{name} {version}" for name, version in sorted(about["versions"].items()))
    what = f"{options['threads']} thread(s) a fit, {options['jobs']} fit(s) side by side"
    if "budget" in options:
        what += f", {options['budget']:g} s a fit"
        what += f", {options['settings']} settings of each peer" if options["settings"] > 1 else ", defaults only"
    if options.get("scale", 1.0) != 1.0:
        what += f", problems made on the spot at {options['scale']:g} of their size"
    system = f"{about['processor']}, {about['cores']} cores, {about['memory_gb']} GB, {about['system']}"
    return f"{what}; {system}; {versions}. {header['note'] or ''}".strip()


def draw(page: Page, folder: Path) -> dict[str, Path]:
    """Write the pictures; their paths by what they show."""
    from . import diagrams, plots

    folder.mkdir(parents=True, exist_ok=True)
    race = {dataset: summaries for made in (False, True) for dataset, summaries in page.race(made).items()}
    race = {dataset: summaries for dataset, summaries in race.items() if summaries}
    pictures = {dataset: plots.draw(summaries, dataset, folder) for dataset, summaries in race.items()}
    bins = {
        dataset: {name: summaries[name].reliability for name in CONTESTANTS if name in summaries}
        for dataset, summaries in race.items()
        if data_of(page.cells, dataset)["n_test"] >= ENOUGH_TEST_ROWS
    }
    if bins:
        pictures["reliability"] = diagrams.reliability(bins, folder / "reliability.png")
    if page.small and (found := standings.standings(page.small)).sets:
        pictures["ranks"] = diagrams.ranks(found, folder / "ranks.png")
    return pictures


def main(argv: Sequence[str] | None = None) -> None:
    """Write the page, and the pictures beside it where matplotlib is installed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.report", description=__doc__)
    parser.add_argument("json", type=Path, nargs="+")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("RESULTS.md"))
    options = parser.parse_args(argv)
    page = Page()
    for path in options.json:
        page.add(read(path))
    if find_spec("matplotlib"):
        pictures = draw(page, options.output.parent / "plots")
        page.pictures = {name: os.path.relpath(path, options.output.parent) for name, path in pictures.items()}
    options.output.write_text(page.text(), encoding="utf-8")
    print(options.output)


if __name__ == "__main__":
    main()
