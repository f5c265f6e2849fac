"""Boosting as an optimal strategy of a game against the weak learner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from ..callbacks import Callback, History
from ..estimators.booster import BaseBooster
from ..estimators.parts import Parts, make_parts

DEFAULT_EDGE = 0.1


@dataclass(eq=False, repr=False, kw_only=True)
class OSBoostClassifier(BaseBooster):
    """The optimal strategies OS (Mukherjee & Schapire, 2013): boosting that knows its edge and its number of rounds.

    The weak learner is promised to beat a baseline by ``edge`` on every cost matrix. Each round charges it what its
    votes would do to the potential of the game (with the zero-one loss, Boost-by-majority for many classes); all votes
    weigh the same. As long as the promise is kept the average potential never rises, and the training loss after
    ``n_estimators`` rounds is at most ``bound_``; in the first round in which it is broken there is a
    `games.ConditionWarning`. Ask `games.diagnose` what to promise. `AdaBoostMMClassifier` is the adaptive relative that
    needs no promise.

    Parameters
    ----------
    condition : {"uniform", "minimal"} or array of shape (K,), default="uniform"
        What is promised: to beat guessing by the γ-biased uniform distribution; or by the worst edge-over-random
        distribution, the least that boosting needs, for few classes or rounds (the number of states grows like
        n_estimators^(K−1)); or by a distribution of your own, the true class first.
    loss : {"exponential", "zero-one"}, default="exponential"
        What is bounded: Σ_{k≠c} e^{F_k − F_c}, or the training error itself, which gives much better bounds for few
        rounds and takes longer.
    edge : float or None, default=None
        The promised edge γ; None is 0.1, or that of your own distribution.
    eta : float or None, default=None
        The weight of a vote with the exponential loss; None is ln(1 + γ).
    learner : str, Learner or scikit-learn classifier, default="class-tree"
        Names classes: "class-tree", "greedy-tree", …; a scikit-learn classifier sees only the weight of the own class.

    The other parameters are those of `BoostingClassifier`; ``n_estimators`` is the T of the game.

    Attributes
    ----------
    bound_ : φ_T(0), the training loss guaranteed after all rounds
    history_ : as in `BoostingClassifier`, with potential, the average potential after every round, and condition_met

    The other attributes are those of `BoostingClassifier`. Probabilities are softmax(2F) with the exponential loss, as
    in AdaBoost.MM, and the shares of the votes with the zero-one loss.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = OSBoostClassifier(condition="minimal", loss="zero-one", edge=0.4, n_estimators=40).fit(X, y)
    >>> round(clf.bound_, 4), clf.score(X, y) > 0.95, bool(clf.history_["condition_met"].all())
    (0.0076, True, True)
    """

    paper: ClassVar[str] = "Mukherjee & Schapire 2013"
    condition: Any = "uniform"
    loss: Any = "exponential"
    edge: Any = None
    eta: Any = None
    learner: Any = "class-tree"

    def parts(self) -> Parts:
        """The parts as objects: the potential as a loss, a vote a round."""
        from ..games.boosting import OptimalStrategy, PotentialLoss  # not at the top: start-up time

        edge = DEFAULT_EDGE if self.edge is None and isinstance(self.condition, str) else self.edge
        loss = PotentialLoss(self.condition, edge, self.loss, self.eta, self.n_estimators)
        return make_parts(loss, "canonical", self.learner, OptimalStrategy(), "fixed")

    def more_callbacks(self, history: History) -> list[Callback]:
        """What a round does to the game joins the history."""
        from ..games.boosting import PotentialHistory

        return [PotentialHistory(history)]

    @property
    def bound_(self) -> float:
        """The training loss guaranteed after all rounds if the weak learner keeps its promise."""
        check_is_fitted(self)
        K = int(self.present_.sum())
        return float(self.loss_.game(K).bound) if K > 1 else 0.0
