"""From the finished cells of the experiments to grids, by paper; `reading` has what they share.

Importing this package registers all grids in `grids.SOURCES`.
"""

from . import games, mcboost, once, softmax  # noqa: F401  register their grids
from .mcboost import BEST
from .reading import READINGS, numbers
from .softmax import moment

__all__ = ["BEST", "READINGS", "moment", "numbers"]
