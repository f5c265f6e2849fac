"""Searches along a line: the root of an increasing slope, a minimum near zero."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

# A step beyond this counts as infinite: the risk still falls there, as far as floating point can tell.
UNBOUNDED = 1e9


def newton_root(slope: Callable[[float], tuple[float, float | None]], tol: float, max_iterations: int = 100) -> float:
    """Where an increasing slope, negative at 0, crosses zero: Newton's method inside a bracket that only shrinks.

    Where Newton's step leaves the bracket, is too short (on a steep exponential e^{ax} it is only 1/a), or needs a
    second derivative that is not there, the bracket is bisected; while it has no upper end, the step is doubled.
    Returns 0 where the slope is not negative at 0.
    """
    low, high, alpha, last = 0.0, np.inf, 0.0, np.inf
    for _ in range(max_iterations):
        first, second = slope(alpha)
        if first < 0:
            low = alpha
        else:
            high = alpha
        if abs(first) < 1e-15 or high == 0.0 or low > UNBOUNDED:
            return alpha
        creeps = abs(first) > 0.5 * last
        proposal = alpha - first / second if second is not None and second > 0 and not creeps else np.nan
        if not low < proposal < high:  # also true where the proposal is NaN
            proposal = 0.5 * (low + high) if np.isfinite(high) else 2 * low + 1.0
        if abs(proposal - alpha) <= tol * proposal:
            return proposal
        alpha, last = proposal, abs(first)
    return low


def nearest_minimum(risk: Callable[[float], float], max_step: float, tol: float = 1e-8) -> float:
    """A local minimum of the risk near 0, or 0 where no small step decreases it; never a higher risk than at 0."""
    start, step = risk(0.0), min(1e-2, max_step)
    while (at_step := risk(step)) >= start:
        step /= 4
        if step < 1e-10:
            return 0.0
    low, high = 0.0, min(2 * step, max_step)
    while high > step and (at_high := risk(high)) < at_step:
        low, step, at_step, high = step, high, at_high, min(2 * high, max_step)
    found = golden_section(risk, low, high, tol)
    return found if risk(found) <= at_step else step  # golden section may miss it where there are several


def golden_section(risk: Callable[[float], float], low: float, high: float, tol: float) -> float:
    """The minimum of a function that falls and then rises between low and high."""
    ratio = (np.sqrt(5.0) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = risk(left), risk(right)
    while high - low > tol * high:
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = risk(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = risk(right)
    return left if at_left <= at_right else right
