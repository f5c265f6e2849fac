"""Output codes: matrices, decoders and probabilities against brute force, scikit-learn's reductions, bad input."""

import itertools
import json
import pickle
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron, RidgeClassifier
from sklearn.metrics import log_loss
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multiclass import OutputCodeClassifier as SklearnOutputCode
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import simplexboost as sb
from simplexboost import datasets
from simplexboost.parts import codewords as cw
from simplexboost.reductions import DECODINGS
from simplexboost.reductions.coding import (
    CODES,
    answers_from_probabilities,
    confidence,
    couple,
    distances,
    softmax_link,
)

GOLDEN = json.loads((Path(__file__).parent / "golden" / "reductions.json").read_text())
X, y = load_iris(return_X_y=True)
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)


# Whether a weight is a repetition is up to the classifiers around which the code is; the default has an absolute l2.
BY_DEFAULT = {
    f"check_sample_weight_equivalence_on_{kind}_data": "not for SimplexBoostClassifier with l2_regularization"
    for kind in ("dense", "sparse")
}


@parametrize_with_checks(
    [sb.OutputCodeClassifier(), sb.OutputCodeClassifier(GaussianNB(), "all-pairs", "votes", break_ties=True)],
    expected_failed_checks=lambda estimator: BY_DEFAULT if estimator.estimator is None else {},
)
def test_sklearn_checks(estimator, check):
    check(estimator)


# ---- the lecture ----------------------------------------------------------------------------------------------------


def test_the_lectures_code_decodes_to_class_3():
    golden = GOLDEN["ecoc"]
    M, f = np.array(golden["M"], float), np.array([golden["f"]], float)
    D = distances(f, M, "hamming")
    assert D.tolist() == [golden["hamming"]]
    assert D.argmin() + 1 == golden["prediction_1based"] == 3 and D.min() == 1
    assert cw.min_hamming(M) == golden["min_code_distance"] == 1 and cw.bits_corrected(M) == 0
    assert (-distances(f, M, "votes")).argmax() == 2


def test_the_lectures_code_as_a_classifier():
    """Rows of X are answers of the columns: classifier j predicts by feature j."""
    M = np.array(GOLDEN["ecoc"]["M"], float)
    clf = sb.OutputCodeClassifier(DecisionTreeClassifier(max_depth=1), M, "hamming")
    clf.fit(np.repeat(M, 2, axis=0), np.repeat(np.arange(1, 9), 2))  # every column is a feature: stumps find it
    assert clf.predict([GOLDEN["ecoc"]["f"]]).tolist() == [3]
    assert clf.min_distance_ == 1 and clf.bits_corrected_ == 0
    assert (clf.predict(M) == np.arange(1, 9)).all()


def test_one_vs_all_is_suboptimal():
    """Linear classifiers by themselves give up the middle class, an error of 20 %; trained together none errs."""
    golden = GOLDEN["ova_example"]
    data = datasets.make_ova_suboptimal(1000, 1000, random_state=0)
    for base, decoding in [
        (LogisticRegression(), "hamming"),
        (LogisticRegression(), "votes"),
        (RidgeClassifier(), "logistic"),
    ]:
        clf = sb.OutputCodeClassifier(base, "one-vs-all", decoding).fit(data.X_train, data.y_train)
        assert 1 - clf.score(data.X_test, data.y_test) == pytest.approx(golden["ova_error"], abs=1e-12)
        report = sb.evaluate.CodeReport.from_estimator(clf, data.X_test, data.y_test)
        np.testing.assert_allclose(report.column_errors, [0.0, 0.2, 0.0])
    for joint in (sb.GDMCBoostClassifier(), sb.CDMCBoostClassifier(learner="linear")):
        assert 1 - joint.fit(data.X_train, data.y_train).score(data.X_test, data.y_test) == golden["joint_error"]
    # The lecture's joint solution: the middle classifier alone errs by 80 %, the decision never.
    scores = np.array(golden["X"]) @ np.array(golden["W"]).T
    np.testing.assert_allclose(scores, golden["scores"], atol=1e-12)
    for decoding in ("logistic", "exponential", "hinge", "squared", "euclidean"):
        assert distances(scores, cw.OneVsAllCode().matrix(3), decoding).argmin(axis=1).tolist() == [0, 1, 2]


def test_votes_are_the_lectures():
    """Σ_{l'>l} [h_{ll'} = +1] + Σ_{l'<l} [h_{l'l} = −1], ties to the smallest index."""
    K, rng = 5, np.random.default_rng(0)
    f = rng.normal(size=(200, K * (K - 1) // 2))
    pairs = {pair: j for j, pair in enumerate(itertools.combinations(range(K), 2))}
    for i, row in enumerate(f):
        votes = [
            sum(row[pairs[k, m]] > 0 for m in range(k + 1, K)) + sum(row[pairs[m, k]] <= 0 for m in range(k))
            for k in range(K)
        ]
        assert (-distances(f[i : i + 1], cw.AllPairs().matrix(K), "votes")[0]).tolist() == votes
    cycle = np.array([[1.0, -1.0, 1.0]])  # 0 beats 1, 2 beats 0, 1 beats 2: a vote each
    assert distances(cycle, cw.AllPairs().matrix(3), "votes").tolist() == [[-1.0, -1.0, -1.0]]
    assert distances(cycle, cw.AllPairs().matrix(3), "votes").argmin() == 0


# ---- codes ----------------------------------------------------------------------------------------------------------


def brute_hamming(Y):
    return min(sum(0.5 * (1 - a * b) for a, b in zip(s, t, strict=True)) for s, t in itertools.combinations(Y, 2))


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize("K", [3, 4, 5, 6, 9, 11])
def test_every_named_code_is_sound(name, K):
    Y = CODES[name]().matrix(K, np.random.default_rng(0))
    assert set(np.unique(Y)) <= {-1.0, 0.0, 1.0}
    assert (Y.max(axis=0) == 1).all() and (Y.min(axis=0) == -1).all()
    assert len(np.unique(Y, axis=0)) == K
    assert cw.min_hamming(Y) == brute_hamming(Y)


@pytest.mark.parametrize("K", [3, 4, 5, 6, 7, 8])
def test_distances_of_the_classical_codes(K):
    """Dietterich and Bakiri; Allwein, Schapire and Singer."""
    assert cw.min_hamming(cw.Exhaustive().matrix(K)) == 2 ** (K - 2)
    assert cw.min_hamming(cw.OneVsAllCode().matrix(K)) == 2
    assert cw.min_hamming(cw.AllPairs().matrix(K)) == (K * (K - 1) / 2 - 1) / 2 + 1
    assert cw.bits_corrected(cw.Exhaustive().matrix(K)) == (2 ** (K - 2) - 1) // 2
    assert cw.bits_corrected(cw.OneVsAllCode().matrix(K)) == cw.bits_corrected(cw.AllPairs().matrix(K)) == 0


@pytest.mark.parametrize("K", [2, 3, 4, 5, 8, 9, 26, 100])
def test_hadamard_rows_are_equidistant(K):
    Y = cw.Hadamard().matrix(K)
    order = Y.shape[1] + 1
    distance = 0.5 * (order - 1 - Y @ Y.T)
    assert order / 2 < K <= order
    assert (distance[~np.eye(K, dtype=bool)] == order / 2).all()
    assert (np.abs(Y.T @ Y) - K * np.eye(order - 1) < K).all(), "columns differ, up to sign"


@pytest.mark.parametrize(
    # textbook (length, bits, distance): (15, 7, 5), (15, 5, 7), (31, 11, 11), (31, 16, 7), (63, 10, 27), (127, 15, 55)
    ("d", "K", "least"),
    [
        *[(15, 100, 5), (15, 30, 7), (31, 1500, 11), (31, 3000, 7), (63, 700, 27), (127, 800, 55)],
        *[(31, 20, 16), (63, 64, 32)],  # Hadamard
    ],
)
def test_bch_keeps_its_designed_distance(d, K, least):
    Y = cw.BCH(d).matrix(K)
    assert Y.shape == (K, d) and cw.min_hamming(Y) >= least
    assert (np.abs(Y.sum(axis=0)) < K).all()


def test_bch_codes_are_linear():
    """The sum of two codewords is one: all 128 words of the (15, 7) code at once."""
    words = {tuple(row) for row in cw.BCH(15).matrix(128)}
    assert len(words) == 128 and all(tuple(np.multiply(a, b)) in words for a in words for b in words)


@pytest.mark.parametrize(
    ("K", "d", "best"),  # A(d, best) >= K: Brouwer's table of binary codes
    [(8, 6, 3), (16, 8, 4), (12, 10, 5), (20, 8, 3), (6, 9, 5), (24, 12, 6), (8, 7, 4), (5, 15, 8)],
)
def test_max_hamming_finds_the_best_codes(K, d, best):
    Y = cw.MaxHamming(d).matrix(K)
    assert Y.shape == (K, d) and cw.min_hamming(Y) == best
    assert (np.abs(np.triu(Y.T @ Y, 1)) < K).all() and (np.abs(Y.sum(axis=0)) < K).all()


@pytest.mark.parametrize(("K", "d"), [(4, 4), (4, 5), (4, 6), (5, 4), (5, 5), (5, 6)])
def test_max_hamming_equals_exhaustive_search(K, d):
    columns = cw.Exhaustive().matrix(K)
    best = max(
        cw.min_hamming(columns[:, list(chosen)]) for chosen in itertools.combinations(range(columns.shape[1]), d)
    )
    assert cw.min_hamming(cw.MaxHamming(d).matrix(K)) == best


def test_searched_codes_beat_drawn_ones():
    for K in (10, 26, 60):
        d = int(np.ceil(10 * np.log2(K)))
        assert cw.min_hamming(cw.MaxHamming().matrix(K)) >= cw.min_hamming(cw.RandomDense(d).matrix(K)) + 4


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 5), st.integers(3, 6), st.booleans())
def test_bits_corrected_by_brute_force(seed, K, d, ternary):
    """Every answer with at most that many wrong bits decodes right, and one more wrong bit can mislead."""
    letters = [-1.0, 0.0, 1.0] if ternary else [-1.0, 1.0]
    M = np.random.default_rng(seed).choice(letters, (K, d))
    answers = np.array(list(itertools.product([-1.0, 1.0], repeat=d)))
    D = distances(answers, M, "hamming")
    wrong = ((answers[:, None, :] * M) < 0).sum(axis=2)  # (answers, K): wrong bits if k is true
    unique = (D[:, :, None] < D[:, None, :]).sum(axis=2) == K - 1  # k is nearer than every other
    safe = max([e for e in range(d + 1) if (unique | (wrong > e)).all()], default=0)
    assert cw.bits_corrected(M) == safe


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cw.BCH(10).matrix(5), "code_dim=10 is not the length of a BCH code"),
        (lambda: cw.BCH(31).matrix(4), "too large"),
        (lambda: cw.BCH(7).matrix(100), "too few"),
        (lambda: cw.MaxHamming(8).matrix(4), "accepted is 2 <= code_dim <= 7"),
        (lambda: cw.MaxHamming(3).matrix(9), "accepted is 4 <= code_dim"),
        (lambda: cw.min_hamming([[0.5], [1.0]]), "entry 0.5"),
    ],
)
def test_impossible_codes(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ---- decoding -------------------------------------------------------------------------------------------------------

BRUTE = {
    "exponential": lambda m, f: np.exp(-m * f),
    "logistic": lambda m, f: np.log(1 + np.exp(-m * f)),
    "hinge": lambda m, f: max(0.0, 1 - m * f),
    "squared": lambda m, f: (1 - m * f) ** 2,
    "hamming": lambda m, f: 0.5 * (1 - m * (1 if f > 0 else -1)),
    "votes": lambda m, f: -1.0 if m == (1 if f > 0 else -1) else 0.0,
    "euclidean": lambda m, f: (m - f) ** 2,
}


@pytest.mark.parametrize("decoding", DECODINGS)
def test_decoders_against_brute_force(decoding):
    rng = np.random.default_rng(1)
    M, f = cw.RandomSparse(9).matrix(6, 1), 2 * rng.normal(size=(40, 9))
    wanted = [[sum(map(BRUTE[decoding], row, answer)) for row in M] for answer in f]
    np.testing.assert_allclose(distances(f, M, decoding), wanted, rtol=1e-10, atol=1e-10)


def test_one_vs_all_takes_the_largest_answer():
    f = 3 * np.random.default_rng(0).normal(size=(300, 7))
    for decoding in ("logistic", "exponential", "hinge", "squared", "euclidean"):
        assert (distances(f, cw.OneVsAllCode().matrix(7), decoding).argmin(axis=1) == f.argmax(axis=1)).all()


def test_rounding_errors_do_not_decide_ties():
    """All answers equal: every class of a symmetric code is as near as the first."""
    f = np.full((1, 45), 0.1)
    for decoding in ("logistic", "exponential", "hinge", "squared", "euclidean"):
        D = distances(np.full((1, 10), 0.1), cw.OneVsAllCode().matrix(10), decoding)
        assert np.ptp(D) == 0
    M = cw.Hadamard().matrix(8)[1:]  # balanced rows: the same multiset of losses
    assert np.ptp(distances(f[:, :7], M, "logistic")) == 0


def test_ties_broken_by_confidence():
    cycle = np.array([[0.5, -2.0, 1.0]])  # a vote each; sums of m f: −1.5, 0.5, 1.0
    scores = -distances(cycle, cw.AllPairs().matrix(3), "votes") + confidence(cycle, cw.AllPairs().matrix(3))
    assert scores.argmax() == 2
    rng = np.random.default_rng(0)
    f, M = 100 * rng.normal(size=(500, 10)), cw.RandomSparse(10).matrix(6)
    D = distances(f, M, "hamming")
    broken = -D + confidence(f, M)
    strictly = D[:, :, None] < D[:, None, :]
    assert ((broken[:, :, None] > broken[:, None, :]) | ~strictly).all(), "no order is changed"


def test_answers_minimise_the_expected_loss():
    from scipy.optimize import minimize_scalar

    from simplexboost.reductions.coding import MARGIN_LOSSES

    for p in (0.03, 0.4, 0.9):
        for name in ("logistic", "exponential", "squared"):
            loss = MARGIN_LOSSES[name]
            best = minimize_scalar(lambda f: p * loss(f) + (1 - p) * loss(-f), bounds=(-9, 9), method="bounded")  # noqa: B023
            assert answers_from_probabilities(np.array(p), name) == pytest.approx(best.x, abs=2e-3)
    assert np.isfinite(answers_from_probabilities(np.array([0.0, 1.0]), "logistic")).all()


def test_huge_answers_stay_finite():
    f = np.array([[1e6, -1e6, 3.0]])
    for decoding in DECODINGS:
        assert np.isfinite(distances(f, cw.OneVsAllCode().matrix(3), decoding)).all()
        assert distances(f, cw.OneVsAllCode().matrix(3), decoding).argmin() == 0


# ---- against scikit-learn's reductions ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[::3] / 16, y[::3], X[1::3] / 16, y[1::3]


@pytest.mark.parametrize("base", [RidgeClassifier(), TREE])
def test_one_vs_rest(digits, base):
    """Of classes with equal scores the first is predicted; scikit-learn took the last one in version 1.6."""
    X, y, X_test, _ = digits
    theirs = OneVsRestClassifier(base).fit(X, y)
    scores = theirs.predict_proba(X_test) if base is TREE else theirs.decision_function(X_test)
    for decoding in ("hinge", "squared"):
        ours = sb.OutputCodeClassifier(base, "one-vs-all", decoding).fit(X, y)
        assert (ours.predict(X_test) == theirs.classes_[scores.argmax(axis=1)]).all()


@pytest.mark.parametrize("base", [RidgeClassifier(), Perceptron(random_state=0)])
def test_one_vs_one(digits, base):
    X, y, X_test, _ = digits
    theirs = OneVsOneClassifier(base).fit(X, y)  # votes, ties by confidence
    ours = sb.OutputCodeClassifier(base, "all-pairs", "votes", break_ties=True).fit(X, y)
    assert (ours.predict(X_test) == theirs.predict(X_test)).all()
    hamming = clone(ours).set_params(decoding="hamming").fit(X, y)
    assert (hamming.predict(X_test) == theirs.predict(X_test)).all(), "every row has the same number of zeros"


@pytest.mark.parametrize("base", [RidgeClassifier(), TREE])
def test_sklearns_output_code(digits, base):
    X, y, X_test, _ = digits
    theirs = SklearnOutputCode(base, code_size=3, random_state=0).fit(X, y)
    book = np.where(theirs.code_book_ > 0, 1.0, -1.0)
    ours = sb.OutputCodeClassifier(base, book, "euclidean").fit(X, y)
    assert (ours.predict(X_test) == theirs.predict(X_test)).all()


def test_codes_beat_one_vs_all_beats_the_tree(digits):
    X, y, X_test, y_test = digits
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    alone = tree.fit(X, y).score(X_test, y_test)
    ova, ecoc = (
        sb.OutputCodeClassifier(tree, code, random_state=0).fit(X, y).score(X_test, y_test)
        for code in ("one-vs-all", "max-hamming")
    )
    assert ecoc > ova + 0.05 > alone + 0.1


@pytest.mark.data
def test_codes_beat_one_vs_all_beats_the_tree_on_letter():
    data = datasets.load("letter")
    tree = DecisionTreeClassifier(max_depth=8, random_state=0)
    alone = tree.fit(data.X_train, data.y_train).score(data.X_test, data.y_test)
    for decoding in ("hamming", "logistic"):
        ova, ecoc = (
            sb.OutputCodeClassifier(tree, code, decoding, random_state=0)
            .fit(data.X_train, data.y_train)
            .score(data.X_test, data.y_test)
            for code in ("one-vs-all", "max-hamming")
        )
        assert ecoc > ova + 0.01 > alone + 0.1


# ---- probabilities --------------------------------------------------------------------------------------------------


def by_general_solver(r, M):
    """The coupling problem handed to SLSQP."""
    K = len(M)

    def objective(p):
        return sum(((1 - r[j]) * p[M[:, j] > 0].sum() - r[j] * p[M[:, j] < 0].sum()) ** 2 for j in range(M.shape[1]))

    return minimize(
        objective,
        np.full(K, 1 / K),
        bounds=[(0, 1)] * K,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
        options={"ftol": 1e-15, "maxiter": 500},
    ).x


@pytest.mark.parametrize(
    "M",
    [cw.AllPairs().matrix(4), cw.OneVsAllCode().matrix(4), cw.Exhaustive().matrix(4), cw.RandomSparse(12).matrix(5)],
    ids=["pairs", "ova", "ex", "sp"],
)
def test_coupling_against_a_general_solver(M):
    rng = np.random.default_rng(0)
    R = rng.uniform(0.02, 0.98, (12, M.shape[1]))
    P = couple(R, M)
    for r, p in zip(R, P, strict=True):
        np.testing.assert_allclose(p, by_general_solver(r, M), atol=2e-5)
    assert (P >= 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1)


def test_pairwise_coupling_solves_wu_lin_and_weng():
    """Their optimality condition: Q p is a constant vector, Q_kk = Σ r_lk², Q_kl = −r_kl r_lk."""
    K, rng = 6, np.random.default_rng(0)
    r = rng.uniform(0.01, 0.99, K * (K - 1) // 2)
    p = couple(r[None], cw.AllPairs().matrix(K))[0]
    R = np.zeros((K, K))
    R[np.triu_indices(K, 1)] = r
    R[np.tril_indices(K, -1)] = (1 - R.T)[np.tril_indices(K, -1)]
    np.fill_diagonal(R, 0)
    Q = np.diag((R**2).sum(axis=0)) - R * R.T
    assert (p > 0).all() and np.ptp(Q @ p) < 1e-9
    alternative = np.linalg.solve(np.vstack([Q[:-1] - Q[-1], np.ones(K)]), np.append(np.zeros(K - 1), 1.0))
    np.testing.assert_allclose(p, alternative, atol=1e-8)


@pytest.mark.parametrize("name", ["all-pairs", "one-vs-all", "exhaustive", "random-dense", "random-sparse"])
def test_coupling_recovers_consistent_probabilities(name):
    K = 5
    M = CODES[name]().matrix(K, np.random.default_rng(0))
    P = np.random.default_rng(1).dirichlet(np.ones(K), 50)
    plus, minus = P @ (M > 0), P @ (M < 0)
    np.testing.assert_allclose(couple(plus / (plus + minus), M), P, atol=1e-5)


def test_softmax_link_gives_back_two_contenders():
    """Where two classes share all probability, log-odds in every column that splits them come back as they were."""
    for name in ("one-vs-all", "exhaustive", "hadamard"):
        M = CODES[name]().matrix(4, np.random.default_rng(0))
        log_odds = 1.3
        f = np.where(M[0] == M[1], 40.0 * M[0], log_odds * M[0])[None]
        p = softmax_link(distances(f, M, "logistic"), M)[0, :2]
        assert np.log(p[0] / p[1]) == pytest.approx(log_odds, rel=1e-6)


@pytest.mark.parametrize("decoding", DECODINGS)
@pytest.mark.parametrize("code", ["one-vs-all", "random-sparse"])
def test_softmax_probabilities_agree_with_predictions(digits, code, decoding):
    X, y, X_test, _ = digits
    clf = sb.OutputCodeClassifier(GaussianNB(), code, decoding, random_state=0).fit(X, y)
    P = clf.predict_proba(X_test)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert (P.argmax(axis=1) == clf.predict(X_test)).all()
    assert (clf.decision_function(X_test).argmax(axis=1) == clf.predict(X_test)).all()


def test_probabilities_are_useful(digits):
    X, y, X_test, y_test = digits
    for code, probability, most in [
        ("one-vs-all", "softmax", 0.45),
        ("one-vs-all", "coupling", 0.4),
        ("all-pairs", "auto", 0.4),
    ]:
        clf = sb.OutputCodeClassifier(LogisticRegression(), code, probability=probability, random_state=0).fit(X, y)
        assert log_loss(y_test, clf.predict_proba(X_test)) < most


def test_two_classes_are_the_estimator_itself():
    X2, y2 = X[50:], y[50:]
    base = LogisticRegression().fit(X2, y2)
    for code in ("one-vs-all", "all-pairs", "random-dense", "exhaustive"):
        for probability in ("softmax", "coupling"):
            clf = sb.OutputCodeClassifier(LogisticRegression(), code, probability=probability).fit(X2, y2)
            assert clf.codewords_.tolist() == [[-1.0], [1.0]]
            np.testing.assert_allclose(clf.predict_proba(X2), base.predict_proba(X2), atol=1e-5)
        assert clf.decision_function(X2).shape == (100,)
        assert (clf.predict(X2) == base.predict(X2)).all()


# ---- use ------------------------------------------------------------------------------------------------------------


def test_it_runs_without_arguments():
    clf = sb.OutputCodeClassifier(random_state=0).fit(X, y)
    assert clf.score(X, y) > 0.97
    assert all(type(e) is sb.SimplexBoostClassifier for e in clf.estimators_) and len(clf.estimators_) == 3


@pytest.mark.parametrize("response", ["auto", "decision_function", "predict_proba", "predict"])
def test_responses(response):
    clf = sb.OutputCodeClassifier(LogisticRegression(), "all-pairs", response=response).fit(X, y)
    f = clf.column_scores(X)
    signs = np.column_stack([2 * e.predict(X) - 1 for e in clf.estimators_])
    assert (np.sign(f) == signs).all()
    if response == "predict":
        assert set(np.unique(f)) == {-1, 1}
    if response == "decision_function":
        assert (f == np.column_stack([e.decision_function(X) for e in clf.estimators_])).all()
    assert clf.score(X, y) > 0.9
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("base", [NearestCentroid(), KNeighborsClassifier(), Perceptron(), SVC(), TREE])
def test_any_classifier_will_do(base):
    clf = sb.OutputCodeClassifier(base, "exhaustive").fit(X, y)
    assert clf.score(X, y) > 0.75
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1)


def test_weights_reach_the_estimators():
    """A weight of two is a row twice, a weight of zero no row."""
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 3, len(y))
    for code in ("one-vs-all", "all-pairs"):
        base = LogisticRegression(tol=1e-10, max_iter=5000)
        weighed = sb.OutputCodeClassifier(base, code).fit(X, y, sample_weight=weight)
        repeated = sb.OutputCodeClassifier(base, code).fit(X.repeat(weight, axis=0), y.repeat(weight))
        np.testing.assert_allclose(weighed.column_scores(X), repeated.column_scores(X), rtol=1e-4, atol=1e-4)


def test_a_class_of_weight_zero_is_absent():
    clf = sb.OutputCodeClassifier(TREE, classes=[0, 1, 2]).fit(X, y, sample_weight=(y != 1).astype(float))
    assert clf._present.tolist() == [True, False, True] and 1 not in clf.predict(X)


def test_jobs_and_seeds_do_not_change_the_model():
    base = DecisionTreeClassifier(max_features=1)
    one, two, other = (
        sb.OutputCodeClassifier(base, "random-dense", random_state=seed, n_jobs=jobs).fit(X, y)
        for seed, jobs in [(3, 1), (3, 2), (4, 1)]
    )
    assert (one.codewords_ == two.codewords_).all()
    assert (one.decision_function(X) == two.decision_function(X)).all()
    assert (one.codewords_ != other.codewords_).any()
    states = [e.random_state for e in one.estimators_]
    assert len(set(states)) == len(states), "columns have seeds of their own"
    kept = sb.OutputCodeClassifier(DecisionTreeClassifier(random_state=7)).fit(X, y)
    assert {e.random_state for e in kept.estimators_} == {7}


def test_seeds_reach_into_pipelines():
    pipeline = make_pipeline(DecisionTreeClassifier())
    clf = sb.OutputCodeClassifier(pipeline, random_state=0).fit(X, y)
    assert all(e.steps[-1][1].random_state is not None for e in clf.estimators_)


@pytest.mark.parametrize("code", ["one-vs-all", "all-pairs"])
def test_frames_arrive_as_they_are(code):
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["kind"] = pd.Categorical(np.array(["u", "v", "w"])[(np.arange(150) + y) % 3])
    names = np.array(["one", "two", "three"])[y]
    clf = sb.OutputCodeClassifier(codewords=code, random_state=0).fit(frame, pd.Series(names))
    assert clf.feature_names_in_.tolist() == [*"abcd", "kind"]
    assert clf.estimators_[0].feature_names_in_.tolist() == [*"abcd", "kind"]
    assert clf.estimators_[0].categories_ is not None, "categories were seen"
    assert clf.score(frame, names) > 0.95
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(frame.rename(columns={"a": "z"}))


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
@pytest.mark.parametrize("code", ["one-vs-all", "all-pairs"])
def test_sparse_input(container, code):
    dense = sb.OutputCodeClassifier(MultinomialNB(), code).fit(X, y)
    thin = sb.OutputCodeClassifier(MultinomialNB(), code).fit(container(X), y)
    np.testing.assert_allclose(thin.decision_function(container(X)), dense.decision_function(X), rtol=1e-9)


def test_texts():
    texts = ["a red fox", "red foxes run", "blue sea", "the sea is blue", "green grass", "grass is green"] * 3
    labels = np.repeat(["fox", "sea", "grass"], 2).tolist() * 3
    clf = sb.OutputCodeClassifier(make_pipeline(TfidfVectorizer(), LogisticRegression()), "all-pairs")
    assert (clf.fit(texts, labels).predict(texts) == labels).all()


@pytest.mark.parametrize("code", ["one-vs-all", "all-pairs"])
def test_precomputed_kernels(code):
    K = X @ X.T
    rows = np.r_[0:150:2]
    linear = sb.OutputCodeClassifier(SVC(kernel="linear"), code).fit(X[rows], y[rows])
    kernel = sb.OutputCodeClassifier(SVC(kernel="precomputed"), code).fit(K[np.ix_(rows, rows)], y[rows])
    np.testing.assert_allclose(kernel.column_scores(K[:, rows]), linear.column_scores(X), rtol=1e-6, atol=1e-8)


def test_missing_values_pass_through():
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    assert sb.OutputCodeClassifier(random_state=0).fit(holes, y).score(holes, y) > 0.95
    with pytest.raises(ValueError, match="NaN"):
        sb.OutputCodeClassifier(LogisticRegression()).fit(holes, y)


# ---- classes that are absent ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["one-vs-all", "all-pairs", "random-dense"])
def test_absent_classes(code):
    some = y != 1
    clf = sb.OutputCodeClassifier(GaussianNB(), code, classes=[0, 1, 2, 3], random_state=0).fit(X[some], y[some])
    assert clf._present.tolist() == [True, False, True, False]
    assert not clf.codewords_[~clf._present].any()
    P = clf.predict_proba(X)
    assert P.shape == (150, 4) and (P[:, [1, 3]] == 0).all()
    assert set(clf.predict(X)) <= {0, 2} and clf.decision_function(X).shape == (150, 4)
    assert (clf.decision_function(X).argmax(axis=1) == clf.predict(X)).all()
    found = sb.evaluate.CodeReport.from_estimator(clf, X[some], y[some])
    assert found.column_errors == [0.0]  # one column, and it tells the two classes apart
    swapped = sb.evaluate.CodeReport.from_estimator(clf, X[some], 2 - y[some])
    assert swapped.error == 1 and (swapped.wrong_bits == 1).all() and swapped.column_errors == [1.0]
    with pytest.raises(ValueError, match="y holds 1, which is none of the classes"):
        sb.evaluate.CodeReport.from_estimator(clf, X, y)


def test_absent_classes_of_your_own_code():
    """A column that the fold leaves one-sided answers with that side; the absent class is never the answer."""
    M = [[1, 1, 1, 0], [-1, 1, -1, 0], [-1, -1, 1, 1], [1, -1, -1, -1]]
    some = y != 2
    clf = sb.OutputCodeClassifier(GaussianNB(), M, "hamming", classes=[0, 1, 2, 3])
    with pytest.warns(UserWarning, match=r"columns \[1\] of codewords have training examples on one side only"):
        clf.fit(X[some], y[some])
    assert clf.codewords_.shape == (4, 3), "the column of the two absent classes is gone"
    assert (clf.column_scores(X)[:, 1] == 1).all()
    assert clf.score(X[some], y[some]) == 1 and (clf.predict_proba(X)[:, 2:] == 0).all()


def test_only_one_class_present():
    clf = sb.OutputCodeClassifier(TREE, classes=["a", "b", "c"]).fit(X, ["b"] * 150)
    assert set(clf.predict(X)) == {"b"} and (clf.predict_proba(X)[:, 1] == 1).all()
    assert clf.codewords_.shape == (3, 0) and clf.estimators_ == []


@pytest.mark.parametrize("K", [2, 3])
def test_scores_and_margins(K):
    X_some, y_some = X[y < K], y[y < K]
    clf = sb.OutputCodeClassifier(GaussianNB(), classes=[0, 1, 2][:K]).fit(X_some, y_some)
    U = clf.class_scores(X_some)
    assert U.shape == (len(X_some), K) and (clf.classes_[U.argmax(axis=1)] == clf.predict(X_some)).all()
    margins = sb.evaluate.margins(clf, X_some, y_some)
    rows = np.arange(len(X_some))
    rivals = U.copy()
    rivals[rows, y_some] = -np.inf
    np.testing.assert_array_equal(margins, U[rows, y_some] - rivals.max(axis=1))
    with pytest.raises(ValueError, match="none of the classes"):
        sb.evaluate.margins(clf, X_some, y_some + 1)


# ---- reports --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["all-pairs", "exhaustive"])
def test_report_counts(digits, code):
    X, y, X_test, y_test = digits
    few, few_test = y < 5, y_test < 5
    clf = sb.OutputCodeClassifier(TREE, code, "hamming").fit(X[few], y[few])
    report = sb.evaluate.CodeReport.from_estimator(clf, X_test[few_test], y_test[few_test])
    for j, e in enumerate(clf.estimators_):
        letter = clf.codewords_[y_test[few_test], j]
        part = letter != 0
        wrong = e.predict(X_test[few_test][part]) != (letter[part] > 0)
        assert report.column_errors[j] == pytest.approx(wrong.mean())
    assert report.error == pytest.approx(1 - clf.score(X_test[few_test], y_test[few_test]))
    right = clf.predict(X_test[few_test]) == y_test[few_test]
    assert right[report.wrong_bits <= clf.bits_corrected_].all(), "what is within reach is corrected"
    assert (report.min_distance, report.bits_corrected) == ((5.5, 0) if code == "all-pairs" else (8, 3))
    assert report.error <= 1 - report.within_reach
    assert f"{report.error:.4f}" in str(report)
    with pytest.raises(ValueError, match="none of the classes"):
        sb.evaluate.CodeReport.from_estimator(clf, X_test, y_test)


# ---- bad input ------------------------------------------------------------------------------------------------------


class OneClass(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.array([0])
        return self

    def predict(self, X):
        return np.zeros(len(X))


class ThreeColumns(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.zeros(len(X))

    def predict_proba(self, X):
        return np.full((len(X), 3), 1 / 3)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"codewords": "ecoc"}, ValueError, "codewords='ecoc' is unknown; choose one of 'one-vs-all'"),
        ({"codewords": "simplex"}, ValueError, "codewords='simplex' is unknown"),
        ({"codewords": cw.Simplex()}, ValueError, "accepted are -1, 0 and \\+1"),
        ({"codewords": 3}, TypeError, "codewords=3 must be one of"),
        ({"codewords": [[1, 2], [1, -1], [-1, 1]]}, ValueError, "codewords has the entry 2"),
        ({"codewords": [[1, 1], [1, -1], [1, 0]]}, ValueError, r"codewords has columns without both .*: \[0\]"),
        ({"codewords": [[1, 1], [1, 1], [-1, -1]]}, ValueError, "codewords has equal rows 0 and 1"),
        ({"codewords": [[1, 1], [1, -1]]}, ValueError, "codewords has 2 rows but there are K=3 classes"),
        ({"codewords": [[1, 1, 1], [1, -1, 0], [-1, 1, 0], [0, 1, -1]]}, ValueError, r"4 rows .* classes=\["),
        ({"decoding": "loss"}, ValueError, "decoding='loss' is unknown; choose one of 'exponential'"),
        ({"response": "score"}, ValueError, "response='score' is unknown"),
        ({"probability": "platt"}, ValueError, "probability='platt' is unknown"),
        ({"estimator": LinearRegression()}, TypeError, "must be a scikit-learn classifier"),
        ({"estimator": KMeans()}, TypeError, "must be a scikit-learn classifier"),
        ({"estimator": GaussianNB}, TypeError, r"pass an instance, GaussianNB\(\)"),
        ({"estimator": "tree"}, TypeError, "must be a scikit-learn classifier"),
        ({"estimator": OneClass()}, ValueError, r"found classes \[.*0.*\] in column 0"),
        ({"classes": [0, 1]}, ValueError, "which is none of the declared classes"),
    ],
)
def test_impossible_parameters(parameters, error, message):
    with pytest.raises(error, match=message):
        sb.OutputCodeClassifier(**{"estimator": GaussianNB(), **parameters}).fit(X, y)


def test_answers_that_are_not_binary():
    clf = sb.OutputCodeClassifier(ThreeColumns()).fit(X, y)
    with pytest.raises(ValueError, match=r"predict_proba of ThreeColumns gave shape \(150, 3\) for column 0"):
        clf.predict(X)


def test_a_response_that_is_not_there():
    clf = sb.OutputCodeClassifier(GaussianNB(), response="decision_function")
    with pytest.raises(ValueError, match="response='decision_function', but GaussianNB has no such method"):
        clf.fit(X, y)
    clf.set_params(response="predict").fit(X, y).set_params(response="decision_function")
    with pytest.raises(ValueError, match="response='decision_function', but GaussianNB has no such method"):
        clf.predict(X)


def test_weights_that_the_estimator_does_not_take():
    with pytest.raises(ValueError, match=r"KNeighborsClassifier.fit does not take it"):
        sb.OutputCodeClassifier(KNeighborsClassifier()).fit(X, y, sample_weight=np.ones(150))


def test_classes_that_no_column_tells_apart():
    with pytest.warns(UserWarning, match="no column of codewords has classes 0 and 1 on opposite sides"):
        sb.OutputCodeClassifier(GaussianNB(), [[1, 1], [1, 0], [-1, -1]]).fit(X, y)


def test_one_class_only():
    with pytest.raises(ValueError, match="one class only"):
        sb.OutputCodeClassifier(GaussianNB()).fit(X, np.zeros(150))


def test_a_failed_fit_leaves_the_classifier_as_it_was():
    clf = sb.OutputCodeClassifier(GaussianNB()).fit(X, y)
    before = clf.predict(X)
    clf.codewords = [[1, 1], [1, 1], [-1, -1]]
    with pytest.raises(ValueError, match="equal rows"):
        clf.fit(X[:, :2], y)
    assert (clf.predict(X) == before).all()


# ---- saving ---------------------------------------------------------------------------------------------------------

SAVED = [
    sb.OutputCodeClassifier(random_state=0),
    sb.OutputCodeClassifier(sb.CDMCBoostClassifier(n_estimators=3), "all-pairs", "votes", break_ties=True),
    sb.OutputCodeClassifier(sb.GDMCBoostClassifier(n_estimators=2), cw.RandomDense(code_dim=5), random_state=1),
    sb.OutputCodeClassifier(sb.GDMCBoostClassifier(n_estimators=2), cw.Exhaustive().matrix(3), probability="coupling"),
]


@pytest.mark.parametrize("clf", SAVED, ids=["default", "pairs", "random", "matrix"])
def test_saved_models_come_back(clf, tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd"))
    clf = clone(clf).fit(frame, np.array(["p", "q", "r"])[y])
    clf.save(tmp_path / "m.sb")
    again = sb.load(tmp_path / "m.sb")
    for method in ("predict", "predict_proba", "decision_function", "column_scores"):
        assert (getattr(again, method)(frame) == getattr(clf, method)(frame)).all()
    assert (again.min_distance_, again.bits_corrected_) == (clf.min_distance_, clf.bits_corrected_)
    again.save(tmp_path / "again.sb")
    assert (tmp_path / "again.sb").read_bytes() == (tmp_path / "m.sb").read_bytes()
    assert (again.fit(frame, y).predict(frame) == clone(clf).fit(frame, y).predict(frame)).all()


def test_saved_models_with_absent_classes_and_constant_columns(tmp_path):
    M = [[1, 1, 1], [-1, 1, -1], [-1, -1, 1]]
    clf = sb.OutputCodeClassifier(sb.GDMCBoostClassifier(n_estimators=2), M, classes=[0, 1, 2])
    with pytest.warns(UserWarning, match="one side only"):
        clf.fit(X[y < 2], y[y < 2])
    clf.save(tmp_path / "m.sb")
    assert (sb.load(tmp_path / "m.sb").predict_proba(X) == clf.predict_proba(X)).all()


def test_foreign_estimators_are_not_saved(tmp_path):
    with pytest.raises(TypeError, match="GaussianNB cannot be saved without pickle"):
        sb.OutputCodeClassifier(GaussianNB()).fit(X, y).save(tmp_path / "m.sb")
    assert not list(tmp_path.iterdir())


def test_functions_inside_are_not_saved(tmp_path):
    clf = sb.OutputCodeClassifier(sb.MulticlassSVC(kernel=lambda A, B: A @ B.T)).fit(X, y)
    with pytest.raises(TypeError, match="a function is code, and model files hold none"):
        clf.save(tmp_path / "m.sb")


def test_a_code_that_does_not_fit_its_file_is_refused(tmp_path):
    path = tmp_path / "m.sb"
    clf = sb.OutputCodeClassifier(sb.GDMCBoostClassifier(n_estimators=2)).fit(X, y)
    clf.codewords_ = clf.codewords_[:, :2]
    clf.save(path)
    with pytest.raises(ValueError, match="damaged"):
        sb.load(path)
    with zipfile.ZipFile(path) as archive:
        assert not [name for name in archive.namelist() if name.endswith(("pkl", "joblib"))]


def test_pickle_and_clone():
    clf = sb.OutputCodeClassifier(TREE, "max-hamming", random_state=0).fit(X, y)
    assert (pickle.loads(pickle.dumps(clf)).predict_proba(X) == clf.predict_proba(X)).all()
    assert clone(clf).get_params()["estimator__max_depth"] == 3


def test_no_warnings_in_ordinary_use():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for code in CODES:
            sb.OutputCodeClassifier(TREE, code, random_state=0).fit(X, y).predict_proba(X)


@pytest.mark.parametrize("decoding", DECODINGS)
def test_huge_answers_are_decoded(decoding):
    """The squares of such answers are beyond doubles, and infinity times zero would be no number."""
    M = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    found = distances(np.array([[1e308, -np.inf], [-1e200, 1e308]]), M, decoding)
    assert np.isfinite(found).all()
    if decoding not in ("squared", "euclidean"):  # in whose squares everything else is lost
        assert found.argmin(axis=1).tolist() == [0, 1]
