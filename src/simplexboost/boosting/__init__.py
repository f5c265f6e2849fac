"""Boosting: the loop, and the callbacks that it calls.

Callbacks: everything that goes on around the loop, so that the loop contains the algorithm only.

A callback sees the `Run` at the start, before and after every round, and at the end. It may set ``run.stop_reason`` to
end the fit.

Boosting: the loop, its state, and the model it makes.
"""

from .callbacks import Callback, Checkpoint, Progress, Sampling
from .evaluation import EarlyStopping, Evaluation
from .history import History

__all__ = ["Callback", "Checkpoint", "EarlyStopping", "Evaluation", "History", "Progress", "Sampling"]
