"""What was chosen, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array
from ..deciding.sets import SetScores


@dataclass(frozen=True, eq=False)
class Choice:
    """What was chosen by held-out risk, and what it was chosen from; ``print`` shows it as a table.

    Attributes
    ----------
    params : dict
        The parameters of the winner that other candidates had different values of.
    n_estimators : int
        The number of rounds.
    temperature : float, or array of shape (B,)
        What the scores are multiplied by; of several labels or class targets those of each.
    risk : float
        The held-out risk (the log-loss, or the mean of another loss) at these rounds and the best temperature.
    candidates : list of dicts
        For each candidate: its ``params``, its best ``risk``, ``n_estimators`` and ``temperature``, and ``n_tried``,
        the number of rounds it was tried for; all in rounds of the learning rate of the fit. On larger tables they were
        compared on a sample of the rows; what all rows then said about the winner is in the other attributes.
    curve : dict of arrays
        Of the winner: "n_estimators", "risk" (at temperature 1), and "calibrated" (at the best temperature for each
        number of rounds).
    n_splits : int
        The number of splits the risk is a mean over.
    n_held : int
        The number of rows that were held out in all of them.
    learning_rate : float
        The learning rate of the fit, for which these rounds are meant.
    sets : `simplexboost.deciding.SetScores` or None
        How the true classes of the rows held out were ranked. A fit moves it to ``sets_`` of the estimator.
    thresholds : array of shape (K,), or None
        The probability above which each label is predicted; None if it was not chosen.
    n_sample : int
        The number of rows of the sample on which the candidates were compared; 0 if it was done with all rows.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> choice = sb.SimplexBoostClassifier(random_state=0).fit(X, y).choice_
    >>> choice.n_held == 150, len(choice.candidates) > 1, choice.temperature > 0
    (True, True, True)
    """

    params: dict[str, Any]
    n_estimators: int
    temperature: Any
    risk: float
    candidates: list[dict[str, Any]]
    curve: dict[str, Array]
    n_splits: int
    n_held: int
    learning_rate: float = 0.1
    sets: SetScores | None = None
    thresholds: Array | None = None
    n_sample: int = 0

    def __str__(self) -> str:
        sample = f" of a sample of {self.n_sample} rows" if self.n_sample else ""
        lines = [f"held-out risk of {len(self.candidates)} candidate(s) on {self.n_splits} split(s){sample}"]
        lines += [
            f"{'*' if c['params'] == self.params else ' '} risk {c['risk']:.4f} after {c['n_estimators']} of "
            f"{c['n_tried']} rounds, temperature {np.mean(c['temperature']):.2f}: {describe(c['params'])}"
            for c in sorted(self.candidates, key=lambda c: c["risk"])
        ]
        if self.n_sample:
            lines.append(
                f"the winner on all rows: risk {self.risk:.4f} after {self.n_estimators} of "
                f"{max(self.curve['n_estimators'])} rounds, temperature {np.mean(self.temperature):.2f}"
            )
        return "\n".join(lines)


def describe(params: dict[str, Any]) -> str:
    """Parameters as they would be written in a call."""
    return ", ".join(f"{name}={value!r}" for name, value in params.items()) or "the only one"
