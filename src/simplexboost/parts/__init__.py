"""Provides the parts from which boosters are made: losses, codewords, weak learners, optimizers and step rules."""

from . import codewords, learners, losses, optimizers, steps

__all__ = ["codewords", "learners", "losses", "optimizers", "steps"]
