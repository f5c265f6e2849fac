"""Predictions of a fitted booster: scores, labels and probabilities, also after every round.

Rows that are in the memory of a GPU are predicted there, and the predictions stay there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._util.arrays import AnyArray, Array, Labels, Mask
from .._util.params import check_number
from .._util.runtime import one_blas_thread, thread_count
from ..boosting.decisions import (
    Decision,
    LabelsOfTheirOwn,
    OneLabel,
    SeveralLabels,
    SeveralTargets,
    all_classes,
    merge_scores,
    merge_sums,
    not_zero,
    of_present,
)
from ..engine import CPU, DeviceTable, Engine, cpu_engine, cuda_engine, has_gpu
from ..model.additive import AdditiveModel
from ..parts.codewords import Hierarchy
from ..parts.losses import BlockLogistic, Loss, for_label_sets
from ..parts.losses.links import log_of, log_softmax
from ..persist import pack_booster, unpack_booster
from ..tables.frames import check_feature_count, check_names
from ..tables.inputs import check_X
from .base_classifier import ONE_CLASS_ONLY, BaseClassifier


def brought(array: Any, engine: Engine) -> Any:
    """An array that may be on the engine's device, in the memory of the host."""
    there = engine.device.adopt(array)
    return array if there is None else engine.device.to_host(there)


def check_rows(estimator: Any, X: Any, engine: Any) -> Any:
    """X (n, p) of the device in the form that kernels take, with the checks of `tables.inputs.check_X`."""
    check_names(estimator, None)
    table = DeviceTable.of(X, engine.device)
    check_feature_count(estimator, table.shape[1])
    return table.there


def probabilities_there(estimator: Any, X: Any, n_rounds: int | None, engine: Any) -> Any:
    """Probabilities (n, K) of rows on the device, on the device; None if they are not computed there."""
    P = engine.device.empty((len(X), len(estimator.classes_)), np.float64)
    there = estimator._is_softmax and estimator._columns_are_classes
    return P if there and estimator._rounds(n_rounds).finish_on_device("probabilities", X, P, engine) else None


def labels_there(estimator: Any, X: Any, n_rounds: int | None, engine: Any) -> Any:
    """The best labels (n,) of rows on the device, on the device if they are numbers; None if not computed there."""
    best = engine.device.empty(len(X), np.int32)
    highest = estimator._problem.several is None and estimator._decision().by_score
    if (
        not highest
        or estimator._merged is not None
        or not estimator._rounds(n_rounds).finish_on_device("winners", X, best, engine)
    ):
        return None
    labels = estimator.classes_[estimator.present_]
    return engine.device.upload(labels)[best] if labels.dtype.kind in "biuf" else labels[engine.device.to_host(best)]


# The number of probabilities computed at a time: to allocate F (n, K) for all rows takes longer than to compute it.
CHUNK = 2**20
FEW = 64  # rows that one thread predicts, however many there are


class AdditiveClassifier(BaseClassifier):
    """A classifier that predicts with an additive model; a subclass fits it."""

    _multilabel: ClassVar[bool] = False  # whether y may be an indicator matrix
    _multitarget: ClassVar[bool] = False  # whether y may hold several class targets, and a label has its own threshold
    _fits_threshold: ClassVar[bool] = False  # whether one threshold for all labels is fitted after boosting
    _all_cores: ClassVar[bool] = False  # whether n_jobs=None means all cores, not one
    n_jobs: int | None
    device: str

    model_: AdditiveModel
    n_iter_: int
    loss_: Loss
    present_: Mask
    class_prior_: Array
    set_scores_: dict[str, Any] | None
    stop_reason_: str | None
    threshold_: Array | None
    class_order_: AnyArray | None  # labels from the lowest to the highest, if they have an order
    hierarchy_: Hierarchy | None
    thresholds_: Array | None

    def predict(self, X: Any, n_rounds: int | None = None, *, init_score: Any = None) -> AnyArray:
        """The class with the highest score, ties to the first; (n,).

        Scores that are products with codewords are tied if they differ by rounding alone, a millionth of the largest.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit. NaN and None mean missing.
        n_rounds : int or None, default=None
            Predict with the first rounds only, 1 .. ``n_iter_``; None takes all.
        init_score : array of shape (n, K), of shape (n,) for two classes, or None, default=None
            Log-odds that the trees' scores are added to, in the same form that ``fit`` takes; a model that was fitted
            with ``init_score`` does not contain them.

        Returns
        -------
        array of shape (n,)
            The labels; an indicator matrix (n, K) if the model was fitted to one, (n, T) for T class targets.
        """
        there = self._there(X, n_rounds, labels_there) if init_score is None else None
        if there is not None:
            return there
        rows, model, decision = self._check_X(X), self._rounds(n_rounds), self._decision()
        if not decision.by_score:
            return self._in_kind(decision.of_probabilities(self._proba(rows, model, self._start(rows, init_score))), X)
        best = None if init_score is not None else self._winners(rows, model)
        if best is not None:
            return self._in_kind(self.classes_[self.present_].take(best), X)
        return self._in_kind(self._best_labels(rows, model, init_score), X)

    def _best_labels(self, X: AnyArray, model: AdditiveModel, init_score: Any) -> AnyArray:
        """The labels of rows that are checked; in blocks, so that there is no array of all rows and classes."""
        decision, step = self._decision(), block_rows(len(model.Y))
        if X.shape[0] <= step or self._problem.several:
            return decision.labels(self._start_and_scores(X, model, init_score))
        start, engine = self._start(X, init_score), self._engine(X.shape[0])
        labels = []
        for begin in range(0, X.shape[0], step):
            rows = slice(begin, begin + step)
            labels.append(decision.labels(self._scores(started(model.predictor(X[rows], engine), start, rows))))
        return np.concatenate(labels)

    def _best(self, U: Array) -> Labels:
        """The numbers of the classes that are predicted for scores (n, K); (n,)."""
        return self._one_label().best(U)

    def _winners(self, X: AnyArray, model: AdditiveModel) -> AnyArray | None:
        """The number among the present classes of every row's best class, (n,); None if they need the scores."""
        if self._problem.several or self._merged is not None or self.device == "cpu":
            return None
        best = np.empty(X.shape[0], dtype=np.int32)
        return best if model.finish_on_device("winners", X, best, self._engine(X.shape[0])) else None

    def predict_proba(self, X: Any, n_rounds: int | None = None, *, init_score: Any = None) -> Array:
        """Probabilities by the loss's link, (n, K); classes without training examples get 0, and only these.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit. NaN and None mean missing.
        n_rounds : int or None, default=None
            Predict with the first rounds only, 1 .. ``n_iter_``; None takes all.
        init_score : array of shape (n, K), of shape (n,) for two classes, or None, default=None
            Log-odds that the trees' scores are added to, in the same form that ``fit`` takes; a model that was fitted
            with ``init_score`` does not contain them.

        Returns
        -------
        array of shape (n, K)
            The probabilities, a column for every class in the order of ``classes_``; of every label on its own if the
            model was fitted to an indicator matrix; a list of such arrays for several class targets.
        """
        there = self._there(X, n_rounds, probabilities_there) if init_score is None else None
        if there is not None:
            return there
        rows = self._check_X(X)
        P = self._proba(rows, self._rounds(n_rounds), self._start(rows, init_score))
        return self._problem.by_target(self._in_kind(P, X))

    def _proba(self, X: AnyArray, model: AdditiveModel, start: AnyArray | None) -> Array:
        """Probabilities (n, K) of rows that are checked, by a model that starts from F (n, d) or from 0."""
        if not self._is_softmax:
            return self._probabilities(started(model.predictor(X, self._engine(X.shape[0])), start))
        P = np.empty((X.shape[0], len(self.classes_)))  # (n, K)
        if start is None and self.device != "cpu" and self.present_.all():
            out = P if self._merged is None else np.empty((X.shape[0], len(model.Y)))
            if model.finish_on_device("probabilities", X, out, self._engine(X.shape[0])):
                return merge_sums(out, self._merged)
        step = max(1024, CHUNK // len(model.Y))
        for begin in range(0, X.shape[0], step):
            rows = slice(begin, begin + step)
            self._softmax(started(model.predictor(X[rows], self._engine(X.shape[0])), start, rows), P[rows])
        return P

    def top_k(self, X: Any, k: int, n_rounds: int | None = None, *, init_score: Any = None) -> tuple[AnyArray, Array]:
        """The k most probable labels of every row and their probabilities, (n, k) each, the most probable first.

        Ties go to the class that comes first in ``classes_``. Rows are predicted in blocks, so that there is never an
        array of rows × classes.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit. NaN and None mean missing.
        k : int
            How many labels, from 1 to the number of classes.
        n_rounds : int or None, default=None
            Predict with the first rounds only, 1 .. ``n_iter_``; None takes all.
        init_score : array of shape (n, K), of shape (n,) for two classes, or None, default=None
            Log-odds that the trees' scores are added to, in the same form that ``fit`` takes; a model that was fitted
            with ``init_score`` does not contain them.

        Returns
        -------
        labels : array of shape (n, k)
            The labels, the most probable first.
        probabilities : array of shape (n, k)
            Their probabilities.

        Examples
        --------
        >>> import simplexboost as sb
        >>> from sklearn.datasets import load_iris
        >>> iris = load_iris()
        >>> clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0)
        >>> clf = clf.fit(iris.data, iris.target_names[iris.target])
        >>> labels, P = clf.top_k(iris.data[[77]], 2)
        >>> labels.tolist(), bool(P[0, 0] > P[0, 1])
        ([['versicolor', 'virginica']], True)
        """
        X = self._check_X(X)
        self._problem.check_one_class(f"top_k {ONE_CLASS_ONLY}")
        check_number("k", k, int, 1, len(self.classes_))
        best, P = np.empty((X.shape[0], k), dtype=np.intp), np.empty((X.shape[0], k))
        for rows, of_rows in self._blocks(X, self._rounds(n_rounds), init_score):
            best[rows], P[rows] = highest(of_rows, k)
        return self.classes_.take(best), P

    def _blocks(self, X: AnyArray, model: AdditiveModel, init_score: Any) -> Iterator[tuple[slice, Array]]:
        """Some of the checked rows at a time, and their probabilities (n, K)."""
        start, step = self._start(X, init_score), block_rows(len(self.classes_))
        for begin in range(0, X.shape[0], step):
            rows = slice(begin, begin + step)
            yield rows, self._proba(X[rows], model, None if start is None else start[rows])

    def predict_log_proba(self, X: Any, n_rounds: int | None = None, *, init_score: Any = None) -> Array:
        """The logarithms of `predict_proba`, (n, K); −inf for classes without training examples.

        `SimplexBoostClassifier` computes them from the scores, so that they are right even where a probability is too
        small for a number; those of the other boosters are at least −708.4.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit. NaN and None mean missing.
        n_rounds : int or None, default=None
            Predict with the first rounds only, 1 .. ``n_iter_``; None takes all.
        init_score : array of shape (n, K), of shape (n,) for two classes, or None, default=None
            Log-odds that the trees' scores are added to, in the same form that ``fit`` takes; a model that was fitted
            with ``init_score`` does not contain them.

        Returns
        -------
        array of shape (n, K)
            The logarithms.
        """
        check_is_fitted(self)
        if self._problem.several == "targets":
            several: Any = self.class_scores(X, n_rounds, init_score=init_score)
            return [log_softmax(U, 2.0) for U in several]  # type: ignore[return-value]
        if not self._is_softmax:
            return log_of(self._brought(self.predict_proba(X, n_rounds, init_score=init_score)))
        U = self.class_scores(X, n_rounds, init_score=init_score)
        logarithms = np.full(U.shape, -np.inf)  # (n, K)
        logarithms[:, self.present_] = log_softmax(U[:, self.present_], 2.0)
        return logarithms

    def decision_function(self, X: Any, n_rounds: int | None = None, *, init_score: Any = None) -> Array:
        """Class scores U (n, K); with two classes the difference U₁ − U₀ (n,), as scikit-learn expects.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit. NaN and None mean missing.
        n_rounds : int or None, default=None
            Predict with the first rounds only, 1 .. ``n_iter_``; None takes all.
        init_score : array of shape (n, K), of shape (n,) for two classes, or None, default=None
            Log-odds that the trees' scores are added to, in the same form that ``fit`` takes; a model that was fitted
            with ``init_score`` does not contain them.

        Returns
        -------
        array of shape (n, K) or (n,)
            The scores. Those of labels are positive where the label is predicted; several class targets have a list of
            such arrays.
        """
        X = self._check_X(X)
        return self._decision().decision(self._start_and_scores(X, self._rounds(n_rounds), init_score))

    def class_scores(self, X: Any, n_rounds: int | None = None, *, init_score: Any = None) -> Array:
        """Class scores U = ½ F Yᵀ, (n, K).

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit. NaN and None mean missing.
        n_rounds : int or None, default=None
            Predict with the first rounds only, 1 .. ``n_iter_``; None takes all.
        init_score : array of shape (n, K), of shape (n,) for two classes, or None, default=None
            Log-odds that the trees' scores are added to, in the same form that ``fit`` takes; a model that was fitted
            with ``init_score`` does not contain them.

        Returns
        -------
        array of shape (n, K)
            The scores, a column for every class in the order of ``classes_``; a list of such arrays for several class
            targets.
        """
        X = self._check_X(X)
        return self._problem.by_target(self._start_and_scores(X, self._rounds(n_rounds), init_score))

    def _start_and_scores(self, X: AnyArray, model: AdditiveModel, init_score: Any) -> Array:
        """Class scores (n, K) of rows that are checked, by a model that starts from an ``init_score``."""
        F = model.predictor(X, self._engine(X.shape[0]))
        return self._scores(started(F, self._start(X, init_score)))

    def _checked_scores(self, X: AnyArray) -> Array:
        """Class scores (n, K) of rows that are checked."""
        return self._scores(self.model_.predictor(X, self._engine(X.shape[0])))

    def staged_decision_function(self, X: Any, *, init_score: Any = None) -> Iterator[Array]:
        """`decision_function` after every round.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit. NaN and None mean missing.
        init_score : array of shape (n, K), of shape (n,) for two classes, or None, default=None
            Log-odds that the trees' scores are added to, in the same form that ``fit`` takes.

        Returns
        -------
        iterator of arrays
            The predictions after one round, after two, and so on.
        """
        return (self._decision().decision(self._scores(F)) for F in self._staged(X, init_score))

    def staged_predict(self, X: Any, *, init_score: Any = None) -> Iterator[AnyArray]:
        """`predict` after every round.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit. NaN and None mean missing.
        init_score : array of shape (n, K), of shape (n,) for two classes, or None, default=None
            Log-odds that the trees' scores are added to, in the same form that ``fit`` takes.

        Returns
        -------
        iterator of arrays
            The predictions after one round, after two, and so on.
        """
        decision = self._decision()
        if not decision.by_score:
            return (decision.of_probabilities(self._probabilities(F)) for F in self._staged(X, init_score))
        return (decision.labels(self._scores(F)) for F in self._staged(X, init_score))

    def staged_predict_proba(self, X: Any, *, init_score: Any = None) -> Iterator[Array]:
        """`predict_proba` after every round.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit. NaN and None mean missing.
        init_score : array of shape (n, K), of shape (n,) for two classes, or None, default=None
            Log-odds that the trees' scores are added to, in the same form that ``fit`` takes.

        Returns
        -------
        iterator of arrays
            The predictions after one round, after two, and so on.
        """
        return (self._problem.by_target(self._probabilities(F)) for F in self._staged(X, init_score))

    @property
    def feature_importances_(self) -> Array:
        """The gains of the splits on each feature, times the tree's step, divided by their total; (p,)."""
        check_is_fitted(self)
        return self.model_.feature_gains(self.n_features_in_)

    def apply(self, X: Any) -> AnyArray:
        """Return the leaf of every row in every tree, (n, T) int32.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit.

        Returns
        -------
        int array of shape (n, T)
            The numbers of the leaves.
        """
        X, engine, trees = self._check_X(X), self._engine(), self.model_.trees
        leaves = np.empty((X.shape[0], len(trees)), dtype=np.int32)
        for t, tree in enumerate(trees):
            leaves[:, t] = engine.compute.apply(tree, X)
        return leaves

    # ---- from F to predictions --------------------------------------------------------------------------------------

    def _engine(self, n_rows: int | None = None) -> Engine:
        """The engine that does the heavy computations, on so many rows if their number is given.

        A model that was fitted on a GPU is used on the processor where there is none.
        """
        if n_rows is not None and n_rows <= FEW and (self.n_jobs is None or (type(self.n_jobs) is int and self.n_jobs)):
            return CPU  # which works on one thread, as any engine would; to count the cores takes 60 µs
        n_threads = thread_count(self.n_jobs, all_by_default=self._all_cores)
        return cuda_engine(n_threads) if self.device == "cuda" and has_gpu() else cpu_engine(n_threads)

    def _check_X(self, X: Any) -> AnyArray:
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)  # says what is wrong; asked every time it would take 8 µs
        return check_X(self, self._brought(X))

    def _brought(self, array: Any) -> Any:
        """An array that may be on the GPU, in the memory of the host."""
        if self.device == "cpu" or type(array) is np.ndarray:
            return array
        return brought(array, self._engine())

    def _there(self, X: Any, n_rounds: int | None, predict: Callable[..., Any]) -> Any:
        """What a function of `on_device` predicts for rows that are on the GPU, in kind; None for other rows."""
        if self.device == "cpu" or type(X) is np.ndarray or not has_gpu():
            return None
        check_is_fitted(self)
        if self._problem.several:
            return None
        engine: Any = self._engine()
        rows = engine.device.adopt(X)
        if rows is None or self.categories_ is not None:
            return None
        found = predict(self, check_rows(self, rows, engine), n_rounds, engine)
        return None if found is None else engine.device.in_kind(found, X)

    def _in_kind(self, found: AnyArray, X: Any) -> Any:
        """What the processor predicted for rows X: on the GPU if they are there, unless it is text."""
        if self.device == "cpu" or type(X) is np.ndarray or found.dtype.kind not in "biuf":
            return found
        engine: Any = self._engine()
        return found if engine.device.adopt(X) is None else engine.device.in_kind(engine.device.upload(found), X)

    def _rounds(self, n_rounds: int | None) -> AdditiveModel:
        """The first rounds of the model; None means all."""
        if n_rounds is None:
            return self.model_
        check_number("n_rounds", n_rounds, int, 1, self.n_iter_)
        return self.model_.prefix(int(n_rounds))

    def _start(self, X: AnyArray, init_score: Any) -> AnyArray | None:
        """F (n, d) of an ``init_score``; None if there is none, or nothing that it could change."""
        if init_score is None:
            return None
        logits = self._problem.read_start(self._brought(init_score), X.shape[0])
        logits = logits if self._merged is None else logits[:, self._merged]
        return self.model_.code.predictor(logits) if self.present_.sum() > 1 else None

    def _staged(self, X: Any, init_score: Any = None) -> Iterator[AnyArray]:
        """F (n, d) after every round; the same array each time, unless there is an ``init_score``."""
        X = self._check_X(X)
        start = self._start(X, init_score)
        return (started(F, start) for F in self.model_.staged_predictor(X, self._engine()))

    def _scores(self, F: AnyArray) -> Array:
        """Class scores of all classes, (n, K)."""
        if self.model_.code.symmetric:  # needs no matrix product, and so no limit of BLAS threads, which takes 20 µs
            return all_classes(merge_scores(self.model_.scores(F), self._merged), self.present_)
        with one_blas_thread():
            return all_classes(merge_scores(self.model_.scores(F), self._merged), self.present_)

    @property
    def _merged(self) -> Labels | None:
        """Which of the present classes each codeword belongs to (`merge_classes`); None if each has one of its own."""
        return getattr(self, "merged_", None)

    @property
    def _columns_are_classes(self) -> bool:
        """Whether the codewords are those of ``classes_``, one by one."""
        return self._merged is None and bool(self.present_.all())

    def _probabilities(self, F: AnyArray) -> Array:
        """Probabilities of all classes, (n, K)."""
        if not self._is_softmax:
            U = self._scores(F)
            return self._decision().probabilities(U)
        P = np.empty((len(F), len(self.classes_)))  # (n, K)
        self._softmax(F, P)
        return P

    @property
    def _is_softmax(self) -> bool:
        """Whether probabilities are softmax(2U) in single precision, which the engine computes in one pass over F."""
        return self.loss_.likelihood and self.model_.dtype == np.float32 and self._problem.several is None

    def _softmax(self, F: AnyArray, P: Array) -> None:
        """P (n, K) = softmax(2U) over the classes that had training examples, 0 for the others."""
        Y = None if self.model_.code.canonical else self.model_.Y
        out = P if self._columns_are_classes else np.empty((len(F), len(self.model_.Y)))
        self._engine(len(F)).compute.softmax(F, Y, out)
        not_zero(out)
        if out is not P:
            P[:] = of_present(merge_sums(out, self._merged), self.present_)

    def _decision(self) -> Decision:
        """How scores become labels and probabilities."""
        problem = self._problem
        if problem.several is None:
            return self._one_label()
        nothing = np.empty((0, len(self.present_)))  # the label sets, which are for training rows
        if problem.widths is not None:
            return SeveralTargets(BlockLogistic(nothing, problem.widths), problem.classes)
        thresholds: Any = getattr(self, "thresholds_", None)
        if thresholds is not None:
            return LabelsOfTheirOwn(BlockLogistic(nothing), thresholds)
        threshold: Any = self.threshold_
        return SeveralLabels(for_label_sets(self.loss_, nothing), threshold)

    def _one_label(self) -> OneLabel:
        """How scores become one label."""
        order = getattr(self, "class_order_", None)
        exact = self.model_.code.canonical and self._merged is None
        order = None if order is None else np.searchsorted(self.classes_, order)
        return OneLabel(self.loss_, self.classes_, self.present_, exact=exact, order=order)

    # ---- files ------------------------------------------------------------------------------------------------------

    def _pack(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        return pack_booster(self)

    def _unpack(self, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
        unpack_booster(self, header, arrays)

    # ---- scikit-learn -----------------------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = self._multilabel
        tags.target_tags.multi_output = self._multitarget
        return tags


def block_rows(K: int) -> int:
    """The rows that are predicted at a time, where there must be no array of all rows and K classes."""
    return max(64, CHUNK // K)


def started(F: AnyArray, start: AnyArray | None, rows: slice = slice(None)) -> AnyArray:
    """F (n, d) plus some rows of what it starts from."""
    return F if start is None else F + start[rows]


def highest(P: Array, k: int) -> tuple[AnyArray, Array]:
    """The columns of the k largest values of every row and these values, (n, k) each, the largest first."""
    if k < P.shape[1]:  # few candidates to sort: those not below the k-th largest value, in the order of their columns
        cut = np.partition(P, P.shape[1] - k, axis=1)[:, P.shape[1] - k]
        ahead = P > cut[:, None]
        room = k - ahead.sum(axis=1)
        tied = P == cut[:, None]
        chosen = np.nonzero(ahead | (tied & (np.cumsum(tied, axis=1) <= room[:, None])))[1].reshape(len(P), k)
    else:
        chosen = np.repeat(np.arange(k)[None], len(P), axis=0)
    values = np.take_along_axis(P, chosen, axis=1)
    order = np.argsort(-values, axis=1, kind="stable")
    return np.take_along_axis(chosen, order, axis=1), np.take_along_axis(values, order, axis=1)
