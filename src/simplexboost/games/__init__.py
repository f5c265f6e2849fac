"""The theory of multiclass boosting as a tool (Mukherjee and Schapire, JMLR 2013).

Which weak learners can be boosted, and what is the best way to do it? Boosting is a game: in each round the booster
gives the weak learner a cost matrix, and the learner answers with a classifier that is cheaper than a baseline. What is
asked of the learner is a condition (``conditions``). ``diagnosis`` finds out which conditions a space of classifiers
(``spaces``) meets, by linear programmes (``programmes``); ``oracles`` does the same for a weak learner. ``potentials``
computes what a game of T rounds costs at most, from the ``losses`` of its ``states``; ``minimal`` does so for the
weakest condition that admits boosting. ``strategies`` chooses the costs, ``playing`` plays a game with them, and
``walks`` simulates the random walks behind the potentials. `OSBoostClassifier` plays on real data; what it does so with
is in ``boosting``.
"""

from .boosting import ConditionWarning
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
from .minimal import best_fixed_potential, degree_map, minimal_potential, potential_map
from .oracles import Search, search
from .playing import Play, play
from .potentials import best_eta, fixed_potential, game_potential, kappa
from .programmes import Solution, game_value
from .spaces import EXAMPLES, Space, as_space, example, samme_example, subsets_example, windows_example
from .states import count_states
from .strategies import (
    ConeGame,
    FixedGame,
    Game,
    MinimalGame,
    exponential_costs,
    make_game,
    mm_costs,
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
