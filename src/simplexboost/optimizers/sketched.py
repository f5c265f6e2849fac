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

from .._parts import check_number
from .._typing import AnyArray, Array
from ..boosting.hypotheses import LeafOutputs, TreeHypothesis
from ..boosting.loop import Run
from ..engine import Dense, LeafRule, RowLoss, RowProblem
from ..learners import NewtonTree
from . import Optimizer, Update

# From this many classes on, leaf values below this part of the leaf's largest are dropped.
MANY_CLASSES, THIN = 33, 0.1


def row_problem(run: Run) -> RowProblem:
    """The run's loss and rows as the engine takes them."""
    exponents = run.loss.exponents
    assert exponents is not None  # `check` has seen to it
    return RowProblem(
        run.data.c,
        run.data.K,
        None if run.model.code.canonical else run.Y,
        None if run.data.uniform else run.data.weight.astype(np.float32),
        log_costs(getattr(run.loss, "cost", None)),
        exponents,
        run.loss.value_of,
    )


def risk_now(run: Run) -> float:
    """The mean weighted loss at run.F, by one more pull."""
    run.workspace.pull(run.F, np.zeros((len(run.Y), 1), dtype=np.float32))
    return float(run.workspace.risk())


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
    leaves = run.learner.options(run.data, 0).max_leaf_nodes or 255
    levels = np.log2(leaves + 1)
    histograms = 1.5e-9 * n * p * (1 + levels / 4)  # subtraction spares half of every level, and rows become fewer
    scans = 2e-9 * leaves * float(run.data.max_bins * p)
    products = 0.0 if d == K else 4.0 * n * K * d / 4e10
    soft_max = (4e-9 if d == K else 2e-9) * n * K  # canonical: once for the sketch, once for the leaves
    seconds = (histograms + scans + products + soft_max) / max(1, min(run.data.engine.n_threads, 8)) + 2e-4
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
        is out of all proportion. For canonical codewords: shorter steps only make a code of few dimensions slower.
    """

    sketch: int = 1
    max_step: float | None = 2.0

    dtype: ClassVar[type] = np.float32

    def check(self, run: Run) -> None:
        """Raise unless the loss is a (tilted) logistic one and the learner a Newton tree."""
        check_number("sketch", self.sketch, int, 1, 64)
        if self.max_step is not None:
            check_number("max_step", self.max_step, float, 0.0, open_low=True)
        exponents = run.loss.exponents
        if exponents is None or (exponents != (0, 0) and getattr(run.loss, "cost", None) is not None):
            known = "'logistic' (also with costs), 'savage' and 'softmax-cost'"
            raise ValueError(f"optimizer=SketchedNewton() knows the losses {known}, not {run.loss!r}.")
        if not isinstance(run.learner, NewtonTree):
            raise ValueError(f"optimizer=SketchedNewton() needs learner=SketchTree(), not {run.learner!r}.")

        run.forecast = forecast(run, self.sketch)

    def propose(self, run: Run) -> list[Update]:
        """One tree."""
        if run.workspace is None:
            run.workspace = run.data.engine.row_loss(row_problem(run))
            run.own_risk = risk_now
        work: RowLoss = run.workspace
        stats = work.pull(run.F, self.directions(run))  # (n, s + 1)
        run.risk_before = work.risk()
        learner = run.learner
        assert isinstance(learner, NewtonTree)  # `check` has seen to it
        growth = learner.options(run.data, int(run.rng.integers(2**63)))
        grown = run.data.engine.grow(
            run.data.binned,
            Dense(stats),
            learner.score,
            growth,
            np.empty((run.data.n, 0)),
            run.rows,
            run.features,
        )
        thin = THIN if len(run.Y) >= MANY_CLASSES else 0.0
        rule = LeafRule(growth.l2_regularization, np.inf if self.max_step is None else float(self.max_step), thin)
        values = work.leaves(run.F, grown.leaf_of_row, run.rows, grown.tree.n_leaves, rule)  # (L, d)
        if grown.tree.n_leaves == 1 and np.abs(values).max() < 1e-6:
            return []
        outputs = LeafOutputs(values, grown.leaf_of_row, run.data.engine)
        kept = csr_array(values) if thin and run.model.code.canonical else values
        return [Update(TreeHypothesis(grown.tree, kept), outputs, 1.0, float(grown.tree.gain.sum()), perfect=False)]

    def directions(self, run: Run) -> AnyArray:
        """Codewords along random directions, Z = Y R (K, s); centred, which changes nothing but saves digits."""
        Z = run.Y @ run.rng.standard_normal((run.Y.shape[1], self.sketch))
        Z -= Z.mean(axis=0)
        return np.ascontiguousarray(Z / np.sqrt(self.sketch), dtype=np.float32)
