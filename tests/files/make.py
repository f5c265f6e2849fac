"""Makes the model files that every later version must read: ``python tests/files/make.py``.

For every case there is ``v<format version>-<case>.sb`` and, beside it, a JSON file with rows and what the model
predicted for them when it was saved. Files that exist are never written again: they show what earlier versions of the
package wrote. After the format's number was raised, run this once and commit the new files.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris

import simplexboost as sb
from simplexboost import decide
from simplexboost.parts.losses import Logistic
from simplexboost.persist.archive import VERSION

FOLDER = Path(__file__).parent
Case = tuple[Any, list[list[Any]], list[str] | None]  # a fitted classifier, rows to predict, names of their columns

X, y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])


def categories() -> Case:
    """The flagship on strings, categories that are numbers, and missing values, with a choice and a temperature."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(X[:, :2], columns=["length", "width"])
    frame["colour"] = NAMES[np.where(rng.random(150) < 0.7, y, rng.integers(3, size=150))]
    frame["size"] = pd.Categorical(rng.integers(5, size=150) + y)
    frame.loc[::7, "width"] = np.nan
    frame.loc[::11, "colour"] = None
    clf = sb.SimplexBoostClassifier(learning_rate=1.0, max_leaf_nodes=8, random_state=0).fit(frame, NAMES[y])
    rows = [*frame[::12].to_dict("split")["data"], [5.1, None, "unknown", 3]]
    return clf, rows, list(frame.columns)


def sparse() -> Case:
    """The flagship on many classes, whose leaves are sparse."""
    rng = np.random.default_rng(0)
    many = np.repeat(np.arange(40), 12)
    table = rng.normal(size=(40, 6))[many] + 0.3 * rng.normal(size=(480, 6))
    clf = sb.SimplexBoostClassifier(n_estimators=3, calibration=1.25, random_state=0).fit(table, many)
    assert "columns" in clf._pack()[1]
    return clf, table[::40].tolist(), None


def adaboost() -> Case:
    """SAMME with stumps, with rows that were evaluated."""
    clf = sb.SAMMEClassifier(n_estimators=5, classes=(0, 1, 2, 7), class_weight={0: 1.0, 1: 2.0, 2: 1.5, 7: 1.0})
    return clf.fit(X, y, X_val=X[::3], y_val=y[::3], eval_metric="error"), X[::10].tolist(), None


def coordinates() -> Case:
    """Terms of single coordinates, a loss with costs, and the user's own codewords."""
    loss = sb.parts.losses.Logistic(cost_matrix=np.array([[0, 1, 2], [1, 0, 1], [3, 1, 0.0]]))
    code = sb.parts.codewords.Custom(np.array([[1.0, 0.0], [-0.5, 0.75], [-0.5, -0.75]]))
    clf = sb.BoostingClassifier(loss, code, "stump", "coordinate", n_estimators=5).fit(X, y)
    return clf, X[::10].tolist(), None


def lines() -> Case:
    """Linear terms."""
    return sb.BoostingClassifier(learner="linear", n_estimators=3).fit(X, y), X[::10].tolist(), None


def several() -> Case:
    """Several labels per example."""
    clf = sb.AdaBoostMHClassifier(n_estimators=3).fit(X, np.eye(3, dtype=int)[y] | (X[:, :3] > 3.4))
    return clf, X[::10].tolist(), None


def martiboost() -> Case:
    """A branching program."""
    clf = sb.MartiBoostClassifier(n_layers=4, random_state=0).fit(X, NAMES[np.minimum(y, 1)])
    return clf, X[::10].tolist(), None


def svm_linear() -> Case:
    """A linear machine."""
    return sb.MulticlassSVC(random_state=0).fit(X, y), X[::10].tolist(), None


def svm_kernel() -> Case:
    """A machine with a kernel."""
    return sb.MulticlassSVC(kernel="rbf", random_state=0).fit(X[::2], y[::2]), X[::10].tolist(), None


def code() -> Case:
    """An output code around the flagship."""
    inner = sb.SimplexBoostClassifier(n_estimators=3)
    clf = sb.OutputCodeClassifier(inner, codewords="all-pairs", random_state=0).fit(X, NAMES[y])
    return clf, X[::10].tolist(), None


def values() -> Case:
    """Dates as labels, large numbers as categories, and parameters of many kinds."""
    labels = np.array(["2024-01-31", "2024-02-29", "2024-03-31"], dtype="M8[D]")
    frame = pd.DataFrame(X[:, :1], columns=["length"]).assign(large=pd.Categorical(2**60 + np.roll(y, 20)))
    clf = sb.SimplexBoostClassifier(
        n_estimators=np.int64(3),
        learning_rate=np.float32(0.25),
        classes=tuple(labels),
        loss=Logistic(cost_matrix=pd.DataFrame([[0, 1, 2], [1, 0, 1], [3, 1, 0]], dtype=float)),
        random_state=np.random.RandomState(0),
    )
    clf.fit(frame, labels[y])
    return clf, frame[::12].to_dict("split")["data"], list(frame.columns)


def labels() -> Case:
    """The flagship with several labels per row, and thresholds that were chosen."""
    clf = sb.SimplexBoostClassifier(n_estimators=3, thresholds="f1", random_state=0)
    return clf.fit(X, np.eye(3, dtype=int)[y] | (X[:, :3] > 3.4)), X[::10].tolist(), None


def targets() -> Case:
    """The flagship with several class targets, of text, of numbers, and of one class."""
    table = np.empty((150, 3), dtype=object)
    table[:, 0], table[:, 1], table[:, 2] = NAMES[y], np.rint(X[:, 1]).astype(int), "same"
    return sb.SimplexBoostClassifier(n_estimators=3, random_state=0).fit(X, table), X[::10].tolist(), None


def order() -> Case:
    """The flagship with ordered classes, and scores for sets that its choice has left."""
    order = sb.Ordinal(["setosa", "virginica", "versicolor"])
    clf = sb.SimplexBoostClassifier(classes=order, learning_rate=1.0, random_state=0)
    return clf.fit(X, NAMES[y]), X[::10].tolist(), None


def tree() -> Case:
    """The flagship with a tree of classes."""
    classes = sb.Hierarchy({"small": ["setosa"], "large": {"blue": ["versicolor", "virginica"]}})
    clf = sb.SimplexBoostClassifier(classes=classes, n_estimators=3, random_state=0)
    return clf.fit(X, NAMES[y]), X[::10].tolist(), None


def changes() -> Case:
    """The flagship after a class came, another went and two became one, with sets calibrated by weighted rows."""
    many = np.where(X[:, 1] > 3.0, y, y + 3)
    old = many < 4
    clf = sb.SimplexBoostClassifier(n_estimators=3, classes=(0, 1, 2, 3, 9), random_state=0).fit(X[old], many[old])
    clf = sb.merge_classes(sb.drop_classes(sb.add_classes(clf, X, many, n_rounds=2), 2), {7: [0, 4]})
    known = np.isin(many, [1, 3, 5])
    return decide.calibrate_sets(clf, X[known], many[known], X[known, 0]), X[::10].tolist(), None


CASES: dict[str, Callable[[], Case]] = {
    case.__name__.replace("_", "-"): case
    for case in (
        categories,
        sparse,
        adaboost,
        coordinates,
        lines,
        several,
        martiboost,
        svm_linear,
        svm_kernel,
        code,
        values,
        labels,
        targets,
        order,
        tree,
        changes,
    )
}
FIRST = 2  # the first version of the format; there was no release before
METHODS = ("predict", "predict_proba", "class_scores")


def table(rows: list[list[Any]], names: list[str] | None) -> Any:
    """Rows as the classifier takes them: a frame if the columns have names."""
    return np.array(rows) if names is None else pd.DataFrame(rows, columns=names)


def plain(answer: Any) -> Any:
    """Predictions as JSON holds them: dates as text, and a list of those of several targets."""
    if isinstance(answer, list):
        return list(map(plain, answer))
    return answer.astype(str).tolist() if answer.dtype.kind in "Mm" else answer.tolist()


def expected(clf: Any, rows: list[list[Any]], names: list[str] | None) -> dict[str, Any]:
    """The rows, and what the classifier says of them."""
    told = {method: plain(getattr(clf, method)(table(rows, names))) for method in METHODS if hasattr(clf, method)}
    return {"columns": names, "rows": rows, **told}


def main() -> None:
    """Write the files that are not there yet."""
    for name, case in CASES.items():
        path = FOLDER / f"v{VERSION}-{name}.sb"
        if not path.exists():
            clf, rows, names = case()
            clf.save(path)
            text = json.dumps(expected(clf, rows, names), default=lambda value: value.item())
            path.with_suffix(".json").write_text(text.replace("NaN", "null") + "\n")
            print(path.name, path.stat().st_size)


if __name__ == "__main__":
    main()
