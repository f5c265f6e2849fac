"""Boosting as an optimal strategy of a game against the weak learner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from .._describing import described
from ..callbacks import Callback, History
from ..estimators.booster import BaseBooster
from ..estimators.parts import Parts, make_parts

DEFAULT_EDGE = 0.1


@described
@dataclass(eq=False, repr=False, kw_only=True)
class OSBoostClassifier(BaseBooster):
    """The optimal strategies OS (Mukherjee & Schapire, 2013): boosting with known edge and number of rounds.

    The algorithm assumes that the weak learner beats a baseline by ``edge`` on every cost matrix. In each round the
    cost of naming a class is the change of the game's potential by that vote (with the zero-one loss this is
    Boost-by-majority for many classes); all votes weigh the same. As long as the assumption holds, the average
    potential never rises, and the training loss after ``n_estimators`` rounds is at most ``bound_``; in the first round
    in which it fails there is a `games.ConditionWarning`. `games.diagnose` estimates what can be assumed.
    `AdaBoostMMClassifier` is a related booster that adapts to the edges it finds and assumes nothing.

    Probabilities are softmax(2F) with the exponential loss, and the shares of the votes with the zero-one loss.

    Parameters
    ----------
    condition : {"uniform", "minimal"} or array of shape (K,), default="uniform"
        What is assumed of the learner. "uniform": it beats guessing by the γ-biased uniform distribution. "minimal": it
        beats guessing by the worst edge-over-random distribution, which is the least that boosting needs; only for few
        classes or rounds, since the number of states grows like n_estimators^(K−1). An array: it beats guessing by that
        distribution, the true class first.
    loss : {"exponential", "zero-one"}, default="exponential"
        What is bounded: Σ_{k≠c} e^{F_k − F_c}, or the training error itself, which gives much better bounds for few
        rounds and takes longer.
    edge : float or None, default=None
        The assumed edge γ; None is 0.1, or the edge of the distribution where ``condition`` is an array.
    eta : float, "best" or None, default=None
        The weight of a vote with the exponential loss. None is ln(1 + γ); "best" is that of the smallest ``bound_``,
        `games.best_eta`, for "uniform" and arrays.
    learner : str, Learner or scikit-learn classifier, default="class-tree"
        The weak learner, which names a class: "class-tree", "greedy-tree", …. A scikit-learn classifier gets one weight
        for every example and cannot use the costs of the individual wrong classes.
    n_estimators : int, default=100
        The number of rounds, the T of the game. The potential is computed for just so many.

    Attributes
    ----------
    bound_ : float
        φ_T(0), the training loss that is guaranteed after all rounds.
    history_ : dict of arrays
        What happened in every round: ``"risk"``, ``"edge"``, ``"step"``, ``"coordinate"``, ``"seconds"``; and
        ``"potential"``, the average potential after it, and ``"condition_met"``, whether the learner met the condition.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = OSBoostClassifier(condition="minimal", loss="zero-one", edge=0.4, n_estimators=40).fit(X, y)
    >>> round(clf.bound_, 4), clf.score(X, y) > 0.95, bool(clf.history_["condition_met"].all())
    (0.0076, True, True)
    """

    paper: ClassVar[str] = "Mukherjee & Schapire 2013"
    takes_init_score: ClassVar[bool] = False
    condition: Any = "uniform"
    loss: Any = "exponential"
    edge: Any = None
    eta: Any = None
    learner: Any = "class-tree"

    def parts(self) -> Parts:
        """The parts as objects: the potential is the loss, and every round adds one vote."""
        from ..games.boosting import OptimalStrategy, PotentialLoss  # not at the top: start-up time

        edge = DEFAULT_EDGE if self.edge is None and isinstance(self.condition, str) else self.edge
        loss = PotentialLoss(self.condition, edge, self.loss, self.eta, self.n_estimators)
        return make_parts(loss, "canonical", self.learner, OptimalStrategy(), "fixed")

    def more_callbacks(self, history: History) -> list[Callback]:
        """A callback that records in the history what every round does to the game."""
        from ..games.boosting import PotentialHistory

        return [PotentialHistory(history)]

    @property
    def bound_(self) -> float:
        """The training loss guaranteed after all rounds if the weak learner meets its condition."""
        check_is_fitted(self)
        K = int(self.present_.sum())
        return float(self.loss_.game(K).bound) if K > 1 else 0.0
