"""Defines `Booster`, with the parameters, fit and attributes that boosters share, and `BoostingClassifier`.

A subclass of `Booster` chooses the parts: loss, codewords, weak learner, optimizer and step.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from inspect import get_annotations
from typing import Any, ClassVar, Self, dataclass_transform

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .._util.arrays import AnyArray, Array
from .._util.compat import (
    HAS_SKLEARN_CALLBACKS,
    call_mixin,
    has_sklearn_callbacks,
    with_callbacks,
)
from .._util.docstrings import described
from .._util.messages import show_progress, warn_user
from .._util.params import check_choice, check_flag, check_number, check_verbose, random_generator
from .._util.runtime import one_blas_thread
from ..boosting import Callback, Evaluation, History, Progress, Sampling
from ..boosting.decisions import OneLabel
from ..boosting.evaluation import as_early_stopping
from ..boosting.loop import PERFECT, boost
from ..engine import DEVICES, MAX_BINS, DeviceTable, Engine, check_gpu
from ..model.code import is_same_code
from ..parts.learners import Learner
from ..parts.losses import Loss
from ..parts.optimizers import GradientDescent
from ..parts.optimizers.run import Run
from ..persist.saving import check_label_types
from ..tables.inputs import Taken
from ..tables.order import sort_by_content
from ..tables.partitions import Partition
from ..tables.training_set import TrainingSet
from ..tables.validation import Checked, Labelling, check_training
from .auto import loss_on
from .base_classifier import transaction
from .eval_sets import (
    EvalContext,
    eval_attributes,
    evaluate_held_out,
    make_evaluations,
    read_eval_sets,
    split_off,
)
from .metrics import check_metrics
from .plan import Parts, Plan, make_parts
from .prediction import AdditiveClassifier
from .search import check_groups


@described
@dataclass_transform(eq_default=False)  # for type checkers
@dataclass(eq=False, repr=False, kw_only=True)
class Booster(AdditiveClassifier, stored=False):
    """The base class of boosters, with `fit`; a subclass defines the loss, the weak learner and other parts in `parts`.

    Every subclass becomes a dataclass without a decorator; its fields are its parameters. The descriptions below are
    added to its docstring.

    Parameters
    ----------
    n_estimators : int, default=100
        The largest number of rounds. There are fewer if boosting stops by itself or ``early_stopping`` ends it.
    learning_rate : float, default=1.0
        The factor of every step. Smaller values need more rounds and often generalise better.
    subsample : float, default=1.0
        The fraction of the rows that the learner of each round sees. The rows are drawn anew in every round.
    max_features : float or "auto", default=1.0
        The fraction of the features that the learner of each round sees. The features are drawn anew in every round.
        "auto" is 0.8, and 0.4 if there are more than 256 features.
    max_bins : int or "auto", default=255
        The number of bins into which the values of a feature are sorted before trees are grown, from 2 to 255. "auto"
        takes fewer bins if there are few rows and many features.
    early_stopping : bool, int or `boosting.EarlyStopping`, default=False
        Whether to stop when the predictions of rows that are not trained on have not improved for 10 rounds, or for a
        number of rounds given here. These rows are the ``X_val`` of ``fit`` (the first of several), or else a tenth of
        the training rows that is held out. The predictions improve if the risk falls, or if the first ``eval_metric``
        of ``fit`` improves; the model keeps the rounds up to the best one. An `EarlyStopping` says more exactly when
        to stop.
    class_weight : dict, "balanced" or None, default=None
        Weights by label, which multiply ``sample_weight``. "balanced" makes all classes weigh the same. None gives
        every class the weight 1.
    classes : sequence of labels or None, default=None
        All classes, if some of them may be absent from the training data. Absent classes get probability zero. None
        takes the labels that occur in y.
    categorical_features : "from_dtype", mask, positions, names or None, default="from_dtype"
        The columns that hold categories, which trees split by subsets. "from_dtype" takes the categorical and text
        columns of a data frame, and None takes none. Categories that training has not seen are treated like missing
        values. Learners that are not trees of the engine take no categories.
    warm_start : bool, default=False
        Whether ``fit`` continues the fitted model up to ``n_estimators`` rounds. X must then have the same features.
        New categories get the next free category codes, as long as there are any.
    callbacks : sequence of Callback or None, default=None
        Objects that are called around every round, for example ``[Checkpoint("model.sb")]``, which saves the model now
        and then.
    random_state : int, RandomState or None, default=None
        The seed of all random numbers. With the same seed and data the model is the same, bit for bit.
    n_jobs : int or None, default=None
        The number of threads. None takes one, and −1 takes all cores. The fitted model does not depend on it.
    device : {"cpu", "cuda"}, default="cpu"
        Where the model is fitted and predicts. "cuda" computes on an NVIDIA GPU, which needs CuPy
        (``pip install cupy-cuda12x``). The model is an ordinary one, which predicts on the processor where there is no
        GPU.
    verbose : int, default=0
        1 prints progress about once a second, together with what is evaluated.

    Attributes
    ----------
    n_classes_ : int
        The number of classes, K.
    class_prior_ : array of shape (K,) or None
        The share of every class in the weight of the training rows, 0 for classes without any; None if rows have
        several labels.
    plan_ : Plan or None
        What the fit did: the parts as objects, the number of rounds, the learning rate and the temperature, with values
        in place of "auto". None in a model that was loaded from a file.
    choice_ : `simplexboost.classifiers.search.Choice` or None
        The result of the choice by held-out risk: the table of candidates, the winner's curve, the number of rounds and
        the temperature. ``print(clf.choice_)`` shows it. None if nothing was chosen.
    set_scores_ : dict or None
        The scores of the true classes of rows that were not trained on: ``"score"`` is the total probability of all
        classes more probable than the true one, ascending; ``"c"`` is the class index of the true one; there are also
        ``"weight"``, ``"source"`` and ``"n_rounds"``. `decide.predict_sets` makes sets of classes from it. None if
        there were no such rows.
    loss_ : Loss
        The loss that was minimised.
    model_ : AdditiveModel
        The terms of the model, one for each round, and the codewords of the present classes.
    history_ : dict of arrays
        Values for every round: ``"risk"``, ``"edge"``, ``"step"``, ``"coordinate"``, ``"seconds"``, and others that
        only some boosters have.
    train_score_ : array of shape (rounds,)
        Minus the training risk after every round, so that larger values are better.
    evals_result_ : list of dicts of arrays, or None
        A dict for every evaluated set: the values of each metric, by its name, after every round. The evaluated sets
        are those of ``X_val``, or the rows held out for early stopping. This attribute and the next three are None if
        nothing was evaluated.
    best_iteration_ : int
        The best round of the first evaluated set, counted from 1.
    best_score_ : float
        The first ``eval_metric``, or the risk, in the best round.
    validation_score_ : array of shape (rounds,)
        The first ``eval_metric``, or the risk, after every round, with the sign that makes larger values better.
    n_iter_ : int
        The number of rounds in the model.
    stop_reason_ : str or None
        Why boosting stopped before ``n_estimators`` rounds; None if it did not.
    feature_kinds_ : list of str, or None
        What each column holds: "number", "category", "date", "duration", "time" or "missing". None if X was an array of
        numbers.
    categories_ : Categories or None
        The categories of categorical columns, sorted by category code; None if there are none.
    """

    n_estimators: Any = 100
    learning_rate: Any = 1.0
    subsample: float = 1.0
    max_features: Any = 1.0
    max_bins: Any = MAX_BINS
    early_stopping: Any = False
    class_weight: Any = None
    classes: Any = None
    categorical_features: Any = "from_dtype"
    warm_start: bool = False
    callbacks: Sequence[Callback] | None = None
    random_state: Any = None
    n_jobs: int | None = None
    device: str = "cpu"
    verbose: int = 0

    _takes_init_score: ClassVar[bool] = True
    _may_be_auto: ClassVar[tuple[str, ...]] = ()  # parameters that may be "auto", which `_plan` resolves

    if HAS_SKLEARN_CALLBACKS:

        def set_callbacks(self, *callbacks: Any) -> Self:
            """Set scikit-learn's own callbacks; without any, those set before are dropped.

            Parameters
            ----------
            *callbacks : callback instances
                Instances that follow scikit-learn's ``FitCallback`` protocol.
            """
            call_mixin("set_callbacks", self, *callbacks)
            return self

        def _init_callback_context(self, **options: Any) -> Any:
            return call_mixin("_init_callback_context", self, **options)

    def __init_subclass__(cls, kw_only: bool = False, **more: Any) -> None:
        super().__init_subclass__(**more)
        if any(name in vars(cls) for name in get_annotations(cls)):  # parameters with defaults
            dataclass(eq=False, repr=False, kw_only=kw_only)(cls)
        described(cls)

    # ---- what a booster chooses -------------------------------------------------------------------------------------

    @abstractmethod
    def parts(self) -> Parts:
        """Return the loss, codewords, weak learner, optimizer and step as objects; every subclass defines this."""

    def _plan(self, parts: Parts, checked: Checked, groups: Any, seed: int) -> Plan:
        """Return the `Plan` of the fit, which has the parameters with values in place of "auto"."""
        plan = Plan.of(self, parts)
        plan.check(checked.data)
        return plan

    def _deciding(self, loss: Loss, checked: Checked) -> OneLabel:
        """Return the object that turns scores into labels while the model is being fitted."""
        return OneLabel(loss, checked.classes, checked.present)

    def _more_callbacks(self, history: History) -> list[Callback]:
        """Return callbacks that the booster itself needs; boosting calls them before all others."""
        return []

    # ---- fitting ----------------------------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        eval_metric: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        init_score: Any = None,
        init_score_val: Any = None,
    ) -> Self:
        """Boost: fit the model to labelled rows.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The features. NaN and None mean missing.
        y : array of shape (n,)
            The labels.
        sample_weight : array of shape (n,) or None, default=None
            The weights of the rows. Only their ratios matter, because weights are divided by their mean.
        eval_metric : str, scorer, callable, a list of these, a dict of these by name, or None, default=None
            The metrics to compute on ``X_val`` or the held-out rows, beside the risk. The first one decides which round
            is best, and when to stop; without any, the risk does. Names are "risk", "log_loss", "error", "accuracy",
            "auc_ovr", "top_5_accuracy" (with any number), those of XGBoost ("mlogloss", "merror") and LightGBM
            ("multi_logloss", "multi_error"), and those of scikit-learn's scorers. Scorers are maximised. A callable is
            ``metric(c, P) -> float`` with class indices c (n,), positions in ``classes_`` (K for a label that is not
            among them), and probabilities P (n, K). It is minimised unless it has an attribute ``greater_is_better``
            that is true; if it has a parameter ``sample_weight`` and the rows have weights, it gets them.
        X_val : table, tuple of tables or None, default=None
            The features of rows to evaluate after every round; a tuple gives several sets of rows. Their risk and
            metrics are in ``evals_result_``. With ``early_stopping`` the first set is used in place of held-out
            training rows. Rows of classes without training examples count as errors in metrics; the risk leaves them
            out. A pipeline transforms the tables like X if it is ``Pipeline(steps, transform_input=["X_val"])``.
        y_val : array, tuple of arrays or None, default=None
            The labels of the rows of ``X_val``; a tuple if that is one.
        sample_weight_val : array, tuple of arrays or None, default=None
            The weights of the rows of ``X_val``; a tuple if that is one, whose entries may be None.
        init_score : array of shape (n, K), of shape (n,) for two classes, or None, default=None
            Log-odds from which boosting starts, a column for every class in the order of ``classes_``; for two classes
            those of the second one suffice. The model does not contain them: pass those of new rows to `predict_proba`.
        init_score_val : array, tuple of arrays or None, default=None
            The log-odds from which boosting starts for the rows of ``X_val``; a tuple if that is one.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        sets = read_eval_sets(X_val, y_val, sample_weight_val, init_score_val)
        return self._fit(X, y, sample_weight, sets, eval_metric, init_score=init_score)

    @with_callbacks
    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        sets: list[Partition],
        eval_metric: Any,
        costs: Any = None,
        groups: Any = None,
        init_score: Any = None,
    ) -> Self:
        """Fit the model; ``costs`` (n, K) has the cost of each decision for each row, for losses that take costs."""
        history = History()
        with transaction(self) as draft:
            draft._check_parameters()
            for callback in draft.callbacks or ():
                callback.check(draft)
            parts = draft.parts()
            X, to_host = draft._table(X, parts.learner), draft._to_host
            y, sample_weight, costs, groups, init_score = map(to_host, (y, sample_weight, costs, groups, init_score))
            checked = draft._with_start(draft._check_rows(X, y, sample_weight, costs, parts.learner), init_score)
            for of_target in checked.problem.class_lists:
                check_label_types(of_target)
            if groups is not None:
                groups = check_groups(groups, len(checked.used))[checked.used]
            data, groups = sort_by_content(checked.data, groups)
            checked = replace(checked, data=data)
            context = draft._eval_context(checked, parts.loss, eval_metric)
            evaluations = make_evaluations(sets, context)
            seed = draft._draw_seed()
            last = [partial(SklearnCallbacks, self, draft, X=X, y=y, sample_weight=sample_weight)]
            last = last if has_sklearn_callbacks(self) else []
            draft._boost(parts, context, evaluations, groups, seed, history, last)
        return self

    def _boost(
        self,
        parts: Parts,
        context: EvalContext,
        evaluations: list[Evaluation],
        groups: AnyArray | None,
        seed: int,
        history: History,
        last: Sequence[Callable[[Callable[[Run], dict[str, Any]]], Callback]] = (),
    ) -> None:
        """Boost on checked rows, and set the fitted attributes.

        Each function in ``last`` takes a function that turns a run into fitted attributes, and returns a callback.
        """
        checked = context.checked
        with one_blas_thread(), show_progress(self.verbose):
            plan = self._plan(parts, checked, groups, seed)
        with show_progress(self.verbose):
            run, held_out = self._prepare(plan, checked, bool(evaluations), seed)
        if held_out is not None:
            evaluations.append(evaluate_held_out(held_out, run, context))
        run.temperature = checked.problem.by_column(plan.temperature)
        n_rounds = int(plan.n_estimators) if checked.data.K > 1 else 0
        self._resume(run, checked, history, n_rounds)
        finish = partial(
            self._fitted,
            seed=seed,
            plan=plan,
            checked=checked,
            history=history,
            evaluations=evaluations,
            prior=checked.problem.class_prior(checked.data.target_weights()),
        )
        callbacks = self._callbacks(history, evaluations) + [make(finish) for make in last]
        boost_run(run, n_rounds, callbacks, lambda: self._snapshot(finish(run)))
        self.__dict__.update(finish(run))

    def _check_parameters(self) -> None:
        check_number("n_estimators", self.n_estimators, int, 1, auto="n_estimators" in self._may_be_auto)
        auto = "learning_rate" in self._may_be_auto
        check_number("learning_rate", self.learning_rate, float, 0.0, auto=auto, open_low=True)
        check_number("subsample", self.subsample, float, 0.0, 1.0, open_low=True)
        check_number("max_features", self.max_features, float, 0.0, 1.0, auto=True, open_low=True)
        check_number("max_bins", self.max_bins, int, 2, MAX_BINS, auto=True)
        if (stopping := as_early_stopping(self.early_stopping)) is not None:
            stopping.check()
        check_flag("warm_start", self.warm_start)
        check_callbacks(self.callbacks)
        random_generator(self.random_state)
        check_verbose(self.verbose)
        check_choice("device", self.device, DEVICES)

    @property
    def _continues(self) -> bool:
        """Whether ``fit`` continues a fitted model: ``warm_start`` is true, and there is a model."""
        return self.warm_start and hasattr(self, "model_")

    def _draw_seed(self) -> int:
        """Return the seed of a fit; a warm start has the seed of the fitted model, whatever ``random_state`` is.

        With another seed, codewords and choices might differ, and rows that the model was trained on might be held out.
        """
        known: int | None = getattr(self, "_seed", None) if self._continues else None
        return int(random_generator(self.random_state).randint(2**31 - 1)) if known is None else known

    @property
    def _declared(self) -> Any:
        """The labels that the user lists in ``classes``, of which some may be absent from y; None means those in y."""
        return self.classes

    def _check_rows(
        self, X: Any, y: Any, sample_weight: Any, costs: Any, learner: Learner, labels: Any = None
    ) -> Checked:
        """Return the checked training set; in a warm start, or with ``labels``, X must have the columns of the fit.

        The trees know columns by position and categories by code. On other columns they would predict nonsense, or read
        past the end of a row.
        """
        declared = self._declared if labels is None else labels
        return check_training(
            self,
            X,
            y,
            sample_weight,
            Labelling(declared, self.class_weight, self._multilabel, self._multitarget),
            self.max_bins,
            self._fitting_engine(),
            Taken(self.categorical_features, learner.refusal),
            costs,
            reset=labels is None and not self._continues,
        )

    def _table(self, X: Any, learner: Learner) -> Any:
        """Return X; if X is in GPU memory, as a `DeviceTable`, or as a host array for categories and warm starts."""
        if self.device == "cpu" or type(X) is np.ndarray:
            return X
        engine: Any = self._fitting_engine()
        there = engine.device.adopt(X)
        if there is None:
            return X
        if Taken(self.categorical_features, learner.refusal).declared or self._continues:
            return engine.device.to_host(there)
        return DeviceTable.of(there, engine.device)

    def _fitting_engine(self) -> Engine:
        """Return the engine to fit on; raise if ``device="cuda"`` and there is no GPU."""
        if self.device == "cuda":
            check_gpu()
        return self._engine()

    def _with_start(self, checked: Checked, init_score: Any) -> Checked:
        """Return the training set with ``init_score`` added; a warm start needs the one of the first fit again."""
        self._check_start(init_score is not None)
        if init_score is None:
            return checked
        if not self._takes_init_score:
            raise ValueError("init_score does not go with this booster, whose game starts from nothing.")
        scores = checked.problem.read_start(init_score, len(checked.used))
        return replace(checked, data=replace(checked.data, init_score=scores[checked.used]))

    def _check_start(self, started: bool) -> None:
        """Raise if only one of the first fit and its warm start has an init_score; store whether this fit has one."""
        if self._continues and getattr(self, "_started", None) not in (None, started):
            raise ValueError(
                f"warm_start=True continues a model that was fitted {'without' if started else 'with'} init_score; "
                "pass the same scores again, or fit a new model."
            )
        self._started = started

    def _eval_context(self, checked: Checked, loss: Loss, eval_metric: Any) -> EvalContext:
        return EvalContext(self, checked, loss, check_metrics(eval_metric), as_early_stopping(self.early_stopping))

    def _prepare(self, plan: Plan, checked: Checked, has_eval_sets: bool, seed: int) -> tuple[Run, TrainingSet | None]:
        """Return a new boosting run of the plan, and the rows held out for early stopping, or None."""
        rng = np.random.default_rng(seed)
        parts, data, loss, held_out = plan.parts, checked.data, plan.parts.loss, None
        if data.K == 1:  # all other classes are absent, so there is nothing to learn
            return Run(data, loss, np.ones((1, 1)), parts.learner, GradientDescent(), parts.step, rng=rng), None
        if plan.early_stopping is not None and not has_eval_sets:
            data, held_out = split_off(data, plan.early_stopping.validation_fraction, rng)
        loss = loss_on(loss, data)
        if data.costs is not None:  # targets are numbered from K on: first the training rows, then those held out
            costs = [rows.costs for rows in (data, held_out) if rows is not None and rows.costs is not None]
            loss, data = loss.for_costs(np.concatenate(costs)), replace(data, c=data.K + np.arange(data.n))
        run = plan.start(data, loss, checked.present, rng)
        run.memory = parts.optimizer.memory(data, run.learner, run.Y.shape[1], plan.n_rounds)
        return run, held_out

    def _resume(self, run: Run, checked: Checked, history: History, n_rounds: int) -> None:
        """Load the fitted model into the run if this is a warm start; raise if that model cannot be continued."""
        if not self._continues:
            return
        if self._merged is not None:
            raise ValueError("warm_start=True cannot continue a model whose classes were merged; fit a new one.")
        same = same_classes(checked.classes, self.classes_) and np.array_equal(checked.present, self._present)
        if not same or not is_same_code(run.Y, self.model_.Y):
            raise ValueError(
                "warm_start=True needs the classes and codewords of the fitted model; fit a new one instead."
            )
        if n_rounds < self.n_iter_:
            raise ValueError(
                f"n_estimators={n_rounds} is less than the {self.n_iter_} rounds of the fitted model; with "
                "warm_start=True it must be at least as many."
            )
        run.resume(self.model_)
        if self.stop_reason_ == PERFECT and run.is_perfect:
            run.stop_reason = PERFECT
        run.rng.bit_generator.state = self._rng_state  # the draws that a longer fit would have made
        history.continue_from(self.history_)

    def _callbacks(self, history: History, evaluations: list[Evaluation]) -> list[Callback]:
        out: list[Callback] = [*self._more_callbacks(history), history, *evaluations]
        if self.subsample != 1 or self.max_features != 1:
            out.append(Sampling(self.subsample, self.max_features))
        if self.verbose:
            out.append(Progress())
        return out + list(self.callbacks or ())

    def _fitted(
        self,
        run: Run,
        *,
        seed: int,
        plan: Plan,
        checked: Checked,
        history: History,
        evaluations: list[Evaluation],
        prior: Array | None,
    ) -> dict[str, Any]:
        """Return a dict with the fitted attributes of the classifier after the rounds that a run has made so far."""
        temperature = checked.problem.by_column(plan.temperature)
        fitted = {
            "classes_": checked.classes,
            "model_": run.model.at(temperature),
            "loss_": clone(plan.parts.loss, safe=False),
            "history_": history.arrays(run.round),
            "n_iter_": run.round,
            "stop_reason_": run.stop_reason,
            "_present": checked.present,
            "class_prior_": prior,
            "plan_": plan,
            "choice_": plan.choice,
            "set_scores_": plan.sets,
            **dict.fromkeys(("_merged", "class_order_", "hierarchy_", "thresholds_")),
            **eval_attributes(evaluations),
            "_seed": seed,
            "_rng_state": run.rng.bit_generator.state,
            "_problem": checked.problem.for_model(),
        }
        if self._fits_threshold:
            fitted["threshold_"] = run.loss.threshold(run.U, run.data.c, run.data.weight)
        return fitted

    @property
    def train_score_(self) -> Array:
        """Minus the training risk after every round of the model, (number of rounds,); larger values are better."""
        check_is_fitted(self)
        return -self.history_["risk"]

    def _snapshot(self, fitted: dict[str, Any]) -> Self:
        """Return a copy of the estimator with the given fitted attributes, as if boosting had stopped."""
        copy = clone(self)
        copy.__dict__.update(fitted)
        for name in ("n_features_in_", "feature_names_in_", "feature_kinds_", "categories_"):
            if hasattr(self, name):
                setattr(copy, name, getattr(self, name))
        return copy

    def set_params(self, **params: Any) -> Self:
        """Set parameters; a part that a string names becomes an object when one of the part's own parameters is set.

        If a value is refused, the parameters of the classifier itself do not change.
        """
        before = dict(vars(self))
        nested = {key.partition("__")[0] for key in params if "__" in key}
        try:
            for name in nested & set(self._get_param_names()):
                if name in params or hasattr(getattr(self, name), "get_params"):
                    continue
                if name == "early_stopping":
                    self.early_stopping = as_early_stopping(self.early_stopping) or False
                elif name in Parts.__dataclass_fields__:
                    setattr(self, name, getattr(self.parts(), name))
            return super().set_params(**params)
        except (TypeError, ValueError):
            self.__dict__.update(before)
            raise


class BoostingClassifier(Booster):
    """Multiclass boosting from any parts: a loss, codewords, a weak learner, an optimizer and a step.

    The predictor F(x) = Σ_t α_t h_t(x) is a vector in R^d; class k has the score U_k = ½⟨F, y_k⟩, where y_k is its
    codeword, and the highest score wins. Each part is a string or an object with parameters of its own, which a grid
    search can set (``learner__max_depth``).

    Parameters
    ----------
    loss : str or Loss, default="logistic"
        What boosting minimises: 'exponential', 'logistic', 'savage', 'mm', 'one-vs-all', 'own-score', 'softmax-cost',
        or a `Loss`.
    codewords : str, Codewords or array of shape (K, d), default="simplex"
        The vectors of the classes: 'simplex', 'canonical', 'max-min', …, a `Codewords`, or your own matrix with a row
        for every class in the order of ``classes_``.
    learner : str, Learner or scikit-learn estimator, default="vector-tree"
        The weak learner of every round: 'vector-tree', 'class-tree', 'sign-tree', 'info-tree', 'newton-tree', 'stump',
        'linear', …, a `Learner`, or any scikit-learn classifier or regressor that takes sample weights.
    optimizer : str or Optimizer, default="gradient"
        What each weak learner is fitted to, and how its predictions become a step: 'gradient', 'coordinate',
        'all-coordinates', 'newton', 'sketched-newton', …, or an `Optimizer`.
    step : str or Step, default="line-search"
        How far each step goes: 'line-search', 'closed-form', 'fixed', 'error', 'gradient', or a `Step`.

    Examples
    --------
    >>> clf = BoostingClassifier("exponential", "simplex", "stump", "coordinate", n_estimators=20).fit(X, y)
    >>> clf.predict(X[:2]), clf.n_iter_
    (array([0, 0]), 20)
    """

    loss: Any = "logistic"
    codewords: Any = "simplex"
    learner: Any = "vector-tree"
    optimizer: Any = "gradient"
    step: Any = "line-search"

    def parts(self) -> Parts:
        return make_parts(self.loss, self.codewords, self.learner, self.optimizer, self.step)


def boost_run(
    run: Run, n_rounds: int, callbacks: list[Callback], snapshot: Callable[[], Any], rounds: str = "rounds"
) -> None:
    """Boost up to ``n_rounds`` rounds; callbacks can call ``run.snapshot()`` for the estimator fitted so far."""
    run.snapshot = snapshot
    try:
        with one_blas_thread():
            boost(run, n_rounds, callbacks)
    finally:
        run.snapshot = None  # it knows the run: neither would be freed before Python looks for cycles
    if run.diverged:
        warn_user(f"{run.stop_reason} The model keeps its {run.round} {rounds}.", ConvergenceWarning)


def same_classes(a: Any, b: Any) -> bool:
    """Return whether two values of ``classes_`` are equal; lists hold the classes of several targets."""
    if isinstance(a, list) or isinstance(b, list):
        return type(a) is type(b) and len(a) == len(b) and all(map(np.array_equal, a, b))
    return np.array_equal(a, b)


class SklearnCallbacks(Callback):
    """A callback that calls scikit-learn's own callbacks (``set_callbacks``) in every round."""

    def __init__(self, estimator: Any, draft: Any, finish: Any, X: Any, y: Any, sample_weight: Any) -> None:
        self.estimator = estimator  # the one that the user fits; scikit-learn keeps the state of its callbacks there
        self.draft = draft  # the one that is fitted in its place, and knows the columns of X
        self.finish_fit = finish  # returns the fitted attributes so far from a run
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        self.task = {"estimator": estimator, "X": X, "y": y, "metadata": metadata}

    def start(self, run: Run) -> None:
        # The root task of the fit, of which every round is a subtask.
        self.context = self.estimator._init_callback_context(max_subtasks=run.n_rounds)
        self.context.call_on_fit_task_begin(**self.task)

    def before_round(self, run: Run) -> None:
        self.round = self.context.subcontext(task_name="round")
        self.round.call_on_fit_task_begin(**self.task)

    def after_round(self, run: Run) -> None:
        stop = self.round.call_on_fit_task_end(**self.task, reconstruction_attributes=lambda: self._attributes(run))
        if stop and run.stop_reason is None:
            run.stop_reason = "a scikit-learn callback asked to stop"

    def finish(self, run: Run) -> None:
        self.context.call_on_fit_task_end(**self.task, reconstruction_attributes=lambda: self._attributes(run))

    def _attributes(self, run: Run) -> dict[str, Any]:
        columns = {name: value for name, value in vars(self.draft).items() if name.endswith("_")}
        return columns | self.finish_fit(run)


def check_callbacks(callbacks: Any) -> None:
    """Raise unless ``callbacks`` is a list or tuple of callbacks, or None."""
    if isinstance(callbacks, Callback):
        raise TypeError(f"callbacks={callbacks!r} must be a list of Callbacks; pass [{callbacks!r}].")
    if callbacks is not None and not isinstance(callbacks, list | tuple):
        raise TypeError(f"callbacks={callbacks!r} must be a list of Callbacks or None.")
    for callback in callbacks or ():
        if not isinstance(callback, Callback):
            raise TypeError(f"callbacks={callbacks!r} holds {callback!r}; every entry must be a simplexboost Callback.")
