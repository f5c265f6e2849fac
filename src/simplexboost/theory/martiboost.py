"""`MartiBoostClassifier`: a branching program of weak learners, trained by layers, for two classes and noisy labels.

The weak learner of a node is trained on the examples that reach the node, with equal total weights of both classes. An
example goes to the right child if the learner's output is positive, else to the left; class 1 belongs right, class 0
left. If more than half of the weight would go to one side, each example bound for it is sent to the other side with a
fixed probability, so that half of the weight goes right. With a = P(positive | class 1) and b = P(positive | class 0),
each class then goes to its side with probability a/(a+b), or (1−b)/(2−a−b) if most weight would go left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._util.arrays import AnyArray, Array, Labels, Mask
from .._util.docstrings import described
from .._util.params import check_choice, check_number, random_generator
from .._util.runtime import check_memory, one_blas_thread, thread_count
from ..classifiers.base_classifier import BaseClassifier, transaction
from ..classifiers.plan import ENDLESS, LEAST_ROUND
from ..engine import MAX_BINS, Engine, cpu_engine, single_leaf
from ..model.additive import Term
from ..model.code import Gradient
from ..model.hypotheses import Hypothesis, LeafOutputs, TreeHypothesis
from ..model.program import Program, Turn, answers, move
from ..parts.learners import Answer, Learner, Request, as_learner
from ..parts.losses.links import log_of
from ..persist.models import pack_program, unpack_program
from ..persist.saving import check_label_types
from ..tables.encoding import check_X
from ..tables.inputs import Taken
from ..tables.labels import listed_classes, show_labels
from ..tables.order import sort_by_content
from ..tables.training_set import TrainingSet
from ..tables.validation import Labelling, check_training

# A class counts as absent at a node that less than this part of all examples reaches in this class. Long programs have
# thousands of outer nodes that practically no example reaches.
NEGLIGIBLE = 1e-9
ROUNDING = 1e-6  # more than the relative error of a sum of masses, in any order
SIGNS = np.array([[1.0], [-1.0]])  # the codewords of "right" and "left"


def train_program(
    data: TrainingSet, learner: Learner, n_layers: int, sampled: bool, rng: np.random.Generator
) -> tuple[Program, dict[str, AnyArray]]:
    """Return a branching program trained on the data, and its history: a dict of arrays with a value per layer."""
    program, record, trainer = Program(), LayerRecord(data.c), NodeTrainer(data, learner)
    # All layers share this memory: allocating it for every layer would take longer than the computation.
    spare, other, buffer = (np.empty(data.n * (n_layers + 1)) for _ in range(3))
    mass = view_table(spare, data.n, 1)  # (n, nodes): the part of each example at each node
    mass[:, 0] = data.weight / data.weight.sum()
    for layer in range(n_layers):
        turn = view_table(buffer, data.n, layer + 1)  # (n, nodes) probabilities of going right
        totals = record.own @ mass  # (2, nodes)
        terms = trainer.train_layer(mass, totals, rng.integers(2**63, size=layer + 1), turn)
        program.terms.extend(terms)
        program.layer_ends.append(len(program.terms))
        if sampled:
            np.less(rng.random((data.n, 1)), turn, out=turn)
        right = np.multiply(mass, turn, out=turn)
        mass, spare, other = move(mass, right, view_table(other, data.n, layer + 2)), other, spare
        record.add(totals, right, len(terms), mass)
    return program, {name: np.array(values) for name, values in record.records.items()}


def view_table(buffer: Array, n: int, columns: int) -> Array:
    """Return the first n · columns entries of a buffer, as a view of shape (n, columns)."""
    return buffer[: n * columns].reshape(n, columns)


class NodeTrainer:
    """A trainer of the weak learners of a branching program, node by node, on one training set."""

    def __init__(self, data: TrainingSet, learner: Learner) -> None:
        self.data, self.learner = data, learner
        self.labels = 1 - data.c  # "right", the first of SIGNS, for class 1
        self.signs = np.where(data.c == 1, 1.0, -1.0)
        leaf = single_leaf(data.n)
        self.ends: dict[float, Hypothesis] = {by: TreeHypothesis(leaf, np.array([[by]])) for by in (-0.5, 0.5)}

    def train_layer(self, mass: Array, totals: Array, seeds: AnyArray, turn: Array) -> list[Term]:
        """Train the weak learners of a layer, return them as terms, and write the probability of going right to `turn`.

        `mass` (n, nodes) is the fraction of each example at each node, and `totals` (2, nodes) its sums over each
        class. These sums may be added in any order. Where rounding might decide whether a class is present, and where
        both classes are present, `train_node` adds the masses again, in the order of the rows.
        """
        absent, present = totals < (1 - ROUNDING) * NEGLIGIBLE, totals > (1 + ROUNDING) * NEGLIGIBLE
        unclear = np.flatnonzero(present.all(axis=0) | ~(absent | present).all(axis=0))
        values = 0.5 * present[1] - 0.5 * present[0]  # (nodes,) P(right) − ½ where at most one class is present
        found = [self.ends.get(value) for value in values.tolist()]
        turn[:] = 0.5 + values
        if len(unclear):
            between = slice(unclear[0], unclear[-1] + 1)
            columns = np.ascontiguousarray(mass[:, between].T)  # (nodes, n)
            turns = np.ascontiguousarray(turn[:, between].T)
            for node in unclear.tolist():
                i = node - between.start
                found[node], by = self.train_node(columns[i], int(seeds[node]))
                turns[i] = 0.5 + by
            turn[:, between] = turns.T
        return [Term(hypothesis, 1.0, node) for node, hypothesis in enumerate(found) if hypothesis is not None]

    def train_node(self, mass: Array, seed: int) -> tuple[Hypothesis | None, Array | float]:
        """Train the weak learner of a node; return it with the probability that each row goes right, minus ½.

        `mass` (n,) is the fraction of each example at the node. If only class 1 reaches the node, all rows go right; if
        only class 0, all go left. If no class does, all rows go right with probability ½, and the learner is None.
        """
        data = self.data
        totals = np.bincount(data.c, mass, 2)
        present = totals > NEGLIGIBLE
        if not present.all():
            value = 0.5 * float(present[1]) - 0.5 * float(present[0])
            return self.ends.get(value), value
        weight = mass * (0.5 / totals).take(data.c)  # each class weighs ½
        G = (self.signs * weight)[:, None]
        rows = None if mass.all() else np.flatnonzero(mass)
        answer = self.learner.fit(Request(data, Gradient(self.labels, weight, G=G), SIGNS, rows=rows, seed=seed))
        goes_right = is_positive(answer)
        # Indexing by numbers is several times as fast as by a mask, whose branches the processor cannot predict.
        left, right = balance_sides(float(weight.take(np.flatnonzero(goes_right)).sum()))
        return turn_hypothesis(answer.hypothesis, left, right), np.array([left, right]).take(goes_right.view(np.int8))


def is_positive(answer: Answer) -> Mask:
    """Return whether a weak learner's one-dimensional outputs on the training rows are positive, (n,)."""
    compact = answer.compact
    if isinstance(compact, LeafOutputs):
        return (np.asarray(compact.values)[:, 0] > 0).take(compact.engine.device.to_host(compact.leaf_of_row))
    return compact[:, 0] > 0


def balance_sides(p: float) -> tuple[float, float]:
    """Return P(right) − ½ for negative and positive outputs, so that half the weight goes right; p is P(positive)."""
    if p > 0.5:
        return -0.5, 0.5 / p - 0.5
    return 0.5 - 0.5 / (1 - p), 0.5


def turn_hypothesis(hypothesis: Hypothesis, left: float, right: float) -> Hypothesis:
    """Return a hypothesis that outputs `right` where the given hypothesis is positive, and `left` elsewhere."""
    if isinstance(hypothesis, TreeHypothesis):
        return TreeHypothesis(hypothesis.tree, np.where(hypothesis.values > 0, right, left))
    return Turn(hypothesis, left, right)


class LayerRecord:
    """The training history of a branching program: edge, error, bound and number of learners of every layer."""

    def __init__(self, c: Labels) -> None:
        self.c, self.own = c, np.array([c == 0, c == 1], dtype=np.float64)  # (n,), (2, n)
        self.records: dict[str, list[float]] = {name: [] for name in ("edge", "error", "bound", "learners")}
        self.advantage, self.skipped = 0.0, 0.0

    def add(self, totals: Array, going_right: Array, n_learners: int, after: Array) -> None:
        """Record a layer, given class totals (2, nodes), the mass (n, nodes) that goes right, and the mass after it.

        The mass is the fraction of each example at each node. If at every node of layer j at least ½ + γ_j of each
        class goes to its side (class 1 right), Hoeffding's inequality bounds the error after l layers by exp(−2
        (Σγ_j)²/l). Nodes that almost no example reaches are left out of γ_j; their examples count as errors in the
        bound.
        """
        right = self.own @ going_right  # (2, nodes)
        right_way = np.stack([totals[0] - right[0], right[1]])
        present = totals > NEGLIGIBLE
        gamma = right_way[present] / totals[present] - 0.5
        self.advantage += float(gamma.min())
        self.skipped += float((np.where(present, 0.0, totals).sum(axis=1) / totals.sum(axis=1)).max())
        layers = len(self.records["bound"]) + 1
        bound = np.exp(-2 * max(self.advantage, 0.0) ** 2 / layers) + self.skipped
        self.records["edge"].append(float(2 * gamma @ totals[present]))
        self.records["bound"].append(float(min(bound, 1.0)))
        self.records["learners"].append(n_learners)
        zero, one = answers(after)
        self.records["error"].append(float(np.where(self.c == 1, zero, one).sum()))


@described
@dataclass(eq=False, repr=False)
class MartiBoostClassifier(BaseClassifier):
    """MartiBoost (Long & Servedio, 2005), a branching program of weak learners for two classes with noisy labels.

    In every layer an example turns right or left at random, with a probability from a weak learner; its class is the
    second if most turns are right, the first if most are left. `predict_proba` returns the exact probabilities of both
    classes, `predict` the more probable class. `predict_random` follows one random path per example.

    Parameters
    ----------
    n_layers : int, default=100
        The number of layers. Layer l has up to l weak learners.
    learner : str, Learner or scikit-learn estimator, default="stump"
        The weak learner. Only whether its output is positive is used.
    routing : {"exact", "sampled"}, default="exact"
        How training examples reach the nodes. "exact" divides each example among the nodes by the probabilities of its
        turns; "sampled" sends each example along one random path.
    max_bins : int, default=255
        The number of bins into which the values of a feature are sorted before trees are grown, from 2 to 255.
    n_jobs : int or None, default=None
        The number of threads. None takes one, and −1 takes all cores. The fitted model does not depend on it.
    categorical_features : "from_dtype", mask, positions, names or None, default="from_dtype"
        The columns that hold categories, which trees split by subsets. "from_dtype" takes the categorical and text
        columns of a data frame, and None takes none. Only this library's tree learners accept categories.

    Attributes
    ----------
    program_ : Program
        The weak learners of the program's nodes, layer by layer.
    history_ : dict of arrays
        Arrays with a value for every layer l; a node sends examples to the side of their class with probability ½ + γ.
        ``"edge"``: mean of 2γ over the nodes; ``"error"``: training error if this were the last layer; ``"bound"`` on
        this error: exp(−2 l γ²) with the mean of the layers' smallest γ; ``"learners"``: number of learners.
    n_iter_ : int
        The number of layers.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> MartiBoostClassifier(n_layers=20).fit(X, y).score(X, y) > 0.95
    True
    """

    paper: ClassVar[str] = "Long & Servedio 2005"
    table_row: ClassVar[dict[str, str]] = {  # the model is not a sum, so its only part is a learner
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
    categorical_features: Any = "from_dtype"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the branching program on rows of two classes, and return the fitted classifier.

        Only the ratios of the sample weights matter, because the weights are divided by their mean.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The features. NaN and None mean missing.
        """
        with transaction(self) as draft:
            learner = draft._check_parameters()
            labelling, taken = Labelling(declares=False), Taken(draft.categorical_features, learner.refusal)
            checked = check_training(draft, X, y, sample_weight, labelling, draft.max_bins, draft._engine(), taken)
            check_label_types(checked.classes)
            if len(checked.classes) > 2:
                raise ValueError(
                    "Only binary classification is supported. The type of the target is multiclass: y has "
                    f"{len(checked.classes)} classes, MartiBoostClassifier takes 2."
                )
            if not checked.present.all():
                only = show_labels(listed_classes(checked.classes[checked.present]))
                raise ValueError(
                    f"y has examples of one class only ({only}, after leaving out rows of zero or negligible "
                    "sample_weight); MartiBoostClassifier needs two."
                )
            rng = np.random.default_rng(random_generator(draft.random_state).randint(2**31 - 1))
            with one_blas_thread():
                sampled = draft.routing == "sampled"
                data, _ = sort_by_content(checked.data)
                program, history = train_program(data, learner, draft.n_layers, sampled, rng)
            draft.classes_, draft.program_, draft.history_ = checked.classes, program, history
            draft.n_iter_ = draft.n_layers
        return self

    def _check_parameters(self) -> Learner:
        check_number("n_layers", self.n_layers, int, 1)
        layers = min(int(self.n_layers), ENDLESS)
        check_memory(LEAST_ROUND * layers, f"a program of {layers} layers", "Take fewer (n_layers).")
        check_number("max_bins", self.max_bins, int, 2, MAX_BINS)
        check_choice("routing", self.routing, ("exact", "sampled"))
        random_generator(self.random_state)
        learner = as_learner(self.learner)
        learner.check()
        return learner

    def class_scores(self, X: Any) -> Array:
        check_is_fitted(self)
        return self.program_.probabilities(check_X(self, X), self._engine())

    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities (n, 2) over random paths; paths with as many right as left turns count ½ each."""
        return self.class_scores(X)

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of `predict_proba`; −inf where a probability is zero."""
        return log_of(self.predict_proba(X))

    def predict_random(self, X: Any, random_state: Any = None) -> AnyArray:
        """Return the labels (n,) at the end of one random path per row; a fair coin decides if both classes tie."""
        check_is_fitted(self)
        wins = self.program_.walk(check_X(self, X), random_generator(random_state), self._engine())
        return self.classes_.take(wins.astype(np.intp))

    def _engine(self) -> Engine:
        return cpu_engine(thread_count(self.n_jobs))

    def _pack(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        return pack_program(self)

    def _unpack(self, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
        unpack_program(self, header, arrays)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags
