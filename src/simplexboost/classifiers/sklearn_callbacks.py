"""Calls the callbacks that scikit-learn itself has since version 1.9, in every round of boosting."""

from __future__ import annotations

from typing import Any

from ..boosting import Callback
from ..parts.optimizers.run import Run


class SklearnCallbacks(Callback):
    """Calls scikit-learn's own callbacks (``set_callbacks``) in every round."""

    def __init__(self, estimator: Any, draft: Any, finish: Any, X: Any, y: Any, sample_weight: Any) -> None:
        self.estimator = estimator  # the one that the user fits; scikit-learn keeps the state of its callbacks there
        self.draft = draft  # the one that is fitted in its place, and knows the columns of X
        self.finish_fit = finish  # returns the fitted attributes so far from a run
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        self.task = {"estimator": estimator, "X": X, "y": y, "metadata": metadata}

    def start(self, run: Run) -> None:
        """Begin the root task of the fit, of which every round is a subtask."""
        self.context = self.estimator._init_callback_context(max_subtasks=run.n_rounds)
        self.context.call_on_fit_task_begin(**self.task)

    def before_round(self, run: Run) -> None:
        """Begin the task of a round."""
        self.round = self.context.subcontext(task_name="round")
        self.round.call_on_fit_task_begin(**self.task)

    def after_round(self, run: Run) -> None:
        """End the task of a round; a callback may ask to stop."""
        stop = self.round.call_on_fit_task_end(**self.task, reconstruction_attributes=lambda: self._attributes(run))
        if stop and run.stop_reason is None:
            run.stop_reason = "a scikit-learn callback asked to stop"

    def finish(self, run: Run) -> None:
        """End the root task."""
        self.context.call_on_fit_task_end(**self.task, reconstruction_attributes=lambda: self._attributes(run))

    def _attributes(self, run: Run) -> dict[str, Any]:
        columns = {name: value for name, value in vars(self.draft).items() if name.endswith("_")}
        return columns | self.finish_fit(run)
