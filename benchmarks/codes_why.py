"""Why codes of few dimensions learn slowly if classes are many: ``python -m benchmarks.codes_why`` tries explanations.

The explanation on trial is cross-talk: the rows of a leaf have m classes, the leaf moves F towards the sum of their
codewords, and in d random dimensions this sum has inner products with the codewords of all other classes as well, of
the size of √(m/d). Over T rounds the signal, what a row's own class gains, grows like T, and this noise like √T. There
is a second overlap, of the row's own codeword with all others: it is √(1/d) of the signal and does not go with T.

- ``grid-L-d`` (500 classes) fits codes of d dimensions, and canonical codewords, with L leaves. For every row of the
  test part the signal is the score of its class above the mean, the noise the standard deviation of all other scores.
  If cross-talk is the reason, (noise / signal)² is 1/d and a part that goes like m / (d T), and both are absent with
  canonical codewords, whose noise are the classes that share leaves by rights.
- ``values-…`` (1000 classes) take the trees of a fit with canonical codewords and compute other values for their
  leaves, so that neither splits nor trees can be the reason: Newton steps in a code whose Hessian comes from all rows
  of a leaf or, as in the library, from 48 of them; canonical Newton steps that are projected to the code and decoded
  again; two codes in turns; a new code in every round; and a second code, from the middle on, in which the classes that
  the first one confuses are far apart (residual codes).
- ``step-…`` (2000 classes) fits a code of 64 dimensions with other limits of a leaf's step, ``fit-…`` other codes.
- ``long-…`` (200 classes, 300 leaves) tries why more dimensions can be worse where leaves have few rows: in d
  dimensions the curvature of a leaf is about its rows over d, so that little but λ holds a step back.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import softmax

from simplexboost import SimplexBoostClassifier, keep_rounds
from simplexboost._util.arrays import AnyArray
from simplexboost.model.leaf_pass import leaves_of_rows
from simplexboost.parts.optimizers import sketched

from .codes import made, unit
from .repeats import table

RATE, L2, MAX_STEP = 0.1, 0.2, 2.0  # the flagship's, for so many classes
HESSIAN_ROWS = 48
Cells = dict[str, dict[str, Any]]


def code(K: int, d: int, seed: int = 0) -> AnyArray:
    """Random unit vectors, (K, d)."""
    return unit(np.random.default_rng(seed).standard_normal((K, d)))


def fitted(
    problem: Any, codewords: Any, rounds: int, leaves: int | str = "auto", **more: Any
) -> SimplexBoostClassifier:
    """A fit with one thread."""
    return SimplexBoostClassifier(
        n_estimators=rounds, codewords=codewords, max_leaf_nodes=leaves, n_jobs=1, random_state=0, **more
    ).fit(*problem[:2])


# ---- fits of several sizes ------------------------------------------------------------------------------------------

LEAVES, DIMENSIONS, ROUNDS, FEW = (64, 255, 800), (0, 16, 64, 256), 32, 500  # no dimensions: canonical codewords
FEWEST_POINTS = 10


def grid(leaves: int, d: int) -> dict[str, Any]:
    """Accuracy, and noise over signal, after 2, 4, 8, … rounds; and the classes of a leaf."""
    problem = made(FEW, 1)
    X, y, X_test, y_test = problem
    clf = fitted(problem, "canonical" if d == 0 else code(FEW, d), ROUNDS, leaves)
    sizes = [classes_per_leaf(leaf, y) for leaf in leaves_of_rows(clf.model_.trees, X)]
    found: dict[str, Any] = {"m": float(np.mean(sizes)), "leaves": leaves, "d": d, "rounds": {}}
    for rounds in (2, 4, 8, 16, 32):
        U = keep_rounds(clf, rounds).class_scores(X_test)
        found["rounds"][str(rounds)] = {"accuracy": accuracy(U, y_test), "noise": noise_over_signal(U, y_test)}
    return found


def classes_per_leaf(leaf: AnyArray, y: AnyArray) -> float:
    """The number of classes that a row shares its leaf with, as 1 / Σ share², in the mean over rows."""
    counts = csr_matrix((np.ones(len(y)), (np.asarray(leaf), y))).toarray()
    sizes = counts.sum(axis=1)
    used = sizes > 0
    effective = sizes[used] ** 2 / (counts[used] ** 2).sum(axis=1)
    return float(effective @ sizes[used] / sizes.sum())


def noise_over_signal(U: AnyArray, y: AnyArray) -> float:
    """The standard deviation of the scores of other classes over the mean lead of the row's own class."""
    own = U[np.arange(len(y)), y]
    others = (U.sum(axis=1) - own) / (U.shape[1] - 1)
    squares = ((U - others[:, None]) ** 2).sum(axis=1) - (own - others) ** 2
    return float(np.sqrt(squares.mean() / (U.shape[1] - 2)) / (own - others).mean())


def accuracy(U: AnyArray, y: AnyArray) -> float:
    """The part of the rows whose class has the highest score."""
    return float((U.argmax(axis=1) == y).mean())


# ---- other values for the leaves of the same trees ------------------------------------------------------------------

LITTLE, SOME, MANY, STEPS, SMALL_LEAVES = 200, 1000, 2000, 15, 300
Codes = Callable[[int, AnyArray, AnyArray], AnyArray]  # the codewords of a round, by the scores so far and the classes


def canonical_values(slope: AnyArray, mass: AnyArray) -> AnyArray:
    """Newton steps of every class, (L, K): slopes, and masses p in place of p(1 − p)."""
    return np.clip(slope / (mass + L2), -MAX_STEP, MAX_STEP)


def code_values(slope: AnyArray, P: AnyArray, leaf: AnyArray, Y: AnyArray, most: int | None) -> AnyArray:
    """Newton steps in the space of the code, (L, d), with the Hessian of all rows of a leaf or of some of them."""
    d, values = Y.shape[1], np.zeros((len(slope), Y.shape[1]))
    order = np.argsort(leaf, kind="stable")
    cuts = np.searchsorted(leaf[order], np.arange(len(slope) + 1))
    for i in range(len(slope)):
        rows = order[cuts[i] : cuts[i + 1]]
        if len(rows) == 0:
            continue
        used = rows if most is None or len(rows) <= most else rows[np.arange(most) * len(rows) // most]
        p, scale = P[used], len(rows) / len(used)
        mean = p @ Y
        H = scale * ((Y.T * p.sum(axis=0)) @ Y - mean.T @ mean)
        values[i] = np.linalg.solve(H + L2 * np.eye(d), slope[i] @ Y)
    return values


def boosted(problem: Any, trees: Any, moves: Callable[..., AnyArray]) -> Iterator[float]:
    """Test accuracy after every round of boosting on given trees; ``moves`` has the scores (L, K) that leaves add."""
    X, y, X_test, y_test = problem
    U, U_test = np.zeros((len(y), SOME), dtype=np.float32), np.zeros((len(y_test), SOME), dtype=np.float32)
    pairs = zip(leaves_of_rows(trees, X), leaves_of_rows(trees, X_test), strict=True)
    for t, (leaf, leaf_test) in enumerate(pairs):
        P = softmax(U, axis=1)
        of_leaf = csr_matrix((np.ones(len(y), dtype=np.float32), (leaf, np.arange(len(y)))))  # (L, n)
        mass = of_leaf @ P
        count = csr_matrix((np.ones(len(y)), (leaf, y)), shape=mass.shape).toarray()
        V = RATE * moves(t, count - mass, mass, P, leaf, U, y)
        V = np.vstack([V, np.zeros((int(leaf_test.max()) + 1, SOME))])  # leaves without training rows add nothing
        U += V[leaf].astype(np.float32)
        U_test += V[leaf_test].astype(np.float32)
        yield accuracy(U_test, y_test)


def in_code(
    codes: Codes, most: int | None, t: int, slope: Any, mass: Any, P: Any, leaf: Any, U: Any, y: Any
) -> AnyArray:
    """Newton steps in the code of the round."""
    Y = codes(t, U, y)
    return code_values(slope, P, leaf, Y, most) @ Y.T


def decoded(d: int, t: int, slope: Any, mass: Any, *others: Any) -> AnyArray:
    """Canonical Newton steps, projected to a code and decoded: all that can be wrong with them is cross-talk."""
    Y = code(SOME, d)
    return canonical_values(slope, mass) @ Y @ Y.T


def residual(t: int, U: AnyArray, y: AnyArray) -> AnyArray:
    """A random code, and from the middle on one that keeps classes apart which the scores so far confuse."""
    if t < STEPS // 2:
        return code(SOME, 64)
    if t == STEPS // 2:
        P = softmax(U, axis=1)
        C = csr_matrix((np.ones(len(y)), (y, np.arange(len(y))))) @ P  # (K, K): what rows of a class are taken for
        C /= C.sum(axis=1, keepdims=True)
        C = C + C.T
        np.fill_diagonal(C, 0)
        Y = code(SOME, 64, 1)
        for _ in range(30):  # down the sum of C ∘ Y Yᵀ
            Y = unit(Y - 0.5 * (C @ Y) / C.sum(axis=1, keepdims=True))
        RESIDUAL["Y"] = Y
    return RESIDUAL["Y"]


RESIDUAL: dict[str, AnyArray] = {}
VALUES: dict[str, Callable[..., AnyArray]] = {
    "canonical": lambda t, slope, mass, *others: canonical_values(slope, mass),
    "code-16": partial(in_code, lambda t, U, y: code(SOME, 16), None),
    "code-64": partial(in_code, lambda t, U, y: code(SOME, 64), None),
    "code-64-48-rows": partial(in_code, lambda t, U, y: code(SOME, 64), HESSIAN_ROWS),
    "decoded-16": partial(decoded, 16),
    "decoded-64": partial(decoded, 64),
    "decoded-256": partial(decoded, 256),
    "two-codes-64": partial(in_code, lambda t, U, y: code(SOME, 64, t % 2), None),
    "new-codes-64": partial(in_code, lambda t, U, y: code(SOME, 64, t), None),
    "residual-64": partial(in_code, residual, None),
}


def values(name: str) -> dict[str, Any]:
    """Accuracy after every round."""
    problem = made(SOME, 1)
    trees = fitted(problem, "canonical", STEPS).model_.trees
    return {"accuracy": list(boosted(problem, trees, VALUES[name]))}


# ---- the longest step -----------------------------------------------------------------------------------------------

LIMITS = {"10": 10.0, "2": 2.0, "0.2": 0.2, "none": 1e9}


def step(limit: float) -> dict[str, Any]:
    """A fit of a code of 64 dimensions whose leaves may move a score so far, after the learning rate."""
    problem, usual = made(MANY, 1), sketched.FURTHEST
    try:
        sketched.FURTHEST = limit
        clf = fitted(problem, code(MANY, 64), STEPS)
    finally:
        sketched.FURTHEST = usual
    return {"accuracy": [accuracy(keep_rounds(clf, t).class_scores(problem[2]), problem[3]) for t in (5, 10, STEPS)]}


def whole(codewords: str, leaves: int | str = "auto") -> dict[str, Any]:
    """A fit of the library."""
    problem = made(MANY, 1)
    Y = codewords if codewords == "canonical" else code(MANY, int(codewords))
    clf = fitted(problem, Y, STEPS, leaves)
    return {"accuracy": [accuracy(keep_rounds(clf, t).class_scores(problem[2]), problem[3]) for t in (5, 10, STEPS)]}


def long(d: int, **more: float) -> dict[str, Any]:
    """A fit of a code of d dimensions, or of canonical codewords (0), with many leaves of few rows."""
    problem = made(LITTLE, 1)
    clf = fitted(problem, "canonical" if d == 0 else code(LITTLE, d), STEPS, SMALL_LEAVES, **more)
    return {"accuracy": [accuracy(keep_rounds(clf, t).class_scores(problem[2]), problem[3]) for t in (5, 10, STEPS)]}


# ---- all trials -----------------------------------------------------------------------------------------------------

TRIALS: dict[str, Callable[[], dict[str, Any]]] = (
    {f"grid-{leaves}-{d}": partial(grid, leaves, d) for leaves in LEAVES for d in DIMENSIONS}
    | {f"values-{name}": partial(values, name) for name in VALUES}
    | {f"step-{name}": partial(step, limit) for name, limit in LIMITS.items()}
    | {"fit-canonical": partial(whole, "canonical"), "fit-256": partial(whole, "256")}
    | {"fit-64-2000-leaves": partial(whole, "64", 2000)}
    | {"long-canonical": partial(long, 0), "long-16": partial(long, 16), "long-128": partial(long, 128)}
    | {"long-128, λ = 2": partial(long, 128, l2_regularization=2.0)}
    | {"long-128, rate 0.02": partial(long, 128, learning_rate=0.02)}
)


def exponents(cells: Cells) -> list[float] | None:
    """By which powers of rounds, dimensions and classes of a leaf cross-talk grows: a regression of logarithms.

    Cross-talk is what is left of the squared noise over signal without the overlap of codewords, 1/d, which does not
    depend on rounds, and without the noise of canonical codewords with as many leaves.
    """
    points = []
    for name, cell in cells.items():
        control = cells.get(f"grid-{cell.get('leaves')}-0")
        if not name.startswith("grid") or not cell["d"] or control is None:
            continue
        for rounds, at in cell["rounds"].items():
            left = at["noise"] ** 2 - 1 / cell["d"] - control["rounds"][rounds]["noise"] ** 2
            if left > 0:
                points.append([np.log(float(rounds)), np.log(cell["d"]), np.log(cell["m"]), np.log(left)])
    if len(points) < FEWEST_POINTS:
        return None
    A = np.array(points)
    found, rest = np.linalg.lstsq(np.column_stack([A[:, :3], np.ones(len(A))]), A[:, 3], rcond=None)[:2]
    return [*(float(value) for value in found[:3]), 1 - float(rest[0]) / float(A[:, 3].var() * len(A)), float(len(A))]


def sections(cells: Cells) -> list[str]:
    """All figures in Markdown."""
    lines: list[str] = []
    shown = ("2", "8", "32")
    rows = [
        [
            f"{cell['leaves']}", str(cell["d"] or "canonical"), f"{cell['m']:.0f}",
            *(f"{cell['rounds'][t]['accuracy']:.3f} / {cell['rounds'][t]['noise']:.2f}" for t in shown),
        ]
        for cell in (cells[name] for name in TRIALS if name.startswith("grid") and name in cells)
    ]  # fmt: skip
    if rows:
        head = ["leaves", "d", "classes of a leaf", *(f"{t} rounds" for t in shown)]
        words = "500 blobs: accuracy / noise over signal, by the number of leaves and of dimensions."
        lines += ["", "## Cross-talk", "", words, "", *table(head, rows)]
    powers = exponents(cells)
    if powers is not None:
        T, d, m, fit, n = powers
        lines += [
            "",
            f"Squared, less the 1/d by which codewords overlap and less that of canonical codewords, noise over signal "
            f"goes like T^{T:.2f} d^{d:.2f} m^{m:.2f} ({n:.0f} points, R² {fit:.3f}); cross-talk predicts T^-1 d^-1 m.",
        ]
    for kind, words in SAID.items():
        found = {name: cells[name]["accuracy"] for name in TRIALS if name.startswith(kind) and name in cells}
        rows = [
            [name.removeprefix(kind + "-"), *(f"{at:.3f}" for at in three(values))] for name, values in found.items()
        ]
        if rows:
            lines += ["", f"## {words}", "", *table(["", "5 rounds", "10", "15"], rows)]
    return lines


def three(found: list[float]) -> list[float]:
    """Accuracies after 5, 10 and 15 rounds."""
    return found if len(found) == 3 else [found[4], found[9], found[14]]


SAID = {
    "fit": "2000 blobs: fits",
    "step": "2000 blobs: 64 dimensions, the longest step of a leaf",
    "long": "200 blobs: 300 leaves, which have few rows; λ is 0.2 and the rate 0.1 by default",
    "values": "1000 blobs: the trees of canonical codewords, with other values in their leaves",
}


def main() -> None:
    """Run the trials that a file does not have yet, and print all figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.codes_why", description=__doc__)
    parser.add_argument("--trials", nargs="+", choices=TRIALS, default=list(TRIALS))
    parser.add_argument("--json", type=Path, default=Path("build/codes_why.json"))
    parser.add_argument("--list", action="store_true", help="print the names of all trials")
    options = parser.parse_args()
    if options.list:
        print("\n".join(TRIALS))
        return
    cells: Cells = json.loads(options.json.read_text()) if options.json.exists() else {}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    for name in options.trials:
        if name not in cells:
            begin = time.process_time()
            cells[name] = TRIALS[name]() | {"seconds": time.process_time() - begin}
            options.json.write_text(json.dumps(cells))
            print(name, json.dumps(cells[name]), flush=True)
    print("\n".join(sections(cells)))


if __name__ == "__main__":
    main()
