"""The base class of callbacks."""

from __future__ import annotations

from ..boosting.run import Run


class Callback:
    """Does nothing; subclasses override what they need."""

    def start(self, run: Run) -> None:
        """Before the first round."""

    def before_round(self, run: Run) -> None:
        """Before every round."""

    def after_round(self, run: Run) -> None:
        """After every round."""

    def finish(self, run: Run) -> None:
        """After the last round."""
