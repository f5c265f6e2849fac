"""The theory of multiclass boosting as a tool (Mukherjee and Schapire, JMLR 2013).

Which weak learners can be boosted, and how is it done best? Boosting is a game: each round the booster hands the weak
learner a cost matrix, the learner answers with a classifier that is cheaper than a baseline. ``conditions`` tells which
promises of that kind a space of classifiers keeps, ``potentials`` what a game of T rounds costs at most, ``strategies``
how to play it, ``walks`` simulates what the potentials mean. `simplexboost.OSBoostClassifier` plays on real data.
"""

from .conditions import (
    CONDITIONS,
    M1,
    MH,
    MR,
    SAMME,
    Condition,
    Diagnosis,
    EdgeOverRandom,
    Minimal,
    Solution,
    Uniform,
    best_margin,
    diagnose,
    game_value,
    is_boostable,
    largest_edge,
    separating_weights,
    uniform_baseline,
    violating_cost_matrix,
    violation,
)
from .potentials import (
    ExponentialLoss,
    ZeroOne,
    best_fixed_potential,
    count_states,
    degree_map,
    fixed_potential,
    game_potential,
    kappa,
    minimal_potential,
    potential_map,
)
from .spaces import EXAMPLES, Space, as_space, example, samme_example, subsets_example, windows_example
from .walks import Walks, simulate_minimal_walks, simulate_walks

__all__ = [
    "CONDITIONS",
    "EXAMPLES",
    "M1",
    "MH",
    "MR",
    "SAMME",
    "Condition",
    "Diagnosis",
    "EdgeOverRandom",
    "ExponentialLoss",
    "Minimal",
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
    "fixed_potential",
    "game_potential",
    "game_value",
    "is_boostable",
    "kappa",
    "largest_edge",
    "minimal_potential",
    "potential_map",
    "samme_example",
    "separating_weights",
    "simulate_minimal_walks",
    "simulate_walks",
    "subsets_example",
    "uniform_baseline",
    "violating_cost_matrix",
    "violation",
    "windows_example",
]
