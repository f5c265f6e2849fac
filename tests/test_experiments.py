"""The papers' experiments: every one from end to end with tiny cells, and the harness they run on."""

import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import runner
from experiments import (
    boosters,
    boostexter,
    cells,
    comparison,
    coverage,
    data,
    fits,
    forecast,
    guesses,
    kept,
    papers,
    registry,
    report,
    schedule,
    synthesis,
)
from experiments.__main__ import main
from experiments.cells import Cell, Results
from experiments.registry import EXPERIMENTS, Figure, Guess, Plan, Table, Text
from simplexboost import SAMMEClassifier

QUICK = Plan(quick=True)


def tiny_problem(name, seed=0, noise=0.0, **_):
    """Clusters in the plane with as many classes as the set has."""
    K = 2 if name == "splice2" else data.SHAPES[name][3]
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(K), rng.integers(K, size=3 * K + 20)])
    X = np.column_stack([y % 5, y // 5, rng.normal(size=len(y))]) + 0.3 * rng.normal(size=(len(y), 3))
    return data.Problem(X, y, X[::-1], y[::-1], K)


def tiny(cell):
    """The same task with little to do."""
    small = {"rounds": 3, "n_test": 60, "layers": 3, "seeds": [0], "points": 9, "n": 60}
    arguments = {k: small[k] if k in small and type(small[k]) is type(v) else v for k, v in cell.arguments.items()}
    return cells.TASKS[cell.task](**arguments)


KEPT = Results(None, kept.FOLDER).kept


def outcome(cell):
    """What a file would hold: computed with little to do, or kept where that takes long without any data set."""
    found = KEPT.get(cell.key)
    return found["result"] if found and found["seconds"] > 1 else json.loads(json.dumps(tiny(cell)))


def kind(cell):
    """Cells that differ in size or data only run the same code; one of them is enough."""
    options = cell.arguments.get("options", {})
    words = {k: v for k, v in options.items() if isinstance(v, str)}
    keys = sorted(cell.arguments) if cell.task != "fit" else [cell.arguments["booster"], *sorted(options)]
    own = "" if cell.task in ("fit", "madelon") else cell.key
    if cell.task == "long_servedio":
        own = cell.arguments["method"]
    if cell.task == "contest":
        own = cell.arguments["contestant"]
    if cell.task == "three_gaussians":
        own = cell.arguments["schedule"] + str("keep" in cell.arguments)
    return json.dumps([cell.task, keys, words, own])


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.peers] * (name == "beyond-contest")) for name in EXPERIMENTS]
)
def test_every_experiment_runs_and_reports(name, tmp_path, monkeypatch):
    monkeypatch.setattr(data, "problem", tiny_problem)
    e, results, by_kind = EXPERIMENTS[name], Results(tmp_path / "cells"), {}
    for cell in [*e.cells(QUICK), *(c for n in NEEDS.get(name, ()) for c in EXPERIMENTS[n].cells(QUICK))]:
        if kind(cell) not in by_kind:
            by_kind[kind(cell)] = outcome(cell)
        results._read[cell.key] = by_kind[kind(cell)]
    assert e.protocol and e.title
    blocks = list(e.report(QUICK, results))
    made = [block for block in blocks if isinstance(block, Guess)]
    assert blocks
    assert all(guess.verdict != guesses.WAITING and "nan" not in guess.evidence for guess in made)
    assert not any("nan" in block.text for block in blocks if isinstance(block, Text))
    for table in (block for block in blocks if isinstance(block, Table)):
        assert table.rows and all(len(row) == len(table.header) for row in table.rows)
        assert not any("…" in entry for row in table.rows for entry in row)
    for figure in (block for block in blocks if isinstance(block, Figure)):
        report.draw(figure, tmp_path)
        assert (tmp_path / f"{figure.name}.png").stat().st_size > 2000


# Reports that show other experiments' numbers beside their own.
NEEDS = {
    "beyond-mcboost": ("jmlr-table7", "jmlr-table8", "jmlr-table9", "nips-table1", "nips-table2"),
    "beyond-mukherjee": ("mukherjee-figure8",),
    "beyond-noise": ("geist-table2", "geist-table3"),
    "geist-labels": ("geist-table3",),
    "jmlr-clip": ("jmlr-table8",),
    "jmlr-grid": ("jmlr-table7",),
    "jmlr-thresholds": ("jmlr-table7",),
    "mukherjee-order": ("mukherjee-figure8",),
    "nips-index": ("nips-table1",),
    "nips-thresholds": ("nips-table1",),
    "nips-trees": ("nips-table2",),
}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_reports_before_it_has_run(name, tmp_path):
    blocks = list(EXPERIMENTS[name].report(QUICK, Results(tmp_path)))
    assert not any(block.verdict == guesses.SUPPORTED for block in blocks if isinstance(block, Guess))


def test_names_begin_with_their_paper_and_modules_are_all_registered():
    assert {e.paper for e in EXPERIMENTS.values()} == set(registry.PAPERS)
    files = Path(papers.__file__).parent.glob("*.py")
    with_experiments = {path.stem for path in files if "\n@experiment(" in path.read_text(encoding="utf-8")}
    assert len(with_experiments) > 5
    assert with_experiments <= {module.__name__.rpartition(".")[2] for module in papers.MODULES}


def test_full_plans_are_larger_than_quick_ones():
    for e in EXPERIMENTS.values():
        assert sum(c.cost for c in e.cells(QUICK)) <= sum(c.cost for c in e.cells(Plan()))


# ---- cells ----------------------------------------------------------------------------------------------------------


def test_cells_with_other_arguments_have_other_files(tmp_path):
    long = {"a": "x" * 200}
    names = {Cell("t", {**long, "seed": seed}).name for seed in range(5)}
    assert len(names) == 5
    assert max(map(len, names)) < 120


def test_a_folder_of_earlier_versions_is_still_read(tmp_path):
    cell = Cell("codewords", {"K": 3, "d": 2})
    file = tmp_path / "codewords" / "3-2-dd5baca058.json"
    file.parent.mkdir()
    file.write_text('{"key": "[\\"codewords\\", {\\"K\\": 3, \\"d\\": 2}]", "seconds": 0.5, "result": {"a": 1}}')
    assert (Results(tmp_path).get(cell), Results(tmp_path).seconds(cell)) == ({"a": 1}, 0.5)


def test_a_pool_of_processes_gives_the_same(tmp_path):
    wanted = [Cell("codewords", {"K": K, "d": K - 1}) for K in (2, 3, 4, 5)]
    assert cells.run(wanted, Results(tmp_path / "two"), jobs=2) == []
    assert cells.run(wanted, Results(tmp_path / "one"), jobs=1) == []
    for cell in wanted:
        assert Results(tmp_path / "two").get(cell) == Results(tmp_path / "one").get(cell)


def test_cells_are_computed_breadth_first_and_short_ones_before_long_ones():
    order = registry.in_order(registry.chosen(["nips-table2", "geist-table3", "jmlr-table9"]), Plan())
    places = [registry.place(cell, cell.cost) for cell in order]  # all of them are the papers'
    assert places == sorted(places) and order[0].turn == 0
    first = [cell.cost for cell, place in zip(order, places, strict=True) if place == 0]
    assert first == sorted(first) and max(first) <= registry.PATIENCE
    assert registry.place(Cell("t"), 4 * registry.PATIENCE) == 2  # a long cell waits for the third runs
    assert len({cell.key for cell in order}) == len(order)
    slow = registry.in_order(registry.chosen(["nips-table2"]), Plan(), lambda cell: 1.0 if "gd" in cell.key else 0.5)
    assert "gd" not in slow[0].key and "gd" in slow[-1].key
    with pytest.raises(SystemExit, match="unknown"):
        registry.chosen(["jmlr-table99"])


def test_what_verdicts_wait_for_comes_first():
    experiments = registry.chosen(["mukherjee-figure11", "jmlr-table8", "lecture"])
    order = schedule.by_verdicts(experiments, Plan(), Results(None), lambda cell: cell.cost)
    every = {c.key for e in experiments for c in e.cells(Plan())}
    assert {c.key for c in order} == every and len(order) == len(every)
    waiting = {
        c.key for name in ("mukherjee-figure11", "jmlr-table8") for c in registry.EXPERIMENTS[name].cells(Plan())
    }
    places = {
        key: [i for i, c in enumerate(order) if c.key in waiting and key in str(c.arguments)] for key in ("mm", "logit")
    }
    assert max(places["mm"][: len(places["mm"]) // 2]) < min(
        places["logit"]
    )  # two statements in minutes before one in hours
    assert all(c.cost <= schedule.LONG for c in order[:50])


def test_the_first_half_of_repeats():
    cells = [Cell("fit", {"problem": {"name": n, "seed": s}, "seed": s}) for n in "ab" for s in range(5)]
    half = schedule.first_half([*cells, Cell("fit", {"problem": {"name": "c"}})])
    assert [c.arguments.get("seed") for c in half] == [0, 1, 2, 0, 1, 2, None]


def test_the_turn_of_a_cell_is_its_seed_unless_told():
    assert Cell("t", {"seed": 3}).turn == 3
    assert Cell("t", {"problem": {"seed": 2}}).turn == 2
    assert Cell("t", {"seed": 40}, repeat=1).turn == 1
    assert Cell("t").turn == 0


def test_forecasts_learn_from_cells_that_are_finished(tmp_path):
    found = Results(tmp_path)
    alike = [Cell("codewords", {"K": K, "d": K - 1}, cost=10.0) for K in (3, 4, 5)]
    for cell in alike[:2]:
        found.put(cell, runner.Outcome({"Y": []}, seconds=20.0))
    seconds = forecast.Forecast(alike, found)
    assert seconds(alike[2]) == pytest.approx(20.0)
    assert seconds(Cell("another", cost=7.0)) == 7.0


def test_command_line(tmp_path, capsys):
    folder = ["--results", str(tmp_path / "new"), "--kept", str(tmp_path / "kept")]
    assert main(["run", "jmlr-figure1", "--jobs", "1", *folder]) == 0
    assert main(["status", "jmlr", *folder]) == 0
    assert "3/3" in capsys.readouterr().out
    assert main(["keep", *folder]) == 0
    assert "jmlr-figure1: 3 cells" in capsys.readouterr().out
    folder[1] = str(tmp_path / "nowhere")  # from here on the kept cells alone
    assert main(["run", "jmlr-figure1", "--jobs", "1", *folder]) == 0
    assert "3 finished before" in capsys.readouterr().out
    assert main(["report", "jmlr-figure1", "--out", str(tmp_path), *folder]) == 0
    assert "3 of 3 cells" in (tmp_path / "RESULTS.md").read_text()
    assert (tmp_path / "figures" / "jmlr-figure1.png").exists()


def test_a_part_of_the_page_does_not_take_the_place_of_the_whole(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = ["--results", str(tmp_path / "new"), "--kept", str(tmp_path / "kept")]
    for part in (["jmlr-figure3"], ["--quick", "jmlr"], ["--seeds", "3", "lecture"]):
        assert main(["report", "--no-figures", *part, *folder]) == 0
        page = tmp_path / "build" / "experiments" / "RESULTS.md"
        assert page.exists()
        page.unlink()


def test_guesses_say_what_they_are_and_names_of_experiments_are_links():
    guess = report.render(Guess("Perhaps so.", guesses.OPEN, "2 of 12", "Still off: x."), None)
    assert guess == "**Guess: Perhaps so.** *Open*: 2 of 12. Still off: x."
    assert report.linked("see `jmlr-stumps`") == f"see [jmlr-stumps](#{report.anchor(EXPERIMENTS['jmlr-stumps'])})"
    assert report.linked("`jmlr-table99` and `python -m x`") == "`jmlr-table99` and `python -m x`"


def test_claims_of_papers_are_judged_in_the_ledger_alone(tmp_path):
    for e in EXPERIMENTS.values():
        made = [block for block in e.report(QUICK, Results(tmp_path)) if isinstance(block, Guess)]
        assert not made or e.explains, e.name


def test_every_table_and_figure_has_its_line_in_the_coverage():
    listed = {item.experiment for items in coverage.ITEMS.values() for item in items}
    ours = {e.name for e in EXPERIMENTS.values() if not e.is_ours}
    shared = {"geist-figure2", "geist-figure4"}  # in the lines of Figures 1 and 3
    assert ours - listed == shared and listed - {""} <= set(EXPERIMENTS)
    for paper, items in coverage.ITEMS.items():
        (table,) = [b for b in coverage.coverage_blocks(paper, QUICK, Results("nowhere")) if isinstance(b, Table)]
        assert len(table.rows) == len(items) and all(len(row) == len(table.header) for row in table.rows)


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_every_paper_begins_with_what_came_out_even_before_anything_has_run(paper, tmp_path):
    words = synthesis.SHORT[paper](QUICK, Results(tmp_path))
    assert 50 < len(words) < 1800 and "nan" not in words  # ten lines of a page


# ---- data -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_sets(monkeypatch):
    """Two sets of 100 + 50 rows instead of the real ones."""
    rng = np.random.default_rng(0)

    def load(name, home):
        y = np.arange(150) % 3
        X = np.column_stack([np.arange(150), rng.integers(4, size=150), rng.integers(2, size=150)])
        names, flags = np.array(["S1", "C1", "S2"]), np.array([False, True, True])
        return data.datasets.Dataset(name, X[:100], y[:100], X[100:], y[100:], names, flags, np.array(list("abc")))

    monkeypatch.setattr(data, "_load", load)
    monkeypatch.setitem(data.SHAPES, "toy", (100, 50, 3, 3))


def test_problem_keeps_the_stored_split_unless_told(small_sets):
    given = data.problem("toy")
    assert len(given.y_train), len(given.y_test) == (100, 50)
    assert (given.X_train[:, 0] == np.arange(100)).all()
    other = data.problem("toy", sizes=[120, 30])
    assert (other.X_train[:, 0] == np.arange(120)).all() and (other.X_test[:, 0] == np.arange(120, 150)).all()


def test_shuffled_splits_are_disjoint_stratified_and_differ_by_seed(small_sets):
    first, second = (data.problem("toy", sizes=[90, 60], shuffle=True, seed=seed) for seed in (0, 1))
    assert not set(first.X_train[:, 0]) & set(first.X_test[:, 0])
    assert np.bincount(first.y_train).tolist() == [30, 30, 30]
    assert set(first.X_test[:, 0]) != set(second.X_test[:, 0])


def test_noise_exchanges_training_labels_only(small_sets):
    clean, noisy = data.problem("toy"), data.problem("toy", noise=0.5)
    assert (np.bincount(clean.y_train) == np.bincount(noisy.y_train)).all()
    assert 0 < (clean.y_train != noisy.y_train).sum() <= 50
    assert (clean.y_test == noisy.y_test).all()


def test_one_hot_columns_and_few_rows_and_few_values(small_sets):
    given = data.problem("toy", one_hot=True, rows=20)
    assert given.X_train.shape[1] == 1 + 4 + 1  # a column is enough for two categories
    assert given.X_train[:, 1:5].sum(axis=1).tolist() == [1] * len(given.X_train)
    assert 20 <= len(given.y_train) <= 23 and set(given.y_train) == {0, 1, 2}
    assert len(np.unique(data.problem("toy", even_bins=4).X_train[:, 0])) == 4


def test_replaced_labels_are_all_wrong_and_exchanged_ones_keep_the_counts():
    y, rng = np.random.default_rng(0).integers(3, size=500), np.random.default_rng(1)
    replaced, exchanged = data.replace_labels(y, 0.2, 3, rng), data.exchange_labels(y, 0.2, rng)
    assert (replaced != y).sum() == 100 and set(replaced) == {0, 1, 2}
    assert 0 < (exchanged != y).sum() < 100 and np.array_equal(np.bincount(exchanged), np.bincount(y))


def test_rows_in_order_are_those_of_a_sorted_file():
    cases = np.array([[a, b] for a in range(3) for b in range(4)])  # as a file lists them
    mixed = np.random.default_rng(0).permutation(12)
    parts = (cases[mixed[:9]], mixed[:9], cases[mixed[9:]], mixed[9:])
    X_train, y_train, X_test, y_test = data.sorted_rows(*parts, backwards=False)
    assert X_train.tolist() == cases[:9].tolist() and X_test.tolist() == cases[9:].tolist()
    assert y_train.tolist() == list(range(9)) and y_test.tolist() == [9, 10, 11]
    assert data.sorted_rows(*parts, backwards=True)[3].tolist() == [2, 1, 0]


def test_poker_hands_are_named_by_the_rules():
    hands = {
        9: [(1, 1), (1, 10), (1, 11), (1, 12), (1, 13)],
        8: [(2, 9), (2, 10), (2, 11), (2, 12), (2, 13)],
        7: [(1, 5), (2, 5), (3, 5), (4, 5), (1, 9)],
        6: [(1, 5), (2, 5), (3, 5), (4, 9), (1, 9)],
        5: [(3, 1), (3, 4), (3, 6), (3, 9), (3, 12)],
        4: [(1, 1), (2, 2), (3, 3), (4, 4), (1, 5)],
        3: [(1, 5), (2, 5), (3, 5), (4, 2), (1, 9)],
        2: [(1, 5), (2, 5), (3, 9), (4, 9), (1, 2)],
        1: [(1, 5), (2, 5), (3, 9), (4, 8), (1, 2)],
        0: [(1, 5), (2, 7), (3, 9), (4, 8), (1, 2)],
    }
    X = np.array([np.ravel(cards) for cards in hands.values()])
    assert data.poker_classes(X).tolist() == list(hands)
    X, y = data.poker_hands(4000, np.random.default_rng(0))
    assert len({tuple(sorted(zip(row[::2], row[1::2], strict=True))) for row in X.tolist()}) > 3900
    assert (y == 0).mean() == pytest.approx(0.5012, abs=0.03) and (y == 1).mean() == pytest.approx(0.4226, abs=0.03)


@pytest.mark.data
def test_the_rules_of_poker_name_the_official_rows():
    data.set_home(os.environ[data.datasets.ENVIRONMENT])
    given = data.problem("poker", hands=100)
    assert len(given.y_test) == 5100
    assert (data.poker_classes(given.X_train.astype(int)) == given.y_train).all()


def test_an_explanation_counts_only_if_what_matched_stays_matched():
    Samples, Shift = comparison.Samples, guesses.Shift

    def verdict(*pairs):
        shifts = [Shift("x", 50.0, *(Samples(() if v is None else (v,), 1) for v in pair)) for pair in pairs]
        return guesses.explanation("so", shifts).verdict

    assert verdict((60.0, 51.0), (50.0, 51.0)) == guesses.SUPPORTED
    assert verdict((60.0, 51.0), (50.0, 53.0)) == guesses.OPEN
    assert verdict((60.0, 53.0), (50.0, 50.0)) == guesses.OPEN
    assert verdict((60.0, 51.0)) == guesses.OPEN  # no number could have contradicted it
    assert verdict((50.0, 50.0)) == guesses.NOT_SUPPORTED  # nothing was to be explained
    assert verdict((60.0, 51.0), (50.0, 70.0)) == guesses.NOT_SUPPORTED  # worse on average
    assert verdict((None, None)) == guesses.WAITING
    assert verdict((60.0, 51.0), (50.0, 50.0), (None, None)) == guesses.WAITING
    assert verdict((60.0, 54.0), (None, None)) == guesses.OPEN  # whatever is still to come


def test_boostexter_takes_the_stump_of_smallest_z():
    rng = np.random.default_rng(0)
    X, c, D = rng.integers(4, size=(40, 3)).astype(float), rng.integers(3, size=40), rng.random((40, 3))
    is_own = np.eye(3, dtype=bool)[c]
    bins = boostexter.Bins([boostexter.cuts(x) for x in X.T])
    f, last, votes = bins.stump(bins.members(bins.codes(X)), D, is_own)

    def brute(feature, cut):
        out = 0.0
        for side in (X[:, feature] < cut, X[:, feature] > cut):
            for k in range(3):
                out += np.sqrt(D[side & is_own[:, k], k].sum() * D[side & ~is_own[:, k], k].sum())
        return out

    everywhere = {(g, i): brute(g, cut) for g in range(3) for i, cut in enumerate((0.5, 1.5, 2.5))}
    assert (f, last) == min(everywhere, key=everywhere.get)
    below = X[:, f] < last + 0.5
    right, wrong = D[below & (c == 0), 0].sum() + 1 / D.size, D[below & (c != 0), 0].sum() + 1 / D.size
    assert votes[0, 0] == pytest.approx(0.5 * np.log(right / wrong))


def test_boostexter_learns_a_line_of_classes(monkeypatch):
    x = np.linspace(0, 1, 60)
    y = np.repeat([0, 1, 2], 20)
    monkeypatch.setattr(data, "problem", lambda **_: data.Problem(x[:, None], y, x[:, None], y, 3))
    result = boostexter.boostexter({}, 20)
    assert result["rounds"][-1] == result["n_iter"] == 20
    assert result["test"][0] == pytest.approx(1 / 3) and result["test"][-1] == 0


@pytest.mark.data
def test_real_sets_have_the_shapes_that_costs_and_splits_rely_on():
    data.set_home(os.environ[data.datasets.ENVIRONMENT])
    for name in ("satimage", "segment", "vowel", "ecoli", "splice"):
        given = data.problem(name)
        n_train, n_test, p, K = data.SHAPES[name]
        assert given.X_train.shape == (n_train, p) and given.X_test.shape == (n_test, p) and given.K == K
    assert data.problem("splice2", sizes=[1000, 2175], shuffle=True).X_test.shape == (2175, 60)


# ---- fits and tables ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("booster", "options"), [("gd", {}), ("cd", {}), ("m1", {}), ("flagship", {})])
def test_followed_errors_are_those_of_staged_predictions(booster, options):
    given = tiny_problem("vowel")
    estimator = fits.make(booster, given.K, 13, 0, options)
    result = fits.follow(estimator, given)
    staged = [(p != given.y_test).mean() for p in estimator.staged_predict(given.X_test)]
    assert result["test"] == pytest.approx([staged[t - 1] for t in result["rounds"]], abs=1e-6)
    assert fits.at(result, 10**6) == result["test"][-1] if staged else math.isnan(fits.at(result, 5))


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("leaves", [4, 12])
def test_gini_trees_are_carts(K, leaves):
    rng = np.random.default_rng(K)
    X, weight = rng.normal(size=(200, 4)), rng.exponential(size=200)  # fewer rows than bins: every threshold is there
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=200) > 1).astype(int) + (K == 3) * (X[:, 2] > 1)
    tree = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0).fit(X, y, weight)
    one_round = SAMMEClassifier(boosters.class_tree("gini", None, leaves), n_estimators=1).fit(X, y, weight)
    assert (one_round.predict(X) == tree.predict(X)).all()


def test_curves_stay_where_a_booster_stopped():
    result = {"rounds": [1, 2, 5], "test": [0.5, 0.4, 0.3]}
    assert [fits.at(result, t) for t in (1, 4, 5, 500)] == [0.5, 0.4, 0.3, 0.3]
    assert math.isnan(fits.at({"rounds": [], "test": []}, 10))


def test_entries_of_tables():
    entry, Samples = comparison.entry, comparison.Samples
    assert entry(Samples((90.0, 92.0), 2), 91.5) == "91.0 ± 12.7 (91.5, -0.5)"  # Student's t of one degree is 12.7
    assert entry(Samples((90.0,), 1), None, bold=True) == "**90.0**"
    assert entry(Samples((), 3), 50.0) == "…"
    assert entry(Samples((90.0,), 3), None) == "90.0 [1 of 3]"
    assert entry(Samples((float("nan"),), 1), None) == "—"
    assert comparison.tally(["letter"], ["poker", "dna"], 3) == "1 of 3; not on poker, dna"
    assert comparison.tally(["letter"], [], 1, "behind") == "1 of 1"


def test_numbers_of_the_papers():
    published = comparison.published
    assert published("nips-table2", "GD-MCBoost", "letter") == 59.65
    assert published("nips-table2", "AdaBoost.M1", "letter") is None
    assert published("mukherjee-fig8", "AdaBoost.MM", "poker") == 22.8
    assert published("geist-table3-T1000", "sm-boost", "dna") == 6.24
    for table in (
        papers.nips2011.TABLE1,
        papers.nips2011.TABLE2,
        *(getattr(papers.jmlr, f"TABLE{i}") for i in (7, 8, 9)),
    ):
        for method in table.methods:
            assert any(table.published(method, name) is not None for name in table.sets), method


def test_wins_count_ties_and_boosters_that_could_not_begin():
    first, second = comparison.Method("a", "a"), comparison.Method("b", "b")
    table = comparison.Comparison(
        "nips-table1", {"x": {"name": "car"}, "y": {"name": "dna"}}, (first, second), {"x": 4, "y": 3}, 5
    )
    found = Results("nowhere")
    errors = {("a", "x"): [0.1], ("b", "x"): [0.1], ("a", "y"): [0.2], ("b", "y"): []}
    for (label, name), values in errors.items():
        method = first if label == "a" else second
        (cell,) = table.cells_of(Plan(), method, name)
        found._read[cell.key] = {"rounds": [5][: len(values)], "test": values}
    assert table.wins(Plan(), found, first, (second,)) == (["x", "y"], [], True)
    assert isinstance(table.far_off(Plan(), found, ["x"], [first]), Text)
