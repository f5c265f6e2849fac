"""What an optimizer is."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from .._parts import Part
from ..boosting.run import Run, Update


class Optimizer(Part):
    """Makes the updates of a round."""

    dtype: ClassVar[type] = np.float64  # of F and of the codewords

    @abstractmethod
    def propose(self, run: Run) -> list[Update]:
        """The updates of the next round; none if the learner found no direction that decreases the risk."""

    def check(self, run: Run) -> None:
        """Raise if the parts do not fit together; called once before boosting."""

    def resume(self, run: Run) -> None:
        """Recover the optimizer's state from the rounds so far; called once when a run continues a model."""
