"""The base class of callbacks."""

from __future__ import annotations

from typing import Any

from ..boosting.run import Run


class Callback:
    """The base class of callbacks: it does nothing, and subclasses override the methods that they need.

    Every method gets the run: ``run.round`` is the number of rounds so far, ``run.risk()`` the training risk,
    ``run.evaluations`` what was evaluated, and a callback that sets ``run.stop_reason`` ends the fit.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> class Stop(Callback):
    ...     def after_round(self, run):
    ...         if run.risk() < 0.1:
    ...             run.stop_reason = "the risk is small"
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.SimplexBoostClassifier(n_estimators=100, callbacks=[Stop()], random_state=0).fit(X, y)
    >>> clf.n_iter_ < 100, clf.stop_reason_
    (True, 'the risk is small')
    """

    def check(self, estimator: Any) -> None:
        """At the beginning of ``fit``, before anything is computed: raise if the callback will not work with it."""

    def start(self, run: Run) -> None:
        """Before the first round."""

    def before_round(self, run: Run) -> None:
        """Before every round."""

    def after_round(self, run: Run) -> None:
        """After every round."""

    def finish(self, run: Run) -> None:
        """After the last round."""
