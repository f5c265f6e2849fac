"""Several labels, or several class targets: one vector tree a round beside one model for each, ours and others'.

``python -m benchmarks.labels -o labels.json`` measures (SIMPLEXBOOST_DATA names the folder of letter, optdigits and
pendigits), and ``python -m benchmarks.labels --page labels.json`` writes LABELS.md. Everything runs on one thread, and
seconds are those of the processor, because machines are shared. Contestants take turns on every seed, which draws the
rows; the tables have medians over seeds.
"""

from __future__ import annotations

import argparse
import json
import pickle
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import f1_score
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier

from simplexboost import SimplexBoostClassifier, datasets

ROUNDS = 200
N = 3000  # rows, of which half are trained on
HALF = 0.5
Rows = tuple[np.ndarray, np.ndarray]

# What letters look like in print: vowels, with a curve, with straight strokes only, with a closed loop, symmetric about
# the vertical, symmetric about the horizontal.
SHAPES = ("AEIOU", "BCDGJOPQRSU", "AEFHIKLMNTVWXYZ", "ABDOPQR", "AHIMOTUVWXY", "BCDEHIKOX")
LOOPS = np.array([1, 0, 0, 0, 1, 0, 1, 0, 2, 1])  # of the digits


# ---- problems -------------------------------------------------------------------------------------------------------


def made(n_features: int, n_labels: int, per_row: int) -> Callable[[int], Rows]:
    """scikit-learn's bags of words, in which every label has its own words."""

    def rows(seed: int) -> Rows:
        X, Z = make_multilabel_classification(N, n_features, n_classes=n_labels, n_labels=per_row, random_state=seed)
        return X, Z

    return rows


def rare(seed: int) -> Rows:
    """Twenty labels of smooth scores with noise, which one row in ten to one in two hundred has."""
    rng, K = np.random.default_rng(seed), 20
    X = rng.normal(size=(N, 20))
    S = X @ rng.normal(size=(20, K)) / 3 + 0.8 * np.sin(2 * X) + 0.5 * rng.logistic(size=(N, K))
    cut = np.array([np.quantile(s, q) for s, q in zip(S.T, np.linspace(0.9, 0.995, K), strict=True)])
    return X, (S > cut).astype(int)


def folder_rows(name: str, seed: int) -> Rows:
    """Rows of a set of the folder, both parts mixed, in random order."""
    data = datasets.load(name)
    X, y = np.concatenate([data.X_train, data.X_test]), np.concatenate([data.y_train, data.y_test])
    chosen = np.random.default_rng(seed).permutation(len(y))[:N]
    return np.asarray(X, dtype=float)[chosen], np.asarray(y)[chosen]


def letters(seed: int) -> Rows:
    """The letters of the set letter by what they look like."""
    X, y = folder_rows("letter", seed)
    letter = np.array([chr(65 + int(k)) for k in y.tolist()])
    return X, np.column_stack([np.isin(letter, list(shape)) for shape in SHAPES]).astype(int)


def digits(seed: int) -> Rows:
    """The digits of the set pendigits: the digit, whether it is odd, and its closed loops."""
    X, y = folder_rows("pendigits", seed)
    y = y.astype(int)
    return X, np.column_stack([y, y % 2, LOOPS[y]])


def apart(seed: int) -> Rows:
    """Digits of the set optdigits, side by side in pairs: the left one, the right one, and which is larger."""
    X, y = folder_rows("optdigits", seed)
    y = y.astype(int)
    left, right = np.arange(0, len(y) - 1, 2), np.arange(1, len(y), 2)
    return np.hstack([X[left], X[right]]), np.column_stack([y[left], y[right], np.sign(y[left] - y[right])])


LABELS: dict[str, Callable[[int], Rows]] = {
    "words, 10 labels": made(20, 10, 2),
    "words, 40 labels": made(60, 40, 4),
    "rare, 20 labels": rare,
    "letter shapes, 6 labels": letters,
}
TARGETS: dict[str, Callable[[int], Rows]] = {"pendigits, 3 targets": digits, "pairs of digits, 3 targets": apart}


# ---- contestants ----------------------------------------------------------------------------------------------------


def lightgbm() -> Any:
    """LightGBM as it comes."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, verbose=-1)


def xgboost(**more: Any) -> Any:
    """XGBoost as it comes."""
    from xgboost import XGBClassifier

    return XGBClassifier(n_jobs=1, **more)


def ours(**more: Any) -> SimplexBoostClassifier:
    """The flagship on one thread."""
    return SimplexBoostClassifier(n_jobs=1, random_state=0, **more)


CONTESTANTS: dict[str, Callable[[], Any]] = {
    "ours": lambda: ours(thresholds="f1"),
    "ours, one each": lambda: MultiOutputClassifier(ours()),
    f"ours, {ROUNDS} rounds": lambda: ours(n_estimators=ROUNDS),
    f"ours, one each, {ROUNDS} rounds": lambda: MultiOutputClassifier(ours(n_estimators=ROUNDS)),
    f"ours in a chain, {ROUNDS} rounds": lambda: ClassifierChain(ours(n_estimators=ROUNDS)),
    "LightGBM, one each": lambda: MultiOutputClassifier(lightgbm()),
    "XGBoost, one each": lambda: MultiOutputClassifier(xgboost()),
    "XGBoost, vector trees": lambda: xgboost(multi_strategy="multi_output_tree", tree_method="hist"),
    "HistGradientBoosting, one each": lambda: MultiOutputClassifier(HistGradientBoostingClassifier(random_state=0)),
}
ONLY_LABELS = (f"ours in a chain, {ROUNDS} rounds", "XGBoost, vector trees")
PATIENCE = ("letter shapes, 6 labels", "pendigits, 3 targets")  # where each gets a model that chooses its rounds


def label_probabilities(model: Any, X: np.ndarray) -> np.ndarray:
    """The probability of every label, (n, K), in whichever form a library has it."""
    P = model.predict_proba(X)
    if not isinstance(P, list):
        return np.asarray(P)
    return np.column_stack([p[:, 1] if p.shape[1] > 1 else np.zeros(len(p)) for p in P])


def of_labels(model: Any, X: np.ndarray, Z: np.ndarray) -> dict[str, float]:
    """How good predictions of labels are, at a threshold of ½, and at chosen ones."""
    P = np.clip(label_probabilities(model, X), 1e-9, 1 - 1e-9)
    even = P > HALF
    found = {
        "log-loss": float(-np.where(Z, np.log(P), np.log1p(-P)).mean()),
        "Hamming": float((even != Z).mean()),
        "subset accuracy": float((even == Z).all(axis=1).mean()),
        "micro F1": f1_score(Z, even, average="micro", zero_division=0),
        "macro F1": f1_score(Z, even, average="macro", zero_division=0),
    }
    if getattr(model, "thresholds_", None) is None or np.all(model.thresholds_ == HALF):
        return found
    chosen = model.predict(X)
    return found | {
        "Hamming, chosen": float((chosen != Z).mean()),
        "subset accuracy, chosen": float((chosen == Z).all(axis=1).mean()),
        "micro F1, chosen": f1_score(Z, chosen, average="micro", zero_division=0),
        "macro F1, chosen": f1_score(Z, chosen, average="macro", zero_division=0),
    }


def of_targets(model: Any, X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """How good predictions of classes are: means over the targets, and rows that are right in all of them."""
    predicted = np.asarray(model.predict(X))
    own = [
        np.clip(P[np.arange(len(y)), np.searchsorted(np.unique(y[:, t]), y[:, t])], 1e-9, None)
        for t, P in enumerate(model.predict_proba(X))
    ]
    return {
        "log-loss": float(-np.log(own).mean()),
        "accuracy": float((predicted == y).mean()),
        "all right": float((predicted == y).all(axis=1).mean()),
    }


def takes_part(problem: str, contestant: str) -> bool:
    """Whether a contestant is measured on a problem."""
    if contestant == "ours, one each":
        return problem in PATIENCE
    return problem in LABELS or contestant not in ONLY_LABELS


def measure(problem: str, contestant: str, seed: int) -> dict[str, Any]:
    """One cell: half of the rows are trained on."""
    labels = problem in LABELS
    X, y = (LABELS if labels else TARGETS)[problem](seed)
    if not labels:
        y = np.column_stack([np.unique(column, return_inverse=True)[1] for column in y.T])  # which XGBoost asks for
    n, model = len(X) // 2, CONTESTANTS[contestant]()
    if labels:
        y = y[:, np.ptp(y[:n], axis=0) > 0]  # a label that no training row has is none for one model each
    begin = time.process_time()
    model.fit(X[:n], y[:n])
    seconds = time.process_time() - begin
    begin = time.process_time()
    model.predict_proba(X[n:])
    cell = {"problem": problem, "contestant": contestant, "seed": seed, "fit": seconds}
    cell |= {"predict": time.process_time() - begin, "bytes": len(pickle.dumps(model))}
    return cell | (of_labels if labels else of_targets)(model, X[n:], y[n:])


# ---- the page -------------------------------------------------------------------------------------------------------

HEAD = """# Several labels, several targets

One vector tree a round for [all labels or targets](../docs/targets.md) beside one model for each of them: `python -m
benchmarks.labels -o labels.json` measures, `python -m benchmarks.labels --page labels.json` writes this page.

Medians of the draws of the rows, whose number stands above every table; 1500 rows are trained on and 1500 predicted
(half as many pairs of digits). One thread each; seconds are those of the processor, of the fit and of `predict_proba`;
MB are those of the pickled model. Peers have their defaults, which are no choice of theirs for so few rows.
"ours" and "ours, one each" (on two problems) choose their rounds, everything else has so many rounds as it says, or
100 by default.

- **words**: scikit-learn's `make_multilabel_classification`, bags of 20 (60) words with 2 (4) labels a row on average.
- **rare**: 20 labels that one row in ten to one in two hundred has; smooth scores of 20 features, with noise.
- **letter shapes**: the set letter, with six labels made of the letter: vowel, with a curve, straight strokes only,
  closed loop, symmetric about the vertical, about the horizontal.
- **pendigits**: three targets made of the digit: the digit (10 classes), odd or even, its closed loops (3 classes).
- **pairs of digits**: two images of optdigits side by side; the left digit, the right digit, which is larger (3
  classes).

For labels, "chosen" are the thresholds of `thresholds="f1"`; all other columns predict labels above ½.
"""


PARTS = ["log-loss", "accuracy", "all right"]  # of several targets


def page(cells: list[dict[str, Any]]) -> Iterable[str]:
    """The page, line by line."""
    yield HEAD
    several = ["log-loss", "Hamming", "subset accuracy", "micro F1", "macro F1"]
    for problem in LABELS:
        yield from table(problem, [cell for cell in cells if cell["problem"] == problem], several)
    for problem in TARGETS:
        yield from table(problem, [cell for cell in cells if cell["problem"] == problem], PARTS)


def table(problem: str, cells: list[dict[str, Any]], metrics: list[str]) -> Iterable[str]:
    """The table of one problem, from the draws that all contestants have seen."""
    seen = [{cell["seed"] for cell in cells if cell["contestant"] == name} for name in CONTESTANTS]
    common = set.intersection(*(seeds for seeds in seen if seeds))
    cells = [cell for cell in cells if cell["seed"] in common]
    yield f"\n## {problem[:1].upper()}{problem[1:]}\n"
    yield f"Draws: {len(common)}.\n"
    yield f"| | {' | '.join(metrics)} | fit s | predict s | MB |"
    yield f"|---|{'--:|' * (len(metrics) + 3)}"
    for contestant in CONTESTANTS:
        own = [cell for cell in cells if cell["contestant"] == contestant]
        if own:
            yield line(contestant, own, metrics, metrics)
        if own and "Hamming, chosen" in own[0]:
            chosen = ["log-loss", *(f"{name}, chosen" for name in metrics[1:])]
            yield line(f"{contestant}, thresholds chosen", own, chosen, metrics)


def line(name: str, cells: list[dict[str, Any]], keys: list[str], metrics: list[str]) -> str:
    """The medians of one contestant."""
    values = [f"{np.median([cell[key] for cell in cells]):.4f}" for key in keys]
    fit, predict, size = (np.median([cell[key] for cell in cells]) for key in ("fit", "predict", "bytes"))
    return f"| {name} | {' | '.join(values)} | {fit:.2f} | {predict:.3f} | {size / 1e6:.2f} |"


def main() -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", help="problems whose names contain this")
    parser.add_argument("--without", help="the name of a contestant that does not take part, such as a slow one")
    parser.add_argument("-o", "--output", type=Path, help="a JSON file; what it has already is not measured again")
    parser.add_argument("--page", type=Path, help="write the page of such a file")
    options = parser.parse_args()
    if options.page:
        print("\n".join(page(json.loads(options.page.read_text()))))
        return
    warnings.filterwarnings("ignore")
    cells = json.loads(options.output.read_text()) if options.output and options.output.exists() else []
    done = {(cell["problem"], cell["contestant"], cell["seed"]) for cell in cells}
    for seed in range(options.seeds):
        for problem in (*LABELS, *TARGETS):
            for contestant in CONTESTANTS:
                if not takes_part(problem, contestant) or contestant == options.without:
                    continue
                if (problem, contestant, seed) in done or (options.only and options.only not in problem):
                    continue
                cells.append(measure(problem, contestant, seed))
                print(json.dumps(cells[-1]), flush=True)
                if options.output:
                    options.output.write_text(json.dumps(cells, indent=1))


if __name__ == "__main__":
    main()
