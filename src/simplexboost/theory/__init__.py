"""Theory of multiclass boosting (Mukherjee and Schapire, JMLR 2013), and the classifiers that follow from it.

It also has MartiBoost for label noise, codes of largest margin capacity, and multiclass support vector machines.
"""

from importlib import import_module
from typing import Any

from .capacity import max_capacity
from .conditions import CONDITIONS, Condition, uniform_baseline
from .diagnosis import Diagnosis, Search, diagnose, search, violation
from .martiboost import MartiBoostClassifier
from .os_boost import ConditionWarning, OSBoostClassifier
from .potentials import (
    ExponentialLoss,
    ZeroOne,
    best_eta,
    best_fixed_potential,
    count_states,
    degree_map,
    kappa,
    potential_map,
)
from .spaces import EXAMPLES, Solution, Space, as_space, example, game_value, solve_condition
from .strategies import (
    ConeGame,
    FixedGame,
    Game,
    MinimalGame,
    Play,
    Walks,
    exponential_costs,
    make_game,
    mm_costs,
    play,
    potential,
    simulate_walks,
)
from .svm import MulticlassSVC

__all__ = [
    "CONDITIONS",
    "EXAMPLES",
    "Condition",
    "ConditionWarning",
    "ConeGame",
    "Diagnosis",
    "ExponentialLoss",
    "FixedGame",
    "Game",
    "MartiBoostClassifier",
    "MinimalGame",
    "MulticlassSVC",
    "OSBoostClassifier",
    "Play",
    "Search",
    "Solution",
    "Space",
    "Walks",
    "ZeroOne",
    "as_space",
    "best_eta",
    "best_fixed_potential",
    "count_states",
    "degree_map",
    "diagnose",
    "example",
    "exponential_costs",
    "game_value",
    "kappa",
    "make_game",
    "max_capacity",
    "mm_costs",
    "play",
    "potential",
    "potential_map",
    "search",
    "simulate_walks",
    "solve_condition",
    "uniform_baseline",
    "violation",
]


def __getattr__(name: str) -> Any:
    if name == "game_plots":
        return import_module(".game_plots", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
