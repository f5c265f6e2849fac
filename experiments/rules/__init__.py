"""The rules by which claims are judged, by subject; `words` has what they share.

Importing this package registers all of them in `RULES`.
"""

from . import bounds, games, leads, nearness, noise, shapes  # noqa: F401  register their rules
from .words import GRADES, RULES, Outcome, Sight, bound, needed

__all__ = ["GRADES", "RULES", "Outcome", "Sight", "bound", "needed"]
