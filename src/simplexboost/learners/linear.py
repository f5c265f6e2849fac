"""Lines in one feature, by least squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._typing import AnyArray, Array
from ..boosting.hypotheses import LinearHypothesis
from ..engine import column_of
from .base import Answer, Learner, Request


@dataclass(eq=False, repr=False)
class LinearRegressor(Learner):
    """Least squares on the one feature that explains most: h(x) = a x_f + b with a, b (d,).

    All features are tried; the one with the largest explained sum of squares wins. Missing values count as the
    feature's mean.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.CDMCBoostClassifier(learner=LinearRegressor(), n_estimators=20).fit(X, y)
    >>> clf.score(X, y) > 0.9
    True
    """

    kind: ClassVar[str] = "regression"

    def fit(self, request: Request) -> Answer:
        """Regress the gradient on every feature and keep the best fit."""
        data, h, rows = request.data, request.h, request.used
        features = np.arange(data.p) if request.features is None else request.features
        G, h = request.G[rows], h[rows]
        fits = [self._regress(column_of(data.columns, f)[rows], G, h, f) for f in features.tolist()]
        best = max(range(len(fits)), key=lambda i: fits[i][0])  # ties go to the lower feature
        hypothesis = fits[best][1]
        return Answer(hypothesis, hypothesis.outputs(data.X))

    @staticmethod
    def _regress(x: AnyArray, G: Array, h: Array, feature: int) -> tuple[float, LinearHypothesis]:
        """The explained sum of squares, and the fit of G / h with weights h; its weighted sums need only G and h.

        A power of two is taken out of the feature and of the gradient, which is exact: the squares of very large or
        small values would overflow or vanish. The explained sum is that of the gradient without it.
        """
        known = ~np.isnan(x)
        height = int(np.frexp(np.abs(G).max(initial=0.0))[1])
        G = np.ldexp(G, -height)
        exponent = int(np.frexp(np.abs(x[known]).max(initial=0.0))[1])
        x = np.ldexp(x.astype(np.float64), -exponent)
        total, known_total = h.sum(), h[known].sum()
        centre = float(h[known] @ x[known] / known_total) if known_total > 0 else 0.0
        x = np.where(known, x - centre, 0.0)
        intercept = G.sum(axis=0) / total if total > 0 else np.zeros(G.shape[1])  # (d,)
        moment, spread = x @ G, float(h @ (x * x))  # (d,), scalar; Σ h x = 0
        slope = moment / spread if spread > 0 else np.zeros(G.shape[1])
        with np.errstate(over="ignore"):
            rise = np.ldexp(slope, height - exponent)  # in units of the feature
        if not np.isfinite(rise).all():  # all values are so near to zero that they are as good as constant
            slope = rise = np.zeros(G.shape[1])
        explained = float(moment @ slope + total * intercept @ intercept)
        centre, intercept = float(np.ldexp(centre, exponent)), np.ldexp(intercept, height)
        return explained, LinearHypothesis(feature, centre, rise, intercept)
