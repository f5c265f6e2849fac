"""The base class of callbacks."""

from __future__ import annotations

from typing import Any

from ..boosting.run import Run


class Callback:
    """Does nothing; subclasses override what they need."""

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
