"""Choosing by held-out risk: the number of rounds, one temperature, and which of several candidates.

Every candidate boosts the training rows of every split; the rows held out tell how good it is after each number of
rounds. Candidates that fall behind are dropped early. All decisions depend on risks only, never on clocks, so the same
data and the same seed always give the same choice.
"""

from .choice import Choice
from .race import Candidate, Terms, race
from .splits import Split, check_groups, folds, one_split
from .temperatures import TEMPERATURES

__all__ = [
    "TEMPERATURES",
    "Candidate",
    "Choice",
    "Split",
    "Terms",
    "check_groups",
    "folds",
    "one_split",
    "race",
]
