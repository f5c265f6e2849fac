"""Evaluates the model on rows that are not trained on, after every round, and stops a fit early."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Array, Labels
from .._util.docstrings import described
from .._util.params import Part, check_number
from .._util.runtime import check_memory
from ..engine import Candidates, Engine, local_engine
from ..model.additive import add_terms
from ..parts.losses.objective import mean_loss
from ..parts.optimizers.run import Run
from .callbacks import Callback


class EarlyStopping(Part):
    """The rule for early stopping: when results on rows that are not trained on no longer improve, the fit ends.

    Every booster takes such a rule as its parameter ``early_stopping``, which may also be True for the defaults, or the
    number of rounds to wait.

    Parameters
    ----------
    n_iter_no_change : int, default=10
        The number of rounds without improvement after which the fit ends.
    validation_fraction : float or None, default=0.1
        The fraction of the training rows that is held out if ``fit`` gets no ``X_val``. With None no rows are held out,
        and the training rows are evaluated instead.
    tol : float, default=1e-7
        The smallest improvement that counts: a round must be better than the best round so far by more than this.

    Examples
    --------
    >>> stopping = EarlyStopping(n_iter_no_change=5, validation_fraction=0.2)
    >>> clf = sb.SimplexBoostClassifier(early_stopping=stopping, random_state=0).fit(X, y)
    >>> clf.n_iter_ == clf.best_iteration_ < 800
    True
    """

    n_iter_no_change: int = 10
    validation_fraction: float | None = 0.1
    tol: float = 1e-7

    def check(self) -> None:
        """Raise if a parameter is invalid."""
        check_number("n_iter_no_change", self.n_iter_no_change, int, 1)
        check_number("validation_fraction", self.validation_fraction, float, 0.0, 0.9, open_low=True, none=True)
        check_number("tol", self.tol, float, 0.0)


def as_early_stopping(value: Any) -> EarlyStopping | None:
    """Return the `EarlyStopping` for a parameter: True, a number of rounds, or the rule itself; None for False."""
    if isinstance(value, bool | np.bool_):
        return EarlyStopping() if value else None
    if isinstance(value, EarlyStopping):
        return value
    if not isinstance(value, Integral):
        raise TypeError(f"early_stopping={value!r} must be True, False, a number of rounds or an EarlyStopping.")
    check_number("early_stopping", value, int, 1)
    return EarlyStopping(int(value))


@described
@dataclass(eq=False)
class Evaluation(Callback):
    """A callback that records the risk and metrics on rows that are not trained on, after every round.

    ``fit`` makes one for every set of rows in ``X_val``. Other callbacks find its ``results`` in ``run.evaluations``.
    If the fit continues an earlier model, the results begin with the first round of that model.

    Parameters
    ----------
    c, weight : arrays of shape (n,)
        The class indices and the weights of the rows. Rows with the class index −1, whose class the model does not
        know, are left out of the risk.
    metrics : dict of callables
        Functions of the predictions, by name; none by default.
    results : dict of lists
        A list for "risk" and for every metric, with an entry for every round; it is empty at first.
    seen : callable
        A function that turns class scores U (n, K) into the argument of the metrics; by default the scores themselves.
    watch : str, default="risk"
        The name of the result that determines the best round.
    greater_is_better : bool, default=False
        Whether the best round is the one with the largest result (True) or the smallest (False).
    init_score : array of shape (n, K) or None, default=None
        Initial logits, to which the logits of the model are added; None stands for zeros.
    engine : Engine or None, default=None
        The engine that has these rows; None if all rows are in this process.
    stopping : EarlyStopping or None, default=None
        The rule for early stopping, if any. The model then keeps the rounds up to the best one.
    what : str, default="held-out"
        The name of these rows in the message that says why the fit was stopped.

    Examples
    --------
    >>> held = Evaluation(X[1::2], y[1::2], np.ones(75))
    >>> clf = sb.SimplexBoostClassifier(n_estimators=20, callbacks=[held]).fit(X[::2], y[::2])
    >>> len(held.results["risk"])
    20
    """

    X: AnyArray
    c: Labels
    weight: Array
    metrics: dict[str, Callable[[Any], float]] = field(default_factory=dict)
    results: dict[str, list[float]] = field(default_factory=dict)
    seen: Callable[[Array], Any] = np.asarray
    watch: str = "risk"
    greater_is_better: bool = False
    init_score: Array | None = None
    engine: Engine | None = None
    stopping: EarlyStopping | None = None
    what: str = "held-out"

    best_round: int = field(default=0, init=False)

    def start(self, run: Run) -> None:
        self._F = run.zeros(np.maximum(self.c, 0))  # (n, d)
        if isinstance(self._F, Candidates) and self.metrics:
            what = f"evaluating {', '.join(map(repr, self.metrics))} on {len(self.c)} rows of {len(run.Y)} classes"
            instead = "Evaluate fewer rows, or follow the risk only, which needs no array of rows × classes."
            check_memory(24.0 * len(self.c) * len(run.Y), what, instead)
        self._start = None if self.init_score is None else run.code.predictor(self.init_score)
        self._known = np.flatnonzero(self.c >= 0)
        self._engine = local_engine(run.data.engine) if self.engine is None else self.engine
        self._table: Any = self.X
        self._there: Any = None  # the objective of the rows, if they are on a device
        self._best = -np.inf
        self.results.update({name: [] for name in ("risk", *self.metrics)})
        run.evaluations.append(self.results)
        self._tol = (self.stopping or EarlyStopping()).tol
        for n_rounds in range(1, run.round + 1):
            self._record(run, n_rounds)
        self._stop_if_stale(run)  # if the best round is long ago, a fit that goes on had just been stopped

    def after_round(self, run: Run) -> None:
        self._record(run, run.round)
        self._stop_if_stale(run)

    def _stop_if_stale(self, run: Run) -> None:
        if self.stopping is None or run.stop_reason is not None:
            return
        patience = self.stopping.n_iter_no_change
        if run.round - self.best_round >= patience:
            run.stop_reason = f"early stopping: no better {self.what} {self.watch} in {patience} rounds"

    def finish(self, run: Run) -> None:
        """Copy F to host memory, which frees GPU memory; with early stopping, drop the rounds after the best one."""
        self._F, self._table, self._there = self._engine.device.to_host(self._F), self.X, None
        if self.stopping is not None:
            run.model = run.model.first(self.best_iteration)

    def _record(self, run: Run, n_rounds: int) -> None:
        """Add the terms of one round to F, and append the risk and the metrics of these rows to the results."""
        begin, end = [0, *run.model.round_ends][n_rounds - 1 : n_rounds + 1]
        if self._there is None and self._start is None:
            found = run.objective.on_device(self.X, self.c, self.weight, self._engine)
            if found is not None:  # the engine has a device, where it also evaluates the loss
                self._table, self._there = found
                self._F = self._there.rows.to_device(self._F)
        add_terms(run.model.terms[begin:end], self._table, self._F, self._engine)
        self.results["risk"].append(self.risk(run))
        if self.metrics:
            if isinstance(self._F, Candidates):
                U = run.code.scores(self._F.dense(run.temperature))
            else:
                U = self._engine.rows.gather(run.code.scores(self._predictor(run)))  # (n, K)
            measures = partial(measure_all, self.metrics, self.seen, U, n_rounds)
            for name, value in self._engine.rows.decide(measures).items():
                self.results[name].append(value)
        score = self.sign * self.results[self.watch][-1]
        if score > self._best + self._tol:
            self._best, self.best_round = score, n_rounds

    def risk(self, run: Run) -> float:
        """Return the mean loss of these rows after the last round."""
        if self._there is not None and np.all(run.temperature == 1):
            return self._there.risk(self._F)
        if isinstance(self._F, Candidates):
            losses, weight = self._F.log_losses((run.temperature,))[0], np.where(self.c < 0, 0.0, self.weight)
            values = losses if run.loss.likelihood else run.loss.value_of(np.exp(-losses))
            return self._engine.rows.total(weight * values) / self._engine.rows.total(weight)
        F, c, weight = self._predictor(run), self.c, self.weight
        if len(self._known) < len(c):
            F, c, weight = F[self._known], c[self._known], weight[self._known]
        return mean_loss(run.loss, run.code, F, c, weight, self._engine)

    def _predictor(self, run: Run) -> AnyArray:
        """Return F (n, d) as predictions use it: the temperature multiplies the trees, but not the initial scores."""
        F = self._engine.device.to_host(self._F)
        if not np.all(run.temperature == 1):
            start = 0.0 if run.model.constant is None else run.model.constant * (1.0 - run.temperature)
            F = F * np.asarray(run.temperature, dtype=F.dtype) + np.asarray(start, dtype=F.dtype)
        return F if self._start is None else self._start + F

    @property
    def sign(self) -> int:
        """The factor, 1 or −1, by which the watched result is multiplied so that larger values are better."""
        return 1 if self.greater_is_better else -1

    @property
    def best_iteration(self) -> int:
        """The best round so far, counted from 1; 0 before the first round."""
        return max(self.best_round, min(1, len(self.results["risk"])))

    @property
    def best_score(self) -> float:
        """The watched result after the best round; NaN before the first round."""
        return self.results[self.watch][self.best_iteration - 1] if self.best_iteration else np.nan


def measure_all(
    metrics: dict[str, Callable[[Any], Any]], seen: Callable[[Array], Any], U: Array, n_rounds: int
) -> dict[str, float]:
    """Return a dict from metric name to value; if a metric raises, add its name and the round to the error."""
    predicted, found = seen(U), {}
    for name, metric in metrics.items():
        try:
            value = metric(predicted)
        except Exception as error:
            error.add_note(f"This happened in the metric {name!r}, in round {n_rounds}.")
            raise
        try:
            found[name] = float(value)
        except (TypeError, ValueError) as error:
            raise TypeError(f"the metric {name!r} returned {value!r}; it must return a number.") from error
    return found
