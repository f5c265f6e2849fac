"""``RESULTS.md``: what came out in short, every verdict, table and figure, from finished cells alone."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from . import agreement, ledger
from .cells import Results
from .coverage import coverage_blocks
from .guesses import RULE as GUESS_RULE
from .ledger import Entry, Verdict
from .registry import EXPERIMENTS, PAPERS, Block, Experiment, Figure, Guess, Plan, Table, Text
from .synthesis import SHORT, opening

Judged = Sequence[tuple[Entry, Verdict]]

ABOUT = """# The papers, reproduced

{opening}

**How to read this page.** It is written by `python -m experiments report{options}` from the cells kept in the
repository, the results of single runs, which `python -m experiments run all{options}` computes. {done} of {cells} cells
are there; entries that rest on some of their runs say so: [n of m]. Every paper begins with what came out in short;
then come the verdicts on its claims and theorems, what was run, and the tables and figures. The papers' claims, the
theorems, our checks and our explanations are different kinds and are never added up. All published numbers are counted
[at the end](#all-published-numbers).

**Verdicts.** {legend}
{quick}"""

QUICK = """
**This is a quick run:** at most {rows} training and test rows and a part of the rounds. It shows that everything
works; its numbers are not comparable with the papers'.
"""


def write(experiments: Sequence[Experiment], plan: Plan, found: Results, folder: Path, figures: bool = True) -> Path:
    """The page and, unless told, its figures; returns the path of the page."""
    folder.mkdir(parents=True, exist_ok=True)
    judged = ledger.verdicts(plan, found)
    drawn = folder if figures else None
    parts = [header(plan, found, judged)]
    for paper in PAPERS:
        own = [e for e in EXPERIMENTS.values() if e in experiments and e.paper == paper]
        if own:
            parts += paper_part(paper, own, plan, found, judged, drawn)
    parts += guess_part(experiments, plan, found)
    parts += ["## All published numbers\n", *(plain(block) + "\n" for block in agreement.agreement_blocks(plan, found))]
    path = folder / "RESULTS.md"
    path.write_text("\n".join(parts))
    return path


def header(plan: Plan, found: Results, judged: Judged) -> str:
    """What came out, what the page is and how it was made."""
    options = (" --quick" if plan.quick else "") + (f" --seeds {plan.seeds}" if plan.seeds != 5 else "")
    counts = {
        paper: ledger.in_words(ledger.counts(judged, "paper", paper))
        for paper in PAPERS
        if ledger.counts(judged, "paper", paper)
    }
    cells = {cell.key: cell for e in EXPERIMENTS.values() for cell in e.cells(plan)}
    done = sum(found.get(cell) is not None for cell in cells.values())
    return ABOUT.format(
        opening=linked(opening(plan, found, counts)),
        legend=ledger.legend(),
        options=options,
        done=done,
        cells=len(cells),
        quick=QUICK.format(rows=plan.rows) if plan.quick else "",
    )


def paper_part(
    paper: str, own: Sequence[Experiment], plan: Plan, found: Results, judged: Judged, folder: Path | None
) -> Iterator[str]:
    """One paper: in short, verdicts, what was run, then its experiments."""
    yield f"## {PAPERS[paper]}\n"
    yield f"**In short.** {linked(SHORT[paper](plan, found))}\n"
    yield from (plain(block) + "\n" for block in verdict_blocks(paper, judged))
    yield from (plain(block) + "\n" for block in coverage_blocks(paper, plan, found))
    yield from (section(e, plan, found, judged, folder) for e in own)


ABOUT_KINDS = {
    "theorem": "Every misprint that we know is among them, judged as it is printed, so that the count says little of "
    "the paper. Where no more is said, our numbers are what should be zero, or not positive, over all instances tried.",
    "check": "Numbers as for theorems.",
}


def verdict_blocks(paper: str, judged: Judged) -> Iterator[Block]:
    """The verdicts on the statements of one paper, every kind in a table of its own."""
    for kind, title in ledger.KINDS.items():
        own = [(e, v) for e, v in judged if (e.kind, e.paper) == (kind, paper)]
        if own:
            about = f" {ABOUT_KINDS[kind]}" if kind in ABOUT_KINDS else ""
            yield Text(f"**{title[0].upper()}{title[1:]}:** {ledger.in_words(ledger.counts(own, kind))}.{about}")
            yield Table(ledger.HEADER, [list(map(escape, ledger.row_of(e, v))) for e, v in own])


def section(e: Experiment, plan: Plan, found: Results, judged: Judged, folder: Path | None) -> str:
    """One experiment."""
    blocks = list(e.report(plan, found)) if e.report is not None else []
    cells = list({cell.key: cell for cell in e.cells(plan)}.values())
    done = [cell for cell in cells if found.get(cell) is not None]
    minutes = sum(found.seconds(cell) for cell in done) / 60
    quick = " --quick" if plan.quick else ""
    command = (
        f"`python -m experiments run {e.name}{quick}`: {len(done)} of {len(cells)} cells, {minutes:.1f} core-minutes"
    )
    grades = "; ".join(f"“{entry.says}” *{v.grade}*" for entry, v in ledger.of_experiment(e.name, judged))
    verdicts = [f"Judged from this: {grades}."] if grades else []
    rendered = (render(block, folder) for block in blocks)
    return "\n\n".join([f"### {heading(e)}", linked(e.protocol), *rendered, *verdicts, command + "."]) + "\n"


def guess_part(experiments: Sequence[Experiment], plan: Plan, found: Results) -> Iterator[str]:
    """All guesses at where a paper's numbers come from."""
    guesses = [
        (e, block)
        for e in EXPERIMENTS.values()
        if e in experiments and e.explains and e.report is not None
        for block in e.report(plan, found)
        if isinstance(block, Guess)
    ]
    if guesses:
        rows = [[link(e), g.text, g.verdict] for e, g in guesses]
        yield f"## Our explanations\n\n{GUESS_RULE}\n"
        yield markdown(Table(["experiment, with the numbers", "guess", "verdict"], rows)) + "\n"


def plain(block: Block) -> str:
    """A block without figures as Markdown."""
    return render(block, None)


def link(e: Experiment) -> str:
    """To its section."""
    return f"[{e.name}](#{anchor(e)})"


def linked(text: str) -> str:
    """Text in which experiments named in code type are links."""
    return re.sub(r"`([a-z]+-[a-z0-9]+)`", lambda m: link(EXPERIMENTS[m[1]]) if m[1] in EXPERIMENTS else m[0], text)


def heading(e: Experiment) -> str:
    """Name and title."""
    return f"{e.name}: {e.title}"


def anchor(e: Experiment) -> str:
    """What GitHub makes of the heading."""
    kept = "".join(c for c in heading(e).lower() if c.isalnum() or c in " -")
    return kept.replace(" ", "-")


def render(block: Block, folder: Path | None) -> str:
    """A block as Markdown; figures are drawn where there is a folder for them."""
    match block:
        case Text(text):
            return linked(text)
        case Table():
            return markdown(block)
        case Guess(text, verdict, numbers, against):
            reason = f" {linked(against)}" if against else ""
            return f"**Guess: {text}** *{verdict.capitalize()}*: {linked(numbers)}.{reason}"
        case Figure(_, caption):
            if folder is not None:
                draw(block, folder / "figures")
            return f"![{caption}](figures/{block.name}.png)\n\n*{caption}*"


def draw(figure: Figure, folder: Path) -> None:
    """Save a figure as PNG."""
    from matplotlib.figure import Figure as Canvas  # no pyplot: no window, no global state

    folder.mkdir(parents=True, exist_ok=True)
    canvas = Canvas(figsize=figure.size, layout="constrained")
    figure.draw(canvas)
    path = folder / f"{figure.name}.png"
    canvas.savefig(path, dpi=110, bbox_inches="tight", pad_inches=0.08, metadata={"Software": None})
    print(f"drew {figure.name}", file=sys.stderr)


def markdown(table: Table) -> str:
    """A Markdown table."""
    lines = [table.header, ["---"] * len(table.header), *([linked(cell) for cell in row] for row in table.rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def escape(text: str) -> str:
    """Text that may stand in a table."""
    return text.replace("|", "\\|").replace("\n", " ")
