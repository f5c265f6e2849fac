"""All experiments: importing this module registers them and their tasks."""

from . import (
    beyond,
    boostexter,
    contest,
    geist,
    geist_explained,
    geist_synthetic,
    jmlr,
    jmlr_explained,
    lecture,
    mukherjee,
    mukherjee_explained,
    mukherjee_games,
    nips2011,
    questions,
    theorems,
    theorems_codes,
    theorems_conditions,
    theorems_games,
    theorems_geist,
    theorems_lecture,
    theorems_losses,
    theorems_mcboost,
    theorems_misprints,
    theory,
    theory_codes,
    theory_geist,
)
from .registry import EXPERIMENTS

__all__ = [
    "beyond",
    "boostexter",
    "contest",
    "geist",
    "geist_explained",
    "geist_synthetic",
    "jmlr",
    "jmlr_explained",
    "lecture",
    "mukherjee",
    "mukherjee_explained",
    "mukherjee_games",
    "nips2011",
    "questions",
    "theorems",
    "theorems_codes",
    "theorems_conditions",
    "theorems_games",
    "theorems_geist",
    "theorems_lecture",
    "theorems_losses",
    "theorems_mcboost",
    "theorems_misprints",
    "theory",
    "theory_codes",
    "theory_geist",
]


def place(name: str) -> int:
    """The place of an experiment's module in the list above."""
    return __all__.index(EXPERIMENTS[name].cells.__module__.rpartition(".")[2])


# A module that was imported alone has registered its experiments before the others; the order is that of the list.
for name in sorted(EXPERIMENTS, key=place):
    EXPERIMENTS[name] = EXPERIMENTS.pop(name)
