"""Runs boosting rounds and the callbacks around them: history, checkpoints, evaluation and early stopping."""

from .callbacks import Callback, Checkpoint, History, Progress, Sampling
from .evaluation import EarlyStopping, Evaluation

__all__ = ["Callback", "Checkpoint", "EarlyStopping", "Evaluation", "History", "Progress", "Sampling"]
