"""Pictures, with matplotlib (``pip install 'simplexboost[plot]'``): a module for every subject.

All functions draw on the axes they are given, or on a new figure, and return the axes; nothing is shown or saved.
"""

from . import games

__all__ = ["games"]
