"""Callbacks: everything around the loop, so that the loop stays the algorithm.

A callback sees the `Run` at the start, before and after every round, and at the end; it may set ``run.stop_reason``.
"""

from .base import Callback
from .checkpoint import Checkpoint
from .evaluation import EarlyStopping, Evaluation
from .history import History
from .progress import Progress
from .sampling import Sampling

__all__ = ["Callback", "Checkpoint", "EarlyStopping", "Evaluation", "History", "Progress", "Sampling"]
