"""Training a branching program layer by layer.

A node's learner sees the examples that reach it, with both classes weighing the same, and is made two-sided: its more
frequent answer is reversed at random, so often that it answers "right" half of the time. With a = P(right | class 1)
and b = P(right | class 0), both classes are then routed correctly with probability a/(a+b), or (1−b)/(2−a−b) if the
more frequent answer was "left".
"""

from __future__ import annotations

import numpy as np

from .._typing import AnyArray, Array, Labels
from ..data.training_set import TrainingSet
from ..engine import single_leaf
from ..learners import Learner, PlainPull, Request
from .hypotheses import Hypothesis, TreeHypothesis
from .model import Term
from .program import Program, Turn, answers, move

# If less than this part of all examples reaches a node in one class, the class counts as absent there: the outer nodes
# of a long program are thousands that practically nothing reaches.
NEGLIGIBLE = 1e-9
SIGNS = np.array([[1.0], [-1.0]])  # what a learner answers: right, left


def train_program(
    data: TrainingSet, learner: Learner, n_layers: int, sampled: bool, rng: np.random.Generator
) -> tuple[Program, dict[str, AnyArray]]:
    """The program, and the history of what each layer achieved."""
    program = Program()
    mass = (data.weight / data.weight.sum())[:, None]  # (n, nodes): how much of each example is at each node
    record = LayerRecord()
    for layer in range(n_layers):
        turn = np.full((data.n, layer + 1), 0.5)  # (n, nodes) probabilities of going right
        terms = []
        for node in range(layer + 1):
            if trained := train_node(data, learner, mass[:, node], int(rng.integers(2**63))):
                hypothesis, outputs = trained
                terms.append(Term(hypothesis, 1.0, node))
                turn[:, node] += outputs[:, 0]
        program.add_layer(terms)
        if sampled:
            turn = (rng.random((data.n, 1)) < turn).astype(np.float64)
        record.add(mass, turn, data.c, len(terms))
        mass = move(mass, turn)
        record.add_error(mass, data.c)
    return program, record.arrays()


def train_node(data: TrainingSet, learner: Learner, mass: Array, seed: int) -> tuple[Hypothesis, Array] | None:
    """A two-sided learner for the examples at a node, mass (n,), and P(right) − ½ of all rows; None for a fair coin.

    If only one class reaches the node, all of its examples are sent towards the side of their class.
    """
    totals = np.bincount(data.c, mass, 2)
    there = totals > NEGLIGIBLE
    if not there.any():
        return None
    if not there.all():
        value = -0.5 if there[0] else 0.5
        return constant(value, data.n), np.full((data.n, 1), value)
    weight = mass * (0.5 / totals)[data.c]  # each class weighs ½
    G = np.where(data.c == 1, weight, -weight)[:, None]
    rows = None if mass.all() else np.flatnonzero(mass)
    answer = learner.fit(Request(data, PlainPull(G, 1 - data.c, weight), SIGNS, rows=rows, seed=seed))
    left, right = two_sided(float(weight[answer.outputs[:, 0] > 0].sum()))
    return turning(answer.hypothesis, left, right), np.where(answer.outputs > 0, right, left)


def two_sided(p: float) -> tuple[float, float]:
    """P(right) − ½ after "left" and after "right", such that P(right) = ½ if "right" is answered with probability p."""
    if p > 0.5:
        return -0.5, 0.5 / p - 0.5
    return 0.5 - 0.5 / (1 - p), 0.5


def constant(value: float, n: int) -> TreeHypothesis:
    """A tree of one leaf."""
    return TreeHypothesis(single_leaf(n), np.array([[value]]))


def turning(hypothesis: Hypothesis, left: float, right: float) -> Hypothesis:
    """The hypothesis with these two numbers in place of its negative and positive answers."""
    if isinstance(hypothesis, TreeHypothesis):
        return TreeHypothesis(hypothesis.tree, np.where(hypothesis.values > 0, right, left))
    return Turn(hypothesis, left, right)


class LayerRecord:
    """What every layer of a program achieves on the training rows."""

    def __init__(self) -> None:
        self.records: dict[str, list[float]] = {name: [] for name in ("edge", "error", "bound", "learners")}
        self.advantage, self.skipped = 0.0, 0.0

    def add(self, mass: Array, turn: Array, c: Labels, n_learners: int) -> None:
        """Record the edge and the bound of a layer.

        If at every node of layer j at least ½ + γ_j of each class goes to the correct side, the final node of a class
        stochastically dominates a walk of independent steps, and by Hoeffding's inequality at most
        exp(−2 (Σγ_j)² / l) of the class ends on the wrong side or in the middle. Nodes that practically nothing reaches
        are left out of γ_j; the examples that do reach them are added to the bound as errors.
        """
        own = np.array([c == 0, c == 1], dtype=np.float64)  # (2, n)
        totals, right = own @ mass, own @ (mass * turn)  # (2, nodes)
        right_way = np.stack([totals[0] - right[0], right[1]])
        there = totals > NEGLIGIBLE
        gamma = right_way[there] / totals[there] - 0.5
        self.advantage += float(gamma.min())
        shares = totals.sum(axis=1)
        self.skipped += float((np.where(there, 0.0, totals).sum(axis=1) / shares).max())
        layers = len(self.records["bound"]) + 1
        bound = np.exp(-2 * max(self.advantage, 0.0) ** 2 / layers) + self.skipped
        self.records["edge"].append(float(2 * gamma @ totals[there]))
        self.records["bound"].append(float(min(bound, 1.0)))
        self.records["learners"].append(n_learners)

    def add_error(self, mass: Array, c: Labels) -> None:
        """Record the error that the random program would have if this layer were its last."""
        zero, one = answers(mass)
        self.records["error"].append(float(np.where(c == 1, zero, one).sum()))

    def arrays(self) -> dict[str, AnyArray]:
        """The records as arrays."""
        return {name: np.array(values) for name, values in self.records.items()}
