"""`OutputCodeClassifier`, which builds a multiclass classifier from binary classifiers."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing, assert_all_finite, get_tags
from sklearn.utils.validation import (
    _num_samples,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    has_fit_parameter,
)

from .._util.arrays import AnyArray, Array, Labels
from .._util.docstrings import described
from .._util.params import check_choice, check_flag, random_generator
from .._util.runtime import one_blas_thread, thread_count
from ..boosting.decisions import all_classes
from ..classifiers import SimplexBoostClassifier
from ..classifiers.base_classifier import BaseClassifier, transaction
from ..parts.codewords import bits_corrected, min_hamming
from ..parts.losses.links import log_of
from ..persist.archive import damaged
from ..persist.saving import check_label_types
from ..tables.inputs import check_columns, check_nothing_is_masked, plain_labels
from ..tables.validation import Labelling, check_labels
from .binary_columns import (
    RESPONSES,
    check_response,
    fit_column,
    jobs_for,
    make_indexable,
    pack_columns,
    unpack_columns,
)
from .coding import DECODINGS, confidence, couple, distances, make_code, softmax_link


@described
@dataclass(eq=False, repr=False)
class OutputCodeClassifier(BaseClassifier):
    """A multiclass classifier of binary classifiers: one-vs-all, one-vs-one and error-correcting output codes.

    A coding matrix M (K, l) of −1, 0 and +1 has a row per class and a binary problem per column: the classes with +1
    against the classes with −1; classes with 0 are left out. The predicted class is the one whose row of M is nearest
    to the scores f_1 … f_l of the l binary classifiers; ties go to the first class. X is passed to the estimators
    unchanged: data frames, sparse matrices and missing values work if the estimator supports them.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Any scikit-learn classifier; a clone is trained for every column, with labels 0 and 1. None is
        ``SimplexBoostClassifier(n_estimators=100)``.
    codewords : str, Codewords or array of shape (K, l), default="one-vs-all"
        'one-vs-all', 'all-pairs', 'exhaustive', 'random-dense', 'random-sparse', 'hadamard', 'bch', 'max-hamming'; a
        codewords object with parameters, such as ``RandomDense(code_dim=30)``; or a coding matrix, a row per class in
        sorted order. For two classes every named code has one column.
    decoding : str, default="logistic"
        The distance of the scores f_j from row k of M, with entries m_kj. 'logistic', 'exponential', 'hinge',
        'squared': the sum of this loss at all m_kj f_j. 'hamming': the number of columns where f_j and m_kj differ in
        sign; m_kj = 0 counts ½. 'votes': minus the number of columns with equal signs. 'euclidean': Σ_j (m_kj − f_j)².
    break_ties : bool, default=False
        Whether 'hamming' and 'votes' give ties to the class with the larger Σ_j m_kj f_j instead of to the first class.
    response : {"auto", "decision_function", "predict_proba", "predict"}, default="auto"
        The estimator's method that gives the scores. 'auto' is the first that the estimator has: for the decodings
        'logistic', 'exponential', 'squared' and 'euclidean' predict_proba before decision_function, for the other
        decodings decision_function before predict_proba, and predict (labels ±1) last.
    probability : {"auto", "softmax", "coupling"}, default="auto"
        How `predict_proba` is computed. 'softmax': a softmax of minus the distances, which always agrees with
        `predict`. 'coupling': the class probabilities that best explain the binary probabilities (for all pairs: Wu,
        Lin and Weng). 'auto' is 'coupling' for ``codewords="all-pairs"``, else 'softmax'.
    classes : sequence of labels or None, default=None
        All classes, if some may be absent from the training data; absent classes get probability zero.
    random_state : int, RandomState or None, default=None
        The seed of random codes. Unless it is None, it also sets the random states of the estimators.
    n_jobs : int or None, default=None
        The number of columns that joblib trains or evaluates at a time. The fitted model does not depend on it.

    Attributes
    ----------
    codewords_ : array of shape (K, l)
        The coding matrix; rows of absent classes are zero.
    columns_ : list of length l
        The columns of the coding matrix with their fitted classifiers.
    estimators_ : list of length l
        The fitted binary classifiers, one per column.
    min_distance_ : float
        The smallest Hamming distance between two rows of the coding matrix, where zeros count ½.
    bits_corrected_ : int
        The number of binary classifiers that may err on a row while Hamming decoding still finds the true class.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=6, random_state=0)
    >>> clf = OutputCodeClassifier(tree, codewords="max-hamming", decoding="hamming", random_state=0)
    >>> clf = clf.fit(X[::2], y[::2])
    >>> clf.codewords_.shape, clf.min_distance_, clf.bits_corrected_
    ((10, 34), 18.0, 8)
    >>> clf.score(X[1::2], y[1::2]) > tree.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) + 0.15
    True
    """

    estimator: Any = None
    codewords: Any = "one-vs-all"
    decoding: str = "logistic"
    _: KW_ONLY
    break_ties: bool = False
    response: str = "auto"
    probability: str = "auto"
    classes: Any = None
    random_state: Any = None
    n_jobs: int | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train a binary classifier for every column of the coding matrix, and return the fitted classifier.

        Parameters
        ----------
        X : table of shape (n, p)
            The features, in any form that the estimator accepts.
        sample_weight : array of shape (n,) or None, default=None
            The sample weights, only for estimators that accept them; rows of zero weight are left out.
        """
        with transaction(self) as draft:
            draft._check_parameters()
            X, c, weight = draft._check_training(X, y, sample_weight)
            draft._fit_columns(X, c, weight)
        return self

    def _check_parameters(self) -> None:
        self._check_choices()
        random_generator(self.random_state)
        thread_count(self.n_jobs)
        estimator = self._estimator()
        if isinstance(estimator, type):
            raise TypeError(f"estimator={estimator.__name__} is a class; pass an instance, {estimator.__name__}().")
        if not hasattr(estimator, "fit") or not hasattr(estimator, "predict") or not is_classifier(estimator):
            raise TypeError(f"estimator={estimator!r} must be a scikit-learn classifier, with fit and predict.")
        check_response(estimator, self.response)

    def _check_choices(self) -> None:
        check_choice("decoding", self.decoding, DECODINGS)
        check_choice("response", self.response, RESPONSES)
        check_choice("probability", self.probability, ("auto", "softmax", "coupling"))
        check_flag("break_ties", self.break_ties)

    def _estimator(self) -> Any:
        return SimplexBoostClassifier(n_estimators=100) if self.estimator is None else self.estimator

    def _check_training(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Labels, Array | None]:
        """Return X, class indices and weights of the rows of positive weight; set ``classes_`` and ``_present``."""
        X = check_columns(self, X, reset=True)
        check_nothing_is_masked("y", y)
        y = column_or_1d(plain_labels(y), warn=True)
        assert_all_finite(y, input_name="y")
        check_consistent_length(X, y)
        if not len(y):
            raise ValueError("X has 0 sample(s); a classifier needs at least one of two classes.")
        if sample_weight is not None and not has_fit_parameter(self._estimator(), "sample_weight"):
            raise ValueError(
                f"sample_weight was given, but {type(self._estimator()).__name__}.fit does not take it; leave the "
                "weights out or choose another estimator."
            )
        X = make_indexable(X)
        self.classes_, c, weight = check_labels(X, y, sample_weight, Labelling(self.classes))
        check_label_types(self.classes_)
        with np.errstate(over="ignore"):
            if not np.isfinite(weight.sum()):
                raise ValueError(f"sample_weight adds up to infinity, up to {weight.max():.3g} each; scale it.")
        if not weight.all():
            rows = np.flatnonzero(weight)
            X, c, weight = _safe_indexing(X, rows), c[rows], weight[rows]
        self._present = np.isin(np.arange(len(self.classes_)), c)
        return X, c, None if sample_weight is None else weight

    def _fit_columns(self, X: Any, c: Labels, weight: Array | None) -> None:
        random = random_generator(self.random_state)
        M = make_code(self.codewords, self._present, np.random.default_rng(random.randint(2**31 - 1)))
        M = M[:, M.any(axis=0)]  # a column of absent classes only has nothing to learn from
        seeds = [None if self.random_state is None else int(random.randint(2**31 - 1)) for _ in range(M.shape[1])]
        estimator = self._estimator()
        self.columns_ = Parallel(n_jobs=jobs_for(self.n_jobs, M.shape[1]))(
            delayed(fit_column)(j, estimator, X, M[c, j], weight, seed) for j, seed in enumerate(seeds)
        )
        self._set_codewords(M)

    def _set_codewords(self, M: Array) -> None:
        self.codewords_ = M
        rows = M[self._present]
        self.min_distance_ = min_hamming(rows) if rows.shape[1] else 0.0
        self.bits_corrected_ = bits_corrected(rows) if rows.shape[1] else 0

    @property
    def estimators_(self) -> list[Any]:
        """The fitted binary classifiers, one per column of the coding matrix."""
        check_is_fitted(self)
        return [column.estimator for column in self.columns_]

    def column_scores(self, X: Any) -> Array:
        """Return the scores (n, l) of the l binary classifiers; a positive score favours the classes with +1."""
        X = self._check_X(X)
        return self._ask(X, "answers", self.response, self.decoding)

    def class_scores(self, X: Any) -> Array:
        # minus the distances; absent classes are far below
        return all_classes(self._present_scores(self.column_scores(X)), self._present)

    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities (n, K), by softmax or coupling; classes without training rows get 0."""
        X = self._check_X(X)
        n, M = _num_samples(X), self.codewords_[self._present]
        P = np.zeros((n, len(self.classes_)))
        couples = isinstance(self.codewords, str) and self.codewords == "all-pairs"
        couples = couples if self.probability == "auto" else self.probability == "coupling"
        if len(M) < 2:
            P[:, self._present] = 1.0
        elif couples:
            P[:, self._present] = couple(self._ask(X, "probabilities", self.response), M)
        else:
            f = self._ask(X, "answers", self.response, self.decoding)
            P[:, self._present] = softmax_link(-self._present_scores(f), M)
        return P

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of `predict_proba`; −inf where a probability is zero."""
        return log_of(self.predict_proba(X))

    def _check_X(self, X: Any) -> Any:
        check_is_fitted(self)
        if hasattr(self, "n_features_in_") and getattr(X, "ndim", 2) != 2:
            raise ValueError(f"Expected 2D array, got {X.ndim}D array instead. Reshape your data to (n, p).")
        return make_indexable(check_columns(self, X, reset=False))

    def _ask(self, X: Any, question: str, *how: str) -> Array:
        """Call the `Column` method named ``question`` for every column; return the results (n, l)."""
        jobs = jobs_for(self.n_jobs, len(self.columns_))
        columns = Parallel(n_jobs=jobs)(delayed(getattr(column, question))(X, *how) for column in self.columns_)
        return np.column_stack(columns) if columns else np.zeros((_num_samples(X), 0))

    def _present_scores(self, f: Array) -> Array:
        """Return minus the distances of scores f (n, l) from the coding-matrix rows of classes with training rows."""
        M = self.codewords_[self._present]
        with one_blas_thread():
            scores = -distances(f, M, self.decoding)
            if self.break_ties and self.decoding in ("hamming", "votes"):
                scores += confidence(f, M)
        return scores

    def _pack(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        headers, arrays = pack_columns(self.columns_)
        more = {"codewords": self.codewords_.astype(np.int8), "present": self._present.astype(np.uint8)}
        return {"columns": headers}, arrays | more

    def _unpack(self, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
        self._check_choices()
        if self.estimator is not None and not hasattr(self.estimator, "fit"):
            raise damaged("invalid estimator")
        columns = unpack_columns(header["columns"], arrays, self.n_features_in_)
        M, present = arrays["codewords"].astype(np.float64), arrays["present"].astype(bool)
        K = len(self.classes_)
        if M.shape != (K, len(columns)) or present.shape != (K,) or not np.isin(M, [-1, 0, 1]).all():
            raise damaged("the codewords do not fit the classes or columns")
        if not present.any():
            raise damaged("no class is present")
        for column in columns:
            column.method(self.response, self.decoding)  # raises where the classifier has no such answer
        self.columns_, self._present = columns, present
        self._set_codewords(M)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._estimator()).input_tags
        return tags
