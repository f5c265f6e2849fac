"""Product learners h(x, k), of an example and a class, in the modes that AdaBoost.MH, AdaBoost.M2 and sm-boost offer.

==============  =====================================================================
shared          one tree for all classes; every leaf has an answer for each class
separate        a tree for every class, and one step for all of them
index           one stump on [x, k], the features and the number of the class
single-label    a learner that names one class: +1 for it, −1 for the others (MH only)
==============  =====================================================================
"""

from __future__ import annotations

from typing import Any

from .._parts import check_choice
from ..learners import IndexStump, Learner, as_learner
from ..optimizers import AllCoordinates, GradientDescent, Optimizer, SignedDescent
from ..steps import ClosedForm, Step, as_step

MODES: dict[str, type[Optimizer]] = {"shared": GradientDescent, "separate": AllCoordinates, "index": GradientDescent}
SIGNED_MODES = {**MODES, "single-label": SignedDescent}


def product_parts(mode: str, learner: Any, modes: dict[str, type[Optimizer]] = MODES) -> tuple[Learner, Optimizer]:
    """The learner and the optimizer of a mode."""
    check_choice("learner_mode", mode, modes)
    return IndexStump() if mode == "index" else as_learner(learner), modes[mode]()


def closed_form(step: Any) -> Step:
    """The step that "edge" or "exact" names, the two rules of `ClosedForm`; any other step is returned as it is."""
    return ClosedForm(step) if isinstance(step, str) and step in ("edge", "exact") else as_step(step)
