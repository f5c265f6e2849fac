"""The scikit-learn face of the loop: everything a booster does but choose its parts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ._blas import one_blas_thread
from ._compat import HAS_SKLEARN_CALLBACKS, CallbackSupportMixin, with_callbacks
from ._parts import check_number
from ._typing import AnyArray, Array
from .binning import MAX_BINS
from .boosting import Run, boost
from .callbacks import Callback, EarlyStopping, Evaluation, History, Progress, Sampling
from .categories import check_same_categories, learn_categories
from .codewords import Codewords
from .decisions import Decision, OneLabel, SeveralLabels, all_classes
from .evaluation import check_eval_set, split_off
from .export import Saves
from .learners import Learner
from .losses import (
    Loss,
    MultilabelHamming,
    MultilabelRanking,
    SoftmaxCost,
    SoftmaxCostTable,
    for_label_sets,
    margins,
)
from .optimizers import Optimizer
from .steps import Step
from .validation import TrainingSet, check_training, check_X


@dataclass(eq=False, repr=False, kw_only=True)
class BaseBooster(CallbackSupportMixin, Saves, ClassifierMixin, BaseEstimator):
    """What all boosters share: fitting around the loop, predicting, saving. A subclass says which `parts` it has."""

    n_estimators: Any = 100
    learning_rate: float = 1.0
    subsample: float = 1.0
    colsample: Any = 1.0
    max_bins: Any = MAX_BINS
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 10
    class_weight: Any = None
    classes: Any = None
    warm_start: bool = False
    callbacks: Sequence[Callback] | None = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    categorical_features: ClassVar[Any] = None  # the flagship has it as a parameter
    multilabel: ClassVar[bool] = False  # whether y may be an indicator matrix
    auto_rounds: ClassVar[bool] = False  # whether n_estimators may be "auto"; `n_rounds` then knows what that is

    # ---- fitting ----------------------------------------------------------------------------------------------------

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, eval_set: Any = None, eval_metric: Any = None) -> Self:
        """Boost.

        Parameters
        ----------
        X : array of shape (n, p); NaN means missing
        y : labels, (n,)
        sample_weight : (n,) or None
            Only their ratios matter: weights are divided by their mean.
        eval_set : (X, y), a list of such pairs, or None
            Other rows to follow: their risk and metrics after every round are in ``evals_result_``. With
            ``early_stopping`` the first pair takes the place of held-out training rows.
        eval_metric : callable, a dict of callables by name, or None
            ``metric(y, probabilities) -> float``.

        Returns
        -------
        self
        """
        history = History()
        with all_or_nothing(self):
            self._check_parameters()
            n_threads = effective_n_jobs(self.n_jobs)
            self._check_columns(X)
            data, classes, present = check_training(
                self,
                self._encode(X),
                y,
                sample_weight,
                self.class_weight,
                self.classes,
                self.max_bins,
                n_threads,
                None if self.categories_ is None else self.categories_.mask,
                self.multilabel,
                self._costs(),
                reset=not self._goes_on,
            )
            watched = check_eval_set(self, eval_set, eval_metric, data, classes, present)
            run, optimizer, held_out = self._prepare(data, present, watched)
            self._resume(run, optimizer, classes, present, history)
            finish = partial(self._fitted, classes=classes, present=present, history=history, watched=watched)
            run.snapshot = lambda: self._snapshot(finish(run))
            callbacks = self._callbacks(history, held_out, watched)
            if HAS_SKLEARN_CALLBACKS:
                callbacks.append(SklearnCallbacks(self, finish, X, y, sample_weight))
            with one_blas_thread():
                boost(run, optimizer, self.n_rounds(data.K) if data.K > 1 else 0, callbacks)
            self.__dict__.update(finish(run))
        return self

    def _check_parameters(self) -> None:
        check_number("n_estimators", self.n_estimators, int, 1, auto=self.auto_rounds)
        check_number("learning_rate", self.learning_rate, float, 0.0, open_low=True)
        check_number("subsample", self.subsample, float, 0.0, 1.0, open_low=True)
        check_number("colsample", self.colsample, float, 0.0, 1.0, auto=True, open_low=True)
        check_number("max_bins", self.max_bins, int, 2, MAX_BINS, auto=True)
        check_number("validation_fraction", self.validation_fraction, float, 0.0, 0.9, open_low=True)
        check_number("n_iter_no_change", self.n_iter_no_change, int, 1)
        for callback in self.callbacks or ():
            if not isinstance(callback, Callback):
                raise TypeError(f"callbacks holds {callback!r}; every entry must be a simplexboost Callback.")

    @property
    def _goes_on(self) -> bool:
        """Whether ``fit`` continues a fitted model."""
        return self.warm_start and hasattr(self, "model_")

    def _check_columns(self, X: Any) -> None:
        """Learn the categories of X (n, p); where a fitted model goes on, X must have that model's columns instead."""
        if not self._goes_on:
            self.categories_ = learn_categories(X, self.categorical_features)
            return
        # Its trees know columns by position and categories by number; in other columns they would read nonsense, or
        # past the end of a row.
        validate_data(self, X, reset=False, skip_check_array=True)  # the number of features and their names
        check_same_categories(self.categories_, X, self.categorical_features)

    def _costs(self) -> Any:
        """What each decision costs each example, (n, K), where ``fit`` takes that; else None."""
        return None

    def n_rounds(self, K: int) -> int:
        """Rounds for K classes."""
        return int(self.n_estimators)

    @abstractmethod
    def parts(self) -> dict[str, Any]:
        """The parts as objects: loss, codewords, learner, optimizer, step."""

    def _prepare(
        self, data: TrainingSet, present: Any, watched: list[Evaluation]
    ) -> tuple[Run, Optimizer, TrainingSet | None]:
        """The parts, checked against each other, in a run; and the rows held out for early stopping."""
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        parts = self.parts()
        loss: Loss = parts["loss"]
        learner: Learner = parts["learner"]
        step: Step = parts["step"]
        codewords: Codewords = parts["codewords"]
        learner.check()
        step.check(loss)
        held_out = None
        if data.K == 1:  # all other classes are absent: nothing to tell apart
            return Run(data, loss, np.ones((1, 1)), learner, step), parts["optimizer"], None
        loss.check(data.K)
        if self.early_stopping and not watched:
            data, held_out = split_off(data, self.validation_fraction, rng)
        if data.sets is not None:
            loss = for_label_sets(loss, data.sets.table)
        if data.costs is not None:
            loss, data, held_out = with_costs(loss, data, held_out)
        Y = codewords.for_classes(len(present), present, rng).astype(parts["optimizer"].dtype)  # (K, d)
        run = Run(data, loss, Y, learner, step, float(self.learning_rate), rng)
        parts["optimizer"].check(run)
        return run, parts["optimizer"], held_out

    def _resume(self, run: Run, optimizer: Optimizer, classes: AnyArray, present: Any, history: History) -> None:
        """With ``warm_start``, continue the fitted model."""
        if not self._goes_on:
            return
        same = np.array_equal(classes, self.classes_) and np.array_equal(present, self.present_)
        if not same or not np.array_equal(run.Y, self.model_.Y):
            raise ValueError(
                "warm_start=True needs the classes and codewords of the fitted model; fit a new one instead."
            )
        n_rounds = self.n_rounds(run.data.K)
        if n_rounds < self.n_iter_:
            raise ValueError(
                f"n_estimators={n_rounds} is less than the {self.n_iter_} rounds of the fitted model; with "
                "warm_start=True it must be at least as many."
            )
        run.resume(self.model_)
        optimizer.resume(run)
        run.rng = np.random.default_rng(run.rng.integers(2**63) + self.n_iter_)  # other draws than the first time
        history.continue_from(self.history_)

    def _callbacks(self, history: History, held_out: TrainingSet | None, watched: list[Evaluation]) -> list[Callback]:
        out: list[Callback] = [history, *watched]
        if self.subsample != 1 or self.colsample != 1:
            out.append(Sampling(self.subsample, self.colsample))
        if held_out is not None:
            out.append(EarlyStopping(held_out.X, held_out.c, held_out.weight, patience=self.n_iter_no_change))
        if self.verbose:
            out.append(Progress())
        return out + list(self.callbacks or ())

    def _fitted(
        self, run: Run, *, classes: AnyArray, present: Any, history: History, watched: list[Evaluation]
    ) -> dict[str, Any]:
        """The fitted attributes as of now."""
        evals = [{name: np.array(values) for name, values in e.results.items()} for e in watched]
        return {
            "classes_": classes,
            "model_": run.model,
            "history_": history.arrays(run.round),
            "n_iter_": run.round,
            "stop_reason_": run.stop_reason,
            "present_": present,
            **({"evals_result_": evals} if watched else {}),
            **({"threshold_": threshold(run)} if self.multilabel else {}),
        }

    def _snapshot(self, fitted: dict[str, Any]) -> Self:
        """A fitted copy, as if boosting had stopped here."""
        copy = clone(self)
        copy.__dict__.update(fitted)
        for name in ("n_features_in_", "feature_names_in_", "categories_"):
            if hasattr(self, name):
                setattr(copy, name, getattr(self, name))
        return copy

    # ---- predicting -------------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> AnyArray:
        """The class with the highest score, ties to the first; (n,)."""
        U = self._scores(X)
        return self._decision().labels(U)

    def predict_proba(self, X: Any) -> Array:
        """Probabilities by the loss's link, (n, K); classes without training examples have none."""
        U = self._scores(X)
        return self._decision().probabilities(U)

    def decision_function(self, X: Any) -> Array:
        """Class scores U (n, K); with two classes the difference U₁ − U₀ (n,), as scikit-learn expects."""
        U = self._scores(X)
        return self._decision().decision(U)

    def margins(self, X: Any, y: Any) -> Array:
        """The margin of every example, U_c − max_{k≠c} U_k, (n,): positive where the prediction is right."""
        U = self._scores(X)
        y = np.asarray(y)
        unknown = np.setdiff1d(y, self.classes_)
        if y.shape != (len(U),) or len(unknown):
            raise ValueError(f"y must hold a known label per row of X; it has shape {y.shape}, unknown: {unknown[:5]}.")
        return margins(U, np.searchsorted(self.classes_, y))

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """`decision_function` after every round."""
        return (self._decision().decision(U) for U in self._staged_scores(X))

    def staged_predict(self, X: Any) -> Iterator[AnyArray]:
        """`predict` after every round."""
        return (self._decision().labels(U) for U in self._staged_scores(X))

    def staged_predict_proba(self, X: Any) -> Iterator[Array]:
        """`predict_proba` after every round."""
        return (self._decision().probabilities(U) for U in self._staged_scores(X))

    def _encode(self, X: Any) -> Any:
        """X with numbers for categories."""
        return X if self.categories_ is None else self.categories_.encode(X)

    def _check_X(self, X: Any) -> AnyArray:
        check_is_fitted(self)
        return check_X(self, self._encode(X), reset=False)

    def _scores(self, X: Any) -> Array:
        X = self._check_X(X)
        F = self.model_.predictor(X, effective_n_jobs(self.n_jobs))
        with one_blas_thread():
            return all_classes(self.model_.scores(F), self.present_)

    def _staged_scores(self, X: Any) -> Iterator[Array]:
        X = self._check_X(X)
        for F in self.model_.staged_predictor(X, effective_n_jobs(self.n_jobs)):
            with one_blas_thread():
                U = self.model_.scores(F)
            yield all_classes(U, self.present_)

    def _decision(self) -> Decision:
        """How scores become labels and probabilities."""
        loss, threshold = self.parts()["loss"], getattr(self, "threshold_", None)
        if threshold is None:
            return OneLabel(loss, self.classes_, self.present_)
        return SeveralLabels(for_label_sets(loss, np.empty((0, len(self.classes_)))), threshold)

    @property
    def feature_importances_(self) -> Array:
        """What the splits on each feature gained, times the tree's step, as parts of one; (p,)."""
        check_is_fitted(self)
        return self.model_.feature_gains(self.n_features_in_)

    # ---- scikit-learn -----------------------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.classifier_tags.multi_label = self.multilabel
        return tags


class SklearnCallbacks(Callback):
    """Passes rounds on to scikit-learn's own callbacks (``set_callbacks``), if any are set."""

    def __init__(self, estimator: BaseBooster, finish: Any, X: Any, y: Any, sample_weight: Any) -> None:
        self.estimator, self.finish_fit = estimator, finish
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        self.task = {"estimator": estimator, "X": X, "y": y, "metadata": metadata}

    def start(self, run: Run) -> None:
        """The whole fit is the root task, every round a subtask."""
        self.context = self.estimator._init_callback_context(max_subtasks=run.n_rounds)
        self.context.call_on_fit_task_begin(**self.task)

    def before_round(self, run: Run) -> None:
        """A round begins."""
        self.round = self.context.subcontext(task_name="round")
        self.round.call_on_fit_task_begin(**self.task)

    def after_round(self, run: Run) -> None:
        """A round ends; a callback may ask to stop."""
        stop = self.round.call_on_fit_task_end(**self.task, reconstruction_attributes=lambda: self._attributes(run))
        if stop and run.stop_reason is None:
            run.stop_reason = "a scikit-learn callback asked to stop"

    def finish(self, run: Run) -> None:
        """The fit ends."""
        self.context.call_on_fit_task_end(**self.task, reconstruction_attributes=lambda: self._attributes(run))

    def _attributes(self, run: Run) -> dict[str, Any]:
        return self.finish_fit(run)


def with_costs(
    loss: Loss, data: TrainingSet, held_out: TrainingSet | None
) -> tuple[Loss, TrainingSet, TrainingSet | None]:
    """The loss with the costs of every example behind those of the classes, and the data with their numbers."""
    assert isinstance(loss, SoftmaxCost) and data.costs is not None
    of_classes = 1.0 - np.eye(data.K) if loss.cost is None else np.asarray(loss.cost, dtype=np.float64)
    table = [of_classes, data.costs]
    if held_out is not None and held_out.costs is not None:
        table.append(held_out.costs)
    numbered = replace(data, c=data.K + np.arange(data.n))
    held_out = held_out and replace(held_out, c=data.K + data.n + np.arange(held_out.n))
    return SoftmaxCostTable(np.concatenate(table)), numbered, held_out


def threshold(run: Run) -> Array | None:
    """(w, b) of the threshold ⟨w, U⟩ + b above which a class is a label, where examples may have several; else None."""
    if not isinstance(run.loss, MultilabelHamming | MultilabelRanking):
        return None
    return run.loss.threshold(run.U, run.data.c, run.data.weight)


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """Whatever goes wrong inside, the fitted attributes (``name_``) are left as they were."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        for name in [name for name in vars(estimator) if name.endswith("_")]:
            delattr(estimator, name)
        estimator.__dict__.update(before)
        raise
