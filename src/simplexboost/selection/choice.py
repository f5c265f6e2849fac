"""What was chosen, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._typing import Array


@dataclass(frozen=True, eq=False)
class Choice:
    """What was chosen by held-out risk, and what it was chosen from.

    Attributes
    ----------
    params : the parameters of the winner that other candidates had different values of
    n_estimators : the number of rounds
    learning_rate : the learning rate of the fit, for which these rounds are meant
    temperature : what the scores are multiplied by
    risk : the held-out risk (the log-loss, or the mean of another loss) at these rounds and the best temperature
    candidates : a dict for each candidate: its ``params``, its best ``risk``, ``n_estimators`` and ``temperature``,
        and ``n_tried``, the number of rounds it was tried for; all in rounds of the learning rate of the fit
    curve : of the winner: arrays "n_estimators", "risk" (temperature 1), and "calibrated" (the best temperature for
        each number of rounds)
    n_splits : the number of splits the risk is a mean over
    n_held : the number of rows that were held out in all of them
    """

    params: dict[str, Any]
    n_estimators: int
    temperature: float
    risk: float
    candidates: list[dict[str, Any]]
    curve: dict[str, Array]
    n_splits: int
    n_held: int
    learning_rate: float = 0.1

    def __str__(self) -> str:
        lines = [f"held-out risk of {len(self.candidates)} candidate(s) on {self.n_splits} split(s)"]
        lines += [
            f"{'*' if c['params'] == self.params else ' '} risk {c['risk']:.4f} after {c['n_estimators']} of "
            f"{c['n_tried']} rounds, temperature {c['temperature']:.2f}: {describe(c['params'])}"
            for c in sorted(self.candidates, key=lambda c: c["risk"])
        ]
        return "\n".join(lines)


def describe(params: dict[str, Any]) -> str:
    """Parameters as they would be written in a call."""
    return ", ".join(f"{name}={value!r}" for name, value in params.items()) or "the only one"
