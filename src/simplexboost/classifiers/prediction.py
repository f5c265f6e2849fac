"""Predictions of a fitted booster: scores, labels and probabilities, also after every round.

Predictions for rows in GPU memory are computed there and returned there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._util.arrays import AnyArray, Array, Labels, Mask
from .._util.docstrings import described
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
from ..persist.models import pack_booster, unpack_booster
from ..tables.encoding import check_X
from ..tables.frames import check_feature_count, check_names
from .base_classifier import BaseClassifier


def check_booster(clf: Any) -> AdditiveModel:
    """Return the `AdditiveModel` of a fitted booster; raise for other classifiers, and before the fit."""
    if not isinstance(getattr(clf, "model_", None), AdditiveModel):
        check_is_fitted(clf)
        raise TypeError(f"{type(clf).__name__} has no rounds; pass a fitted booster, such as SimplexBoostClassifier.")
    return clf.model_


def to_host(array: Any, engine: Engine) -> Any:
    """Copy an array from the engine's device to host memory; return an array of another kind unchanged."""
    on_device = engine.device.adopt(array)
    return array if on_device is None else engine.device.to_host(on_device)


def predict_proba_on_device(estimator: Any, X: Any, engine: Any) -> Any:
    """Return class probabilities (n, K) in GPU memory for rows in GPU memory; None if the GPU cannot compute them."""
    P = engine.device.empty((len(X), len(estimator.classes_)), np.float64)
    possible = estimator._is_softmax and estimator._columns_are_classes
    return P if possible and estimator.model_.finish_on_device("probabilities", X, P, engine) else None


def predict_on_device(estimator: Any, X: Any, engine: Any) -> Any:
    """Return labels (n,) for rows in GPU memory, in GPU memory if they are numbers; None if the GPU cannot."""
    best = engine.device.empty(len(X), np.int32)
    highest = not estimator._problem.is_matrix and estimator._decision().by_score
    if (
        not highest
        or estimator._merged is not None
        or not estimator.model_.finish_on_device("winners", X, best, engine)
    ):
        return None
    labels = estimator.classes_[estimator._present]
    return engine.device.upload(labels)[best] if labels.dtype.kind in "biuf" else labels[engine.device.to_host(best)]


# The number of probabilities computed at a time: to allocate F (n, K) for all rows takes longer than to compute it.
CHUNK = 2**20
FEW = 64  # rows that one thread predicts, however many there are


@described
class AdditiveClassifier(BaseClassifier, stored=False):
    """The base class of classifiers that predict with an additive model, a sum of weak learners; subclasses fit it."""

    _multilabel: ClassVar[bool] = False  # whether y may be an indicator matrix
    _multitarget: ClassVar[bool] = False  # whether y may hold several class targets, and a label has its own threshold
    _fits_threshold: ClassVar[bool] = False  # whether one threshold for all labels is fitted after boosting
    _all_cores: ClassVar[bool] = False  # whether n_jobs=None means all cores, not one
    n_jobs: int | None
    device: str

    model_: AdditiveModel
    n_iter_: int
    loss_: Loss
    _present: Mask
    class_prior_: Array
    set_scores_: dict[str, Any] | None
    stop_reason_: str | None
    _merged: Labels | None  # (codewords,) which of the present classes each belongs to, if classes were merged
    class_order_: AnyArray | None  # labels from the lowest to the highest, if they have an order
    hierarchy_: Hierarchy | None
    thresholds_: Array | None

    def predict(self, X: Any, *, init_score: Any = None) -> AnyArray:
        """Predict the class with the highest score for every row; among equal scores, the first class.

        If codewords are not canonical, scores that differ by a millionth of the largest or less count as equal.

        Returns
        -------
        array of shape (n,)
            The labels; an indicator matrix (n, K) if the model was fitted to one, (n, T) for T class targets.
        """
        found = self._on_device(X, predict_on_device) if init_score is None else None
        if found is not None:
            return found
        rows, decision = self._check_X(X), self._decision()
        if not decision.by_score:
            return self._in_kind(decision.of_probabilities(self._proba(rows, self._start(rows, init_score))), X)
        best = None if init_score is not None else self._winners(rows)
        if best is not None:
            return self._in_kind(self.classes_[self._present].take(best), X)
        return self._in_kind(self._labels_by_score(rows, decision, self._start(rows, init_score)), X)

    def predict_proba(self, X: Any, *, init_score: Any = None) -> Array:
        """Predict the probability of every class; classes without training examples get 0, and only these.

        Returns
        -------
        array of shape (n, K)
            The probabilities, a column for every class in the order of ``classes_``; of every label on its own if the
            model was fitted to an indicator matrix; a list of such arrays for several class targets.
        """
        found = self._on_device(X, predict_proba_on_device) if init_score is None else None
        if found is not None:
            return found
        rows = self._check_X(X)
        P = self._proba(rows, self._start(rows, init_score))
        return self._problem.by_target(self._in_kind(P, X))

    def predict_log_proba(self, X: Any, *, init_score: Any = None) -> Array:
        """Compute the logarithms of `predict_proba`; −inf for classes without training examples.

        `SimplexBoostClassifier` computes them from the scores, so that they are right even where a probability is too
        small for a float; those of the other boosters are at least −708.4.

        Returns
        -------
        array of shape (n, K)
            The logarithms.
        """
        check_is_fitted(self)
        if self._problem.widths is not None:
            several: Any = self.class_scores(X, init_score=init_score)
            return [log_softmax(U, 2.0) for U in several]  # type: ignore[return-value]
        if not self._is_softmax:
            return log_of(self._to_host(self.predict_proba(X, init_score=init_score)))
        U = self.class_scores(X, init_score=init_score)
        logarithms = np.full(U.shape, -np.inf)  # (n, K)
        logarithms[:, self._present] = log_softmax(U[:, self._present], 2.0)
        return logarithms

    def decision_function(self, X: Any, *, init_score: Any = None) -> Array:
        """Compute class scores U (n, K); with two classes U₁ − U₀ (n,), as scikit-learn expects.

        Returns
        -------
        array of shape (n, K) or (n,)
            The scores. Those of labels are positive where the label is predicted; several class targets have a list of
            such arrays.
        """
        rows = self._check_X(X)
        return self._decision().decision(self._scores_of_rows(rows, self._start(rows, init_score)))

    def class_scores(self, X: Any, *, init_score: Any = None) -> Array:
        """Compute the score of every class, U = ½ F Yᵀ.

        Returns
        -------
        array of shape (n, K)
            The scores, a column for every class in the order of ``classes_``; a list of such arrays for several class
            targets.
        """
        rows = self._check_X(X)
        return self._problem.by_target(self._scores_of_rows(rows, self._start(rows, init_score)))

    def staged_decision_function(self, X: Any, *, init_score: Any = None) -> Iterator[Array]:
        """Yield the result of `decision_function` after every round, first after one round."""
        return (self._decision().decision(self._scores(F)) for F in self._staged(X, init_score))

    def staged_predict(self, X: Any, *, init_score: Any = None) -> Iterator[AnyArray]:
        """Yield the result of `predict` after every round, first after one round."""
        decision = self._decision()
        if not decision.by_score:
            return (decision.of_probabilities(self._probabilities(F)) for F in self._staged(X, init_score))
        return (decision.labels(self._scores(F)) for F in self._staged(X, init_score))

    def staged_predict_proba(self, X: Any, *, init_score: Any = None) -> Iterator[Array]:
        """Yield the result of `predict_proba` after every round, first after one round."""
        return (self._problem.by_target(self._probabilities(F)) for F in self._staged(X, init_score))

    @property
    def feature_importances_(self) -> Array:
        """The importance of each feature, (p,), with sum 1: the gains of its splits, weighted by the trees' steps."""
        check_is_fitted(self)
        return self.model_.feature_gains(self.n_features_in_)

    def apply(self, X: Any) -> AnyArray:
        """Return the leaf index of every row in every tree, (n, number of trees), int32."""
        X, engine, trees = self._check_X(X), self._engine(), self.model_.trees
        leaves = np.empty((X.shape[0], len(trees)), dtype=np.int32)
        for t, tree in enumerate(trees):
            leaves[:, t] = engine.compute.apply(tree, X)
        return leaves

    # ---- of rows that are checked -----------------------------------------------------------------------------------

    def _best(self, U: Array) -> Labels:
        return self._one_label().best(U)

    def _labels_by_score(self, X: AnyArray, decision: Decision, start: AnyArray | None) -> AnyArray:
        """Return the predictions that follow from the scores, computed in blocks of rows to save memory."""
        step = block_rows(len(self.model_.Y))
        if X.shape[0] <= step or self._problem.is_matrix:
            return decision.labels(self._scores_of_rows(X, start))
        engine, labels = self._engine(X.shape[0]), []
        for begin in range(0, X.shape[0], step):
            rows = slice(begin, begin + step)
            labels.append(decision.labels(self._scores(add_start(self.model_.predictor(X[rows], engine), start, rows))))
        return np.concatenate(labels)

    def _winners(self, X: AnyArray) -> AnyArray | None:
        """Return the index (n,) of each row's best class among trained classes; None if the GPU cannot compute it."""
        if self._problem.is_matrix or self._merged is not None or self.device == "cpu":
            return None
        best = np.empty(X.shape[0], dtype=np.int32)
        return best if self.model_.finish_on_device("winners", X, best, self._engine(X.shape[0])) else None

    def _proba(self, X: AnyArray, start: AnyArray | None) -> Array:
        """Return class probabilities (n, K); ``start`` is the initial predictor F (n, d), or None for zeros."""
        model, engine = self.model_, self._engine(X.shape[0])
        if not self._is_softmax:
            return self._probabilities(add_start(model.predictor(X, engine), start))
        P = np.empty((X.shape[0], len(self.classes_)))  # (n, K)
        if start is None and self.device != "cpu" and self._present.all():
            out = P if self._merged is None else np.empty((X.shape[0], len(model.Y)))
            if model.finish_on_device("probabilities", X, out, engine):
                return merge_sums(out, self._merged)
        step = max(1024, CHUNK // len(model.Y))
        for begin in range(0, X.shape[0], step):
            rows = slice(begin, begin + step)
            self._softmax(add_start(model.predictor(X[rows], engine), start, rows), P[rows])
        return P

    def _proba_blocks(self, X: AnyArray, init_score: Any) -> Iterator[tuple[slice, Array]]:
        """Yield slices of the rows, each with the class probabilities of its rows, (rows in the slice, K)."""
        start, step = self._start(X, init_score), block_rows(len(self.classes_))
        for begin in range(0, X.shape[0], step):
            rows = slice(begin, begin + step)
            yield rows, self._proba(X[rows], None if start is None else start[rows])

    def _scores_of_rows(self, X: AnyArray, start: AnyArray | None = None) -> Array:
        """Return class scores (n, K); ``start`` is the initial predictor F (n, d), or None for zeros."""
        return self._scores(add_start(self.model_.predictor(X, self._engine(X.shape[0])), start))

    # ---- from F to predictions --------------------------------------------------------------------------------------

    def _engine(self, n_rows: int | None = None) -> Engine:
        """Return the engine (CPU or GPU) that computes predictions; one thread if ``n_rows`` is small.

        A model that was fitted on a GPU predicts on the CPU where there is no GPU.
        """
        if n_rows is not None and n_rows <= FEW and (self.n_jobs is None or (type(self.n_jobs) is int and self.n_jobs)):
            return CPU  # which works on one thread, as any engine would; to count the cores takes 60 µs
        n_threads = thread_count(self.n_jobs, all_by_default=self._all_cores)
        return cuda_engine(n_threads) if self.device == "cuda" and has_gpu() else cpu_engine(n_threads)

    def _check_X(self, X: Any) -> AnyArray:
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)  # says what is wrong; asked every time it would take 8 µs
        return check_X(self, self._to_host(X))

    def _to_host(self, array: Any) -> Any:
        if self.device == "cpu" or type(array) is np.ndarray:
            return array
        return to_host(array, self._engine())

    def _on_device(self, X: Any, predict: Callable[..., Any]) -> Any:
        """Return ``predict(self, rows, engine)`` in GPU memory if the rows X are in GPU memory; else None."""
        if self.device == "cpu" or type(X) is np.ndarray or not has_gpu():
            return None
        check_is_fitted(self)
        if self._problem.is_matrix:
            return None
        engine: Any = self._engine()
        rows = engine.device.adopt(X)
        if rows is None or self.categories_ is not None:
            return None
        check_names(self, None)  # this and the next lines are `check_X` on the device
        table = DeviceTable.of(rows, engine.device)
        check_feature_count(self, table.shape[1])
        found = predict(self, table.on_device, engine)
        return None if found is None else engine.device.in_kind(found, X)

    def _in_kind(self, found: AnyArray, X: Any) -> Any:
        """Copy numeric predictions to GPU memory if the rows X are in it; return other predictions unchanged."""
        if self.device == "cpu" or type(X) is np.ndarray or found.dtype.kind not in "biuf":
            return found
        engine: Any = self._engine()
        return found if engine.device.adopt(X) is None else engine.device.in_kind(engine.device.upload(found), X)

    def _start(self, X: AnyArray, init_score: Any) -> AnyArray | None:
        """Return ``init_score`` as the initial predictor F (n, d); None if it is None or only one class is trained."""
        if init_score is None:
            return None
        logits = self._problem.read_start(self._to_host(init_score), X.shape[0])
        logits = logits if self._merged is None else logits[:, self._merged]
        return self.model_.code.predictor(logits) if self._present.sum() > 1 else None

    def _staged(self, X: Any, init_score: Any = None) -> Iterator[AnyArray]:
        """Yield the predictor F (n, d) after every round, always in the same array unless ``init_score`` is given."""
        X = self._check_X(X)
        start = self._start(X, init_score)
        return (add_start(F, start) for F in self.model_.staged_predictor(X, self._engine()))

    def _scores(self, F: AnyArray) -> Array:
        """Return the class scores (n, K) of the predictor F (n, d)."""
        if self.model_.code.symmetric:  # needs no matrix product, and so no limit of BLAS threads, which takes 20 µs
            return all_classes(merge_scores(self.model_.scores(F), self._merged), self._present)
        with one_blas_thread():
            return all_classes(merge_scores(self.model_.scores(F), self._merged), self._present)

    @property
    def _columns_are_classes(self) -> bool:
        """Whether codeword k belongs to class k, because no class is absent and none was merged."""
        return self._merged is None and bool(self._present.all())

    def _probabilities(self, F: AnyArray) -> Array:
        """Return the class probabilities (n, K) of the predictor F (n, d)."""
        if not self._is_softmax:
            U = self._scores(F)
            return self._decision().probabilities(U)
        P = np.empty((len(F), len(self.classes_)))  # (n, K)
        self._softmax(F, P)
        return P

    @property
    def _is_softmax(self) -> bool:
        """Whether probabilities are softmax(2U) in single precision, which the engine computes directly from F."""
        return self.loss_.likelihood and self.model_.dtype == np.float32 and not self._problem.is_matrix

    def _softmax(self, F: AnyArray, P: Array) -> None:
        """Write softmax(2U), computed from the predictor F, to P (n, K); classes without training examples get 0."""
        Y = None if self.model_.code.canonical else self.model_.Y
        out = P if self._columns_are_classes else np.empty((len(F), len(self.model_.Y)))
        self._engine(len(F)).compute.softmax(F, Y, out)
        not_zero(out)
        if out is not P:
            P[:] = of_present(merge_sums(out, self._merged), self._present)

    def _decision(self) -> Decision:
        """Return the object that turns scores into labels and probabilities."""
        problem = self._problem
        if not problem.is_matrix:
            return self._one_label()
        nothing = np.empty((0, len(self._present)))  # the label sets, which are for training rows
        if problem.widths is not None:
            return SeveralTargets(BlockLogistic(nothing, problem.widths), problem.classes)
        thresholds = self.thresholds_
        if thresholds is not None:
            return LabelsOfTheirOwn(BlockLogistic(nothing), thresholds)
        threshold: Any = self.threshold_
        return SeveralLabels(for_label_sets(self.loss_, nothing), threshold)

    def _one_label(self) -> OneLabel:
        """Return the object that turns scores into one label per row."""
        order = self.class_order_
        exact = self.model_.code.canonical and self._merged is None
        order = None if order is None else np.searchsorted(self.classes_, order)
        return OneLabel(self.loss_, self.classes_, self._present, exact=exact, order=order)

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
    """Return how many rows to predict at a time, so that memory is limited even with many classes (K)."""
    return max(64, CHUNK // K)


def add_start(F: AnyArray, start: AnyArray | None, rows: slice = slice(None)) -> AnyArray:
    """Return F (n, d) plus the ``rows`` of the initial predictor ``start``; F itself if ``start`` is None."""
    return F if start is None else F + start[rows]
