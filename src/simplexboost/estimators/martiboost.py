"""MartiBoost: a branching program of weak learners, for two classes and tolerant of label noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._blas import one_blas_thread
from .._memory import check_memory
from .._parts import check_choice, check_number, random_numbers
from .._threads import thread_count
from .._typing import AnyArray, Array
from ..boosting.layers import train_program
from ..data.inputs import Taken, check_X
from ..data.labels import few, listed_classes
from ..data.order import in_own_order
from ..data.validation import Labelling, check_training
from ..engine import MAX_BINS, CpuEngine, Engine
from ..files import check_label_types, pack_program, unpack_program
from ..learners import Learner, as_learner, refusal_of
from ..losses.links import log_of
from .atomic import all_or_nothing
from .face import Face
from .parts import ENDLESS, LEAST_ROUND


@dataclass(eq=False, repr=False)
class MartiBoostClassifier(Face):
    """MartiBoost (Long & Servedio, 2005): a branching program with two-sided weak learners, for two classes.

    The program is random; probabilities are exact expectations over its random turns, `predict` is its more likely
    answer, and `predict_random` follows one random path for every example, which is what the paper does.

    Parameters
    ----------
    n_layers : int, default=100
        L, the number of layers; there are up to L(L+1)/2 learners.
    learner : str, Learner or scikit-learn estimator, default="stump"
        Any weak learner. Only the sign of its answer counts.
    routing : {"exact", "sampled"}, default="exact"
        How training examples reach the nodes: "exact" divides each example among them by the probabilities of its
        turns, "sampled" sends each along one random path.
    max_bins : int, default=255
        The number of bins into which the values of a feature are sorted before trees are grown, from 2 to 255.
    random_state : int, RandomState or None, default=None
        The seed of all random numbers. With the same seed and data the model is the same, bit for bit.
    n_jobs : int or None, default=None
        The number of threads. None takes one, and −1 takes all cores. The fitted model does not depend on it.
    categorical_features : "from_dtype", mask, positions, names or None, default="from_dtype"
        The columns that hold categories, which trees split by subsets. "from_dtype" takes the categorical and text
        columns of a data frame, and None takes none. Learners that are not trees of the engine take no categories.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The labels, sorted.
    program_ : Program
        The learners of the program's nodes, layer by layer.
    history_ : dict of arrays
        An entry for every layer l: ``"edge"``, the mean of 2γ, where both classes are routed correctly with probability
        ½ + γ; ``"error"`` of the random program if this were its last layer; ``"bound"`` on that error, exp(−2 l γ²),
        where γ is the mean over the layers of the smallest γ of each; ``"learners"``, their number.
    n_iter_ : int
        The number of layers.
    n_features_in_ : int
        The number of features, p.
    feature_names_in_ : array of shape (p,)
        The names of the features, if X had names that are all strings.

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
        """Train the program on labelled rows.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The features. NaN and None mean missing.
        y : array of shape (n,)
            The labels, of two classes.
        sample_weight : array of shape (n,) or None, default=None
            The weights of the rows. Only their ratios matter, because weights are divided by their mean.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        with all_or_nothing(self) as draft:
            learner = draft._check_parameters()
            labelling, taken = Labelling(declares=False), Taken(draft.categorical_features, refusal_of(learner))
            checked = check_training(draft, X, y, sample_weight, labelling, draft.max_bins, draft._engine(), taken)
            check_label_types(checked.classes)
            if len(checked.classes) > 2:
                raise ValueError(
                    "Only binary classification is supported. The type of the target is multiclass: y has "
                    f"{len(checked.classes)} classes, MartiBoostClassifier takes 2."
                )
            if not checked.present.all():
                only = few(listed_classes(checked.classes[checked.present]))
                raise ValueError(
                    f"y has examples of one class only ({only}, after leaving out rows of zero or negligible "
                    "sample_weight); MartiBoostClassifier needs two."
                )
            rng = np.random.default_rng(random_numbers(draft.random_state).randint(2**31 - 1))
            with one_blas_thread():
                sampled = draft.routing == "sampled"
                data, _ = in_own_order(checked.data)
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
        random_numbers(self.random_state)
        learner = as_learner(self.learner)
        learner.check()
        return learner

    def class_scores(self, X: Any) -> Array:
        """How likely the random program is to answer with each class, (n, 2); a draw counts half for both.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit. NaN and None mean missing.

        Returns
        -------
        array of shape (n, 2)
            The scores, a column for each class.
        """
        X = self._check_X(X)
        return self.program_.probabilities(X, self._engine())

    def predict_proba(self, X: Any) -> Array:
        """How likely the random program is to answer with each class, (n, 2); a draw counts half for both.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit. NaN and None mean missing.

        Returns
        -------
        array of shape (n, 2)
            The probabilities, a column for each class.
        """
        return self.class_scores(X)

    def predict_log_proba(self, X: Any) -> Array:
        """The logarithms of `predict_proba`; −inf for probabilities that are zero.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit. NaN and None mean missing.

        Returns
        -------
        array of shape (n, 2)
            The logarithms.
        """
        return log_of(self.predict_proba(X))

    def predict_random(self, X: Any, random_state: Any = None) -> AnyArray:
        """The answers of the random program, one path per example; a fair coin decides a draw at the end; (n,).

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit. NaN and None mean missing.
        random_state : int, RandomState or None, default=None
            The seed of the draws.

        Returns
        -------
        array of shape (n,)
            The labels.
        """
        X = self._check_X(X)
        wins = self.program_.walk(X, random_numbers(random_state), self._engine())
        return self.classes_.take(wins.astype(np.intp))

    def _check_X(self, X: Any) -> AnyArray:
        check_is_fitted(self)
        return check_X(self, X)

    def _engine(self) -> Engine:
        return CpuEngine(thread_count(self.n_jobs))

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
