"""Splits of categories: the best subset, missing and unseen categories, files; test_engine.py compares the twin."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import simplexboost as sb
from simplexboost.engine import CPU, MAX_CATEGORIES, SCORES, Growth, OneHot, Tree, cpu_engine, no_sets
from simplexboost.model.additive import AdditiveModel, Term
from simplexboost.model.hypotheses import TreeHypothesis
from simplexboost.persist.models import check_tree, model_from_arrays, model_to_arrays

EXACT = Growth(max_leaf_nodes=2, min_category_count=1, category_smoothing=0.0)


def binned(*columns):
    """These columns, all of them categorical."""
    return CPU.compute.bin(np.column_stack(columns).astype(float), categorical=np.ones(len(columns), dtype=bool))


def members(tree, node=0):
    """The categories that go left."""
    bits = np.unpackbits(tree.category_sets[tree.nodes["category"][node]], bitorder="little")
    return set(np.flatnonzero(bits).tolist())


# ---- the search -----------------------------------------------------------------------------------------------------


def newton_gain(values, left, l2):
    def score(rows):
        g, h = values[rows].sum(axis=0)
        return g * g / (h + l2)

    return score(left) + score(~left) - score(left | ~left)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 7), st.sampled_from([0.0, 0.5, 3.0]))
def test_no_subset_beats_the_prefixes(seed, n_categories, l2):
    """One gradient column, no smoothing: the best prefix of the ratio order is the best of all subsets, for any l2."""
    rng = np.random.default_rng(seed)
    category = np.concatenate([np.arange(n_categories), rng.integers(0, n_categories, 40)])
    values = np.column_stack([rng.normal(size=len(category)), rng.uniform(0.1, 2.0, len(category))])
    values[:, 0] += rng.normal(size=n_categories)[category]
    tree = CPU.compute.grow(
        binned(category), values, "newton", Growth(**(vars(EXACT) | {"l2_regularization": l2})), values
    ).tree
    subsets = (s for size in range(1, n_categories) for s in combinations(range(n_categories), size))
    best = max(newton_gain(values, np.isin(category, subset), l2) for subset in subsets)
    np.testing.assert_allclose(tree.gain[0], max(best, 0.0), rtol=1e-9, atol=1e-9)  # with l2, no split may be best


@pytest.mark.parametrize("d", [3, 10])
def test_the_order_is_good_in_many_dimensions(d):
    """Not the best subset, but nearly, on average; the order of the first column comes to 0.87 and 0.84."""
    subsets = [np.isin(np.arange(8), s) for size in range(1, 5) for s in combinations(range(8), size)]
    parts = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        category = np.repeat(np.arange(8), 30)
        G = rng.normal(size=(240, d)) + 0.5 * rng.normal(size=(8, d))[category]
        values = np.column_stack([G, np.ones(240)])
        gain = CPU.compute.grow(binned(category), values, "newton", EXACT, values).tree.gain[0]
        sums = np.array([G[category == k].sum(axis=0) for k in range(8)])
        scores = [
            sum((sums[side].sum(axis=0) ** 2).sum() / (30 * side.sum()) for side in (left, ~left)) for left in subsets
        ]
        parts.append(gain / (max(scores) - (G.sum(axis=0) ** 2).sum() / 240))
    assert max(parts) < 1 + 1e-9 and np.mean(parts) > 0.97


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_a_planted_subset_is_found(score, threads):
    rng = np.random.default_rng(0)
    category, planted = rng.integers(0, 30, 4000), [0, 3, 7, 8, 21, 29]
    inside = np.isin(category, planted)
    target = np.where(inside, 1.0, -1.0) + 0.1 * rng.normal(size=4000)
    values = np.column_stack([target, np.ones(4000)])
    statistics = values if score == "newton" else values[:, :1]
    if score in ("max", "entropy"):
        statistics = OneHot(inside.astype(int), np.ones(4000), 2)
    data = binned(rng.integers(0, 30, 4000), category)
    tree = cpu_engine(threads).compute.grow(data, statistics, score, Growth(max_leaf_nodes=2), values).tree
    assert tree.nodes["feature"][0] == 1 and tree.count.tolist()[0] == 4000
    left = members(tree) & set(range(30))
    assert left in (set(planted), set(range(30)) - set(planted))


def test_equal_keys_go_by_number():
    """Categories 0 and 2 tie; a tie of scores goes to the shorter prefix, which holds the lower category."""
    category = np.repeat([0, 1, 2], 4)
    values = np.where(category == 1, 1.0, 0.0)[:, None]
    growth = Growth(max_leaf_nodes=2, min_samples_leaf=4, min_category_count=1)
    tree = CPU.compute.grow(binned(category), values - 0.5, "norm", growth, values).tree
    assert members(tree) & {0, 1, 2} == {0, 2}
    entropy = CPU.compute.grow(binned(category), OneHot(category, np.ones(12), 3), "entropy", growth, values).tree
    assert members(entropy) & {0, 1, 2} == {1}  # category 0 is the farthest, 1 and 2 are alike along its axis


def test_rare_categories_go_right():
    """However low their key is."""
    category = np.repeat([0, 1, 2], [50, 50, 3])
    values = np.array([-1.0, 1.0, -9.0])[category][:, None]
    for count, left in ((3, {0, 2}), (4, {0})):
        growth = Growth(max_leaf_nodes=2, min_category_count=count, category_smoothing=0.0)
        tree = CPU.compute.grow(binned(category), values, "sign", growth, values).tree
        assert members(tree) & {0, 1, 2} == left


def test_the_count_that_makes_a_category_rare_fits_the_table():
    assert [Growth().category_count(n) for n in (1, 99, 300, 10**6)] == [1, 1, 3, 10]
    assert Growth(min_category_count=7).category_count(5) == 7


def test_smoothing_draws_small_categories_to_the_middle():
    """A single wild row is split off first, unless a hundred average rows join it: then category 0 is the lowest."""
    category = np.repeat([0, 1, 2], [40, 40, 1])
    values = np.column_stack([np.array([-0.5, 0.5, -10.0])[category], np.ones(81)])
    for smoothing, left in ((0.0, {2}), (100.0, {0, 2})):
        growth = Growth(max_leaf_nodes=2, category_smoothing=smoothing)
        tree = CPU.compute.grow(binned(category), values, "newton", growth, values).tree
        assert members(tree) & {0, 1, 2} == left


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_missing_values_go_where_they_gain(side):
    category = np.repeat([0.0, 1.0, 2.0, np.nan], 20)
    values = np.repeat([-1.0, 1.0, -1.0, side], 20)[:, None]
    tree = CPU.compute.grow(binned(category), values, "sign", Growth(max_leaf_nodes=2), values).tree
    assert tree.nodes["missing_left"][0] == (side < 0) and members(tree) & {0, 1, 2} == {0, 2}


def test_known_against_missing():
    category = np.repeat([0.0, 1.0, np.nan], 20)
    values = np.repeat([1.0, 1.0, -1.0], 20)[:, None]
    tree = CPU.compute.grow(binned(category), values, "sign", Growth(max_leaf_nodes=2), values).tree
    assert tree.count.tolist() == [60, 40, 20] and not tree.nodes["missing_left"][0]


# ---- prediction -----------------------------------------------------------------------------------------------------


def mixed_problem(n=3000):
    """Two categorical columns and a numeric one, with missing values; category 5 of the first has no rows."""
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.choice([0, 1, 2, 3, 4, 6, 7], n), rng.normal(size=n), rng.integers(0, 254, n)]).astype(
        float
    )
    X[rng.random((n, 3)) < 0.1] = np.nan
    values = rng.normal(size=(n, 2)) + np.isin(X[:, :1], [1, 4, 7]) * [1.0, -1.0] + np.nan_to_num(X[:, 1:2] > 0)
    return X, CPU.compute.bin(X, categorical=np.array([True, False, True])), values


def sample_tree():
    X, data, values = mixed_problem()
    grown = CPU.compute.grow(data, values, "norm", Growth(max_leaf_nodes=12, order="best"), values)
    assert (grown.tree.nodes["category"] >= 0).sum() >= 3 and (grown.tree.nodes["threshold"] != 0).any()
    return X, grown


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_follow_their_codes(dtype):
    X, grown = sample_tree()
    assert CPU.compute.apply(grown.tree, X).tolist() == grown.leaf_of_row.tolist()
    X = np.where(np.arange(3) == 1, 0.0, X).astype(dtype)  # the numeric column does not survive single precision
    assert (cpu_engine(2).compute.apply(grown.tree, X) == CPU.compute.apply(grown.tree, X.astype(float))).all()


@pytest.mark.parametrize("value", [5.0, 8.0, 253.0, 254.0, 255.0, 256.0, 1e300, -1.0, -0.5, 1.5, np.inf, -np.inf])
def test_what_is_no_category_counts_as_missing(value):
    X, grown = sample_tree()
    missing, strange = X[:500].copy(), X[:500].copy()
    missing[:, 0], strange[:, 0] = np.nan, value
    assert CPU.compute.apply(grown.tree, missing).tolist() == CPU.compute.apply(grown.tree, strange).tolist()


def test_a_category_absent_from_a_node_goes_right():
    """Seen in training, but not on the way to this node."""
    category, other = np.repeat([0, 1, 2, 3], 20), np.repeat([0, 0, 1, 1], 20)
    values = np.column_stack([np.where(other == 1, 9.0, -9.0), np.repeat([1.0, -1.0, 0.0, 0.0], 20)])
    tree = CPU.compute.grow(
        binned(other, category), values, "norm", Growth(max_leaf_nodes=3, order="best"), values
    ).tree
    below = int(np.flatnonzero(tree.nodes["category"] >= 0)[1])
    assert tree.nodes["feature"][:1] == [0] and tree.nodes["feature"][below] == 1
    assert not members(tree, below) & {2, 3}


def test_rows_left_out_of_growth_are_sent_by_the_sets():
    X, data, values = mixed_problem()
    rows = np.arange(0, 3000, 3)
    grown = CPU.compute.grow(data, values, "norm", Growth(max_leaf_nodes=9), values, rows=rows)
    assert CPU.compute.apply(grown.tree, X).tolist() == grown.leaf_of_row.tolist()


# ---- models and files -----------------------------------------------------------------------------------------------


def sample_model():
    """Trees with and without sets, one after another: every tree must find its own."""
    X, data, values = mixed_problem()
    terms = []
    for t in range(6):
        features = np.array([1]) if t % 3 == 1 else None
        grown = CPU.compute.grow(
            data, values, "norm", Growth(max_leaf_nodes=4 + t), values, np.arange(t, 3000, 2), features
        )
        terms.append(Term(TreeHypothesis(grown.tree, grown.leaf_sums), 0.1 * (t + 1)))
    return X, AdditiveModel(np.eye(2), terms, [6])


@pytest.mark.parametrize("value", [None, 5.0, 300.0, 0.5])
def test_a_model_adds_up_its_trees(value):
    """Also where a value is no category, while no other is missing."""
    X, model = sample_model()
    assert {len(tree.category_sets) > 0 for tree in model.trees} == {True, False}
    if value is not None:
        X = np.nan_to_num(X)
        X[::2, 0] = value
    expected = np.zeros((len(X), 2))
    for term in model.terms:
        term.add_to(expected, term.hypothesis.outputs(X))
    assert (model.predictor(X, cpu_engine(2)) == expected).all()
    assert np.isclose(model.feature_gains(3).sum(), 1.0)


def test_round_trip():
    X, model = sample_model()
    arrays = model_to_arrays(model) | {"present": np.ones(len(model.Y), dtype=np.uint8)}
    again = model_from_arrays(arrays, len(model.Y), X.shape[1])
    for old, new in zip(model.trees, again.trees, strict=True):
        assert (old.category_sets == new.category_sets).all() and old.nodes.tobytes() == new.nodes.tobytes()
    assert (again.predictor(X) == model.predictor(X)).all()


@pytest.mark.parametrize("category", [-2, 1, 99])
def test_splits_without_their_set_are_refused(category):
    tree = CPU.compute.grow(binned([0, 1] * 9), np.array([[1.0], [-1.0]] * 9), "sign", Growth(), np.ones((18, 1))).tree
    assert check_tree(tree) is tree
    tree.nodes["category"][0] = category
    with pytest.raises(ValueError, match="sets"):
        check_tree(tree)
    with pytest.raises(ValueError, match="sets"):
        check_tree(Tree(tree.nodes, tree.gain, tree.count, np.zeros((100, 31), dtype=np.uint8)))


def test_files_without_categories_have_no_sets():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3
    arrays = model_to_arrays(sb.GDMCBoostClassifier(n_estimators=2).fit(X, y).model_)
    assert arrays["category_sets"].shape == no_sets().shape and not arrays["n_sets"].any()


# ---- binning --------------------------------------------------------------------------------------------------------


def test_codes_are_categories():
    X = np.array([[0, 3.0], [7, np.nan], [np.nan, 1.0], [2, 3.0]])
    data = CPU.compute.bin(X, max_bins=2, categorical=np.array([True, False]))
    assert data.n_bins.tolist() == [8, 2] and data.categorical.tolist() == [1, 0]
    assert data.column(0).tolist() == [0, 7, 8, 2]
    assert np.unpackbits(data.seen_categories[0], bitorder="little").nonzero()[0].tolist() == [0, 2, 7]
    assert not data.seen_categories[1].any()
    assert CPU.compute.bin(X[:, 1:]).categorical.tolist() == [0]
    assert binned([np.nan, np.nan]).column(0).tolist() == [1, 1]


@pytest.mark.parametrize("value", [-1.0, 0.5, np.inf])
def test_what_cannot_be_a_category_is_refused(value):
    with pytest.raises(ValueError, match="column 1"):
        binned([0, 1], [0, value])


def test_too_many_categories_are_refused():
    assert binned(np.arange(MAX_CATEGORIES)).n_bins.tolist() == [254]
    with pytest.raises(ValueError, match=r"column 0 .*254"):
        binned(np.arange(MAX_CATEGORIES + 1))


# ---- categories none of which is known -------------------------------------------------------------------------------


def towns(n=60):
    """A frame with a column of towns, and labels that depend on it."""
    town = np.array(["Bonn", "Cork", "Ulm"])[np.arange(n) % 3]
    return pd.DataFrame({"town": town, "z": np.arange(n) / n}), town == "Ulm"


@pytest.mark.parametrize("written", [str.upper, lambda town: town + " ", lambda town: "Köln"])
def test_a_column_without_a_known_category_is_told_once_and_where(written):
    X, y = towns()
    clf = sb.SimplexBoostClassifier(n_estimators=3, random_state=0).fit(X, y)
    other = X.assign(town=X["town"].map(written))
    example = min(other["town"])
    with pytest.warns(UserWarning) as found:
        P = clf.predict_proba(other)
    assert [str(one.message)[:90] for one in found] == [
        f"column 'town' has no value that is known from fit, in 60 rows: such as {example!r}, where the categories"[:90]
    ]
    assert "where the categories were such as 'Bonn'" in str(found[0].message) and found[0].filename == __file__
    assert_array_equal(P, clf.predict_proba(X.assign(town=None)))


def test_several_columns_without_a_known_category_are_told_of_at_once():
    X, y = towns()
    X = X.assign(home=X["town"], work=X["town"])
    clf = sb.SimplexBoostClassifier(n_estimators=3, random_state=0).fit(X, y)
    with pytest.warns(UserWarning) as found:
        clf.predict(X.assign(town="Köln", work="Nice"))
    (told,) = (str(one.message) for one in found)
    assert told.startswith("column 'town' has no value") and told.endswith("The same is true of column 'work'.")


def test_several_columns_with_too_many_categories_are_told_of_at_once():
    X = pd.DataFrame({name: [f"{name}{i}" for i in range(600)] for name in ("a", "b", "c")})
    y = np.arange(600) % 2
    with pytest.warns(UserWarning) as found:
        clf = sb.SimplexBoostClassifier(n_estimators=3, random_state=0, warm_start=True).fit(X[:300], y[:300])
    (told,) = (str(one.message) for one in found)
    assert told.startswith("column 'a' has 300 categories") and told.endswith("is true of columns 'b', 'c'.")
    few = X[["a", "b"]].iloc[:200]
    clf.fit(X, y)  # new ones share a number already
    clf = sb.SimplexBoostClassifier(n_estimators=3, random_state=0, warm_start=True).fit(few, y[:200])
    with pytest.warns(UserWarning, match="column 'a' has 600 categories, .* is true of column 'b'") as found:
        clf.set_params(n_estimators=4).fit(X[["a", "b"]], y)
    assert len(found) == 1


def test_columns_that_are_as_they_were_and_tables_of_few_rows_are_not_told_of():
    X, y = towns()
    clf = sb.SimplexBoostClassifier(n_estimators=3, random_state=0).fit(X, y)
    clf.predict(X[:9].assign(town="Köln"))  # a new town, it may be
    clf.predict(X.assign(town=["Bonn", *["Köln"] * 59]))  # one is known
    clf.predict(X.assign(town=[*["Köln"] * 9, *[None] * 51]))  # few rows have a value
    clf.predict(X.assign(town=None))
    with pytest.warns(UserWarning, match="column 'town' .* in 10 rows: such as 'Köln'"):
        clf.predict(X.assign(town=[*["Köln"] * 10, *[None] * 50]))


def test_codes_that_are_numbers_are_told_of_as_well():
    X = np.column_stack([np.arange(60) % 3, np.arange(60)])
    clf = sb.SimplexBoostClassifier(n_estimators=3, categorical_features=[0], random_state=0).fit(X, X[:, 0] > 1)
    with pytest.warns(
        UserWarning, match=r"column 0 has no value .* such as 100.0, where the categories were such as 0.0"
    ):
        clf.predict(X + 100)


def test_new_values_of_a_column_with_too_many_categories_share_one_and_are_not_told_of():
    X = pd.DataFrame({"name": [f"n{i}" for i in range(600)]})
    with pytest.warns(UserWarning, match="has 600 categories, and 254 can be told apart") as found:
        clf = sb.SimplexBoostClassifier(n_estimators=3, random_state=0).fit(X, np.arange(600) % 2)
    assert [one.filename for one in found] == [__file__]
    clf.predict(pd.DataFrame({"name": [f"m{i}" for i in range(20)]}))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([f"shop {i}" for i in range(300)], r"an identifier; if values .* TargetEncoder makes numbers of them"),
        (
            pd.date_range("2020-01-01", periods=300).strftime("%Y-%m-%d").tolist(),
            r"look like dates: make them dates before the fit, by parse_dates=\['when'\] in pandas.read_csv or by "
            r"pd.to_datetime\(X\['when'\]\)",
        ),
        (pd.date_range("2020-01-01", periods=300).strftime("%d.%m.%Y").tolist(), "look like dates"),
        (pd.Categorical(range(300)), "TargetEncoder .* If they are quantities and no codes, do not declare them"),
    ],
    ids=["text", "dates", "dates, day first", "numbers"],
)
def test_the_warning_of_too_many_categories_says_what_helps(values, words):
    X = pd.DataFrame({"when": values})
    with pytest.warns(UserWarning, match=words) as found:
        sb.GDMCBoostClassifier(n_estimators=1).fit(X, np.arange(300) % 2)
    assert ("dates" in str(found[0].message)) == ("dates" in words)
