"""The multiclass SVM: golden numbers, general solvers and scikit-learn's; duality; bad kernels and bad input."""

import json
import pickle
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import blobs, sparse_rows
from scipy.optimize import minimize
from scipy.sparse import csr_array, csr_matrix
from sklearn.datasets import load_digits, load_iris, load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import simplexboost as sb
from simplexboost import MulticlassSVC, datasets
from simplexboost.theory.svm import Kernel, lowest_ritz_value

GOLDEN = json.loads((Path(__file__).parent / "golden" / "svm.json").read_text())


class GaussKernel:
    """A kernel of the user's own, whose name is the same in every process, as that of a function is not."""

    def __call__(self, A, B):
        return rbf_kernel(A, B)

    def __repr__(self):
        return "GaussKernel()"


@parametrize_with_checks(
    [
        MulticlassSVC(),
        MulticlassSVC(kernel="rbf"),
        MulticlassSVC(kernel="poly", degree=2, coef0=1.0, fit_intercept=True, tol=1e-2),
        MulticlassSVC(kernel=GaussKernel(), fit_intercept=True),
    ]
)
def test_sklearn_checks(estimator, check):
    check(estimator)


# ---- the problem, written down again --------------------------------------------------------------------------------


def primal(X, c, W, C):
    """½ Σ‖w_l‖² + Σ C_i max(0, 1 − (w_c − w_l)·x), the lecture's formula; W (K, p)."""
    hinges = []
    for x, k in zip(X, c, strict=True):
        rivals = np.delete(W @ x, k)
        hinges.append(max(0.0, 1 - ((W @ x)[k] - rivals.max())))
    return 0.5 * (W**2).sum() + np.sum(C * np.array(hinges))


def dual(Q, c, a):
    """Σ a[i, c_i] − ½ Σ_l a_lᵀ Q a_l."""
    return a[np.arange(len(c)), c].sum() - 0.5 * np.einsum("il,ij,jl->", a, Q, a)


def general_dual(Q, c, C, K):
    """The dual's maximum by SLSQP, a general solver: (a, value)."""
    n = len(c)
    upper = np.zeros((n, K))
    upper[np.arange(n), c] = C
    found = minimize(
        lambda v: -dual(Q, c, v.reshape(n, K)),
        np.zeros(n * K),
        jac=lambda v: (Q @ v.reshape(n, K) - np.eye(K)[c]).ravel(),
        bounds=[(None, u) for u in upper.ravel()],
        constraints={
            "type": "eq",
            "fun": lambda v: v.reshape(n, K).sum(axis=1),
            "jac": lambda v: np.kron(np.eye(n), np.ones(K)),
        },
        method="SLSQP",
        options={"maxiter": 2000, "ftol": 1e-14},
    )
    assert found.status in (0, 8)  # 8: no direction leads any further, the optimum to rounding
    return found.x.reshape(n, K), -found.fun


def duals(clf, n):
    """All dual variables (n, K) of a fitted machine."""
    a = np.zeros((n, len(clf.classes_)))
    a[clf.support_] = clf.dual_coef_
    return a


def check_feasible(a, c, C):
    own = np.eye(a.shape[1], dtype=bool)[c]
    np.testing.assert_allclose(a.sum(axis=1), 0, atol=1e-12 * np.max(C))
    assert (a[~own] <= 0).all() and (a[own] >= 0).all() and (a[own] <= np.broadcast_to(C, len(c)) * (1 + 1e-12)).all()


# ---- golden numbers -------------------------------------------------------------------------------------------------


def test_golden_dual():
    golden = GOLDEN["svm_dual"]
    X, c = np.array(golden["X"]), np.array(golden["y"])
    clf = MulticlassSVC(random_state=0, C=golden["C"], fit_intercept=False, tol=1e-12).fit(X, c)
    assert clf.objective_ == pytest.approx(golden["objective"], rel=1e-9)
    assert 0 <= clf.duality_gap_ < 1e-11
    np.testing.assert_allclose(clf.coef_, golden["W"], atol=1e-6)
    np.testing.assert_allclose(duals(clf, len(c)), golden["alpha"], atol=1e-6)
    again = MulticlassSVC(random_state=0, kernel="precomputed", C=golden["C"], tol=1e-12).fit(X @ X.T, c)
    np.testing.assert_allclose(duals(again, len(c)), golden["alpha"], atol=1e-6)


def test_golden_one_versus_all_is_not_optimal():
    """Three clusters on a line: no line splits off the middle one, yet three linear scores tell all apart."""
    golden = GOLDEN["ova_example"]
    centres, freq = np.array(golden["X"]), np.array(golden["freq"])
    c = np.repeat(np.arange(3), (10 * freq).astype(int))
    X = centres[c]
    middle = LinearSVC(C=100.0, fit_intercept=False, dual=False).fit(X, c == 1)  # one against all the others
    assert np.mean(middle.predict(X) != (c == 1)) == pytest.approx(golden["ova_error"])
    assert ((X @ np.array(golden["W"]).T).argmax(axis=1) == c).all()
    joint = MulticlassSVC(random_state=0, C=100.0, fit_intercept=False).fit(X, c)
    assert 1 - joint.score(X, c) == golden["joint_error"]
    assert sb.evaluate.margins(joint, X, c).min() > 0.99


# ---- duality --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_strong_duality_against_a_general_solver(kernel, seed):
    rng = np.random.default_rng(seed)
    n, p, K = int(rng.integers(8, 16)), int(rng.integers(2, 6)), int(rng.integers(2, 5))
    X, c = blobs(n, p, K, seed)
    weight, C = rng.uniform(0.5, 2.0, n), 10.0 ** rng.uniform(-1, 1)
    constant = seed % 2
    clf = MulticlassSVC(
        random_state=0,
        kernel=kernel,
        C=C,
        gamma=0.5,
        degree=2,
        coef0=1.0,
        fit_intercept=bool(constant),
        tol=1e-9,
        max_iter=100_000,
    )
    clf.fit(X, c, sample_weight=weight)
    Q = {
        "linear": X @ X.T,
        "rbf": rbf_kernel(X, gamma=0.5),
        "poly": polynomial_kernel(X, degree=2, gamma=0.5, coef0=1.0),
    }[kernel]
    Q = Q + constant
    _, best = general_dual(Q, c, C * weight, K)
    a = duals(clf, n)
    check_feasible(a, c, C * weight)
    assert dual(Q, c, a) == pytest.approx(best, rel=1e-6)
    assert clf.objective_ == pytest.approx(best, rel=1e-6)
    assert clf.objective_ - clf.duality_gap_ == pytest.approx(dual(Q, c, a), rel=1e-9)
    if kernel == "linear":
        W = np.hstack([clf.coef_, clf.intercept_[:, None]]) if constant else clf.coef_
        X1 = np.hstack([X, np.ones((n, 1))]) if constant else X
        assert primal(X1, c, W, C * weight) == pytest.approx(clf.objective_, rel=1e-9)
        np.testing.assert_allclose(W, a.T @ X1, atol=1e-9)


@pytest.mark.parametrize("degree", [1, 2, 3, 5, 12, 2**31 - 1])
def test_polynomials_of_any_degree(degree):
    """A power takes as many products as its exponent has binary digits."""
    X, c = blobs(30, 4, 3)
    X /= np.linalg.norm(X, axis=1)[:, None]
    how = {"C": 2.0, "tol": 1e-6, "max_iter": 10_000, "random_state": 0}
    clf = MulticlassSVC(kernel="poly", degree=degree, gamma=0.9, coef0=0.1, **how).fit(X, c)
    same = MulticlassSVC(kernel="precomputed", **how).fit(polynomial_kernel(X, degree=degree, gamma=0.9, coef0=0.1), c)
    assert clf.objective_ == pytest.approx(same.objective_, rel=1e-5)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_every_gap_is_a_certificate(kernel):
    """Stopped early, the objective exceeds the optimum by no more than the gap says."""
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    optimum = MulticlassSVC(random_state=0, kernel=kernel, tol=1e-8, max_iter=100_000).fit(X, y)
    best, slack = optimum.objective_, optimum.duality_gap_ + 1e-9
    for solver in ("dual", "sgd") if kernel == "linear" else ("dual",):
        for passes in (1, 3, 10):
            with pytest.warns(ConvergenceWarning, match="duality gap"):
                clf = MulticlassSVC(random_state=0, kernel=kernel, solver=solver, max_iter=passes, tol=0).fit(X, y)
            assert best - slack <= clf.objective_ <= best + clf.duality_gap_ + 1e-9
            assert clf.n_iter_ <= 2 * passes + 2  # two solvers, the last block or pass not cut short


def test_linear_solver_and_linear_kernel_agree():
    X, y = load_digits(return_X_y=True)
    X, y = X[:300] / 16, y[:300]
    one = MulticlassSVC(random_state=0, tol=1e-6, max_iter=10_000).fit(X, y)
    two = MulticlassSVC(random_state=0, kernel="precomputed", fit_intercept=True, tol=1e-6, max_iter=10_000).fit(
        X @ X.T, y
    )
    three = MulticlassSVC(
        random_state=0, kernel="poly", degree=1, gamma=1.0, fit_intercept=True, tol=1e-6, max_iter=10_000
    ).fit(X, y)
    np.testing.assert_allclose([two.objective_, three.objective_], one.objective_, rtol=2e-6)
    np.testing.assert_allclose(two.decision_function(X @ X.T), one.decision_function(X), atol=2e-2)
    np.testing.assert_allclose(three.decision_function(X), two.decision_function(X @ X.T), atol=2e-2)


# ---- against scikit-learn -------------------------------------------------------------------------------------------


def five_sets():
    yield "digits", *load_digits(return_X_y=True)
    yield "iris", *load_iris(return_X_y=True)
    yield "wine", *load_wine(return_X_y=True)
    yield "blobs", *blobs(500, 8, 6, seed=1)
    yield "noisy", *make_classification(400, 20, n_informative=6, n_classes=4, flip_y=0.2, random_state=0)


# scikit-learn 1.6 expects a number of iterations per class where this solver writes one only, and takes what memory
# holds behind it for the others. Had LinearSVC really not converged, its objective would be too large, and the test
# would fail.
@pytest.mark.filterwarnings("ignore:Liblinear failed to converge:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("name", "X", "y"), list(five_sets()), ids=lambda v: v if isinstance(v, str) else "")
def test_objective_of_liblinear(name, X, y):
    """LinearSVC's problem is ours: C per example, a constant appended, its weight in the norm."""
    X = StandardScaler().fit_transform(X)
    theirs = LinearSVC(multi_class="crammer_singer", C=0.5, tol=1e-6, max_iter=100_000, random_state=0).fit(X, y)
    ours = MulticlassSVC(C=0.5, tol=1e-5, max_iter=10_000, random_state=0).fit(X, y)
    X1 = np.hstack([X, np.ones((len(X), 1))])
    wanted = primal(X1, y, np.hstack([theirs.coef_, theirs.intercept_[:, None]]), 0.5)
    assert ours.objective_ <= wanted * (1 + 1e-5)
    assert ours.objective_ == pytest.approx(wanted, rel=1e-4)
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.97


def test_two_classes_are_the_binary_machine():
    """With two classes w₁ = −w₀, and w₁ − w₀ solves the binary problem with C twice as large."""
    X, c = blobs(80, 3, 2, seed=3)
    ours = MulticlassSVC(random_state=0, kernel="rbf", gamma=0.3, C=1.0, tol=1e-8, max_iter=10_000).fit(X, c)
    decision = ours.decision_function(X)
    K = rbf_kernel(X, gamma=0.3)
    sign = 2 * c - 1

    def binary(b):  # minimum of ½|w|² + 2C Σ hinge without a bias, by its dual
        return 0.5 * (b * sign) @ K @ (b * sign) - b.sum()

    options = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 10_000}
    slope = lambda b: sign * (K @ (b * sign)) - 1  # noqa: E731
    found = minimize(binary, np.zeros(80), jac=slope, bounds=[(0, 2.0)] * 80, method="L-BFGS-B", options=options)
    np.testing.assert_allclose(decision, K @ (found.x * sign), atol=1e-3)
    assert decision.shape == (80,) and ((decision > 0) == (ours.predict(X) == 1)).all()


@pytest.mark.data
def test_pendigits_beats_one_versus_one():
    data = datasets.load("pendigits")
    X, X_test = np.asarray(data.X_train) / 100, np.asarray(data.X_test) / 100
    theirs = SVC().fit(X, data.y_train)
    ours = MulticlassSVC(random_state=0, kernel="rbf").fit(X, data.y_train)
    assert ours.score(X_test, data.y_test) >= theirs.score(X_test, data.y_test)


# ---- solvers --------------------------------------------------------------------------------------------------------


def test_sgd_comes_close():
    X, y = load_digits(return_X_y=True)
    X = X / 16
    best = MulticlassSVC(random_state=0, C=0.1, tol=1e-6).fit(X, y)
    clf = MulticlassSVC(C=0.1, solver="sgd", tol=1e-2, random_state=0).fit(X, y)
    assert best.objective_ <= clf.objective_ <= best.objective_ * 1.01
    assert clf.duality_gap_ <= 1e-2 * clf.objective_
    assert not hasattr(clf, "dual_coef_")
    assert abs(clf.score(X, y) - best.score(X, y)) < 0.01


def test_sgd_is_the_lectures_rule():
    """W ← (1 − ηλ)W + η(x for the class, −x for its worst rival), η = 1/(λt), λ = 1/(nC); averaged with weights t."""
    X, c = blobs(20, 3, 3, seed=2)
    with pytest.warns(ConvergenceWarning):
        clf = MulticlassSVC(C=0.7, solver="sgd", max_iter=3, tol=0, fit_intercept=False, random_state=5).fit(X, c)
    lam = 1 / (20 * 0.7)
    order = visited(seed=int(np.random.RandomState(5).randint(2**31 - 1)), n=20, passes=3)
    rank = np.lexsort((c, sb._kernels.row_hashes(X, None, None, None, 20)))  # the solvers' own order of the examples
    W, total, t = np.zeros((3, 3)), np.zeros((3, 3)), 0
    for i in rank[order]:
        scores = W @ X[i] + (np.arange(3) != c[i])
        worst = scores.argmax()
        t += 1
        W *= 1 - 1 / t
        if worst != c[i]:
            W[c[i]] += X[i] / (lam * t)
            W[worst] -= X[i] / (lam * t)
        total += t * W
    np.testing.assert_allclose(clf.coef_, total / (t * (t + 1) / 2), rtol=1e-10, atol=1e-12)


def visited(seed, n, passes):
    """The order in which the compiled solver goes through its examples: shuffles with draws of splitmix64."""
    mask, state, order, out = 2**64 - 1, seed, list(range(n)), []
    for _ in range(passes):
        for r in range(n, 1, -1):
            state = (state + 0x9E3779B97F4A7C15) & mask
            z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
            z ^= z >> 31
            j = int((z >> 11) * 2.0**-53 * r)
            order[r - 1], order[j] = order[j], order[r - 1]
        out += order
    return np.array(out)


@pytest.mark.parametrize(
    "parameters", [{}, {"solver": "sgd", "tol": 0.5}, {"kernel": "rbf"}, {"kernel": "poly", "degree": 2}]
)
def test_sparse_is_dense(parameters):
    rng = np.random.default_rng(0)
    X = sparse_rows((200, 40), 0.1, rng)
    c = rng.integers(0, 4, 200)
    dense, sparse = (MulticlassSVC(random_state=1, **parameters).fit(A, c) for A in (X.toarray(), X))
    np.testing.assert_allclose(sparse.objective_, dense.objective_, rtol=1e-3)
    np.testing.assert_allclose(sparse.decision_function(X), dense.decision_function(X.toarray()), atol=0.02)
    legacy = MulticlassSVC(random_state=1, **parameters).fit(csr_matrix(X), c)
    assert (legacy.decision_function(csr_matrix(X)) == sparse.decision_function(X)).all()


@pytest.mark.parametrize("parameters", [{}, {"solver": "sgd", "tol": 0.5}, {"kernel": "rbf", "gamma": 0.1}])
def test_order_and_repetition_do_not_matter(parameters):
    """Shuffled rows, repeated rows instead of weights: the same machine to the last bit."""
    X, c = blobs(60, 4, 3, seed=4)
    times = np.random.default_rng(0).integers(0, 4, 60)
    clf = MulticlassSVC(random_state=0, **parameters).fit(X, c, sample_weight=times)
    repeated = np.random.default_rng(1).permutation(np.repeat(np.arange(60), times))
    again = MulticlassSVC(random_state=0, **parameters).fit(X[repeated], c[repeated])
    assert again.objective_ == clf.objective_ and again.duality_gap_ == clf.duality_gap_
    np.testing.assert_allclose(again.decision_function(X), clf.decision_function(X), rtol=1e-12, atol=1e-13)
    if "solver" not in parameters:
        check_feasible(duals(again, len(repeated)), c[repeated], 1.0)


def test_equal_examples_of_different_classes():
    X = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    clf = MulticlassSVC(random_state=0, fit_intercept=False, tol=1e-9).fit(X, [0, 1, 2])
    a = duals(clf, 3)
    check_feasible(a, np.arange(3), 1.0)
    _, best = general_dual(X @ X.T, np.arange(3), np.ones(3), 3)
    assert clf.objective_ == pytest.approx(best, rel=1e-6)


def test_zero_examples():
    """Without a constant an example of zeros has a margin of 0 whatever W is; it costs C and changes nothing."""
    X, c = blobs(30, 3, 3)
    with_zero = MulticlassSVC(random_state=0, fit_intercept=False, tol=1e-9).fit(
        np.vstack([X, np.zeros(3)]), np.append(c, 1)
    )
    without = MulticlassSVC(random_state=0, fit_intercept=False, tol=1e-9).fit(X, c)
    assert with_zero.objective_ == pytest.approx(without.objective_ + 1.0, rel=1e-8)
    np.testing.assert_allclose(with_zero.coef_, without.coef_, atol=1e-4)


@pytest.mark.parametrize("parameters", [{}, {"kernel": "rbf"}])
def test_same_seed_same_model(parameters):
    X, y = load_digits(return_X_y=True)
    X = X / 16
    one, two = (MulticlassSVC(random_state=3, n_jobs=n, **parameters).fit(X, y) for n in (1, 2))
    assert (one.dual_coef_ == two.dual_coef_).all() and one.objective_ == two.objective_


def test_instruction_sets_agree():
    """The same bits from every instruction set."""
    code = (
        "import numpy as np; from simplexboost import MulticlassSVC; from sklearn.datasets import load_digits\n"
        "X, y = load_digits(return_X_y=True); X = X[:400] / 16; y = y[:400]\n"
        "for more in ({}, {'kernel': 'rbf'}, {'solver': 'sgd', 'tol': 0.5}):\n"
        "    m = MulticlassSVC(random_state=0, **more).fit(X, y); print(m.objective_.hex(), m.n_iter_)\n"
    )
    import os

    answers = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"SIMPLEXBOOST_ISA": isa},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for isa in ("baseline", "avx512")
    }
    assert len(answers) == 1 and len(next(iter(answers)).split()) == 6


def test_a_small_cache_changes_nothing_that_matters():
    X, y = load_digits(return_X_y=True)
    X = X / 16
    whole = MulticlassSVC(random_state=0, kernel="rbf", tol=1e-5).fit(X, y)
    little = MulticlassSVC(random_state=0, kernel="rbf", tol=1e-5, cache_size=1).fit(
        X, y
    )  # single precision, rows come and go
    assert little.objective_ == pytest.approx(whole.objective_, rel=2e-5)
    np.testing.assert_allclose(little.decision_function(X), whole.decision_function(X), atol=2e-2)


def test_threads_may_fit_at_the_same_time():
    X, y = load_wine(return_X_y=True)
    results = []
    threads = [
        threading.Thread(
            target=lambda: results.append(MulticlassSVC(random_state=0, kernel="rbf").fit(X, y).objective_)
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and len(set(results)) == 1


@pytest.mark.parametrize("parameters", ["", "kernel='rbf', C=1e6"])
def test_interrupts_are_heard(parameters):
    """Ctrl-C ends a fit that would run for minutes."""
    code = (
        "import numpy as np, signal, threading, time, _thread; from simplexboost import MulticlassSVC\n"
        "rng = np.random.default_rng(0); X = rng.normal(size=(3000, 20)); y = rng.integers(0, 5, 3000)\n"
        "threading.Timer(0.5, _thread.interrupt_main).start()\n"
        "begin = time.time()\n"
        f"try: MulticlassSVC({parameters + ', ' if parameters else ''}tol=0, max_iter=10**7).fit(X, y)\n"
        "except KeyboardInterrupt: print('heard' if time.time() - begin < 10 else 'late')\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert ran.stdout.strip() == "heard"


# ---- use ------------------------------------------------------------------------------------------------------------


def test_kernels_predict_alike():
    """The compiled kernel values and those of prediction are the same function."""
    X, y = load_wine(return_X_y=True)
    X, X_test, y, _ = train_test_split(StandardScaler().fit_transform(X), y, random_state=0)
    named = MulticlassSVC(random_state=0, kernel="rbf", gamma=0.05, tol=1e-7, max_iter=10_000).fit(X, y)
    called = MulticlassSVC(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.05), tol=1e-7, max_iter=10_000).fit(X, y)
    given = MulticlassSVC(random_state=0, kernel="precomputed", tol=1e-7, max_iter=10_000).fit(
        rbf_kernel(X, gamma=0.05), y
    )
    np.testing.assert_allclose(called.decision_function(X_test), named.decision_function(X_test), atol=1e-3)
    np.testing.assert_allclose(
        given.decision_function(rbf_kernel(X_test, X, gamma=0.05)), named.decision_function(X_test), atol=1e-3
    )
    expected = rbf_kernel(X_test, X[named.support_], gamma=0.05) @ named.dual_coef_
    np.testing.assert_allclose(named.decision_function(X_test), expected, rtol=1e-10, atol=1e-12)
    assert named.gamma_ == 0.05 and not hasattr(called, "gamma_") and not hasattr(named, "coef_")


def test_margins_and_support():
    """Examples with a margin above one have no dual variables; the loss of the others is what the objective counts."""
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    clf = MulticlassSVC(random_state=0, C=0.05, tol=1e-9, max_iter=100_000).fit(X, y)
    m = sb.evaluate.margins(clf, X, y)
    np.testing.assert_array_equal(clf.class_scores(X), clf.decision_function(X))
    assert (m[clf.support_] < 1 + 1e-4).all() and 0 < len(clf.support_) < len(X)
    norm = (clf.coef_**2).sum() + (clf.intercept_**2).sum()
    assert clf.objective_ == pytest.approx(0.5 * norm + 0.05 * np.maximum(0, 1 - m).sum(), rel=1e-9)


def test_intercept_scaling():
    """A larger constant is a freer bias: the objective only falls where classes lie off the origin."""
    X, c = blobs(90, 2, 3, seed=5)
    X = X + 20.0
    objective = [
        MulticlassSVC(random_state=0, intercept_scaling=s, tol=1e-6).fit(X, c).objective_ for s in (1.0, 10.0, 100.0)
    ]
    assert objective[0] > objective[1] > objective[2]


def test_weights_of_classes():
    X, c = blobs(120, 2, 3, seed=6)
    plain = MulticlassSVC(random_state=0, kernel="rbf").fit(X, c)
    partial = MulticlassSVC(random_state=0, kernel="rbf", class_weight={2: 50.0}).fit(X, c)
    assert (partial.predict(X) == 2).sum() > (plain.predict(X) == 2).sum()
    weights = np.where(c == 2, 50.0, 1.0)
    assert MulticlassSVC(random_state=0, kernel="rbf").fit(X, c, weights).objective_ == partial.objective_


def test_frames_strings_and_grid_search():
    X, y = load_iris(as_frame=True, return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    search = GridSearchCV(
        MulticlassSVC(random_state=0, max_iter=20_000), {"kernel": ["linear", "rbf"], "C": [0.1, 1.0]}, cv=3
    ).fit(X, names)
    assert search.best_score_ > 0.95
    assert search.best_estimator_.feature_names_in_.tolist() == X.columns.tolist()
    assert set(search.predict(X)) == set(names)
    gram = pd.DataFrame(rbf_kernel(X, gamma=0.5))
    assert (
        GridSearchCV(MulticlassSVC(random_state=0, kernel="precomputed"), {"C": [0.1, 1.0]}, cv=3)
        .fit(gram.to_numpy(), names)
        .best_score_
        > 0.9
    )


def test_refit_with_another_kernel_leaves_nothing_behind():
    X, y = load_iris(return_X_y=True)
    clf = MulticlassSVC(random_state=0, kernel="rbf").fit(X, y)
    clf.set_params(kernel="linear", C=0.01).fit(X, y)
    assert hasattr(clf, "coef_") and not hasattr(clf, "support_vectors_") and not hasattr(clf, "gamma_")


def test_a_failed_fit_leaves_the_machine_as_it_was():
    X, y = load_iris(return_X_y=True)
    clf = MulticlassSVC(random_state=0, kernel="rbf").fit(X, y)
    before = clf.decision_function(X)
    with pytest.raises(ValueError, match="one class only"):
        clf.fit(X, np.zeros(150))
    assert (clf.decision_function(X) == before).all()


def test_progress(capsys):
    X, y = load_iris(return_X_y=True)
    MulticlassSVC(random_state=0, kernel="rbf", verbose=1).fit(X, y)
    assert re.search(r"pass +\d+ +objective .* gap .* examples at work \d+", capsys.readouterr().out)


# ---- files ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"solver": "sgd", "tol": 0.9},
        {"kernel": "rbf"},
        {"kernel": "poly", "fit_intercept": True},
        {"kernel": "precomputed", "class_weight": {"a": 2.0}},
    ],
)
@pytest.mark.parametrize("sparse", [False, True])
def test_round_trip(parameters, sparse, tmp_path):
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    precomputed = parameters.get("kernel") == "precomputed"
    X = X @ X.T if precomputed else csr_array(X) if sparse else X
    clf = MulticlassSVC(random_state=0, **parameters).fit(X, np.array(["a", "b", "c"])[y])
    clf.save(tmp_path / "m.sb")
    again = sb.load(tmp_path / "m.sb")
    assert type(again) is MulticlassSVC and again.get_params() == clf.get_params()
    assert (again.decision_function(X) == clf.decision_function(X)).all() and (again.predict(X) == clf.predict(X)).all()
    for name in ("objective_", "duality_gap_", "n_iter_"):
        assert getattr(again, name) == getattr(clf, name)
    again.save(tmp_path / "again.sb")
    assert (tmp_path / "again.sb").read_bytes() == (tmp_path / "m.sb").read_bytes()
    assert (pickle.loads(pickle.dumps(clf)).predict(X) == clf.predict(X)).all()


def test_functions_are_not_saved(tmp_path):
    X, y = load_iris(return_X_y=True)
    clf = MulticlassSVC(random_state=0, kernel=rbf_kernel).fit(X, y)
    with pytest.raises(TypeError, match="precomputed"):
        clf.save(tmp_path / "m.sb")
    with pytest.raises(NotFittedError):
        MulticlassSVC().save(tmp_path / "m.sb")


def test_files_whose_arrays_disagree_are_refused(tmp_path):
    X, y = load_iris(return_X_y=True)
    clf = MulticlassSVC(random_state=0, kernel="rbf").fit(X, y)
    clf.dual_coef_ = clf.dual_coef_[:, :2]
    clf.save(tmp_path / "m.sb")
    with pytest.raises(ValueError, match="damaged"):
        sb.load(tmp_path / "m.sb")
    sparse = MulticlassSVC(random_state=0, kernel="rbf").fit(csr_array(X), y)
    sparse.support_vectors_.indices[0] = 10**6  # beyond the last feature
    sparse.save(tmp_path / "m.sb")
    with pytest.raises(ValueError, match="damaged"):
        sb.load(tmp_path / "m.sb")
    linear = MulticlassSVC(random_state=0).fit(X, y)
    del linear.coef_
    linear.save(tmp_path / "m.sb")
    with pytest.raises(ValueError, match="damaged"):
        sb.load(tmp_path / "m.sb")


# ---- what goes wrong ------------------------------------------------------------------------------------------------


def test_huge_C_says_what_to_do():
    X, c = blobs(200, 2, 3, seed=7)  # classes overlap: no hard margin
    for kernel in ("linear", "poly"):
        with pytest.warns(ConvergenceWarning, match="lower C.*max_iter"):
            clf = MulticlassSVC(random_state=0, kernel=kernel, C=1e10, max_iter=2).fit(X, c)
        assert np.isfinite(clf.objective_) and np.isfinite(clf.decision_function(X)).all()


def test_huge_C_on_separable_data_is_the_hard_margin():
    X, y = load_iris(return_X_y=True)
    X, y = X[y != 2], y[y != 2]
    clf = MulticlassSVC(random_state=0, kernel="rbf", C=1e8, tol=1e-6, max_iter=10_000).fit(X, y)
    assert sb.evaluate.margins(clf, X, y).min() > 1 - 1e-4
    assert clf.dual_coef_.max() < 1e8


def test_sgd_that_does_not_converge_recommends_the_dual():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="solver='dual'"):
        MulticlassSVC(random_state=0, solver="sgd", max_iter=2).fit(X, y)


def test_indefinite_kernels():
    X, c = blobs(60, 3, 3)
    sigmoid = np.tanh(0.5 * X @ X.T - 1.0)
    assert np.linalg.eigvalsh(sigmoid)[0] < -1
    shifted = sigmoid + 2.0 * np.eye(60)  # its diagonal is positive, its eigenvalues still are not all
    assert np.linalg.eigvalsh(shifted)[0] < -0.1 and np.diagonal(shifted).min() > 0
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        MulticlassSVC(random_state=0, kernel="precomputed").fit(shifted, c)
    with pytest.warns(UserWarning, match="coef0=-3.*not positive semi-definite"):
        MulticlassSVC(random_state=0, kernel="poly", degree=2, coef0=-3, C=0.1).fit(X, c)
    with pytest.raises(ValueError, match="negative diagonal"):
        MulticlassSVC(random_state=0, kernel="precomputed").fit(sigmoid - np.eye(60), c)
    with pytest.raises(ValueError, match="not symmetric"):
        MulticlassSVC(kernel=lambda A, B: A @ B.T + A[:, :1]).fit(X, c)


def test_lanczos_bounds_the_smallest_eigenvalue():
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 40, 200):
        A = rng.normal(size=(n, n))
        A = A + A.T
        lowest = np.linalg.eigvalsh(A)[0]
        assert lowest - 1e-9 <= lowest_ritz_value(A) <= lowest + 0.2 * abs(lowest)
    assert lowest_ritz_value(np.zeros((5, 5))) == 0
    assert lowest_ritz_value(np.ones((5, 5))) > -1e-12


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"kernel": "sigmoid"}, ValueError, "kernel='sigmoid' is unknown; choose one of 'linear', 'rbf'"),
        ({"C": 0}, ValueError, "C=0 is out of range"),
        ({"C": np.inf}, ValueError, "C=inf must be finite"),
        ({"C": "1"}, TypeError, "C='1' must be a number"),
        ({"solver": "smo"}, ValueError, "solver='smo' is unknown; choose one of 'auto', 'dual', 'sgd'"),
        ({"solver": "sgd", "kernel": "rbf"}, ValueError, "solver='sgd' is for kernel='linear'"),
        ({"gamma": "size"}, ValueError, "gamma='size' is unknown"),
        ({"gamma": -1.0}, ValueError, "gamma=-1.0 is out of range"),
        ({"degree": 0}, ValueError, "degree=0"),
        ({"fit_intercept": "yes"}, ValueError, "fit_intercept='yes'"),
        ({"max_iter": 0}, ValueError, "max_iter=0"),
        ({"tol": -1e-3}, ValueError, "tol=-0.001"),
        ({"cache_size": 0}, ValueError, "cache_size=0"),
        ({"intercept_scaling": 0.0}, ValueError, "intercept_scaling=0.0"),
        ({"kernel": "precomputed"}, ValueError, "square matrix of kernel values.*\\(150, 4\\)"),
        ({"kernel": lambda A, B: np.ones(3)}, ValueError, "kernel\\(X, Z\\) returned an array of shape \\(3,\\)"),
        ({"kernel": lambda A, B: np.full((len(A), len(B)), np.nan)}, ValueError, "not finite"),
    ],
)
def test_bad_parameters(parameters, error, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(error, match=message):
        MulticlassSVC(**parameters).fit(X, y)


def test_bad_data():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="NaN"):
        MulticlassSVC(random_state=0).fit(np.where(X > 7, np.nan, X), y)
    with pytest.raises(ValueError, match=r"one class only.*needs at least two classes\.$"):
        MulticlassSVC(random_state=0).fit(X, y, sample_weight=(y == 1).astype(float))
    with pytest.raises(ValueError, match="y holds 2, which is none of the classes"):
        sb.evaluate.margins(MulticlassSVC(random_state=0).fit(X, y, sample_weight=(y < 2).astype(float)), X, y)
    with pytest.raises(ValueError, match="too large"):
        MulticlassSVC(random_state=0).fit(1e200 * X, y)
    with pytest.raises(ValueError, match="too large"):
        MulticlassSVC(random_state=0, kernel="poly", gamma=1e200, degree=4).fit(X, y)
    with pytest.raises(NotFittedError):
        MulticlassSVC().predict(X)


def test_kernel_values():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(5, 3)), rng.normal(size=(4, 3))
    np.testing.assert_allclose(Kernel("rbf", gamma=0.7)(A, B), rbf_kernel(A, B, gamma=0.7), rtol=1e-12)
    np.testing.assert_allclose(
        Kernel("poly", gamma=0.7, degree=4, coef0=0.2)(csr_array(A), csr_array(B)),
        polynomial_kernel(A, B, 4, 0.7, 0.2),
        rtol=1e-12,
    )
