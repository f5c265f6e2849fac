"""The scikit-learn estimator around the boosting loop: everything that boosters share except the choice of parts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from .._blas import one_blas_thread
from .._compat import HAS_SKLEARN_CALLBACKS, CallbackSupportMixin, with_callbacks
from .._parts import check_number
from .._typing import Array
from ..boosting.loop import boost
from ..boosting.run import Run
from ..callbacks import Callback, EarlyStopping, Evaluation, History, Progress, Sampling
from ..data.categories import check_same_categories, learn_categories
from ..data.training_set import TrainingSet
from ..data.validation import Checked, Labelling, check_training
from ..engine import MAX_BINS
from ..losses import Loss, for_label_sets
from .evaluation import Watched, check_eval_set, split_off
from .face import all_or_nothing
from .parts import MAKERS, Parts
from .predicting import Predicts
from .settling import Settled
from .sklearn_callbacks import SklearnCallbacks


@dataclass(eq=False, repr=False, kw_only=True)
class BaseBooster(CallbackSupportMixin, Predicts):
    """What all boosters share: everything around the boosting loop. A subclass says which `parts` it has."""

    n_estimators: Any = 100
    subsample: float = 1.0
    max_features: Any = 1.0
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

    may_be_auto: ClassVar[tuple[str, ...]] = ()  # parameters that may be "auto", which `settle` then resolves

    # ---- what a booster chooses -------------------------------------------------------------------------------------

    @abstractmethod
    def parts(self) -> Parts:
        """The parts as objects."""

    def settle(self, checked: Checked, groups: Any, seed: int) -> Settled:
        """The estimator that is to be fitted: this one, or a copy in which what was left open is settled."""
        return Settled(self)

    def shrinkage(self) -> float:
        """What every step is multiplied by."""
        return 1.0

    def categorical_columns(self) -> Any:
        """Which columns hold categories, in the form that `learn_categories` takes; None if no column does."""
        return None

    def more_callbacks(self, history: History) -> list[Callback]:
        """Callbacks that the booster itself adds; they are called before all others."""
        return []

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
            Other rows to evaluate: their risk and metrics after every round are in ``evals_result_``. With
            ``early_stopping`` the first pair is used in place of held-out training rows.
        eval_metric : callable, a dict of callables by name, or None
            ``metric(y, probabilities) -> float``.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, eval_set, eval_metric)

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        eval_set: Any,
        eval_metric: Any,
        costs: Any = None,
        groups: Any = None,
    ) -> Self:
        """Boost; ``costs`` (n, K) is the cost of each decision for each example, for losses that take such costs."""
        history = History()
        with all_or_nothing(self):
            self._check_parameters()
            checked = self._check_training(X, y, sample_weight, costs)
            seed = check_random_state(self.random_state).randint(2**31 - 1)
            with one_blas_thread():
                settled = self.settle(checked, groups, seed)
            booster, parts = settled.estimator, settled.estimator.parts()
            watched = check_eval_set(eval_set, eval_metric, self._watched(checked, parts.loss))
            run, held_out = booster._prepare(parts, checked, bool(watched), seed)
            n_rounds = int(booster.n_estimators) if checked.data.K > 1 else 0
            self._resume(run, parts, checked, history, n_rounds)
            finish = partial(self._fitted, settled=settled, checked=checked, history=history, watched=watched)
            run.snapshot = lambda: self._snapshot(finish(run))
            callbacks = booster._callbacks(history, held_out, watched)
            if HAS_SKLEARN_CALLBACKS:
                callbacks.append(SklearnCallbacks(self, finish, X, y, sample_weight))
            with one_blas_thread():
                boost(run, parts.optimizer, n_rounds, callbacks)
            run.model = run.model.scaled(settled.temperature)
            self.__dict__.update(finish(run))
        return self

    def _check_parameters(self) -> None:
        check_number("n_estimators", self.n_estimators, int, 1, auto="n_estimators" in self.may_be_auto)
        check_number("subsample", self.subsample, float, 0.0, 1.0, open_low=True)
        check_number("max_features", self.max_features, float, 0.0, 1.0, auto=True, open_low=True)
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

    def _check_training(self, X: Any, y: Any, sample_weight: Any, costs: Any) -> Checked:
        """The training set; if a fitted model is continued, X must have that model's columns."""
        if self._goes_on:
            # The model's trees know columns by position and categories by number: on other columns they would predict
            # nonsense, or read past the end of a row.
            validate_data(self, X, reset=False, skip_check_array=True)  # the number of features and their names
            check_same_categories(self.categories_, X, self.categorical_columns())
        else:
            self.categories_ = learn_categories(X, self.categorical_columns())
        return check_training(
            self,
            self._encode(X),
            y,
            sample_weight,
            Labelling(self.classes, self.class_weight, self.multilabel),
            self.max_bins,
            self._engine(),
            None if self.categories_ is None else self.categories_.mask,
            costs,
            reset=not self._goes_on,
        )

    def _watched(self, checked: Checked, loss: Loss) -> Watched:
        patience = self.n_iter_no_change if self.early_stopping else None
        return Watched(self, self._encode, checked, loss, patience)

    def _prepare(self, parts: Parts, checked: Checked, watched: bool, seed: int) -> tuple[Run, TrainingSet | None]:
        """A run of the parts, after checking that they fit together; and the rows held out for early stopping."""
        rng = np.random.default_rng(seed)
        parts.check()
        data, loss, held_out = checked.data, parts.loss, None
        if data.K == 1:  # all other classes are absent, so there is nothing to learn
            return Run(data, loss, np.ones((1, 1)), parts.learner, parts.step), None
        loss.check(data.K)
        if self.early_stopping and not watched:
            data, held_out = split_off(data, self.validation_fraction, rng)
        if data.sets is not None:
            loss = for_label_sets(loss, data.sets.table)
        if data.costs is not None:
            loss, data, held_out = with_costs(loss, data, held_out)
        present = checked.present
        Y: Array = parts.codewords.for_classes(len(present), present, rng).astype(parts.optimizer.dtype)  # (K, d)
        run = Run(data, loss, Y, parts.learner, parts.step, self.shrinkage(), rng)
        parts.optimizer.check(run)
        return run, held_out

    def _resume(self, run: Run, parts: Parts, checked: Checked, history: History, n_rounds: int) -> None:
        """With ``warm_start``, continue the fitted model."""
        if not self._goes_on:
            return
        same = np.array_equal(checked.classes, self.classes_) and np.array_equal(checked.present, self.present_)
        if not same or not np.array_equal(run.Y, self.model_.Y):
            raise ValueError(
                "warm_start=True needs the classes and codewords of the fitted model; fit a new one instead."
            )
        if n_rounds < self.n_iter_:
            raise ValueError(
                f"n_estimators={n_rounds} is less than the {self.n_iter_} rounds of the fitted model; with "
                "warm_start=True it must be at least as many."
            )
        run.resume(self.model_)
        parts.optimizer.resume(run)
        run.rng = np.random.default_rng(run.rng.integers(2**63) + self.n_iter_)  # other draws than in the first fit
        history.continue_from(self.history_)

    def _callbacks(self, history: History, held_out: TrainingSet | None, watched: list[Evaluation]) -> list[Callback]:
        out: list[Callback] = [*self.more_callbacks(history), history, *watched]
        if self.subsample != 1 or self.max_features != 1:
            out.append(Sampling(self.subsample, self.max_features))
        if held_out is not None:
            patience = self.n_iter_no_change
            out.append(EarlyStopping(held_out.X, held_out.c, held_out.weight, n_iter_no_change=patience))
        if self.verbose:
            out.append(Progress())
        return out + list(self.callbacks or ())

    def _fitted(
        self, run: Run, *, settled: Settled, checked: Checked, history: History, watched: list[Evaluation]
    ) -> dict[str, Any]:
        """The fitted attributes so far; prediction uses only these, so that a later `set_params` does not change it."""
        evals = [{name: np.array(values) for name, values in e.results.items()} for e in watched]
        several = {"threshold_": run.loss.threshold(run.U, run.data.c, run.data.weight)} if self.multilabel else {}
        return {
            "classes_": checked.classes,
            "model_": run.model,
            "loss_": clone(settled.estimator.parts().loss, safe=False),
            "history_": history.arrays(run.round),
            "n_iter_": run.round,
            "stop_reason_": run.stop_reason,
            "present_": checked.present,
            **({"evals_result_": evals} if watched else {}),
            **({"choice_": settled.choice} if settled.choice is not None else {}),
            **several,
        }

    def _snapshot(self, fitted: dict[str, Any]) -> Self:
        """A fitted copy, as if boosting had stopped here."""
        copy = clone(self)
        copy.__dict__.update(fitted)
        for name in ("n_features_in_", "feature_names_in_", "categories_"):
            if hasattr(self, name):
                setattr(copy, name, getattr(self, name))
        return copy

    def set_params(self, **params: Any) -> Self:
        """Set parameters; a part that is named by a string becomes an object when one of its own parameters is set."""
        for name in {key.partition("__")[0] for key in params if "__" in key} & set(MAKERS):
            if name not in params and not hasattr(getattr(self, name), "get_params"):
                setattr(self, name, getattr(self.parts(), name))
        return super().set_params(**params)


@dataclass(eq=False, repr=False, kw_only=True)
class Booster(BaseBooster):
    """A booster with a learning rate."""

    learning_rate: float = 1.0

    def _check_parameters(self) -> None:
        super()._check_parameters()
        auto = "learning_rate" in self.may_be_auto
        check_number("learning_rate", self.learning_rate, float, 0.0, auto=auto, open_low=True)

    def shrinkage(self) -> float:
        """What every step is multiplied by."""
        return float(self.learning_rate)


def with_costs(
    loss: Loss, data: TrainingSet, held_out: TrainingSet | None
) -> tuple[Loss, TrainingSet, TrainingSet | None]:
    """The loss with a target for the costs of every example, numbered from K on, and the rows with these targets."""
    assert data.costs is not None
    table = [data.costs]
    if held_out is not None and held_out.costs is not None:
        table.append(held_out.costs)
    numbered = replace(data, c=data.K + np.arange(data.n))
    held_out = held_out and replace(held_out, c=data.K + data.n + np.arange(held_out.n))
    return loss.for_costs(np.concatenate(table)), numbered, held_out
