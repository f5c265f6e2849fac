"""A code that grows by one column per round: the optimizer of AdaBoost.ECC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._parts import check_choice
from .._typing import Array
from ..boosting.hypotheses import spread
from ..boosting.run import Run, Update
from ..losses import Gradient
from .asking import MIN_EDGE, ask, binary_request, direction, gradient_of, normalised_edge, ray_along
from .base import Optimizer

MAX_COLOURINGS = 20  # boosting stops after so many in a row without an edge


@dataclass(eq=False, repr=False)
class NewColumn(Optimizer):
    """AdaBoost.ECC: every round gives the classes two colours μ ∈ {−1, +1}^K, and a binary learner tells the colour.

    The colours are a new column of the code; the learner g adds α g(x) μ to the class scores.

    Parameters
    ----------
    colouring : {"random", "max-cut"}, default="random"
        ``"random"`` gives each colour to half of the classes; ``"max-cut"`` starts there and flips single classes as
        long as that separates more of the weight of the pairs (example, rival class).

    Examples
    --------
    >>> import simplexboost as sb
    >>> sb.AdaBoostECCClassifier(colouring="max-cut").parts().optimizer
    NewColumn(colouring='max-cut')
    """

    colouring: str = "random"

    code: ClassVar[str] = "binary, a new column each round"

    def check(self, run: Run) -> None:
        """Raise unless scores are the predictor itself and the loss is a sum over pairs."""
        check_choice("colouring", self.colouring, ("random", "max-cut"))
        if not run.loss.pairwise or not run.model.code.canonical:
            raise ValueError(
                "optimizer='new-column' needs loss='mm' or 'exponential' and canonical codewords, "
                f"not loss={run.loss!r} and codewords of shape {run.Y.shape}."
            )

    def propose(self, run: Run) -> list[Update]:
        """One update along a colouring; if it has no edge, another colouring is drawn."""
        gradient = gradient_of(run)
        for _ in range(MAX_COLOURINGS):
            if update := self._along(run, gradient, self.colours(run, gradient)):
                return update
        return []

    @staticmethod
    def _along(run: Run, gradient: Gradient, mu: Array) -> list[Update]:
        """The update along the colours mu (K,)."""
        E, own = -gradient.P, mu[run.data.c]  # (n, K), (n,)
        E[np.arange(len(E)), run.data.c] = 0.0
        # The weight of an example is the sum over its rivals of the other colour, added without cancellation.
        of_colours = run.data.engine.times(E, np.stack([mu < 0, mu > 0], axis=1))  # (n, 2)
        request = binary_request(run, np.where(own > 0, of_colours[:, 0], -of_colours[:, 1]))
        answer = ask(run, request)
        outputs, h = answer.outputs * mu, spread(answer.hypothesis, mu)  # (n, K)
        stride = run.step.length(ray_along(run, lambda: direction(run, outputs), gradient))
        edge = normalised_edge(run.data.engine, request.G, answer.outputs)
        if edge <= MIN_EDGE or stride.alpha <= 0:
            return []
        total, wrong = run.data.engine.total, answer.outputs[:, 0] * request.G[:, 0] <= 0  # wrong (n,)
        error = total(np.where(wrong, request.weight, 0.0)) / total(request.weight)
        return [Update(h, outputs, stride.alpha, stride.edge or edge, stride.perfect, None, error, stride.drop)]

    def colours(self, run: Run, gradient: Gradient) -> Array:
        """μ (K,); both colours occur."""
        K = len(run.Y)
        mu = run.data.dealt(run.rng.permutation(np.where(np.arange(K) < K // 2, 1.0, -1.0)))
        if self.colouring == "random":
            return mu
        totals = run.data.engine.totals
        pairs = np.stack([-totals(gradient.P[run.data.c == k]) for k in range(K)])  # (K, K), examples of k, rivals
        np.fill_diagonal(pairs, 0.0)
        return max_cut(pairs + pairs.T, mu)


def max_cut(weights: Array, mu: Array) -> Array:
    """Colours (K,) that no flip of a single class improves, starting at mu; weights (K, K) of pairs are symmetric."""
    mu = mu.copy()
    for _ in range(100 * len(mu)):
        gain = mu * (weights @ mu)  # (K,) what flipping each class adds to the cut
        lonely = [(mu == colour).sum() == 1 for colour in mu]
        best = int(np.argmax(np.where(lonely, -np.inf, gain)))
        if lonely[best] or gain[best] <= 1e-12 * weights.sum():
            break
        mu[best] *= -1
    return mu
