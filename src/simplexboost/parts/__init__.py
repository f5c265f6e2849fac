"""Provides the parts of boosters: losses, coding matrices, weak learners, optimizers and step rules."""

from . import codewords, learners, losses, optimizers, steps

__all__ = ["codewords", "learners", "losses", "optimizers", "steps"]
