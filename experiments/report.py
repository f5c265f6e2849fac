"""``RESULTS.md``: every table, figure and claim, from finished cells alone."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from .cells import Results
from .registry import EXPERIMENTS, PAPERS, Block, Claim, Experiment, Figure, Plan, Table, Text

VERDICTS = {True: "reproduces", False: "does not reproduce", None: "not all cells are there"}
OUR_VERDICTS = {True: "holds", False: "does not hold", None: VERDICTS[None]}  # of claims that no paper makes

ABOUT = """# The papers, reproduced

Every table and figure below comes from `python -m experiments {command}`, on the data sets named in it, and is
written by `python -m experiments report{options}`. Each section says what the paper states of the experiment, what it
does not and we therefore chose, our numbers beside the paper's, and for each claim whether our numbers agree with it.
{quick}"""

QUICK = """
**This is a quick run:** at most {rows} training and test rows and a part of the rounds. It shows that everything
works; its numbers are not comparable with the papers'.
"""


def write(experiments: Sequence[Experiment], plan: Plan, found: Results, folder: Path) -> Path:
    """The page and its figures; returns the path of the page."""
    folder.mkdir(parents=True, exist_ok=True)
    in_order = sorted((e for e in EXPERIMENTS.values() if e in experiments), key=lambda e: list(PAPERS).index(e.paper))
    blocks = {e.name: list(e.report(plan, found)) for e in in_order if e.report is not None}
    sections = [section(e, blocks[e.name], plan, found, folder) for e in in_order if e.name in blocks]
    path = folder / "RESULTS.md"
    path.write_text("\n".join([header(plan), summary(in_order, blocks), *by_paper(in_order, sections)]))
    return path


def header(plan: Plan) -> str:
    """What the page is and how it was made."""
    options = (" --quick" if plan.quick else "") + (f" --seeds {plan.seeds}" if plan.seeds != 5 else "")
    quick = QUICK.format(rows=plan.rows) if plan.quick else ""
    return ABOUT.format(command=f"run all{options}", options=options, quick=quick)


def summary(experiments: Iterable[Experiment], blocks: dict[str, list[Block]]) -> str:
    """All claims in one table."""
    claims = [(e, block) for e in experiments for block in blocks.get(e.name, []) if isinstance(block, Claim)]
    held = sum(claim.holds is True for _, claim in claims)
    known = sum(claim.holds is not None for _, claim in claims)
    rows = [[f"[{e.name}](#{anchor(e)})", escape(c.text), verdict(e, c), escape(evidence(c))] for e, c in claims]
    missing = f"; {len(claims) - known} more wait for their cells" if known < len(claims) else ""
    table = markdown(Table(["experiment", "claim", "verdict", "our numbers"], rows))
    return f"## The claims\n\n{held} of {known} claims hold on our numbers{missing}.\n\n{table}\n"


def by_paper(experiments: Sequence[Experiment], sections: Sequence[str]) -> Iterable[str]:
    """Sections under the name of their paper."""
    for key, title in PAPERS.items():
        own = [text for e, text in zip(experiments, sections, strict=True) if e.paper == key]
        if own:
            yield f"## {title}\n"
            yield from own


def section(e: Experiment, blocks: Sequence[Block], plan: Plan, found: Results, folder: Path) -> str:
    """One experiment."""
    cells = list({cell.key: cell for cell in e.cells(plan)}.values())
    done = [cell for cell in cells if found.get(cell) is not None]
    minutes = sum(found.seconds(cell) or 0.0 for cell in done) / 60
    quick = " --quick" if plan.quick else ""
    command = (
        f"`python -m experiments run {e.name}{quick}`: {len(done)} of {len(cells)} cells, {minutes:.1f} core-minutes"
    )
    parts = [f"### {heading(e)}", e.protocol, *(render(block, e, folder) for block in blocks), command + "."]
    return "\n\n".join(parts) + "\n"


def heading(e: Experiment) -> str:
    """Name and title."""
    return f"{e.name}: {e.title}"


def anchor(e: Experiment) -> str:
    """What GitHub makes of the heading."""
    kept = "".join(c for c in heading(e).lower() if c.isalnum() or c in " -")
    return kept.replace(" ", "-")


def render(block: Block, e: Experiment, folder: Path) -> str:
    """A block as Markdown; figures are drawn."""
    match block:
        case Text(text):
            return text
        case Table():
            return markdown(block)
        case Claim(text, None):
            return f"**Claim: {text}** *{verdict(e, block).capitalize()}.*"
        case Claim(text, _, numbers):
            return f"**Claim: {text}** *{verdict(e, block).capitalize()}*: {numbers}."
        case Figure(_, caption):
            return f"![{caption}]({draw(block, folder / 'figures')})\n\n*{caption}*"


def verdict(e: Experiment, claim: Claim) -> str:
    """In a word or two."""
    return (OUR_VERDICTS if e.paper == "beyond" else VERDICTS)[claim.holds]


def evidence(claim: Claim) -> str:
    """The numbers; none where they are not all there."""
    return "" if claim.holds is None else claim.evidence


def draw(figure: Figure, folder: Path) -> str:
    """Save a figure as PNG; its path beside the page."""
    from matplotlib.figure import Figure as Canvas  # no pyplot: no window, no global state

    folder.mkdir(parents=True, exist_ok=True)
    canvas = Canvas(figsize=figure.size, layout="constrained")
    figure.draw(canvas)
    path = folder / f"{figure.name}.png"
    canvas.savefig(path, dpi=110, bbox_inches="tight", pad_inches=0.08, metadata={"Software": None})
    print(f"drew {figure.name}", file=sys.stderr)
    return f"figures/{figure.name}.png"


def markdown(table: Table) -> str:
    """A Markdown table."""
    lines = [table.header, ["---"] * len(table.header), *table.rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def escape(text: str) -> str:
    """Text that may stand in a table."""
    return text.replace("|", "\\|").replace("\n", " ")
