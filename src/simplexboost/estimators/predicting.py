"""Predictions of a fitted booster: F(X) → class scores, labels, probabilities, also after every round."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._blas import one_blas_thread
from .._parts import check_number
from .._threads import thread_count
from .._typing import AnyArray, Array, Mask
from ..boosting.decisions import Decision, OneLabel, SeveralLabels, all_classes, not_zero, of_present
from ..boosting.model import AdditiveModel
from ..data.init_score import check_init_score
from ..data.inputs import check_X
from ..engine import CpuEngine, Engine
from ..explain import Explains
from ..files import pack_booster, unpack_booster
from ..losses import Loss, for_label_sets
from ..losses.links import log_of, log_softmax
from .face import Face

# The number of probabilities computed at a time: to allocate F (n, K) for all rows takes longer than to compute it.
CHUNK = 2**20


class Predicts(Explains, Face):
    """A classifier that predicts with an additive model; a subclass fits it."""

    multilabel: ClassVar[bool] = False  # whether y may be an indicator matrix
    all_cores: ClassVar[bool] = False  # whether n_jobs=None means all cores, not one
    n_jobs: int | None

    model_: AdditiveModel
    n_iter_: int
    loss_: Loss
    present_: Mask
    threshold_: Array | None

    def predict(self, X: Any, n_rounds: int | None = None, *, init_score: Any = None) -> AnyArray:
        """The class with the highest score, ties to the first; (n,).

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p), with the columns of the fit; NaN and None mean missing
        n_rounds : int or None
            Predict with the first rounds only, 1 .. ``n_iter_``, like the matching stage of `staged_predict`; None
            takes all.
        init_score : (n, K), (n,) for two classes, or None
            Log-odds that the trees' scores are added to, in the same form as for ``fit``; a model that was fitted with
            ``init_score`` does not contain them.
        """
        U = self.class_scores(X, n_rounds, init_score=init_score)
        return self._decision().labels(U)

    def predict_proba(self, X: Any, n_rounds: int | None = None, *, init_score: Any = None) -> Array:
        """Probabilities by the loss's link, (n, K); classes without training examples get 0, and only these.

        Parameters
        ----------
        X, n_rounds, init_score : as in `predict`
        """
        X, model = self._check_X(X), self._rounds(n_rounds)
        start = self._start(X, init_score)
        if not self._is_softmax:
            return self._probabilities(started(model.predictor(X, self._engine()), start))
        P = np.empty((X.shape[0], len(self.classes_)))  # (n, K)
        step = max(1024, CHUNK // len(model.Y))
        for begin in range(0, X.shape[0], step):
            rows = slice(begin, begin + step)
            self._softmax(started(model.predictor(X[rows], self._engine()), start, rows), P[rows])
        return P

    def predict_log_proba(self, X: Any, n_rounds: int | None = None, *, init_score: Any = None) -> Array:
        """The logarithms of `predict_proba`, (n, K); −inf for classes without training examples.

        `SimplexBoostClassifier` computes them from the scores, so that they are right even where a probability is too
        small for a number; those of the other boosters are at least −708.4.

        Parameters
        ----------
        X, n_rounds, init_score : as in `predict`
        """
        check_is_fitted(self)
        if not self._is_softmax:
            return log_of(self.predict_proba(X, n_rounds, init_score=init_score))
        U = self.class_scores(X, n_rounds, init_score=init_score)
        logarithms = np.full(U.shape, -np.inf)  # (n, K)
        logarithms[:, self.present_] = log_softmax(U[:, self.present_], 2.0)
        return logarithms

    def decision_function(self, X: Any, n_rounds: int | None = None, *, init_score: Any = None) -> Array:
        """Class scores U (n, K); with two classes the difference U₁ − U₀ (n,), as scikit-learn expects.

        Parameters
        ----------
        X, n_rounds, init_score : as in `predict`
        """
        U = self.class_scores(X, n_rounds, init_score=init_score)
        return self._decision().decision(U)

    def class_scores(self, X: Any, n_rounds: int | None = None, *, init_score: Any = None) -> Array:
        """Class scores U = ½ F Yᵀ, (n, K).

        Parameters
        ----------
        X, n_rounds, init_score : as in `predict`
        """
        X = self._check_X(X)
        F = self._rounds(n_rounds).predictor(X, self._engine())
        return self._scores(started(F, self._start(X, init_score)))

    def staged_decision_function(self, X: Any, *, init_score: Any = None) -> Iterator[Array]:
        """`decision_function` after every round."""
        return (self._decision().decision(self._scores(F)) for F in self._staged(X, init_score))

    def staged_predict(self, X: Any, *, init_score: Any = None) -> Iterator[AnyArray]:
        """`predict` after every round."""
        return (self._decision().labels(self._scores(F)) for F in self._staged(X, init_score))

    def staged_predict_proba(self, X: Any, *, init_score: Any = None) -> Iterator[Array]:
        """`predict_proba` after every round."""
        return (self._probabilities(F) for F in self._staged(X, init_score))

    @property
    def feature_importances_(self) -> Array:
        """The gains of the splits on each feature, times the tree's step, divided by their total; (p,)."""
        check_is_fitted(self)
        return self.model_.feature_gains(self.n_features_in_)

    # ---- from F to predictions --------------------------------------------------------------------------------------

    def _engine(self) -> Engine:
        """The engine that does the heavy computations."""
        return CpuEngine(thread_count(self.n_jobs, all_by_default=self.all_cores))

    def _check_X(self, X: Any) -> AnyArray:
        check_is_fitted(self)
        return check_X(self, X)

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
        if getattr(self, "threshold_", None) is not None:
            raise ValueError("init_score takes one label per example, not an indicator matrix.")
        logits = check_init_score(init_score, X.shape[0], len(self.classes_))[:, self.present_]
        return self.model_.code.predictor(logits) if self.present_.sum() > 1 else None

    def _staged(self, X: Any, init_score: Any = None) -> Iterator[AnyArray]:
        """F (n, d) after every round; the same array each time, unless there is an ``init_score``."""
        X = self._check_X(X)
        start = self._start(X, init_score)
        return (started(F, start) for F in self.model_.staged_predictor(X, self._engine()))

    def _scores(self, F: AnyArray) -> Array:
        """Class scores of all classes, (n, K)."""
        with one_blas_thread():
            return all_classes(self.model_.scores(F), self.present_)

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
        return self.loss_.likelihood and self.model_.dtype == np.float32

    def _softmax(self, F: AnyArray, P: Array) -> None:
        """P (n, K) = softmax(2U) over the classes that had training examples, 0 for the others."""
        Y = None if self.model_.code.canonical else self.model_.Y
        out = P if self.present_.all() else np.empty((len(F), len(self.model_.Y)))
        self._engine().softmax(F, Y, out)
        not_zero(out)
        if out is not P:
            P[:] = of_present(out, self.present_)

    def _decision(self) -> Decision:
        """How scores become labels and probabilities."""
        threshold = getattr(self, "threshold_", None)
        if threshold is None:
            return OneLabel(self.loss_, self.classes_, self.present_)
        return SeveralLabels(for_label_sets(self.loss_, np.empty((0, len(self.classes_)))), threshold)

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
        tags.classifier_tags.multi_label = self.multilabel
        return tags


def started(F: AnyArray, start: AnyArray | None, rows: slice = slice(None)) -> AnyArray:
    """F (n, d) plus some rows of what it starts from."""
    return F if start is None else F + start[rows]
