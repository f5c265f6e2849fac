"""MartiBoost: a branching program of weak learners, not a sum of them; binary and tolerant of label noise.

Layer l has nodes 0 .. l. An example enters at the top; the learner of its node sends it left (v → v) or right
(v → v + 1) in the next layer, and after L layers it is of class 1 if it went right more often than left. A node's
learner sees the examples that reach it, both classes weighing the same, and is made two-sided: its commoner answer is
turned round at random until it says right half the time. With accuracies a = P(right | 1), b = P(right | 0), both
classes are then routed rightly with probability a/(a+b), or (1−b)/(2−a−b) where the commoner answer was left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._blas import one_blas_thread
from .._parts import check_choice, check_number
from .._typing import AnyArray, Array, Labels
from ..boosting.hypotheses import Hypothesis, TreeHypothesis
from ..boosting.model import AdditiveModel, Term, add_terms
from ..data.training_set import TrainingSet
from ..data.validation import Labelling, check_training, check_X
from ..engine import CPU, MAX_BINS, CpuEngine, Engine, single_leaf
from ..files import damaged, unpack_booster
from ..learners import Learner, PlainPull, Request, as_learner
from .face import Face, all_or_nothing

# A class of which less than this part of all examples reaches a node is not there; the tails of a long program hold
# thousands of nodes that nothing ever reaches.
NEGLIGIBLE = 1e-9
SIGNS = np.array([[1.0], [-1.0]])  # what a learner answers: right, left


@dataclass(eq=False, repr=False)
class MartiBoostClassifier(Face):
    """MartiBoost (Long & Servedio, 2005): a branching program with two-sided weak learners, for two classes.

    The program is random; probabilities are exact expectations over its random turns, `predict` is its more likely
    answer, and `predict_random` follows one random path per example, as in the paper.

    Parameters
    ----------
    n_layers : int, default=100
        L; there are up to L(L+1)/2 learners.
    learner : str, Learner or scikit-learn estimator, default="stump"
        Any learner; only the sign of its answer counts.
    routing : {"exact", "sampled"}, default="exact"
        How training examples reach the nodes: divided among them by the probabilities of their turns, or each along
        one random path.
    max_bins : int, default=255
        Bins per feature for the engine's trees.
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all. The fitted model does not depend on it.

    Attributes
    ----------
    classes_ : (2,) labels
    model_ : AdditiveModel; round l, coordinate v is the node (l, v), its value P(right) − ½
    history_ : dict of arrays, an entry per layer: edge (mean of 2γ, where both classes are routed rightly with
        probability ½ + γ), error (of the random program, were this its last layer), bound (on that error: exp(−2 l γ²)
        with γ the mean of the layers' smallest), learners
    n_iter_ : layers
    stop_reason_ : None, the program always has all its layers
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> MartiBoostClassifier(n_layers=20).fit(X, y).score(X, y) > 0.95
    True
    """

    paper: ClassVar[str] = "Long & Servedio 2005"
    table_row: ClassVar[dict[str, str]] = {  # it is no sum, so it has no parts but a learner
        "optimizer": "branching program",
        "codewords": "two classes",
        "learners": "any: stump*",
        "loss": "none",
        "step": "none",
    }
    n_layers: int = 100
    learner: Any = "stump"
    routing: str = "exact"
    max_bins: int = MAX_BINS
    random_state: Any = None
    n_jobs: int | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the program.

        Parameters
        ----------
        X : array of shape (n, p); NaN means missing
        y : labels of two classes, (n,)
        sample_weight : (n,) or None
            Only their ratios matter: weights are divided by their mean.

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            learner = self._check_parameters()
            checked = check_training(self, X, y, sample_weight, Labelling(), self.max_bins, self._engine())
            data, classes = checked.data, checked.classes
            if len(classes) > 2:
                raise ValueError(
                    "Only binary classification is supported. The type of the target is multiclass: y has "
                    f"{len(classes)} classes, MartiBoostClassifier takes 2."
                )
            rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
            with one_blas_thread():
                model, history = train_program(data, learner, self.n_layers, self.routing == "sampled", rng)
            self.classes_, self.model_, self.history_ = classes, model, history
            self.n_iter_, self.stop_reason_ = self.n_layers, None
            self.present_, self.categories_ = np.ones(2, dtype=bool), None  # what model files hold beside
        return self

    def _check_parameters(self) -> Learner:
        check_number("n_layers", self.n_layers, int, 1)
        check_number("max_bins", self.max_bins, int, 2, MAX_BINS)
        check_choice("routing", self.routing, ("exact", "sampled"))
        learner = as_learner(self.learner)
        learner.check()
        return learner

    def predict(self, X: Any) -> AnyArray:
        """The program's more likely answer, ties to the first class; (n,)."""
        wins = self.decision_function(X) > 0
        return self.classes_.take(wins.astype(np.intp))

    def predict_proba(self, X: Any) -> Array:
        """How likely the random program is to answer with each class, (n, 2); a draw counts half for both."""
        return np.column_stack(self._answers(X))

    def decision_function(self, X: Any) -> Array:
        """P(1) − P(0), (n,)."""
        zero, one = self._answers(X)
        return one - zero

    def class_scores(self, X: Any) -> Array:
        """How likely the random program is to answer with each class, (n, 2)."""
        return self.predict_proba(X)

    def predict_random(self, X: Any, random_state: Any = None) -> AnyArray:
        """The answers of the random program, one path per example; a draw at the end is decided by a coin; (n,)."""
        X, rng = self._check_X(X), check_random_state(random_state)
        at = np.zeros(len(X), dtype=np.intp)  # the node of every example
        for turn in self._turns(X):
            at += rng.random_sample(len(X)) < turn[np.arange(len(X)), at]
        wins = 2 * at + (rng.random_sample(len(X)) < 0.5) > self.n_iter_
        return self.classes_.take(wins.astype(np.intp))

    def _answers(self, X: Any) -> tuple[Array, Array]:
        X = self._check_X(X)
        mass = np.ones((len(X), 1))  # (n, nodes)
        for turn in self._turns(X):
            mass = move(mass, turn)
        return answers(mass)

    def _turns(self, X: AnyArray) -> Iterator[Array]:
        """The probabilities of going right at the nodes of one layer after another, (n, l + 1)."""
        ends = self.model_.round_ends
        for layer, (begin, end) in enumerate(zip([0, *ends], ends, strict=False)):
            turn = np.full((len(X), layer + 1), 0.5)
            add_terms(self.model_.terms[begin:end], X, turn, self._engine())
            yield turn

    def _engine(self) -> Engine:
        return CpuEngine(effective_n_jobs(self.n_jobs))

    def _unpack(self, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
        """Read the program from a file."""
        unpack_booster(self, header, arrays)
        check_program(self.model_)

    def _check_X(self, X: Any) -> AnyArray:
        check_is_fitted(self)
        return check_X(self, X, reset=False)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.classifier_tags.multi_class = False
        return tags


# ---- the program ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Turn:
    """Goes right with one of two probabilities (less ½), by the sign of another hypothesis's answer."""

    hypothesis: Hypothesis
    left: float
    right: float

    def outputs(self, X: AnyArray, engine: Engine = CPU) -> Array:
        """P(right) − ½, (n, 1)."""
        return np.where(self.hypothesis.outputs(X, engine) > 0, self.right, self.left)


def train_program(
    data: TrainingSet, learner: Learner, n_layers: int, sampled: bool, rng: np.random.Generator
) -> tuple[AdditiveModel, dict[str, AnyArray]]:
    """Train layer by layer; what every layer achieved."""
    model = AdditiveModel(np.zeros((2, n_layers)))  # no codewords: a coordinate for every node of a layer
    mass = (data.weight / data.weight.sum())[:, None]  # (n, nodes): how much of an example is where
    progress = Progress()
    for layer in range(n_layers):
        turn = np.full((data.n, layer + 1), 0.5)  # (n, nodes) probabilities of going right
        terms = []
        for node in range(layer + 1):
            if trained := train_node(data, learner, mass[:, node], int(rng.integers(2**63))):
                hypothesis, outputs = trained
                terms.append(Term(hypothesis, 1.0, node))
                turn[:, node] += outputs[:, 0]
        model.add_round(terms)
        if sampled:
            turn = (rng.random((data.n, 1)) < turn).astype(np.float64)
        progress.record(mass, turn, data.c, len(terms))
        mass = move(mass, turn)
        progress.record_error(mass, data.c)
    return model, progress.arrays()


def train_node(data: TrainingSet, learner: Learner, mass: Array, seed: int) -> tuple[Hypothesis, Array] | None:
    """A two-sided learner for the examples at a node, mass (n,), and P(right) − ½ of all rows; None for a fair coin.

    Where one class only reaches the node, all of it goes its way.
    """
    totals = np.bincount(data.c, mass, 2)
    there = totals > NEGLIGIBLE
    if not there.any():
        return None
    if not there.all():
        value = -0.5 if there[0] else 0.5
        return constant(value, data.n), np.full((data.n, 1), value)
    weight = mass * (0.5 / totals)[data.c]  # each class weighs ½
    G = np.where(data.c == 1, weight, -weight)[:, None]
    rows = None if mass.all() else np.flatnonzero(mass)
    answer = learner.fit(Request(data, PlainPull(G, 1 - data.c, weight), SIGNS, rows=rows, seed=seed))
    left, right = two_sided(float(weight[answer.outputs[:, 0] > 0].sum()))
    return turning(answer.hypothesis, left, right), np.where(answer.outputs > 0, right, left)


def two_sided(p: float) -> tuple[float, float]:
    """P(right) − ½ after the answers left and right, so that an answer right with probability p becomes one with ½."""
    if p > 0.5:
        return -0.5, 0.5 / p - 0.5
    return 0.5 - 0.5 / (1 - p), 0.5


def constant(value: float, n: int) -> TreeHypothesis:
    """A tree of one leaf."""
    return TreeHypothesis(single_leaf(n), np.array([[value]]))


def turning(hypothesis: Hypothesis, left: float, right: float) -> Hypothesis:
    """The hypothesis with these numbers in place of its negative and positive answers."""
    if isinstance(hypothesis, TreeHypothesis):
        return TreeHypothesis(hypothesis.tree, np.where(hypothesis.values > 0, right, left))
    return Turn(hypothesis, left, right)


def move(mass: Array, turn: Array) -> Array:
    """One layer on: mass (n, nodes) and probabilities of going right → mass (n, nodes + 1)."""
    right = mass * turn
    out = np.zeros((len(mass), mass.shape[1] + 1))
    np.subtract(mass, right, out=out[:, :-1])
    out[:, 1:] += right
    return out


def answers(mass: Array) -> tuple[Array, Array]:
    """The mass (n,) that ends left and right of the middle; what ends in the middle counts half for both."""
    half = mass.shape[1] // 2
    draw = 0.5 * mass[:, half : len(mass.T) - half].sum(axis=1)  # no column where the number of layers is odd
    return mass[:, :half].sum(axis=1) + draw, mass[:, len(mass.T) - half :].sum(axis=1) + draw


def check_program(model: AdditiveModel) -> None:
    """Raise unless the model of a file is a program: at different nodes 0 .. l of layer l, trees of P(right) − ½."""
    fits = model.Y.shape == (2, model.n_rounds) and all(is_turn(term) for term in model.terms)
    for layer, (begin, end) in enumerate(zip([0, *model.round_ends], model.round_ends, strict=False)):
        nodes = [term.coordinate for term in model.terms[begin:end]]
        fits = fits and len(set(nodes)) == len(nodes) and set(nodes) <= set(range(layer + 1))
    if not fits:
        raise damaged("a model that is no branching program")


def is_turn(term: Term) -> bool:
    """Whether a term is a tree of probabilities less ½."""
    h = term.hypothesis
    return isinstance(h, TreeHypothesis) and bool(np.abs(term.step * h.values).max() <= 0.5)


class Progress:
    """What every layer of a program achieves on the training rows."""

    def __init__(self) -> None:
        self.records: dict[str, list[float]] = {name: [] for name in ("edge", "error", "bound", "learners")}
        self.advantage, self.skipped = 0.0, 0.0

    def record(self, mass: Array, turn: Array, c: Labels, n_learners: int) -> None:
        """Edge and bound of a layer.

        If at least ½ + γ_j of each class goes its way at every node of layer j, the final node of a class dominates a
        walk of independent steps, and by Hoeffding's inequality at most exp(−2 (Σγ_j)² / l) of it ends on the wrong
        side or in the middle. Nodes that next to nothing reaches are left out, and what does reach them added.
        """
        own = np.array([c == 0, c == 1], dtype=np.float64)  # (2, n)
        totals, right = own @ mass, own @ (mass * turn)  # (2, nodes)
        right_way = np.stack([totals[0] - right[0], right[1]])
        there = totals > NEGLIGIBLE
        gamma = right_way[there] / totals[there] - 0.5
        self.advantage += float(gamma.min())
        shares = totals.sum(axis=1)
        self.skipped += float((np.where(there, 0.0, totals).sum(axis=1) / shares).max())
        layers = len(self.records["bound"]) + 1
        bound = np.exp(-2 * max(self.advantage, 0.0) ** 2 / layers) + self.skipped
        self.records["edge"].append(float(2 * gamma @ totals[there]))
        self.records["bound"].append(float(min(bound, 1.0)))
        self.records["learners"].append(n_learners)

    def record_error(self, mass: Array, c: Labels) -> None:
        """The error of the random program, were this layer its last."""
        zero, one = answers(mass)
        self.records["error"].append(float(np.where(c == 1, zero, one).sum()))

    def arrays(self) -> dict[str, AnyArray]:
        """The records as arrays."""
        return {name: np.array(values) for name, values in self.records.items()}
