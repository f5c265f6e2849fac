"""How many errors remain if a classifier answers only where it is sure: the risk for every part of rows answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._parts import check_number
from .._typing import Array
from .labels import check_predicted


@dataclass(frozen=True, eq=False)
class RiskCurve:
    """The error among the rows that are answered, for every confidence that asks for one; arrays (B,).

    Attributes
    ----------
    confidence : array of shape (B,)
        The smallest probability of the best class with which a row is answered, descending.
    answered : array of shape (B,)
        The part of the rows that have an answer.
    risk : array of shape (B,)
        The part of these answers that are wrong.
    area : float
        The mean risk over all parts of rows answered, one row more at a time: the area under the curve.

    Examples
    --------
    >>> P = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.5, 0.5]])
    >>> curve = risk_curve([0, 1, 1, 0], P, [0, 1])
    >>> curve.answered.tolist(), curve.risk.round(2).tolist()
    ([0.25, 0.5, 0.75, 1.0], [0.0, 0.0, 0.33, 0.25])
    """

    confidence: Array
    answered: Array
    risk: Array
    area: float

    def confidence_for(self, risk: float) -> float:
        """The smallest confidence with which at most this part of the answers were wrong on these rows.

        Parameters
        ----------
        risk : float
            The part of the answers that may be wrong, from 0 to 1.

        Returns
        -------
        float
            The confidence; above 1, so that no row is answered, if no confidence is enough.
        """
        check_number("risk", risk, float, 0.0, 1.0)
        enough = np.flatnonzero(self.risk <= risk)
        return float(self.confidence[enough[-1]]) if len(enough) else float(np.nextafter(1.0, 2.0))


def risk_curve(y_true: Any, P: Any, classes: Any) -> RiskCurve:
    """The risk of answering only where the best class has at least some probability, for all such probabilities.

    Parameters
    ----------
    y_true : array of shape (n,)
        The true labels.
    P : array of shape (n, K)
        The probabilities.
    classes : array of shape (K,)
        The labels of the columns of P.

    Returns
    -------
    RiskCurve
        The curve.

    Examples
    --------
    >>> P = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.5, 0.5]])
    >>> risk_curve([0, 1, 1, 0], P, [0, 1]).confidence_for(0.0)
    0.8
    """
    c, P, _ = check_predicted(y_true, P, classes)
    top, wrong = P.max(axis=1), P.argmax(axis=1) != c
    confidence, place = np.unique(-top, return_inverse=True)
    count, errors = np.bincount(place), np.bincount(place, wrong)
    answered, mistakes = np.cumsum(count), np.cumsum(errors)
    # Rows of the same confidence are answered together: in the area they count as if the errors among them were even.
    steps = np.arange(1, len(c) + 1)
    area = float(np.interp(steps, np.append(0, answered), np.append(0, mistakes)) @ (1 / steps) / len(c))
    return RiskCurve(-confidence, answered / len(c), mistakes / answered, area)
