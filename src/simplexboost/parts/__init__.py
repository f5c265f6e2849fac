"""The parts of a booster: losses, codewords, weak learners, optimizers and steps."""

from . import codewords, learners, losses, optimizers, steps

__all__ = ["codewords", "learners", "losses", "optimizers", "steps"]
