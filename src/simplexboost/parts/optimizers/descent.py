"""Defines optimizers: gradient descent, coordinate descent, Newton steps, new code columns, and sampled pairs."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array, hstack, issparse

from ..._util.arrays import AnyArray, Array
from ..._util.params import check_choice, check_flag, check_number
from ...model.code import Gradient
from ...model.hypotheses import spread
from ...tables.training_set import TrainingSet
from ..learners.newton_trees import round_to_single
from ..losses.gamma_phi import Exponential, LinearGamma
from ..losses.multilabel import MultilabelHamming
from ..losses.scores import OneVsAll
from ..steps import Ray
from .base import (
    MIN_EDGE,
    SIGNS,
    Optimizer,
    ask,
    ask_each,
    binary_gradient,
    coordinate_ray,
    find_rivals,
    gradient_of,
    normalised_edge,
    step_along,
    step_together,
    take_step,
)
from .run import Run, Update


class GradientDescent(Optimizer, name="gradient"):
    """The optimizer of GD-MCBoost, functional gradient descent: a learner with outputs in R^d fits the whole gradient.

    Examples
    --------
    >>> clf = sb.BoostingClassifier(optimizer=GradientDescent(), n_estimators=10)
    """

    def propose(self, run: Run) -> list[Update]:
        return step_along(run, gradient_of(run))


class SignedDescent(GradientDescent, name="signed"):
    """Gradient descent for AdaBoost.MH: a learner that predicts class k has output +1 for k, −1 for every other class.

    Examples
    --------
    >>> sb.AdaBoostMHClassifier(learner_mode="single-label").parts().optimizer
    SignedDescent()
    """

    def propose(self, run: Run) -> list[Update]:
        return step_along(run, gradient_of(run), answers=2.0 * np.eye(len(run.Y)) - 1.0)

    def check(self, run: Run) -> None:
        if not run.code.canonical:
            raise ValueError("optimizer=SignedDescent() needs codewords='canonical': a score per class.")


class CoordinateDescent(Optimizer, name="coordinate"):
    """The optimizer of CD-MCBoost, coordinate descent: each round moves one coordinate of F by a scalar learner.

    Parameters
    ----------
    schedule : {"best", "cyclic"}, default="best"
        ``"best"`` fits a learner in every coordinate and keeps the one whose step gives the lowest risk (the journal
        version); ``"cyclic"`` takes the coordinates in turn (the conference version), d times cheaper per round.

    Examples
    --------
    >>> clf = sb.BoostingClassifier(optimizer=CoordinateDescent("cyclic"), learner="stump", n_estimators=4)
    """

    schedule: str = "best"

    def check(self, run: Run) -> None:
        check_choice("schedule", self.schedule, ("best", "cyclic"))

    def propose(self, run: Run) -> list[Update]:
        gradient, d = gradient_of(run), run.Y.shape[1]
        if self.schedule == "cyclic":
            # A coordinate without an edge is skipped; if none has an edge, there is no update.
            for j in (run.round + np.arange(d)) % d:
                if update := step_along(run, gradient, int(j)):
                    return update
            return []
        along = [binary_gradient(g) for g in gradient.G.T]
        rivals = cache(find_rivals)  # the same for all coordinates
        risk, best = math.inf, []
        for j, answer in enumerate(ask_each(run, along)):
            ray = coordinate_ray(run, answer, j, gradient, rivals)
            update = take_step(run, along[j], answer, ray, j)
            if update and (after := ray.log_risk(update[0].alpha)) < risk:  # ties go to the lower coordinate
                risk, best = after, update
        return best


class AllCoordinates(Optimizer, name="all-coordinates"):
    """An optimizer that fits a scalar learner in each coordinate of F, in every round.

    Parameters
    ----------
    shared_step : bool, default=True
        True: one step for all coordinates, along the vector of their outputs. False: one step for each coordinate,
        which is exact if the loss is a sum over coordinates (one-vs-all).

    Examples
    --------
    >>> clf = sb.BoostingClassifier(optimizer=AllCoordinates(), learner="stump", n_estimators=10)
    """

    shared_step: bool = True

    def check(self, run: Run) -> None:
        check_flag("shared_step", self.shared_step)

    def propose(self, run: Run) -> list[Update]:
        gradient = gradient_of(run)
        if self.shared_step:
            return step_together(run, gradient)
        if is_separate(run):
            return one_by_one(run, gradient)
        return [update for j in range(run.Y.shape[1]) for update in step_along(run, gradient, j)]

    def resume(self, run: Run) -> None:
        if not self.shared_step and is_separate(run):  # coordinates whose last learner is perfect have ended
            last = {term.coordinate: term.hypothesis for term in run.model.terms if term.coordinate is not None}
            outputs = {k: h.outputs(run.data.X, run.data.engine) for k, h in last.items()}
            run.workspace = {k for k in last if run.step.length(binary_ray(run, outputs[k], k)).perfect}


def is_separate(run: Run) -> bool:
    """Tell whether the risk is a sum over the coordinates of F, each a binary problem of a class against the rest."""
    return isinstance(run.loss, OneVsAll) and not isinstance(run.loss, MultilabelHamming) and run.code.canonical


def binary_ray(run: Run, outputs: Array, k: int) -> Ray:
    """Return the risk of the binary problem of class k against the rest, along learner outputs (n, 1)."""
    U, c = run.U[:, [k]] * SIGNS.T, (run.data.c != k).astype(np.intp)
    return Ray(Exponential(), U, c, run.data.weight, lambda: 0.5 * outputs * SIGNS.T, engine=run.data.engine)


def one_by_one(run: Run, gradient: Gradient) -> list[Update]:
    """Return updates of K independent binary boosters, each with its own step; a perfect learner ends its booster."""
    d = run.Y.shape[1]
    finished: set[int] = run.workspace or set()  # coordinates that have ended
    if len(finished) == d:
        run.refusal = "perfect learner: every class has met one and has ended"
    sizes = run.data.engine.rows.total(np.abs(gradient.G))  # (d,)
    updates = []
    for j in (j for j in range(d) if j not in finished):
        along = binary_gradient(gradient.G[:, j])
        answer = ask(run, along, SIGNS)
        for update in take_step(run, along, answer, binary_ray(run, answer.outputs, j), j):
            finished = finished | {j} if update.perfect else finished
            updates.append(replace(update, share=sizes[j] / sizes.sum(), perfect=len(finished) == d))
    run.workspace = finished
    return updates


class Newton(Optimizer, name="newton"):
    """Gradient descent with curvature: the learner gets G and, for every example, the trace h of the Hessian in F.

    The trace is an upper bound of every eigenvalue of the Hessian. So the leaf value ΣG / (Σh + l2_regularization) of a
    `NewtonTree` is never too long a step for the curvature.

    Examples
    --------
    >>> clf = sb.BoostingClassifier(optimizer=Newton(), learner="newton-tree", step="fixed", n_estimators=20)
    """

    def check(self, run: Run) -> None:
        if not run.loss.convex:
            raise ValueError(f"optimizer='newton' needs a convex loss; loss={run.loss!r} is not. Use 'gradient'.")
        one = run.data.c[:1]
        run.loss.curvature(np.zeros((len(one), len(run.Y))), one, run.Y)  # raises if there is none

    def propose(self, run: Run) -> list[Update]:
        return step_along(run, gradient_of(run, scaled=False), curvature=run.objective.curvature(run.U))


class NewtonCoordinates(Optimizer, name="newton-coordinates"):
    """The optimizer of LogitBoost: for every class, a scalar regressor is fitted to Newton steps by least squares.

    The regression of class k has weights p(1−p) and targets (1[c=k] − p) / p(1−p), clipped, where p is the probability
    of class k and c the true class. The step is (K−1)/K times the regressors; centred codewords centre the scores.

    Parameters
    ----------
    clip : float, default=4.0
        The largest absolute value of a target; larger targets are cut.

    Examples
    --------
    >>> sb.LogitBoostClassifier(clip=3.0).parts().optimizer
    NewtonCoordinates(clip=3.0)
    """

    clip: float = 4.0

    def check(self, run: Run) -> None:
        check_number("clip", self.clip, float, 0.0, open_low=True)
        if not run.loss.likelihood or not run.code.symmetric:
            raise ValueError(
                "optimizer='newton-coordinates' needs loss='logistic' without costs and canonical codewords, not "
                f"loss={run.loss!r} and codewords of shape {run.Y.shape}."
            )

    def propose(self, run: Run) -> list[Update]:
        weight = run.data.weight[:, None]
        R = gradient_of(run, scaled=False).G / weight  # (n, K), 1[c=k] − p
        h = np.maximum(np.abs(R) * (1 - np.abs(R)), 1e-12)  # p(1−p)
        G = weight * round_to_single(h * np.clip(R / h, -self.clip, self.clip))
        h = weight * round_to_single(h)
        K = len(run.Y)
        answers = ask_each(run, [binary_gradient(g) for g in G.T], h)
        edges = [normalised_edge(run.data.engine, G[:, [k]], answer.outputs) for k, answer in enumerate(answers)]
        outputs = np.column_stack([answer.outputs for answer in answers])  # (n, K)
        alpha = (K - 1) / K * run.step.length(run.ray(lambda: run.code.forward(outputs))).alpha
        found = [(k, a, edge) for k, (a, edge) in enumerate(zip(answers, edges, strict=True)) if edge > MIN_EDGE]
        return [Update(a.hypothesis, a.outputs, alpha, edge, False, k) for k, a, edge in found]


MAX_COLOURINGS = 20  # boosting stops after so many in a row without an edge


class NewColumn(Optimizer, name="new-column"):
    """The optimizer of AdaBoost.ECC: each round gives classes colours μ ∈ {−1, +1}^K; a binary learner predicts them.

    The colours are a new column of the coding matrix. The learner g, with step α, adds α g(x) μ to the class scores.

    Parameters
    ----------
    colouring : {"random", "max-cut"}, default="random"
        ``"random"`` gives each colour to half of the classes. ``"max-cut"`` starts from such colours and flips single
        classes as long as this increases the weight of pairs (example, rival class) with unequal colours.

    Examples
    --------
    >>> sb.AdaBoostECCClassifier(colouring="max-cut").parts().optimizer
    NewColumn(colouring='max-cut')
    """

    colouring: str = "random"

    code: ClassVar[str] = "binary, a new column each round"

    def check(self, run: Run) -> None:
        check_choice("colouring", self.colouring, ("random", "max-cut"))
        if not isinstance(run.loss, LinearGamma) or not run.code.canonical:
            raise ValueError(
                "optimizer='new-column' needs loss='mm' or 'exponential' and canonical codewords, "
                f"not loss={run.loss!r} and codewords of shape {run.Y.shape}."
            )

    def propose(self, run: Run) -> list[Update]:
        gradient = gradient_of(run)
        for _ in range(MAX_COLOURINGS):  # if one has no edge, another is drawn
            if update := self._along(run, gradient, self.colours(run, gradient)):
                return update
        return []

    @staticmethod
    def _along(run: Run, gradient: Gradient, mu: Array) -> list[Update]:
        """Fit the learner to the classes' colours mu (K,); return one update in a list, or [] if there is no edge."""
        E, own = -gradient.P, mu[run.data.c]  # (n, K), (n,)
        E[np.arange(len(E)), run.data.c] = 0.0
        # The weight of an example is the sum over its rivals of the other colour, added without cancellation.
        of_colours = run.data.engine.compute.times(E, np.stack([mu < 0, mu > 0], axis=1))  # (n, 2)
        along = binary_gradient(np.where(own > 0, of_colours[:, 0], -of_colours[:, 1]))
        answer = ask(run, along, SIGNS)
        outputs, h = answer.outputs * mu, spread(answer.hypothesis, mu)  # (n, K)
        found = take_step(run, along, answer, run.ray(lambda: run.code.forward(outputs), gradient))
        total, wrong = run.data.engine.rows.total, answer.outputs[:, 0] * along.G[:, 0] <= 0  # wrong (n,)
        error = total(np.where(wrong, along.weight, 0.0)) / total(along.weight) if found else None
        return [replace(update, hypothesis=h, outputs=outputs, classes=None, error=error) for update in found]

    def colours(self, run: Run, gradient: Gradient) -> Array:
        """Draw a colour, −1 or +1, for every class, (K,); each colour occurs."""
        K = len(run.Y)
        mu = run.data.deal(run.rng.permutation(np.where(np.arange(K) < K // 2, 1.0, -1.0)))
        if self.colouring == "random":
            return mu
        total = run.data.engine.rows.total
        pairs = np.stack([-total(gradient.P[run.data.c == k]) for k in range(K)])  # (K, K), examples of k, rivals
        np.fill_diagonal(pairs, 0.0)
        return max_cut(pairs + pairs.T, mu)


def max_cut(weights: Array, mu: Array) -> Array:
    """Return colours mu (K,) after flips of single classes that raise the sum of weights between unequal colours."""
    mu = mu.copy()
    for _ in range(100 * len(mu)):
        gain = mu * (weights @ mu)  # (K,) what flipping each class adds to the cut
        lonely = [(mu == colour).sum() == 1 for colour in mu]
        best = int(np.argmax(np.where(lonely, -np.inf, gain)))
        if lonely[best] or gain[best] <= 1e-12 * weights.sum():
            break
        mu[best] *= -1
    return mu


LARGEST = 1e150  # of a gradient whose squares can be added up


class SampledPairs(Optimizer, name="sampled-pairs"):
    """The optimizer of sm-boost: gradient descent on pairs (example, class), drawn by the probability of the class.

    If no learner has an edge on the drawn pairs, new pairs are drawn, up to ten times.

    Parameters
    ----------
    n_pairs : int, "n" or "all", default="n"
        The number of pairs; ``"n"`` draws as many as there are distinct examples, ``"all"`` takes every pair, weighted
        by its probability.
    separate : bool, default=True
        Whether to fit a scalar learner for every coordinate of F rather than one learner for all coordinates.

    Examples
    --------
    >>> sb.SoftmaxBoostClassifier(n_pairs=50).parts().optimizer
    SampledPairs(n_pairs=50)
    """

    n_pairs: int | str = "n"
    separate: bool = True

    max_draws: ClassVar[int] = 10

    def check(self, run: Run) -> None:
        if isinstance(self.n_pairs, str):
            check_choice("n_pairs", self.n_pairs, ("n", "all"))
        else:
            check_number("n_pairs", self.n_pairs, int, 1, 2**31 - 1)

    def propose(self, run: Run) -> list[Update]:
        ask = step_together if self.separate else step_along
        if self.n_pairs == "all":
            return ask(run, gradient_of(run))
        for _ in range(self.max_draws):
            if updates := ask(run, self.sample(run)):
                return updates
        run.refusal = f"no edge: not in {self.max_draws} samples of pairs in a row"
        return []

    def sample(self, run: Run) -> Gradient:
        """Draw pairs and return their gradient: a pair's residual is multiplied by its draws / expected draws."""
        if run.workspace is None:
            run.workspace = different_examples(run.data)
        rows, weight = run.workspace  # (m,) one row of every different example, and the weight of all rows equal to it
        U, c, loss = run.U.take(rows, axis=0), run.data.c.take(rows), run.loss
        g = loss.probabilities(U)  # (m, K)
        P = loss.residual(U, c)
        n_pairs = len(rows) if self.n_pairs == "n" else int(self.n_pairs)
        places = run.data.deal(np.arange(P.shape[1]))  # (K,) where the classes are among the pairs of an example
        ends = np.cumsum((weight[:, None] * g).take(np.argsort(places), axis=1))
        at = np.sort(run.rng.random(n_pairs) * ends[-1])  # sorted, for then the search takes half the time
        drawn = np.searchsorted(ends, at, side="right")
        counts = np.bincount(drawn, minlength=P.size).reshape(P.shape).take(places, axis=1)
        P = np.divide(P, g, out=np.zeros_like(P), where=counts > 0)  # before the counts, so that equal pairs stay equal
        sampled = np.zeros_like(run.U)
        sampled[rows] = P * (counts * (weight.sum() / n_pairs))
        if not (size := float(np.abs(sampled).max(initial=0.0))) < LARGEST:
            raise run.divergence(size)
        return run.objective.of_residual(sampled)


def different_examples(data: TrainingSet) -> tuple[AnyArray, Array]:
    """Return a row index of every distinct example, and the total sample weight of all rows equal to it.

    The order of the examples depends only on their values, so that draws are the same whether rows are weighted or
    repeated, and for any order of the rows.
    """
    places = data.deal(np.arange(data.K))
    labels = places[data.c][:, None] if data.costs is None else data.costs[:, np.argsort(places)]
    keys = sparse_keys(data.X, labels) if issparse(data.X) else dense_keys(data.X, labels)
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return first, np.bincount(inverse, data.weight).astype(np.float64, copy=False)


def dense_keys(X: AnyArray, labels: AnyArray) -> AnyArray:
    """Return, for every row, the bytes of X (n, p) and its labels as a key, (n,); equal rows have equal keys."""
    content = np.ascontiguousarray(np.column_stack([X, labels]), dtype=np.float64) + 0.0  # turns −0.0 into 0.0
    content[np.isnan(content)] = np.nan
    return content.view(np.dtype((np.void, content.strides[0]))).ravel()


def sparse_keys(X: Any, labels: AnyArray) -> AnyArray:
    """Return a bytes key for every row of a sparse X and its labels, (n,); keys sort as those of `dense_keys`.

    At the first difference of two dense keys, the bytes of a number meet zeros or the bytes of another number. So a
    sparse key lists the nonzero entries: the distance from the last column, highest byte first, then the bytes of the
    number.
    """
    content = hstack([X, csr_array(labels, dtype=np.float64)], format="csr", dtype=np.float64)
    content.eliminate_zeros()
    content.sort_indices()
    content.data[np.isnan(content.data)] = np.nan
    entry = np.empty(content.nnz, dtype=[("from_end", ">i8"), ("value", "<f8")])
    entry["from_end"], entry["value"] = content.shape[1] - content.indices, content.data
    keys = np.empty(content.shape[0], dtype=object)
    keys[:] = [entry[begin:end].tobytes() for begin, end in pairwise(content.indptr.tolist())]
    return keys
