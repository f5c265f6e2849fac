"""The parts a booster is made of, and how strings become parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..codewords import Codewords, as_codewords
from ..learners import Learner, as_learner
from ..losses import Loss, as_loss
from ..optimizers import Optimizer, as_optimizer
from ..steps import Step, as_step

# How a parameter given as a string becomes a part.
MAKERS: dict[str, Any] = {
    "loss": as_loss,
    "codewords": as_codewords,
    "learner": as_learner,
    "optimizer": as_optimizer,
    "step": as_step,
}


@dataclass(frozen=True)
class Parts:
    """A booster: loss × codewords × weak learner × optimizer and step."""

    loss: Loss
    codewords: Codewords
    learner: Learner
    optimizer: Optimizer
    step: Step

    def check(self) -> None:
        """Raise if a parameter of the codewords, of the learner or of the step is invalid."""
        self.codewords.check()
        self.learner.check()
        self.step.check(self.loss)


def make_parts(loss: Any, codewords: Any, learner: Any, optimizer: Any, step: Any) -> Parts:
    """The parts, each from its name or from an object."""
    return Parts(as_loss(loss), as_codewords(codewords), as_learner(learner), as_optimizer(optimizer), as_step(step))
