"""Rousu's lecture: where one-versus-all fails, one-versus-one regions, an output code, all boosters in the plane."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC

import simplexboost as sb
from simplexboost.datasets import make_ova_suboptimal, make_three_gaussians, three_gaussians_bayes
from simplexboost.parts.learners import ClassTree, InfoTree, Stump, VectorTree

from . import data
from .cells import Cell, Results, task
from .fits import limited
from .gaussians import COLOURS
from .registry import Block, Figure, Plan, Table, Text, experiment

SIDE = 90  # points along an axis of a picture


def grid(reach: tuple[float, float, float, float], points: int = SIDE) -> Any:
    """Points (points², 2) of a picture, row by row from below."""
    x, y = np.linspace(reach[0], reach[1], points), np.linspace(reach[2], reach[3], points)
    return np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)


def linear() -> Any:
    """A linear classifier with a large margin."""
    return LinearSVC(C=10.0, max_iter=20_000, random_state=0)


def scores_picture(axes: Any, regions: Any, reach: tuple[float, ...], X: Any, y: Any) -> None:
    """Coloured regions with the points over them."""
    from matplotlib.colors import ListedColormap

    side = round(np.sqrt(len(regions)))
    colours = ["#b9d3e6", "#f0c3c8", "#c0dac5", "#eeeeee"]
    axes.imshow(
        np.reshape(regions, (side, side)), origin="lower", extent=reach, cmap=ListedColormap(colours), vmin=0, vmax=3,
        aspect="auto", interpolation="nearest",
    )  # fmt: skip
    for k, colour in enumerate(COLOURS):
        axes.scatter(*X[y == k].T, s=5, color=colour, linewidths=0)
    axes.set(xlim=reach[:2], ylim=reach[2:], xticks=[], yticks=[])


# ---- one-versus-all -------------------------------------------------------------------------------------------------

OVA_REACH = (-1.6, 1.6, 0.4, 1.6)
OVA_METHODS: dict[str, Callable[[], Any]] = {
    "one-versus-all, linear": lambda: sb.OutputCodeClassifier(linear(), "one-vs-all", "hamming"),
    "multiclass SVM, linear": lambda: sb.MulticlassSVC(kernel="linear", C=10.0),
    "GD-MCBoost": lambda: sb.GDMCBoostClassifier(n_estimators=20),
    "CD-MCBoost, stumps": lambda: sb.CDMCBoostClassifier(n_estimators=20),
}


@task
def ova_clusters(method: str, spread: float, seed: int) -> dict[str, Any]:
    """Training and test errors, errors of the middle class, and regions."""
    d = make_ova_suboptimal(500, 1000, spread, random_state=seed)
    clf = OVA_METHODS[method]().fit(d.X_train, d.y_train)
    wrong = clf.predict(d.X_train) != d.y_train
    return {
        "error": float(wrong.mean()),
        "test": float((clf.predict(d.X_test) != d.y_test).mean()),
        "middle": float(wrong[d.y_train == 1].mean()),
        "X": np.round(d.X_train[:200], 3).tolist(),
        "y": d.y_train[:200].tolist(),
        "regions": clf.predict(grid(OVA_REACH)).tolist(),
    }


@experiment("lecture-ova", "One-versus-all is sub-optimal", urgency=4)
def ova(plan: Plan) -> list[Cell]:
    """Three classes with 40, 20 and 40 % of the examples in a row of clusters (spread 0.08 here). One-versus-all uses
    linear classifiers that answer yes or no; where no class says yes, or several do, the first of them is taken, as on
    the slides. 500 training and 1000 test examples.
    """
    return [Cell("ova_clusters", {"method": m, "spread": 0.08, "seed": 0}, 1.0) for m in OVA_METHODS]


@ova.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    results = {c.arguments["method"]: r for c in ova.cells(plan) if (r := found.get(c)) is not None}

    def draw(figure: Any) -> None:
        for axes, (method, r) in zip(
            np.atleast_1d(figure.subplots(1, max(1, len(results)))), results.items(), strict=False
        ):
            scores_picture(axes, r["regions"], OVA_REACH, np.array(r["X"]), np.array(r["y"]))
            axes.set_title(f"{method}: {100 * r['error']:.1f} %", fontsize=9)

    yield Figure("lecture-ova", "Regions of the classes, and training errors.", draw, (11, 2.6))
    for part, key in (("Training", "error"), ("Test", "test")):
        yield Text(f"{part} errors: {', '.join(f'{m} {100 * r[key]:.1f} %' for m, r in results.items())}.")


# ---- answers or scores ----------------------------------------------------------------------------------------------

SCORE_SETS = ("dna", "pendigits", "satimage", "segment", "vowel")


@task
def answers_or_scores(problem: dict[str, Any]) -> dict[str, Any]:
    """Test errors of one-versus-all with linear classifiers: the first class that says yes (the first of all where
    none does), and the class of the highest score.
    """
    given = data.problem(**problem)
    mean, spread = given.X_train.mean(axis=0), given.X_train.std(axis=0)
    scale = lambda X: (X - mean) / np.where(spread > 0, spread, 1.0)  # noqa: E731
    X, X_test = scale(given.X_train), scale(given.X_test)
    F = np.column_stack(
        [LinearSVC(random_state=0).fit(X, given.y_train == k).decision_function(X_test) for k in range(given.K)]
    )  # (n, K)
    return {
        "answers": float(((F > 0).argmax(axis=1) != given.y_test).mean()),
        "scores": float((F.argmax(axis=1) != given.y_test).mean()),
    }


def score_cell(plan: Plan, name: str) -> Cell:
    """Of one set."""
    return Cell("answers_or_scores", {"problem": limited(plan, name=name)}, 3.0)


@experiment("lecture-scores", "One-versus-all: answers or scores", urgency=4)
def by_scores(plan: Plan) -> list[Cell]:
    """Linear classifiers, one a class, on the given splits of five sets, features with mean 0 and deviation 1. Ties
    between classes that say yes, or none of which does, go to the first class, as on the slides; or the highest score
    decides.
    """
    return [score_cell(plan, name) for name in SCORE_SETS]


@by_scores.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    rows = []
    for name in SCORE_SETS:
        r = found.get(score_cell(plan, name))
        rows.append([name, *("…" if r is None else f"{100 * r[key]:.1f}" for key in ("answers", "scores"))])
    yield Text("Test errors in percent:")
    yield Table(["set", "yes or no", "highest score"], rows)


# ---- one-versus-one -------------------------------------------------------------------------------------------------

OVO_REACH = (-2.6, 2.6, -2.6, 2.6)


def pinwheel(n: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Three long clusters, each turned by a third of a circle: the lines between them do not meet in a point."""
    y = np.arange(n) % 3
    angle = 2 * np.pi * y / 3
    along, across = 0.7 * rng.normal(size=n), 0.12 * rng.normal(size=n)
    turn = angle + 1.1  # the direction of a cluster
    centres = np.column_stack([np.cos(angle), np.sin(angle)])
    X = centres + along[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
    return X + across[:, None] * np.column_stack([-np.sin(turn), np.cos(turn)]), y


@task
def ovo_example(seed: int) -> dict[str, Any]:
    """Votes of three linear pairwise classifiers in the plane; 3 marks points where every class has one vote."""
    X, y = pinwheel(150, np.random.default_rng(seed))
    clf = sb.OutputCodeClassifier(linear(), "all-pairs", "votes").fit(X, y)
    points = grid(OVO_REACH)
    M = clf.codewords_  # (3, 3)
    answers = clf.column_scores(points) > 0  # (n, 3)
    votes = answers @ (M > 0).T.astype(int) + (~answers) @ (M < 0).T.astype(int)  # (n, 3)
    regions = np.where((votes == 1).all(axis=1), 3, clf.predict(points))
    return {
        "error": float((clf.predict(X) != y).mean()),
        "tied": float((regions == 3).mean()),
        "X": np.round(X, 3).tolist(),
        "y": y.tolist(),
        "regions": regions.tolist(),
    }


@experiment("lecture-ovo", "One-versus-one: regions of the votes", urgency=4)
def ovo(plan: Plan) -> list[Cell]:
    """Three long clusters, a linear classifier for every pair of classes, votes."""
    return [Cell("ovo_example", {"seed": 0}, 0.5)]


@ovo.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    r = found.get(ovo.cells(plan)[0])
    if r is None:
        return

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        scores_picture(axes, r["regions"], OVO_REACH, np.array(r["X"]), np.array(r["y"]))
        axes.set(xlabel="$x_1$", ylabel="$x_2$", xticks=[-2, 0, 2], yticks=[-2, 0, 2])
        for k, colour in enumerate(COLOURS):
            axes.scatter([], [], s=12, color=colour, label=f"class {k + 1}")
        axes.scatter([], [], s=40, marker="s", color="#eeeeee", edgecolors="0.5", label="one vote each")
        axes.legend(fontsize=8, loc="upper right")

    yield Figure(
        "lecture-ovo", "Regions of the classes; in the grey triangle every class has one vote.", draw, (4.8, 4.6)
    )
    yield Text(
        f"All classes have one vote in {100 * r['tied']:.2f} % of the picture; training error {100 * r['error']:.1f} %."
    )


# ---- output codes ---------------------------------------------------------------------------------------------------

CODE = [
    "---+--",
    "+-----",
    "-++-+-",
    "++----",
    "++--+-",
    "--++-+",
    "--+---",
    "-+-+--",
]  # classes 1 to 8, six columns each
ANSWERS = "-++-++"


def signs(word: str) -> list[int]:
    """A word of + and − as numbers."""
    return [1 if letter == "+" else -1 for letter in word]


@task
def ecoc_example() -> dict[str, Any]:
    """Hamming distances of the lecture's answers from its code, and what the code can correct."""
    M, f = np.array([signs(word) for word in CODE]), np.array(signs(ANSWERS))
    distances = (M != f).sum(axis=1)
    return {
        "distances": distances.tolist(),
        "min_distance": float(sb.parts.codewords.min_hamming(M)),
        "bits": int(sb.parts.codewords.bits_corrected(M)),
    }


@experiment("lecture-ecoc", "The error-correcting code of the slides", urgency=4)
def ecoc(plan: Plan) -> list[Cell]:
    """Eight classes, six columns, the answers (−, +, +, −, +, +)."""
    return [Cell("ecoc_example", {}, 0.1)]


@ecoc.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    r = found.get(ecoc.cells(plan)[0])
    if r is None:
        return
    rows = [
        [str(k), word.replace("-", "−"), str(d)]
        for k, (word, d) in enumerate(zip(CODE, r["distances"], strict=True), 1)
    ]
    yield Table(["class", "codeword", "distance from −++−++"], rows)
    nearest = 1 + int(np.argmin(r["distances"]))
    yield Text(
        f"The answers decode to class {nearest} at distance {min(r['distances'])}; the code has minimum distance "
        f"{r['min_distance']:.0f} and corrects {r['bits']} bits."
    )


# ---- all methods in the plane ---------------------------------------------------------------------------------------

PLANE_REACH = (-4.0, 5.0, -4.0, 6.0)
METHODS: dict[str, Callable[[], Any]] = {
    "one-versus-all AdaBoost": lambda: sb.OneVsAllBoostClassifier(Stump(), n_estimators=50),
    "AdaBoost.M1": lambda: sb.AdaBoostM1Classifier(InfoTree(max_depth=2), n_estimators=100),
    "SAMME": lambda: sb.SAMMEClassifier(InfoTree(max_depth=2), n_estimators=100),
    "AdaBoost.M2": lambda: sb.AdaBoostM2Classifier(n_estimators=100),
    "AdaBoost.MH": lambda: sb.AdaBoostMHClassifier(n_estimators=100),
    "AdaBoost.MM": lambda: sb.AdaBoostMMClassifier(ClassTree(max_depth=2), n_estimators=100),
    "AdaBoost.ECC": lambda: sb.AdaBoostECCClassifier(Stump(), n_estimators=150, random_state=0),
    "LogitBoost": lambda: sb.LogitBoostClassifier(n_estimators=30),
    "CD-MCBoost": lambda: sb.CDMCBoostClassifier(n_estimators=100),
    "GD-MCBoost": lambda: sb.GDMCBoostClassifier(learner=VectorTree(max_depth=2), n_estimators=50),
    "sm-boost": lambda: sb.SoftmaxBoostClassifier(n_estimators=200, random_state=0),
    "SimplexBoost": lambda: sb.SimplexBoostClassifier(n_estimators=60, random_state=0),
    "one-versus-all, linear": lambda: sb.OutputCodeClassifier(linear(), "one-vs-all"),
    "one-versus-one, linear": lambda: sb.OutputCodeClassifier(linear(), "all-pairs", "votes"),
    "output code, boosted": lambda: sb.OutputCodeClassifier(codewords="exhaustive", decoding="hamming", random_state=0),
    "multiclass SVM, RBF": lambda: sb.MulticlassSVC(kernel="rbf", C=1.0),
}


@task
def plane(method: str, n: int, seed: int) -> dict[str, Any]:
    """A method on three Gaussians: test error and regions."""
    d = make_three_gaussians(n, 2000, random_state=seed)
    clf = METHODS[method]().fit(d.X_train, d.y_train)
    return {
        "error": float((clf.predict(d.X_test) != d.y_test).mean()),
        "X": np.round(d.X_train[:150], 3).tolist(),
        "y": d.y_train[:150].tolist(),
        "regions": clf.predict(grid(PLANE_REACH)).tolist(),
    }


@task
def plane_bayes(n: int, seed: int) -> dict[str, Any]:
    """The error of the Bayes rule on the test rows of `plane`."""
    d = make_three_gaussians(n, 2000, random_state=seed)
    return {"error": float((three_gaussians_bayes(d.X_test) != d.y_test).mean())}


BAYES = Cell("plane_bayes", {"n": 600, "seed": 0}, 0.1)


def plane_cells() -> dict[str, Cell]:
    """By method."""
    return {m: Cell("plane", {"method": m, "n": 600, "seed": 0}, 1.0) for m in METHODS}


@experiment("lecture-regions", "Decision regions of all methods", urgency=4)
def regions(plan: Plan) -> list[Cell]:
    """The three Gaussians of the MCBoost papers, 600 training and 2000 test examples; small learners, few rounds."""
    return [*plane_cells().values(), BAYES]


@regions.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    results = {m: r for m, cell in plane_cells().items() if (r := found.get(cell)) is not None}

    def draw(figure: Any) -> None:
        panels = figure.subplots(4, 4).ravel()
        for axes, (method, r) in zip(panels, results.items(), strict=False):
            scores_picture(axes, r["regions"], PLANE_REACH, np.array(r["X"]), np.array(r["y"]))
            axes.set_title(f"{method}: {100 * r['error']:.1f} %", fontsize=9)
        for axes in panels[len(results) :]:
            axes.set_axis_off()

    best = found.get(BAYES)
    beside = "" if best is None else f"; the Bayes rule errs on {100 * best['error']:.1f} % of the same test rows"
    yield Figure("lecture-regions", f"Decision regions and test errors{beside}.", draw, (10.5, 10.5))
    errors = {m: r["error"] for m, r in results.items()}
    if best is not None:
        errors |= {"the Bayes rule": best["error"]}
    yield Text("Test errors: " + ", ".join(f"{m} {100 * e:.1f} %" for m, e in errors.items()) + ".")
