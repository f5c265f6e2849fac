"""The theory of multiclass boosting (Mukherjee and Schapire, JMLR 2013), with the classifiers that follow from it.

Beside these are MartiBoost for label noise, codes of largest margin capacity, and multiclass support vector machines.
"""

from importlib import import_module
from typing import Any

from .capacity import max_capacity
from .conditions import CONDITIONS, M1, MH, MR, SAMME, Condition, EdgeOverRandom, Minimal, Uniform, uniform_baseline
from .diagnosis import (
    Diagnosis,
    Search,
    best_margin,
    diagnose,
    is_boostable,
    largest_edge,
    search,
    separating_weights,
    violating_cost_matrix,
    violation,
)
from .martiboost import MartiBoostClassifier
from .os_boost import ConditionWarning, OSBoostClassifier
from .potentials import (
    ExponentialLoss,
    ZeroOne,
    best_eta,
    best_fixed_potential,
    count_states,
    degree_map,
    fixed_potential,
    game_potential,
    kappa,
    minimal_potential,
    potential_map,
)
from .spaces import (
    EXAMPLES,
    Solution,
    Space,
    as_space,
    example,
    game_value,
    samme_example,
    subsets_example,
    windows_example,
)
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
    simulate_minimal_walks,
    simulate_walks,
)
from .svm import MulticlassSVC

__all__ = [
    "CONDITIONS",
    "EXAMPLES",
    "M1",
    "MH",
    "MR",
    "SAMME",
    "Condition",
    "ConditionWarning",
    "ConeGame",
    "Diagnosis",
    "EdgeOverRandom",
    "ExponentialLoss",
    "FixedGame",
    "Game",
    "MartiBoostClassifier",
    "Minimal",
    "MinimalGame",
    "MulticlassSVC",
    "OSBoostClassifier",
    "Play",
    "Search",
    "Solution",
    "Space",
    "Uniform",
    "Walks",
    "ZeroOne",
    "as_space",
    "best_eta",
    "best_fixed_potential",
    "best_margin",
    "count_states",
    "degree_map",
    "diagnose",
    "example",
    "exponential_costs",
    "fixed_potential",
    "game_potential",
    "game_value",
    "is_boostable",
    "kappa",
    "largest_edge",
    "make_game",
    "max_capacity",
    "minimal_potential",
    "mm_costs",
    "play",
    "potential_map",
    "samme_example",
    "search",
    "separating_weights",
    "simulate_minimal_walks",
    "simulate_walks",
    "subsets_example",
    "uniform_baseline",
    "violating_cost_matrix",
    "violation",
    "windows_example",
]


def __getattr__(name: str) -> Any:
    """Import `game_plots` on first use."""
    if name == "game_plots":
        return import_module(".game_plots", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
