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
    theorems_mm,
    theory,
    theory_codes,
    theory_geist,
)
from .registry import EXPERIMENTS

# The order of the page's sections within a paper.
MODULES = (
    beyond,
    boostexter,
    contest,
    geist_synthetic,
    geist,
    geist_explained,
    jmlr,
    jmlr_explained,
    lecture,
    mukherjee_games,
    mukherjee,
    mukherjee_explained,
    nips2011,
    questions,
    theorems,
    theorems_conditions,
    theorems_games,
    theorems_mm,
    theorems_mcboost,
    theorems_codes,
    theorems_losses,
    theorems_misprints,
    theorems_geist,
    theorems_lecture,
    theory,
    theory_codes,
    theory_geist,
)


def place(name: str) -> int:
    """The place of an experiment's module in the list above."""
    return [module.__name__ for module in MODULES].index(EXPERIMENTS[name].cells.__module__)


# A module that was imported alone has registered its experiments before the others; the order is that of the list.
for name in sorted(EXPERIMENTS, key=place):
    EXPERIMENTS[name] = EXPERIMENTS.pop(name)
