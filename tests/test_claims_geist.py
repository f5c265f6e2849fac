"""Claims of Geist and of the lecture: their rules judge the papers' words, their experiments run what is stated."""

import numpy as np
import pytest
from scipy.stats import binomtest

from experiments import geist, geist_explained, geist_synthetic, ledger, rules, synthesis, theorems, theory_geist
from experiments.cells import TASKS, Results
from experiments.grids import SOURCES, Grid, Numbers, View, means, printed
from experiments.registry import EXPERIMENTS, Guess, Plan

PLAN, QUICK = Plan(), Plan(quick=True)
CLAIMS = {e.id: e for e in ledger.load()}


def judged(name, given, rows, error=True, paper=None):
    """What a rule says of some numbers."""
    cells = {row: {c: Numbers((v,)) for c, v in own.items()} for row, own in rows.items()}
    grid = Grid(cells, error, paper or {})
    return rules.bound(name, given)(rules.Sight(means(grid), grid, printed(grid)))


def results(tmp_path, found):
    """Results that know some cells."""
    out = Results(tmp_path)
    out._read.update({cell.key: result for cell, result in found.items()})
    return out


# ---- the words of the claims ----------------------------------------------------------------------------------------


def test_equal_training_errors_are_neither_lower_nor_higher():
    rows = {
        "a below b, train": {"T = 10": 95.0, "T = 1000": 82.0},
        "a equal to b, train": {"T = 10": 0.0, "T = 1000": 18.0},
    }
    given = {"first": "a", "second": "b", "part": "train", "value": 90.0}
    out = judged("mostly_below", given, rows, error=False)
    assert out.holds is True and "lower on 97.3 %" in out.evidence and "equal on 18.0 %" in out.evidence
    rows["a equal to b, train"]["T = 1000"] = 0.0  # then b is lower on the rest
    assert judged("mostly_below", given, rows, error=False).holds is False
    rows["a below b, train"]["T = 10"] = 99.0  # all moments together are above 90 %
    assert judged("mostly_below", given, rows, error=False).holds is True
    nothing = {"a below b, train": {"T = 10": 0.0}, "a equal to b, train": {"T = 10": 100.0}}
    assert judged("mostly_below", given, nothing, error=False).empty
    curves = {"a": {"x, T = 10": 1.0, "y, T = 10": 0.0}, "b": {"x, T = 10": 2.0, "y, T = 10": 0.0}}
    out = judged("faster", {"firsts": ["a"], "last": "b", "moments": ["T = 10"], "sets": ["x", "y"]}, curves)
    assert out.holds is True and "equal on y, T = 10, left out" in out.evidence
    curves["a"]["y, T = 10"] = 0.5
    assert (
        judged("faster", {"firsts": ["a"], "last": "b", "moments": ["T = 10"], "sets": ["x", "y"]}, curves).holds
        is False
    )


def test_one_sentence_has_one_strength_in_the_table_and_in_the_figure():
    names = [f"{part}, {c}" for part in ("Table 3", "Figure 6") for c in "pqrs"]
    ours = {"sm": dict.fromkeys(names, 1.0), "mh": dict.fromkeys(names, 2.0)}
    ours["sm"]["Figure 6, p"] = 2.5
    paper = {"sm": dict.fromkeys(names[:4], 1.0), "mh": dict(zip(names[:4], (2.0, 2.0, 2.0, 0.5), strict=True))}
    given = {"first": "sm", "rivals": ["mh"], "need": "all", "parts": ["Table 3", "Figure 6"], "own": "Table 3"}
    out = judged("lowest_in_each", given, ours, paper=paper)
    assert out.holds is True and "3 are asked for" in out.evidence  # the paper's own table has three of four
    assert judged("lowest_in_each", given, ours).holds is False  # without the paper's numbers its word counts
    ours["sm"]["Figure 6, q"] = 3.0
    assert judged("lowest_in_each", given, ours, paper=paper).holds is False


def test_a_trend_must_be_that_of_most_kinds_of_problems():
    columns, kinds = ["little", "much"], ["2 classes", "3 classes", "4 classes"]
    lead = {"2 classes": (0.0, 9.0), "3 classes": (-1.0, -1.1), "4 classes": (-2.0, -2.1)}
    rows = {f"lead, {kind}": dict(zip(columns, values, strict=True)) for kind, values in lead.items()}
    rows["lead"] = {c: float(np.mean([own[c] for own in rows.values()])) for c in columns}
    given = {"rows": ["lead"], "columns": columns, "kinds": kinds}
    assert judged("rising", {"rows": ["lead"], "columns": columns}, rows, error=False).holds is True
    out = judged("rising_in_most", given, rows, error=False)
    assert out.holds is False and "1 of 3 (2 asked for); not 3 classes, 4 classes" in out.evidence
    rows["lead, 3 classes"]["much"] = 0.0
    assert judged("rising_in_most", given, rows, error=False).holds is True
    rows["lead"]["much"] = -5.0
    assert judged("rising_in_most", given, rows, error=False).holds is False


def test_the_ratio_stands_beside_the_difference():
    rows = {"sm": {"x, T = 10": 3.0}, "mh": {"x, T = 10": 5.0}}
    rows |= {"sm, times as large": {"x, T = 10": 4.0}, "mh, times as large": {"x, T = 10": 2.0}}
    given = {"first": "sm", "rivals": ["mh"], "moments": ["T = 10"], "need": "most", "beside": "times as large"}
    out = judged("grows_least", given, rows)
    assert out.holds is True and "Beside it, times as large: T = 10: 0 of 1" in out.evidence


def test_growth_is_judged_at_every_moment():
    rows = {"sm": {"x, T = 10": 1.0, "x, T = 100": 5.0}, "mh": {"x, T = 10": 2.0, "x, T = 100": 4.0}}
    given = {"first": "sm", "rivals": ["mh"], "need": "most"}
    assert judged("grows_least", given | {"moments": ["T = 10"]}, rows).holds is True
    assert judged("grows_least", given | {"moments": ["T = 10", "T = 100"]}, rows).holds is False


def test_labels_without_information_are_left_out():
    rows = {"m": {"0 %": 0.5, "5 %": 4.0, "50 %": 50.6}}
    assert judged("below_noise", {"row": "m"}, rows).holds is False
    assert judged("below_noise", {"row": "m", "leave_out": ["50 %"]}, rows).holds is True
    assert CLAIMS["geist-marti-below"].given["leave_out"] == ["50 %"]


def test_joint_learners_are_judged_on_both_sides():
    given = {"row": "error", "joint": ["svm"], "alone": "ova", "value": 20.0, "within": 1.0}
    for svm, ova, holds in ((0.0, 20.0, True), (0.2, 20.0, False), (0.0, 12.0, False)):
        assert judged("joint_learners", given, {"error": {"svm": svm, "ova": ova}}).holds is holds


def test_a_limit_is_judged_by_its_shape_and_words_of_their_own_have_their_entry():
    assert rules.GRADES[CLAIMS["geist-gradient-vanishes"].judge] == "qualitative"
    assert {"geist-more-robust", "geist-test-competitive", "geist-less-sensitive", "geist-descent"} <= set(CLAIMS)
    assert not any(e.untestable for e in ledger.load() if e.paper == "geist")
    assert "0.192" not in CLAIMS["geist-smoothness"].rule  # a rule does not know its result
    assert CLAIMS["lecture-ova"].given["column"] == "combined"


# ---- grids ----------------------------------------------------------------------------------------------------------


def test_synthetic_shares_say_how_many_problems_they_rest_on(tmp_path):
    cells = geist_synthetic.madelon_cells(QUICK)[:60]
    own = {"train": [0.3, 0.2, 0.0], "test": [0.2, 0.1, 0.1]}
    other = {"train": [0.1, 0.1, 0.0], "test": [0.3, 0.2, 0.2]}
    found = {c: {"K": 2, "sm-boost": own, "SAMME": own, "AdaBoost.MH": other} for c in cells}
    grid = SOURCES["geist-synthetic"](QUICK, results(tmp_path, found))
    numbers = grid.cells["AdaBoost.MH below sm-boost, train"]["T = 10"]
    assert (len(numbers.values), numbers.wanted, numbers.mean) == (60, 100, 100.0)
    assert grid.cells["AdaBoost.MH below sm-boost, train"]["T = 1000"].mean == 0.0
    assert grid.cells["AdaBoost.MH equal to sm-boost, train"]["T = 1000"].mean == 100.0
    assert grid.cells["sm-boost less AdaBoost.MH, test"]["T = 10"].mean == pytest.approx(-10.0)
    levels = SOURCES["geist-synthetic-noise"](QUICK, results(tmp_path, found)).cells["lead over AdaBoost.MH"]
    assert sum(n.wanted for n in levels.values()) == 100 and sum(len(n.values) for n in levels.values()) == 60


def test_growth_is_noisy_less_clean(tmp_path):
    found = {}
    for noise, error in ((0.0, 0.1), (0.2, 0.25)):
        for c in geist.table_cells(PLAN, "SAMME", "dna", noise):
            found[c] = {"rounds": [10, 100, 1000], "test": [error] * 3, "rows": [2000, 1186]}
    grid = SOURCES["geist-growth"](PLAN, results(tmp_path, found))
    assert grid.cells["SAMME"]["dna, T = 10"].mean == pytest.approx(15.0)
    assert grid.printed["SAMME"]["dna, T = 10"] == pytest.approx(13.8 - 6.15)


def test_mnist_is_ranked_after_1000_rounds_like_the_others():
    assert {geist.last_moment(PLAN, name) for name in geist.SETS} == {1000}
    assert geist.cells_up_to(PLAN, "SAMME", "mnist", 0.0, 1000)[0].arguments["rounds"] == 1000
    assert geist.rounds_of(PLAN, "mnist") == 100  # of the runs that are repeated


# ---- Figure 7 -------------------------------------------------------------------------------------------------------


def test_sm_boost_draws_as_many_pairs_as_examples_in_figure_7():
    cell = geist.noise_cells(PLAN, "sm-boost", 0.1)[0]
    kind, options = geist.NOISE_METHODS[cell.arguments["method"]]
    assert kind == "smboost" and options["pairs"] == 4000
    assert "pairs" not in geist.NOISE_METHODS[geist.RUNS["2000 pairs"]][1]
    assert {c.arguments["pairs"] for c in EXPERIMENTS["geist-minima"].cells(PLAN)} == {4000}


def test_variants_are_compared_on_common_draws_by_mcnemars_test():
    paper = {s: 13.0 if s < 12 else 0.0 for s in range(100)}
    variant = {s: 0.0 if s != 15 else 9.0 for s in (*range(20), 200)}  # the paper's runs lack seed 200
    pair = geist_explained.paired(paper, variant)
    assert (pair.total, pair.both, pair.only_paper, pair.only_variant, pair.neither) == (20, 7, 1, 12, 0)
    assert pair.p == pytest.approx(binomtest(1, 13).pvalue)
    assert geist_explained.paired(paper, {}).p == 1.0


def test_a_change_that_hurts_is_not_called_a_help(tmp_path):
    found = {}
    for m in ("sm-boost", "2000 pairs and steps × 4"):
        for c in geist.noise_cells(PLAN, m, 0.0):
            found[c] = {"test": [0.0 if m == "sm-boost" else 0.2] * 10}
    texts = [b.text for b in EXPERIMENTS["geist-steps"].report(PLAN, results(tmp_path, found)) if hasattr(b, "text")]
    assert "more perfect draws: none. These give fewer: 2000 pairs and steps × 4 at 0 % noise" in texts[-1]
    assert "geist-minima" in texts[-1] and "geist-rate" not in texts[-1]


def test_the_sentence_on_minima_follows_the_numbers():
    names = ["test error, %", "gradient norm", "their part of the squared norm, %", "largest η₁ of them",
             f"test error after {theory_geist.LONGER} times the rounds, %"]  # fmt: skip
    end = lambda *values: dict(zip(names, values, strict=True))  # noqa: E731
    perfect = [end(0.0, 0.08, 0.0, 0.0, 0.0)]
    stuck = theory_geist.verdict_on_minima([end(20.0, 0.004, 0.3, 0.002, 20.0)], perfect)
    assert "smaller in every" in stuck and "are stuck on a flat part" in stuck
    slow = theory_geist.verdict_on_minima([end(20.0, 0.3, 60.0, 0.4, 0.0)], perfect)
    assert "not smaller in every" in slow and "cannot be said" in slow


def test_a_stuck_draw_has_wrong_examples_that_no_longer_pull():
    own = TASKS["where_draws_end"](seed=12, rounds=300, noise=0.0, pairs=1995)["numbers"]
    assert own["wrong training examples, %"] == pytest.approx(own["test error, %"], abs=3)
    assert own["gradient norm"] < 0.36 and 0 <= own["their part of the squared norm, %"] <= 100
    G = theory_geist.gradient(np.log([[0.001, 0.999], [0.6, 0.4]]), np.array([0, 0]))
    assert np.abs(G[0]).max() < 2e-3 < 0.2 < np.abs(G[1]).max()


def test_the_middle_of_the_last_layer():
    own = TASKS["middle"](noise=0.1, seed=0, layers=4)
    assert own["middle"] > 0 and abs(own["coin"] - own["zero"]) <= own["middle"]


# ---- guesses --------------------------------------------------------------------------------------------------------


def test_guesses_concern_all_numbers_of_the_quick_sets():
    labels = EXPERIMENTS["geist-labels"].cells(PLAN)
    assert {c.arguments["rounds"] for c in labels if c.arguments["problem"]["name"] == "splice2"} == {1000}
    cells = EXPERIMENTS["geist-samme"].cells(PLAN)
    assert {c.arguments["problem"]["name"] for c in cells} == {
        "dna",
        "pendigits",
        "satimage",
        "segment",
        "splice2",
        "vowel",
    }
    assert {c.arguments["rounds"] for c in cells} == {1000}
    leaves = {c.arguments["options"]["leaves"] for c in cells if c.arguments["problem"]["name"] == "vowel"}
    assert leaves == {40, 80, 120}
    claims = [b.text for b in EXPERIMENTS["geist-labels"].report(PLAN, Results("nowhere")) if isinstance(b, Guess)]
    assert claims == ["Perhaps labels were replaced by others on every set."]


def test_a_booster_without_end_goes_on_after_a_perfect_tree(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = y[:, None] + 0.01 * rng.normal(size=(60, 4))  # one tree has no error
    given = geist.data.Problem(X, y, X, y, 3)
    monkeypatch.setattr(geist_explained.data, "problem", lambda **_: given)
    for method in ("SAMME", "AdaBoost.MH"):
        own = TASKS["endless"](method=method, problem={}, rounds=12, seed=0)
        assert own["n_iter"] == 12 and own["rounds"][-1] == 12 and own["test"] == [0.0] * len(own["rounds"])


def test_table_1_has_another_number_of_classes_of_segment():
    assert {name: geist.CLASSES[name] for name, row in geist.TABLE1.items() if row[3] != geist.CLASSES[name]} == {
        "segment": 7
    }


# ---- the lecture ----------------------------------------------------------------------------------------------------


def test_the_combination_errs_on_the_middle_cluster():
    own = theorems.CHECKS["lecture-ova-combined"]()
    assert own == {
        "red against the others": 0,
        "green against the others": 0,
        "yes of the middle one": 0,
        "combined": 20,
    }


def test_the_bayes_rule_is_measured_on_the_rows_of_the_picture():
    from simplexboost.datasets import make_three_gaussians, three_gaussians_bayes

    d = make_three_gaussians(600, 2000, random_state=0)
    own = TASKS["plane_bayes"](n=600, seed=0)["error"]
    assert own == pytest.approx(np.mean(three_gaussians_bayes(d.X_test) != d.y_test))
    linear = TASKS["plane"](method="one-versus-one, linear", n=600, seed=0)["error"]
    assert abs(linear - own) < 0.02


@pytest.mark.parametrize("paper", ["geist", "lecture"])
def test_the_paragraphs_have_short_sentences(paper, tmp_path):
    words = synthesis.SHORT[paper](QUICK, Results(tmp_path))
    sentences = words.replace("AdaBoost.MH", "MH").replace("e.g.", "").split(". ")
    assert max(len(s.split()) for s in sentences) <= 40 and len(sentences) >= 5


def test_views_are_not_moved_by_ties():
    view = View({"a": {"x": 1.0}, "b": {"x": 1.0}}, error=True)
    assert rules.noise.lowest(view, "a", ["b"], "x") == "equal"
