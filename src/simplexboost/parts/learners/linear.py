"""Fits a line in one feature by least squares, as a weak learner.

A few matrix products give the sums for all features and all requests of a round at once, but with other rounding errors
than single regressions. So they only select the features that may be best, usually one, and single regressions decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from ..._util.arrays import AnyArray, Array
from ...engine import column_of
from ...model.hypotheses import LinearHypothesis
from ...tables.training_set import float_blocks
from .base import Answer, Learner, Request


class LinearRegressor(Learner, name="linear"):
    """A linear regression on the one feature f that explains most: h(x) = a x_f + b with a, b (d,).

    All features are tried; the one with the largest explained sum of squares is used. Missing values count as the mean.

    Examples
    --------
    >>> clf = sb.CDMCBoostClassifier(learner=LinearRegressor(), n_estimators=20)
    """

    kind: ClassVar[str] = "regression"

    def fit(self, request: Request) -> Answer:
        return LinearRegressor.fit_each(self, [request])[0]

    def fit_each(self, requests: Sequence[Request]) -> list[Answer]:
        if type(self).fit is not LinearRegressor.fit and len(requests) > 1:
            return super().fit_each(requests)
        return [self._best(request, f) for request, f in zip(requests, likely_features(requests), strict=True)]

    def _best(self, request: Request, features: AnyArray) -> Answer:
        """Fit a regression on each of ``features``; return the one that explains the largest sum of squares."""
        data, rows = request.data, request.used
        G, h = request.G[rows], request.h[rows]
        fits = [self._regress(column_of(data.columns, f)[rows], G, h, f) for f in features.tolist()]
        _, hypothesis = max(fits, key=lambda fit: fit[0])  # ties go to the lower feature
        return Answer(hypothesis, hypothesis.outputs(data.X))

    @staticmethod
    def _regress(x: AnyArray, G: Array, h: Array, feature: int) -> tuple[float, LinearHypothesis]:
        """Regress G / h (n, d), with weights h, on a feature x (n,); return the explained sum of squares and the line.

        Feature and gradient are first divided by powers of two, which is exact, because squares of very large or small
        values would overflow or vanish. The returned sum of squares is that of the divided gradient.
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


SLACK = 1e-9  # how far sums may be off, as a part of the sum of their absolute terms; rounding errors are smaller


def likely_features(requests: Sequence[Request]) -> list[AnyArray]:
    """Return for each request the indices of features that may explain most; requests differ only in G and h."""
    first = requests[0]
    features = np.arange(first.data.p) if first.features is None else first.features
    X, rows = first.data.X, first.rows
    G = [scale_to_one(request.G) for request in requests]  # (n, d) each
    h = [request.h for request in requests]
    h = h[:1] if all(each is h[0] for each in h) else h
    H, V = np.column_stack(h), np.column_stack([*G, *h])  # V (n, q), the gradients and after them the weights
    products, squares = sum_products(X, rows, V, H, *first.data.spans)
    used = V if rows is None else V[rows]
    totals, sizes = used.sum(axis=0), np.abs(used).sum(axis=0)  # (q,)
    ends = np.cumsum([0, *(each.shape[1] for each in G)])
    likely = []
    for i, (begin, end) in enumerate(pairwise(ends)):
        of, j = slice(begin, end), min(i, len(h) - 1)
        weights = products[:, j - len(h)], totals[j - len(h)], squares[:, j]
        low, high = bound_explained(products[:, of], totals[of], sizes[of], *weights)
        low, high = low[features], high[features]
        likely.append(features[~(high < np.nanmax(low, initial=-np.inf))])  # a NaN may be the best
    return likely


def scale_to_one(G: Array) -> Array:
    """Return G divided by its largest absolute value; the comparison of features does not depend on this factor."""
    largest = np.abs(G).max(initial=0.0)
    return G / largest if 0.0 < largest < np.inf else G


def sum_products(X: Any, rows: AnyArray | None, V: Array, h: Array, middle: Array, half: Array) -> tuple[Array, Array]:
    """Return Σ x v (p, q) and Σ h x² (p, H), sums over rows, for the q columns v of V and the H columns of h.

    The features x, columns of X (n, p), are scaled to (x − middle) / half. If ``rows`` is None, all rows are used.
    """
    products, squares = np.zeros((X.shape[1], V.shape[1])), np.zeros((X.shape[1], h.shape[1]))
    unit = np.divide(1.0, half, out=np.zeros_like(half), where=half != 0)
    for part, x in float_blocks(X, rows):
        x -= middle
        x *= unit
        products += x.T @ V[part]
        np.square(x, out=x)
        squares += x.T @ h[part]
    return products, squares


def bound_explained(
    products: Array, totals: Array, sizes: Array, weighted: Array, total: float, squares: Array
) -> tuple[Array, Array]:
    """Return a lower and an upper bound (p,) on the sum of squares of all columns v that each feature x explains.

    The arguments are Σ x v (p, d), Σ v (d,), Σ |v| (d,), Σ h x (p,), Σ h and Σ h x² (p,), with row weights h.
    """
    with np.errstate(all="ignore"):
        centre = weighted / total  # (p,)
        moment = np.abs(products - centre[:, None] * totals)  # (p, d)
        spread, off = squares - centre * weighted, SLACK * squares  # (p,)
        low = (np.maximum(moment - SLACK * sizes, 0.0) ** 2).sum(axis=1) / (spread + off)
        high = ((moment + SLACK * sizes) ** 2).sum(axis=1) / np.maximum(spread - off, 0.0)
        level = (totals**2).sum() / total  # what the constant explains, beside every feature
    low, high = (np.where(squares == 0, 0.0, bound) for bound in (low, high))
    return low, high + SLACK * 1e-3 * level
