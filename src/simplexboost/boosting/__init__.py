"""Runs boosting rounds and the callbacks around them: history, checkpoints, evaluation and early stopping.

The loop contains the algorithm only; everything else is a callback, which sees the `Run` at the start, before and after
every round, and at the end. It may set ``run.stop_reason`` to end the fit.
"""

from .callbacks import Callback, Checkpoint, History, Progress, Sampling
from .evaluation import EarlyStopping, Evaluation

__all__ = ["Callback", "Checkpoint", "EarlyStopping", "Evaluation", "History", "Progress", "Sampling"]
