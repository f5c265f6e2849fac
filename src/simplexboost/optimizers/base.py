"""What an optimizer is."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from .._parts import Part
from ..boosting.run import Run, Update


class Optimizer(Part):
    """How a round is made."""

    dtype: ClassVar[type] = np.float64  # of F and of the codewords

    @abstractmethod
    def propose(self, run: Run) -> list[Update]:
        """The updates of the next round; none where the learner found no direction that decreases the risk."""

    def check(self, run: Run) -> None:
        """Raise where the parts do not go together; called once before boosting."""

    def resume(self, run: Run) -> None:
        """Find out what the rounds before have settled; called once where a run continues a model."""
