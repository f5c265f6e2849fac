"""Callbacks: everything that goes on around the loop, so that the loop contains the algorithm only.

A callback sees the `Run` at the start, before and after every round, and at the end. It may set ``run.stop_reason`` to
end the fit.
"""

from .base import Callback
from .checkpoint import Checkpoint
from .evaluation import EarlyStopping, Evaluation
from .history import History
from .progress import Progress
from .sampling import Sampling

__all__ = ["Callback", "Checkpoint", "EarlyStopping", "Evaluation", "History", "Progress", "Sampling"]
