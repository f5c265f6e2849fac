"""Newton boosting on a sketch: one vector tree per round, whatever the number of classes.

Splits are searched along a few random directions of code space, so histograms hold s + 1 numbers; the leaves then see
the whole gradient. A round costs n·p·(s + 1) for the histograms, n·K for the soft-max (n·K·d for codewords of few
dimensions), which runs in cache blocks and keeps no n × K gradient, and little for the leaves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from . import _kernels, engine
from ._parts import check_number
from ._typing import AnyArray, Array
from .boosting import Run
from .hypotheses import LeafOutputs, TreeHypothesis
from .learners import NewtonTree
from .optimizers import Optimizer, Update

# How the weight of a row depends on the probability p of its class, for the losses that are tilted logistic ones; the
# loss itself, as a function of p.
TILTS = {
    0: (lambda p: np.ones_like(p), lambda p: -np.log(np.maximum(p, 1e-38))),
    1: (lambda p: p * (1 - p), lambda p: (1 - p) ** 2),
    2: (lambda p: p, lambda p: 1 - p),
}


# From this many classes on, leaf values below this part of the leaf's largest are dropped.
MANY_CLASSES, THIN = 33, 0.1


# The furthest that a leaf may move the score of a class where codewords are not canonical, learning rate included.
# Steps beyond it come of a Hessian that is all but singular; with the default learning rate ordinary ones reach 3 where
# there are 1200 classes, and 1 where there are ten.
FURTHEST = 10.0


class Workspace:
    """The arrays of a run, filled anew every round: gradient, sketch, loss; and the compiled loss itself."""

    def __init__(self, run: Run, s: int) -> None:
        n, (K, d) = run.data.n, run.Y.shape
        weight = None if run.data.uniform else run.data.weight.astype(np.float32)
        cost = getattr(run.loss, "cost", None)
        self.tilt = run.loss.tilt or 0
        Y = None if run.model.code.canonical else run.Y
        self.loss_kernel = _kernels.LogisticLoss(Y, run.data.c, K, weight, log_costs(cost), self.tilt)
        self.weight = weight
        self.tilt_mean = 1e-9 if self.tilt else 1.0
        self.G = None if Y is None else np.empty((n, d), dtype=np.float32)  # canonical: the leaves look at F again
        self.stats = np.empty((n, s + 1))  # sketched gradient, curvature along the sketch
        self.loss = np.full(n, np.log(K), dtype=np.float32)  # −log p_c; all classes alike at the start
        self.scale = np.empty(n) if self.tilt or weight is not None else None

    def pull(self, run: Run, Z: AnyArray) -> None:
        """Gradient, sketch and loss at run.F; Z (K, s) are the codewords along the sketch."""
        if self.tilt:
            # Tilted weights are small for many classes at the start, and l2 is in absolute units: scale them to a mean
            # of 1, but never up again once they have been larger, lest the last doubtful examples be blown up.
            tilted = TILTS[self.tilt][0](np.exp(-self.loss.astype(np.float64)))
            self.tilt_mean = max(self.tilt_mean, float(np.average(tilted, weights=self.weight)))
        scale = 1.0 / self.tilt_mean
        self.loss_kernel.pull(run.F, Z, scale, self.G, self.stats, self.loss, self.scale, run.data.n_threads)

    def risk(self, run: Run) -> float:
        """The mean weighted loss at run.F."""
        self.pull(run, np.zeros((len(run.Y), self.stats.shape[1] - 1), dtype=np.float32))
        return self.last_risk(run)

    def last_risk(self, run: Run) -> float:
        """The mean weighted loss where the last pull was."""
        _, value_of = TILTS[self.tilt]
        values = self.loss if self.tilt == 0 else value_of(np.exp(-self.loss))
        return float(run.data.weight @ values / run.data.weight.sum())


def log_costs(cost: Array | None) -> AnyArray | None:
    """Costs of pairs as what joins the scores, (K, K); a pair without cost is out of the race."""
    if cost is None:
        return None
    logs = np.log(np.maximum(np.asarray(cost, dtype=np.float64), 1e-30))
    np.fill_diagonal(logs, 0.0)
    return logs.astype(np.float32)


def forecast(run: Run, s: int) -> tuple[float, float]:
    """Seconds a round and megabytes, from the costs measured on a 2.8 GHz core; right within a factor of two or so."""
    (n, p), (K, d) = run.data.X.shape, run.Y.shape
    assert isinstance(run.learner, NewtonTree)
    leaves = run.learner.options(run.data, 0).max_leaves or 255
    levels = np.log2(leaves + 1)
    histograms = 1.5e-9 * n * p * (1 + levels / 4)  # subtraction spares half of every level, and rows become fewer
    scans = 2e-9 * leaves * float(run.data.max_bins * p)
    products = 0.0 if d == K else 4.0 * n * K * d / 4e10
    soft_max = (4e-9 if d == K else 2e-9) * n * K  # canonical: once for the sketch, once for the leaves
    seconds = (histograms + scans + products + soft_max) / max(1, min(run.data.n_threads, 8)) + 2e-4
    copies = 1 if d == K and n * K > 2**21 else 2  # of F: the gradient, or the probabilities
    bytes_ = n * p + 4 * n * (copies * d + 2) + 8 * n * (s + 1) + min(2**29, 4 * 4 * leaves * run.data.max_bins * p)
    return seconds, bytes_ / 2**20


@dataclass(eq=False, repr=False)
class SketchedNewton(Optimizer):
    """One vector tree per round: splits on a random sketch of the gradient, Newton steps in the leaves.

    Parameters
    ----------
    sketch : int, default=1
        Random directions per round.
    max_step : float or None, default=2.0
        The furthest that a leaf may move the score of a class, before the learning rate; None for no limit. A class
        with next to no probability in a leaf has next to no curvature there, and Newton's step for its first example
        is out of all proportion. For canonical codewords: shorter steps only make a code of few dimensions slower, and
        ten over the learning rate is their limit.
    """

    sketch: int = 1
    max_step: float | None = 2.0

    dtype: ClassVar[type] = np.float32

    def check(self, run: Run) -> None:
        """Raise unless the loss is a (tilted) logistic one and the learner a Newton tree."""
        check_number("sketch", self.sketch, int, 1, 64)
        if self.max_step is not None:
            check_number("max_step", self.max_step, float, 0.0, open_low=True)
        if run.loss.tilt is None or (run.loss.tilt and getattr(run.loss, "cost", None) is not None):
            known = "'logistic' (also with costs), 'savage' and 'softmax-cost'"
            raise ValueError(f"optimizer=SketchedNewton() knows the losses {known}, not {run.loss!r}.")
        if not isinstance(run.learner, NewtonTree):
            raise ValueError(f"optimizer=SketchedNewton() needs learner=SketchTree(), not {run.learner!r}.")

        run.forecast = forecast(run, self.sketch)

    def propose(self, run: Run) -> list[Update]:
        """One tree."""
        if run.workspace is None:
            run.workspace = Workspace(run, self.sketch)
            run.own_risk = run.workspace.risk
        work: Workspace = run.workspace
        work.pull(run, self.directions(run))
        run.risk_before = work.last_risk(run)
        learner = run.learner
        assert isinstance(learner, NewtonTree)  # `check` has seen to it
        growth = learner.options(run.data, int(run.rng.integers(2**63)))
        grown = engine.grow(
            run.data.binned,
            engine.Dense(work.stats),
            learner.score,
            growth,
            np.empty((run.data.n, 0)),
            run.rows,
            run.features,
            run.data.n_threads,
        )
        thin = THIN if len(run.Y) >= MANY_CLASSES else 0.0
        values = work.loss_kernel.newton_leaves(
            run.F,
            work.G,
            work.loss,
            work.scale,
            grown.leaf_of_row,
            None if run.rows is None else run.rows.astype(np.uint32),
            grown.tree.n_leaves,
            growth.l2,
            self.longest(run),
            thin,
            run.data.n_threads,
        )  # (L, d)
        if grown.tree.n_leaves == 1 and np.abs(values).max() < 1e-6:
            return []
        outputs = LeafOutputs(values, grown.leaf_of_row, run.data.n_threads)
        kept = csr_array(values) if thin and work.G is None else values
        return [Update(TreeHypothesis(grown.tree, kept), outputs, 1.0, float(grown.tree.gain.sum()), perfect=False)]

    def longest(self, run: Run) -> float:
        """The furthest that a leaf may move the score of a class, before the learning rate."""
        if not run.model.code.canonical:
            return FURTHEST / run.learning_rate
        return np.inf if self.max_step is None else float(self.max_step)

    def directions(self, run: Run) -> AnyArray:
        """Codewords along random directions, Z = Y R (K, s); centred, which changes nothing but saves digits."""
        Z = run.Y @ run.rng.standard_normal((run.Y.shape[1], self.sketch))
        Z -= Z.mean(axis=0)
        return np.ascontiguousarray(Z / np.sqrt(self.sketch), dtype=np.float32)
