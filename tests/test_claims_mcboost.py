"""The claims of both MCBoost papers: wins and ties, curves and overlaps; formulas as printed and as corrected."""

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize, minimize_scalar
from sklearn.datasets import load_iris

import simplexboost as sb
from experiments import grids, jmlr, ledger, measured, rules, synthesis, theorems_losses, theorems_mcboost, theory_codes
from experiments.cells import Results
from experiments.comparison import Samples
from experiments.gaussians import classes_apart
from experiments.grids import Grid, Numbers
from experiments.registry import EXPERIMENTS, Plan
from experiments.rules import GRADES, Sight
from experiments.rules.leads import best_counts, record
from experiments.rules.shapes import saturation
from experiments.theorems import CHECKS

ROOT = Path(__file__).parents[1]
OURS = [e for e in ledger.load() if e.paper in ("nips", "jmlr")]


def grid(rows, printed=None, error=False):
    """A grid of single values; None is not measured."""
    cells = {r: {c: Numbers(() if v is None else (v,)) for c, v in own.items()} for r, own in rows.items()}
    return Grid(cells, error, printed or {})


def seen(rule, given, rows, printed=None, error=False):
    """What a rule says of a grid."""
    g = grid(rows, printed, error)
    return rules.bound(rule, given)(Sight(grids.means(g), g, grids.printed(g)))


# ---- rules ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "wins", "ties", "holds"),
    [
        ([1.0, 0.0, 0.0], 1, 2, True),
        ([0.05, 0.0, 0.0], 1, 2, False),  # up to 0.05 points is a tie, and no win
        ([0.06, -0.05, 0.0], 1, 2, True),
        ([1.0, 1.0, -0.06], 1, 2, False),  # a loss is no tie
        ([1.0, 1.0, 1.0], 1, 2, True),  # more wins than asked for
        ([1.0, None, 0.0], 1, 2, None),
        ([-1.0, None, 0.0], 1, 2, False),  # the missing run could not change it
    ],
)
def test_wins_are_strict_and_ties_are_within_what_a_table_shows(values, wins, ties, holds):
    rows = {
        "a": {f"x{i}": None if v is None else 80 + v for i, v in enumerate(values)},
        "b": {f"x{i}": 80.0 for i in range(3)},
        "c": {f"x{i}": 10.0 for i in range(3)},
    }
    given = {"first": "a", "rivals": ["b", "c"], "wins": wins, "ties": ties}
    assert seen("wins_and_ties", given, rows).holds is holds


def test_boosters_that_could_not_begin_are_beaten_and_tie_with_each_other():
    rows = {"a": {"x": 50.0, "y": np.nan}, "b": {"x": np.nan, "y": np.nan}}
    own = record(grids.means(grid(rows)), "a", ["b"], ["x", "y"])
    assert (own.wins, own.ties, own.losses) == (("x",), ("y",), ())
    assert str(own) == "1 win, 1 tie, 0 losses (ties: y)"


@pytest.mark.parametrize(
    ("table", "first", "rivals", "counts"),
    [
        ("jmlr-table7", "CD, best coordinate", ["OVA"], (6, 4, 2)),
        ("jmlr-table7", "CD, best coordinate", ["ECC"], (6, 3, 3)),
        ("jmlr-table8", "CD, best coordinate", ["LogitBoost"], (4, 5, 3)),
        ("jmlr-table9", "GD, codeword leaves", ["SAMME"], (11, 0, 1)),
        ("jmlr-table9", "GD, codeword leaves", ["MM, edge step"], (11, 1, 0)),
        ("jmlr-table9", "GD, codeword leaves", ["M1", "SAMME", "MM, edge step"], (10, 0, 2)),
        ("nips-table2", "GD, codeword leaves", ["M1", "SAMME", "MM, edge step"], (5, 1, 0)),
    ],
)
def test_the_papers_own_tables_have_what_their_text_counts(table, first, rivals, counts):
    view = grids.printed(grids.SOURCES[table](Plan(), Results("nowhere")))
    own = record(view, first, rivals, view.columns([first]))
    assert (len(own.wins), len(own.ties), len(own.losses)) == counts
    claims = [e for e in OURS if e.judge == "wins_and_ties" and e.given["first"] == first and e.numbers == table]
    claim = next((e for e in claims if e.given["rivals"] == rivals), None)
    if claim is not None:  # what is asked for is what the paper's own table has
        assert (claim.given["wins"], claim.given["wins"] + claim.given.get("ties", 0)) == (counts[0], sum(counts[:2]))


def test_a_tie_of_all_three_counts_for_none():
    view = grids.printed(grids.SOURCES["jmlr-table7"](Plan(), Results("nowhere")))
    rows = ["CD, best coordinate", "ECC", "OVA"]
    assert best_counts(view, rows) == [6, 4, 3]  # the text has 6, 4 and 1
    assert best_counts(view, rows, "all") == [8, 6, 5] and best_counts(view, rows, "none") == [3, 3, 1]
    won = {
        "a": {"x": 9.0, "y": 9.0, "z": 5.0},
        "b": {"x": 1.0, "y": 2.0, "z": 9.0},
        "c": {"x": 1.0, "y": 1.0, "z": 1.0},
    }
    assert seen("wins_in_order", {"rows": ["a", "b", "c"], "at_least": 2}, won).holds is True
    assert seen("wins_in_order", {"rows": ["a", "b", "c"], "at_least": 3}, won).holds is False
    assert seen("wins_in_order", {"rows": ["b", "a", "c"], "at_least": 1}, won).holds is False


def test_a_close_second_cannot_be_tested_if_it_is_second_nowhere():
    given = {"first": "a", "rivals": ["b"], "within": 1.5}
    leading = seen("close_second", given, {"a": {"x": 2.0}, "b": {"x": 1.0}})
    assert leading.holds is None and leading.empty and "none to be second on" in leading.evidence
    entry = next(e for e in OURS if e.id == "nips-cd-close-second")
    rows = {entry.given["first"]: {"x": Numbers((2.0,))}} | {r: {"x": Numbers((1.0,))} for r in entry.given["rivals"]}
    verdict = ledger.judged(entry, Grid(rows))
    assert (verdict.grade, verdict.confidence) == (ledger.UNTESTABLE, "") and "second on" in verdict.evidence
    close = seen("close_second", given, {"a": {"x": 2.0, "y": 1.0}, "b": {"x": 1.0, "y": 2.4}})
    assert close.holds and "y 1.4" in close.evidence
    assert seen("close_second", given, {"a": {"x": 1.0}, "b": {"x": 3.0}}).holds is False


def test_each_of_several_must_be_behind():
    given = {"pairs": [["a", "z"], ["b", "z"]], "need": "most"}
    rows = {"a": {"x": 1.0, "y": 1.0, "w": 9.0}, "b": {"x": 1.0, "y": 9.0, "w": 9.0}, "z": dict.fromkeys("xyw", 5.0)}
    assert seen("each_behind", given, rows).holds is False  # b is behind on one of three only
    assert seen("each_behind", given | {"pairs": [["a", "z"]]}, rows).holds is True
    rows["a"]["x"] = 4.96  # a tie is not behind
    assert seen("each_behind", given | {"pairs": [["a", "z"]]}, rows).holds is False


def test_saturation_is_for_good():
    assert saturation([90.0, 95.0, 90.0, 95.0, 95.0], 1.0) == 5  # d = 3 is near, d = 4 is not
    assert saturation([94.5, 94.2, 94.0, 95.0, 95.0], 1.0) == 2
    columns = [f"d = {d}" for d in range(2, 11)]  # M = 10
    early = dict(zip(columns, [94.5] * 8 + [95.0], strict=True))
    middle = dict(zip(columns, [80.0] * 4 + [95.0] * 5, strict=True))  # d = 6
    rows = {"cd": early, "gd": middle}
    given = {"rows": ["cd", "gd"], "example": ["gd"], "within": 1.0, "low": 0.5, "high": 0.7, "need": "most"}
    assert seen("saturates_early", given, rows).holds is True
    assert seen("saturates_early", given | {"example": ["cd"]}, rows).holds is False  # below 50 %
    assert seen("saturates_early", given | {"high": 0.55}, rows).holds is False


def test_both_groups_of_curves_must_rise():
    rows = {"up": {"a": 1.0, "b": 2.0, "c": 3.0, "d": 3.0}, "down": {"a": 3.0, "b": 2.0, "c": 1.0, "d": 1.0}}
    given = {"groups": {"CD": ["up"], "GD": ["down"]}, "need": "usually"}
    assert seen("steps_up_each", given, rows).holds is False
    assert seen("steps_up_each", given | {"groups": {"CD": ["up"], "GD": ["up"]}}, rows).holds is True


def test_rows_beside_are_shown_and_not_judged():
    rows = {"margin": {"a": 1.0, "b": 2.0}, "cosine": {"a": 2.0, "b": 1.0}}
    outcome = seen("rising_beside", {"rows": ["margin"], "beside": ["cosine"], "columns": ["a", "b"]}, rows)
    assert outcome.holds and "cosine: 2, 1" in outcome.evidence
    assert not seen("rising_beside", {"rows": ["cosine"], "beside": ["margin"], "columns": ["a", "b"]}, rows).holds


def test_gains_must_not_be_negative_and_somewhere_positive():
    given = {"row": "gain", "within": 1e-9, "above": 1e-6}
    for values, holds in (((0.0, 0.1), True), ((0.0, 1e-8), False), ((-0.1, 0.1), False)):
        assert seen("not_negative", given, {"gain": dict(zip("xy", values, strict=True))}).holds is holds
    step = {"least": "low", "largest": "high", "within": 1e-9, "above": 0.01}
    for low, high, holds in ((0.0, 0.4, True), (-0.1, 0.4, False), (0.0, 0.001, False)):
        assert seen("sub_optimal", step, {"low": {"x": low}, "high": {"x": high}}).holds is holds


# ---- the ledger -----------------------------------------------------------------------------------------------------


def test_every_known_misprint_is_judged_as_printed():
    text = (ROOT / "docs/errata.md").read_text()
    part = text[text.index("## MCBoost") : text.index("## A theory")]
    known = set(re.findall(r"\*\*(E-\w+)\.\*\*", part))
    judged = {word for e in OURS if e.judge == "as_printed" for word in re.findall(r"E-\d+b?", e.note)}
    assert len(known) > 25 and known - judged == {"E-29", "E-31", "E-50"}  # choices of a sign; enough, but too much
    assert all(e.kind == "theorem" for e in OURS if e.judge == "as_printed")
    assert all(e.kind == "check" for e in OURS if "corrected" in e.place)


def test_what_only_the_conference_version_states_counts_as_its_own():
    assert not [e.id for e in OURS if e.paper == "jmlr" and e.place.startswith("NIPS")]
    places = " ".join(e.place for e in OURS if e.paper == "nips" and e.kind == "theorem")
    assert all(number in places for number in ("(15)", "(17)", "(19)", "(20)", "(38)"))


def test_no_claim_of_an_experiment_is_called_exact():
    assert not [e.id for e in OURS if e.kind == "paper" and e.judge and GRADES[e.judge] == "exact"]


def test_codeword_leaves_stand_for_gd_everywhere():
    for table in ("nips-table2", "jmlr-table9"):
        assert measured.READINGS[table]["GD-MCBoost"][0] == "GD, codeword leaves"
    assert all(e.given["first"] != "GD, vector leaves" for e in OURS if "first" in e.given)
    for words in (EXPERIMENTS["jmlr-table9"].protocol, EXPERIMENTS["nips-table2"].protocol):
        assert "codewords" in words.partition("Not stated")[0] + words.partition("Codewords are counted")[1].lower()


def test_only_readings_that_can_work_are_asked():
    claim = next(e for e in OURS if e.id == "nips-mh-worst")
    assert "MH on [x, k]" not in claim.given["rows"] and len(claim.given["rows"]) == 3


@pytest.mark.parametrize(
    "entry", [e for e in OURS if e.numbers in ("nips-theorems", "jmlr-theorems")], ids=lambda e: e.id
)
def test_formulas_fail_as_printed_where_they_are_misprinted_and_hold_otherwise(entry, monkeypatch):
    row = entry.given.get("row") or entry.given["rows"][0]
    found = {row: {c: Numbers((float(v),), sure=True) for c, v in CHECKS[row]().items()}}
    verdict = ledger.judged(entry, Grid(found, error=True))
    expected = ledger.FAILS if entry.judge == "as_printed" else GRADES[entry.judge]
    assert verdict.grade == expected and verdict.confidence == "high"


def test_every_check_of_mcboost_is_judged():
    judged = {row for e in OURS for row in (e.given.get("row"), *e.given.get("rows", ())) if row}
    checks = {name for name in CHECKS if name.partition("-")[0] in ("nips", "jmlr")}
    assert checks <= judged


# ---- what the tasks compute -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["exponential", "logistic"])
def test_the_least_risk_in_closed_form_is_that_of_an_optimiser(name):
    _, _, counts = theorems_mcboost.counted()
    loss, c = theorems_mcboost.GAMMA_PHI[name], np.arange(3)

    def risk(u):
        values = [counts[i] @ loss.value(np.tile(u[3 * i : 3 * i + 3], (3, 1)), c) for i in range(5)]
        return float(np.sum(values) / counts.sum())

    assert minimize(risk, np.zeros(15), options={"gtol": 1e-7}).fun == pytest.approx(
        theorems_mcboost.least_risks(counts)[name], abs=1e-8
    )


def test_line_search_misses_nothing_and_the_edge_step_what_is_said():
    X, y = load_iris(return_X_y=True)
    clf = sb.AdaBoostMMClassifier(learner=sb.parts.learners.ClassTree(max_depth=2), step="edge", n_estimators=1).fit(
        X, y
    )
    answer = clf.model_.terms[0].hypothesis.outputs(X).argmax(axis=1)

    def risk(step):
        votes = step * np.eye(3)[answer]
        return float(np.exp(votes - votes[np.arange(150), y][:, None]).sum() - 150)

    best = minimize_scalar(risk, bounds=(0, 20), method="bounded", options={"xatol": 1e-10}).fun
    missed = (risk(clf.model_.terms[0].step) - best) / (risk(0.0) - best)
    found = theory_codes.edge_steps("iris", 1)["numbers"]
    assert found["mean share"]["iris"] == pytest.approx(missed, abs=1e-7) and missed > 1e-4
    assert found["costs apart from the derivative"]["iris"] < 1e-6


def test_classes_are_together_before_the_first_round():
    numbers = classes_apart("best", 0)["numbers"]
    for own in numbers.values():
        assert own["t = 0"] == 0 < own["t = 10"] < own["t = 100"]
    examples, centres = (numbers[f"distance of {what}, best"]["t = 10"] for what in ("examples", "class means"))
    assert examples > centres  # two examples are further apart than the means of their classes


def test_overlaps_count_points_on_both_sides():
    result = jmlr.loss_contours(points=41)
    own, pairs = (jmlr.overlaps(result, key) for key in ("own", "pairs"))
    assert own["highest right"] == pytest.approx(result["own_overlap"][0], abs=1e-6)
    assert pairs["lowest wrong"] == pytest.approx(result["pairs_overlap"][1], abs=1e-6)
    assert 0 < pairs["right above"] < own["right above"] < 100
    loss, Y = np.array(result["own"]), np.array(result["Y"])
    side = np.linspace(-2, 2, 41)
    right = np.array([[(Y @ (x, z)).argmax() == 0 for x in side] for z in side])
    assert own["right above"] == pytest.approx(100 * np.mean(loss[right] > loss[~right].min()))
    assert own["wrong below"] == pytest.approx(100 * np.mean(loss[~right] < loss[right].max()))


@pytest.mark.parametrize("expected", [True, False])
def test_losses_overlap_or_not(expected):
    rows = {
        f"{words} decision": {"own": v, "pairs": v} for words, v in zip(rules.bounds.OVERLAP, (1.0, 0.3), strict=True)
    }
    given = {"column": "own", "beside": "pairs", "expected": expected}
    assert seen("overlap", given, rows).holds is expected
    rows["lowest loss of a wrong decision"]["own"] = 2.0
    assert seen("overlap", given, rows).holds is not expected
    rows["lowest loss of a wrong decision"]["own"] = None
    assert seen("overlap", given, rows).holds is None


def test_the_best_of_the_family_stands_beside_those_outside(monkeypatch):
    def table(*rows):
        return grid({row: {"x": 50.0 + i} for i, row in enumerate(rows)})

    monkeypatch.setitem(grids.SOURCES, "jmlr-table7", lambda *_: table("OVA", "ECC", measured.BEST))
    trees = ("GD, codeword leaves", "MM, edge step", "SAMME", "M1")
    monkeypatch.setitem(grids.SOURCES, "jmlr-table9", lambda *_: table(*trees))
    view = grids.means(grids.SOURCES["jmlr-outside"](Plan(), Results("nowhere")))
    assert view["best γ–φ booster, stumps", "x"] == 52 and view["best γ–φ booster, trees", "x"] == 51
    assert view["OVA", "x"] == 50 and view["M1", "x"] == 53


def test_the_share_of_a_lead_is_that_of_the_means():
    leads = [theory_codes.Lead("a", 10.0, 4.0, 1.0), theory_codes.Lead("b", 2.0, 2.0, 3.0)]
    words = theory_codes.share_words(leads)
    assert words.startswith("3.0 of the 6.0 points") and "(50 %)" in words and "+2.0 more" in words
    assert theory_codes.share_words([]) == "not known yet"


@pytest.mark.parametrize("K", [4, 5])
def test_codes_in_space_are_seen_from_a_clear_side(K):
    result = jmlr.codewords(K, 3)
    Y = np.array(result["Y"])
    up, around = np.radians(jmlr.clear_view(Y, result["distance"]))
    side = np.array([-np.sin(around), np.cos(around), 0.0])
    top = np.array([-np.sin(up) * np.cos(around), -np.sin(up) * np.sin(around), np.cos(up)])
    flat = Y @ np.column_stack([side, top])
    edges = [(a, b) for a in range(K) for b in range(a) if ((Y[a] - Y[b]) ** 2).sum() < result["distance"] + 1e-3]
    assert min(jmlr.from_edge(flat, a, b) for a, b in edges) > 0.2
    ways = [np.arctan2(*(flat[a] - flat[b])) for a, b in edges]
    apart = [abs(np.sin(s - t)) for i, s in enumerate(ways) for t in ways[:i]]
    assert min(apart) > 0.05  # no two edges seem parallel, as in a square with its diagonals


def test_distance_from_an_edge():
    flat = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5], [5.0, 0.0]])
    assert jmlr.from_edge(flat, 0, 1) == pytest.approx(0.5)  # the last point is three beyond its end
    assert jmlr.from_edge(flat[[0, 1, 3]], 0, 1) == pytest.approx(3.0)


def test_medians_are_not_driven_by_one_set():
    columns = synthesis.Columns.__new__(synthesis.Columns)
    sets = [f"s{i}" for i in range(5)]
    first, second = jmlr.MM_EXACT, jmlr.MM
    columns.own = {
        first.label: {n: Samples((50.0 + 20.0 * (n == "s3"),), 1) for n in sets},
        second.label: {n: Samples((50.0,), 1) for n in sets},
    }
    assert columns.medians(first, second) == "+0.0 points in the median (+20.0 on s3, the most)"


def test_in_short_terms_are_explained_where_they_come_first():
    words = synthesis.SHORT["nips"](Plan(), Results("nowhere"))
    assert words.index("its trees answer with codewords") < words.index("CD-MCBoost in turn")
    assert "in turn (one coordinate after the other" in words and "the edge step, taken from" in words
    assert "sub-optimal special case" not in synthesis.SHORT["jmlr"](Plan(), Results("nowhere"))


def test_counts_in_words_are_ours_and_the_papers(monkeypatch):
    printed = {"ECC": {"x": 80.0, "y": 80.0}, measured.BEST: {"x": 81.0, "y": 80.0}}
    rows = {"ECC": {"x": 82.0, "y": 83.0}, measured.BEST: {"x": 81.0, "y": 80.0}}
    monkeypatch.setitem(grids.SOURCES, "jmlr-table7", lambda *_: grid(rows, printed))
    words = synthesis.Wins("jmlr-table7", Plan(), Results("nowhere")).words("ECC", measured.BEST)
    assert words == "better on 2, equal on 0, worse on 0 of 2 sets (the paper: 0, 1, 1)"


def test_parts_of_losses_are_their_derivatives():
    v = np.linspace(0.1, 3, 7)
    for gamma, gamma_slope, phi, phi_slope in theorems_losses.PARTS.values():
        for function, slope in ((gamma, gamma_slope), (phi, phi_slope)):
            assert_allclose((function(v + 1e-6) - function(v - 1e-6)) / 2e-6, slope(v), rtol=1e-5)
