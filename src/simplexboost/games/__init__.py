"""The theory of multiclass boosting as a tool (Mukherjee and Schapire, JMLR 2013).

Which weak learners can be boosted, and how is it done best? Boosting is a game: each round the booster hands the weak
learner a cost matrix, the learner answers with a classifier that is cheaper than a baseline. ``conditions`` has the
promises of that kind; ``diagnosis`` tells which of them a space of classifiers (``spaces``) keeps, by ``programmes``;
``oracles`` which a weak learner does. ``potentials`` tells what a game of T rounds costs at most, by ``losses`` of its
``states``, ``strategies`` how to play it; ``walks`` simulates what the potentials mean. OSBoostClassifier plays on real
data, with the boosting ``parts`` that are made here.
"""

from .conditions import CONDITIONS, M1, MH, MR, SAMME, Condition, EdgeOverRandom, Minimal, Uniform, uniform_baseline
from .diagnosis import (
    Diagnosis,
    best_margin,
    diagnose,
    is_boostable,
    largest_edge,
    separating_weights,
    violating_cost_matrix,
    violation,
)
from .losses import ExponentialLoss, ZeroOne
from .oracles import Search, search
from .parts import ConditionWarning
from .potentials import (
    best_fixed_potential,
    degree_map,
    fixed_potential,
    game_potential,
    kappa,
    minimal_potential,
    potential_map,
)
from .programmes import Solution, game_value
from .spaces import EXAMPLES, Space, as_space, example, samme_example, subsets_example, windows_example
from .states import count_states
from .strategies import (
    ConeGame,
    FixedGame,
    Game,
    MinimalGame,
    Play,
    exponential_costs,
    make_game,
    mm_costs,
    play,
)
from .walks import Walks, simulate_minimal_walks, simulate_walks

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
    "Minimal",
    "MinimalGame",
    "Play",
    "Search",
    "Solution",
    "Space",
    "Uniform",
    "Walks",
    "ZeroOne",
    "as_space",
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
