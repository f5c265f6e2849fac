"""``RESULTS.md``: every table, figure and claim, from finished cells alone."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from .cells import Results
from .registry import EXPERIMENTS, PAPERS, Block, Claim, Experiment, Figure, Plan, Table, Text

VERDICTS = {True: "reproduces", False: "does not reproduce", None: "not all cells are there"}
OUR_VERDICTS = {True: "holds", False: "does not hold", None: VERDICTS[None]}  # of claims that no paper makes
Claims = Sequence[tuple[Experiment, Claim]]

ABOUT = """# The papers, reproduced

Every table and figure below comes from `python -m experiments {command}`, on the data sets named in it, and is
written by `python -m experiments report{options}`. Each section says what the paper states of the experiment, what it
does not and we therefore chose, our numbers beside the paper's, and for each claim whether our numbers agree with it.
{quick}"""

QUICK = """
**This is a quick run:** at most {rows} training and test rows and a part of the rounds. It shows that everything
works; its numbers are not comparable with the papers'.
"""


def write(experiments: Sequence[Experiment], plan: Plan, found: Results, folder: Path, figures: bool = True) -> Path:
    """The page and, unless told, its figures; returns the path of the page."""
    folder.mkdir(parents=True, exist_ok=True)
    in_order = sorted((e for e in EXPERIMENTS.values() if e in experiments), key=lambda e: list(PAPERS).index(e.paper))
    blocks = {e.name: list(e.report(plan, found)) for e in in_order if e.report is not None}
    sections = [section(e, blocks[e.name], plan, found, folder if figures else None) for e in in_order]
    path = folder / "RESULTS.md"
    path.write_text("\n".join([header(plan), summary(in_order, blocks), *by_paper(in_order, sections)]))
    return path


def header(plan: Plan) -> str:
    """What the page is and how it was made."""
    options = (" --quick" if plan.quick else "") + (f" --seeds {plan.seeds}" if plan.seeds != 5 else "")
    quick = QUICK.format(rows=plan.rows) if plan.quick else ""
    return ABOUT.format(command=f"run all{options}", options=options, quick=quick)


def summary(experiments: Iterable[Experiment], blocks: dict[str, list[Block]]) -> str:
    """All claims: the papers', where they do not hold and why, and our own."""
    claims = [(e, block) for e in experiments for block in blocks.get(e.name, []) if isinstance(block, Claim)]
    papers = [(e, claim) for e, claim in claims if not e.is_ours]
    held = sum(claim.holds is True for _, claim in papers)
    known = sum(claim.holds is not None for _, claim in papers)
    missing = f"; {len(papers) - known} more wait for their cells" if known < len(papers) else ""
    parts = [
        f"## The claims\n\n{held} of {known} claims of the papers hold on our numbers{missing}.",
        claims_table(papers),
        *failures(papers),
        *under("Where the papers' figures come from", [(e, claim) for e, claim in claims if e.explains]),
        *under("Beyond the papers", [(e, claim) for e, claim in claims if e.paper == "beyond"]),
    ]
    return "\n\n".join(parts) + "\n"


def claims_table(claims: Claims) -> str:
    """Experiment, claim, verdict and numbers."""
    rows = [[link(e), escape(c.text), verdict(e, c), escape(linked(evidence(c)))] for e, c in claims]
    return markdown(Table(["experiment", "claim", "verdict", "our numbers"], rows))


def failures(claims: Claims) -> Iterable[str]:
    """The papers' claims that do not hold, and why."""
    failed = [(e, c) for e, c in claims if c.holds is False]
    if failed:
        yield "### Where they do not hold, and why"
        yield reasons(failed)


def reasons(claims: Claims) -> str:
    """A list of claims with numbers and reasons."""
    lines = (f"- {link(e)}: *{c.text}* We find: {evidence(c)}. {c.why}".rstrip() for e, c in claims)
    return "\n".join(map(linked, lines))


def under(title: str, claims: Claims) -> Iterable[str]:
    """A table of claims under a heading, and the reasons of those that fail; nothing where there are none."""
    if claims:
        yield f"### {title}"
        yield claims_table(claims)
    explained = [(e, c) for e, c in claims if c.holds is False and c.why]
    if explained:
        yield reasons(explained)


def by_paper(experiments: Sequence[Experiment], sections: Sequence[str]) -> Iterable[str]:
    """Sections under the name of their paper."""
    for key, title in PAPERS.items():
        own = [text for e, text in zip(experiments, sections, strict=True) if e.paper == key]
        if own:
            yield f"## {title}\n"
            yield from own


def section(e: Experiment, blocks: Sequence[Block], plan: Plan, found: Results, folder: Path | None) -> str:
    """One experiment."""
    cells = list({cell.key: cell for cell in e.cells(plan)}.values())
    done = [cell for cell in cells if found.get(cell) is not None]
    minutes = sum(found.seconds(cell) for cell in done) / 60
    quick = " --quick" if plan.quick else ""
    command = (
        f"`python -m experiments run {e.name}{quick}`: {len(done)} of {len(cells)} cells, {minutes:.1f} core-minutes"
    )
    parts = [f"### {heading(e)}", linked(e.protocol), *(render(block, e, folder) for block in blocks), command + "."]
    return "\n\n".join(parts) + "\n"


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


def render(block: Block, e: Experiment, folder: Path | None) -> str:
    """A block as Markdown; figures are drawn where there is a folder for them."""
    match block:
        case Text(text):
            return linked(text)
        case Table():
            return markdown(block)
        case Claim(text, None):
            return f"**Claim: {text}** *{verdict(e, block).capitalize()}.*"
        case Claim(text, holds, numbers, why):
            reason = f" {linked(why)}" if why and holds is False else ""
            return f"**Claim: {text}** *{verdict(e, block).capitalize()}*: {linked(numbers)}.{reason}"
        case Figure(_, caption):
            if folder is not None:
                draw(block, folder / "figures")
            return f"![{caption}](figures/{block.name}.png)\n\n*{caption}*"


def verdict(e: Experiment, claim: Claim) -> str:
    """In a word or two."""
    return (OUR_VERDICTS if e.is_ours else VERDICTS)[claim.holds]


def evidence(claim: Claim) -> str:
    """The numbers; none where they are not all there."""
    return "" if claim.holds is None else claim.evidence


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
    lines = [table.header, ["---"] * len(table.header), *table.rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def escape(text: str) -> str:
    """Text that may stand in a table."""
    return text.replace("|", "\\|").replace("\n", " ")
