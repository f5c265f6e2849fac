"""Whether class weights help with rare classes: ``python -m benchmarks.rare`` prints the table.

Three kinds of made tables, five of each: 20 000 rows with 1 % of a rare class, 5000 rows with 3 %, and 8000 rows of
five uneven classes; other rows judge. Fits are without weights and with ``class_weight="balanced"``, with rounds that
are chosen and with 400. All of them decide for a world in which the classes are equally frequent, where balanced
weights put the model anyway: ``predict(X, prior=…)``. The figures are the mean average precision of the classes (of the
rare one, if there are two), the balanced accuracy, and the log-loss in which all classes weigh the same.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score, balanced_accuracy_score, log_loss

from simplexboost import SimplexBoostClassifier, decide
from simplexboost._util.arrays import AnyArray

from .repeats import mean_of, table

OPTIONS: dict[str, Any] = {"n_features": 20, "n_redundant": 4}
KINDS: dict[str, tuple[int, int, dict[str, Any]]] = {  # rows to learn and to judge, and what is made
    "1 % rare": (20_000, 10_000, {"n_informative": 8, "n_clusters_per_class": 3, "weights": [0.99], "flip_y": 0.003}),
    "3 % rare": (5_000, 4_000, {"n_informative": 8, "n_clusters_per_class": 3, "weights": [0.97], "flip_y": 0.01}),
    "five classes": (
        8_000, 6_000, {"n_informative": 10, "n_classes": 5, "weights": [0.6, 0.25, 0.1, 0.04], "flip_y": 0.01}
    ),
}  # fmt: skip
SEEDS = 5


def measure(X: AnyArray, y: AnyArray, n: int, rounds: Any, weight: Any, seed: int) -> tuple[float, float, float]:
    """Average precision, balanced accuracy and balanced log-loss of one fit to the first n rows."""
    clf = SimplexBoostClassifier(n_estimators=rounds, class_weight=weight, n_jobs=1, random_state=seed).fit(
        X[:n], y[:n]
    )
    even = dict.fromkeys(clf.classes_.tolist(), 1.0 / len(clf.classes_))
    truth, plain, P = y[n:], clf.predict_proba(X[n:]), decide.predict_proba(clf, X[n:], prior=even)
    rare = clf.classes_[1:] if len(clf.classes_) == 2 else clf.classes_
    precision = np.mean([average_precision_score(truth == k, plain[:, k]) for k in rare])
    weights = (1.0 / np.bincount(y[:n]))[truth]
    accuracy = balanced_accuracy_score(truth, decide.predict(clf, X[n:], prior=even))
    return float(precision), float(accuracy), float(log_loss(truth, P, sample_weight=weights))


def main() -> None:
    """Print a line for every kind of table and fit."""
    rows = []
    for (kind, (n, more, options)), rounds, weight in product(KINDS.items(), ("auto", 400), (None, "balanced")):
        found = []
        for seed in range(SEEDS):
            X, y = make_classification(n + more, random_state=seed, **OPTIONS, **options)
            found.append(measure(X, y, n, rounds, weight, seed))
        rows.append([f"{kind}, {rounds}, {weight or 'no weights'}", *(mean_of(of) for of in zip(*found, strict=True))])
    print("\n".join(table(["table, rounds, weights", "average precision", "balanced accuracy", "log-loss"], rows)))


if __name__ == "__main__":
    main()
