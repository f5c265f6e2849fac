"""The boosters as the papers use them: a name and a few options → an estimator; and what they cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.tree import DecisionTreeClassifier

import simplexboost as sb
from simplexboost.parts.learners import ClassTree, GiniTree, InfoTree, LinearRegressor, SignTree, Stump, VectorTree

Maker = Callable[..., Any]
BOOSTERS: dict[str, Maker] = {}


def booster(name: str) -> Callable[[Maker], Maker]:
    """Registers a function ``make(K, **options)`` that returns an estimator; rounds and seed are set afterwards."""

    def register(make: Maker) -> Maker:
        BOOSTERS[name] = make
        return make

    return register


def make(name: str, K: int, rounds: int, seed: int, options: dict[str, Any]) -> Any:
    """The estimator."""
    estimator = BOOSTERS[name](K, **options)
    return estimator.set_params(**{"n_layers" if name == "marti" else "n_estimators": rounds}, random_state=seed)


def limits(depth: int | None = None, leaves: int | None = None) -> dict[str, Any]:
    """How far a tree grows: a depth, or a number of leaves (best first)."""
    return {"max_depth": depth, "max_leaf_nodes": leaves, "growth": "best" if leaves else "level"}


@booster("gd")
def gd(K: int, leaf: str = "vector", depth: int | None = 2, leaves: int | None = None, **parts: Any) -> Any:
    """GD-MCBoost with unit vectors or codewords in the leaves."""
    tree = {"vector": VectorTree, "codeword": ClassTree}[leaf]
    return sb.GDMCBoostClassifier(learner=tree(**limits(depth, leaves)), **parts)


@booster("cd")
def cd(K: int, learner: str = "stump", schedule: str = "best", **parts: Any) -> Any:
    """CD-MCBoost with stumps or one-feature regressors."""
    learners = {"stump": Stump, "linear": LinearRegressor}
    return sb.CDMCBoostClassifier(learner=learners[learner](), schedule=schedule, **parts)


@booster("maxmin")
def maxmin(K: int, method: str, dim: int) -> Any:
    """MCBoost with max-min codewords of a given dimension, centred as the journal version defines them."""
    codewords = sb.parts.codewords.MaxMin(dim, centered=True)
    return gd(K, codewords=codewords) if method == "gd" else cd(K, codewords=codewords)


@booster("random_code")
def random_code(K: int, method: str, dim: int) -> Any:
    """MCBoost with random ±1 codewords of a given dimension."""
    codewords = sb.parts.codewords.RandomDense(dim)
    return gd(K, codewords=codewords) if method == "gd" else cd(K, codewords=codewords)


@booster("flagship")
def flagship(K: int, **options: Any) -> Any:
    """SimplexBoostClassifier, as it comes."""
    return sb.SimplexBoostClassifier(**options)


@booster("marti")
def marti(K: int) -> Any:
    """MartiBoost with stumps; its rounds are layers."""
    return sb.MartiBoostClassifier()


# ---- learners that name a class -------------------------------------------------------------------------------------


def class_tree(criterion: str, depth: int | None, leaves: int | None) -> Any:
    """A tree grown on the booster's own criterion (error or cost), by information gain or Gini index; or by CART."""
    if criterion == "cart":
        return DecisionTreeClassifier(max_leaf_nodes=leaves, max_depth=depth)
    return {"own": ClassTree, "info": InfoTree, "gini": GiniTree}[criterion](**limits(depth, leaves))


@booster("ova")
def ova(K: int) -> Any:
    """One AdaBoost per class, with stumps."""
    return sb.OneVsAllBoostClassifier(learner=Stump())


@booster("m1")
def m1(K: int, criterion: str = "own", depth: int | None = 2, leaves: int | None = None) -> Any:
    """AdaBoost.M1."""
    return sb.AdaBoostM1Classifier(class_tree(criterion, depth, leaves))


@booster("samme")
def samme(K: int, criterion: str = "own", depth: int | None = 2, leaves: int | None = None) -> Any:
    """SAMME."""
    return sb.SAMMEClassifier(class_tree(criterion, depth, leaves))


@booster("mm")
def mm(K: int, step: str = "edge", depth: int | None = 2, leaves: int | None = None, rate: float = 1.0) -> Any:
    """AdaBoost.MM, also AdaBoost-Cost."""
    return sb.AdaBoostMMClassifier(class_tree("own", depth, leaves), step=step, learning_rate=rate)


# ---- one answer for every class -------------------------------------------------------------------------------------


@booster("mh")
def mh(K: int, mode: str, depth: int | None = 1, leaves: int | None = None) -> Any:
    """AdaBoost.MH in its many versions; stumps unless told."""
    modes = {
        "index": ("index", None),  # a stump on the pair [x, k]
        "hamming": ("shared", SignTree(**limits(depth, leaves))),  # one tree, a sign for every class in its leaves
        "single": ("single-label", ClassTree(**limits(depth, leaves))),  # a tree that names one class
        "stumps": ("separate", Stump()),
        "gini": ("separate", class_tree("gini", depth, leaves)),  # a tree for every class
        "info": ("separate", class_tree("info", depth, leaves)),
        "cart": ("separate", class_tree("cart", depth, leaves)),
    }
    learner_mode, learner = modes[mode]
    return sb.AdaBoostMHClassifier(learner, learner_mode=learner_mode)


@booster("smboost")
def smboost(K: int, depth: int | None = 1, leaves: int | None = None, pairs: int | str = "n", rate: float = 1.0) -> Any:
    """sm-boost with a tree for every class and, unless told, as many sampled pairs as examples."""
    return sb.SoftmaxBoostClassifier(class_tree("gini", depth, leaves), n_pairs=pairs, learning_rate=rate)


# ---- coordinate descent ---------------------------------------------------------------------------------------------


@booster("ecc")
def ecc(K: int) -> Any:
    """AdaBoost.ECC with stumps and random balanced bipartitions."""
    return sb.AdaBoostECCClassifier(learner=Stump())


@booster("logit")
def logit(K: int, clip: float = 4.0) -> Any:
    """LogitBoost with one-feature regressors; its working responses are clipped, as its authors advise."""
    return sb.LogitBoostClassifier(learner=LinearRegressor(), clip=clip)
