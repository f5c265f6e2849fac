"""Training a branching program layer by layer.

A node's learner sees the examples that reach it, with both classes weighing the same, and is made two-sided: its more
frequent answer is reversed at random, so often that it answers "right" half of the time. With a = P(right | class 1)
and b = P(right | class 0), both classes are then routed correctly with probability a/(a+b), or (1−b)/(2−a−b) if the
more frequent answer was "left".
"""

from __future__ import annotations

import numpy as np

from .._typing import AnyArray, Array, Labels, Mask
from ..data.training_set import TrainingSet
from ..engine import single_leaf
from ..learners import Answer, Learner, PlainPull, Request
from .hypotheses import Hypothesis, LeafOutputs, TreeHypothesis
from .model import Term
from .program import Program, Turn, answers, move

# If less than this part of all examples reaches a node in one class, the class counts as absent there: the outer nodes
# of a long program are thousands that practically nothing reaches.
NEGLIGIBLE = 1e-9
ROUNDING = 1e-6  # more than the relative error of a sum of masses, in any order
SIGNS = np.array([[1.0], [-1.0]])  # what a learner answers: right, left


def train_program(
    data: TrainingSet, learner: Learner, n_layers: int, sampled: bool, rng: np.random.Generator
) -> tuple[Program, dict[str, AnyArray]]:
    """The program, and the history of what each layer achieved."""
    program, record, trainer = Program(), LayerRecord(data.c), NodeTrainer(data, learner)
    # The same memory for all layers: to allocate it anew would take longer than to compute what it holds.
    spare, other, buffer = (np.empty(data.n * (n_layers + 1)) for _ in range(3))
    mass = table(spare, data.n, 1)  # (n, nodes): how much of each example is at each node
    mass[:, 0] = data.weight / data.weight.sum()
    for layer in range(n_layers):
        turn = table(buffer, data.n, layer + 1)  # (n, nodes) probabilities of going right
        totals = record.own @ mass  # (2, nodes)
        terms = trainer.train_layer(mass, totals, rng.integers(2**63, size=layer + 1), turn)
        program.add_layer(terms)
        if sampled:
            np.less(rng.random((data.n, 1)), turn, out=turn)
        right = np.multiply(mass, turn, out=turn)
        record.add(totals, right, len(terms))
        mass, spare, other = move(mass, right, table(other, data.n, layer + 2)), other, spare
        record.add_error(mass)
    return program, record.arrays()


def table(buffer: Array, n: int, columns: int) -> Array:
    """The beginning of some memory as an array (n, columns)."""
    return buffer[: n * columns].reshape(n, columns)


class NodeTrainer:
    """Trains the nodes of a program, with arrays that all of them share."""

    def __init__(self, data: TrainingSet, learner: Learner) -> None:
        self.data, self.learner = data, learner
        self.labels = 1 - data.c  # the answers to name: "right", the first of SIGNS, for class 1
        self.signs = np.where(data.c == 1, 1.0, -1.0)
        self.ends: dict[float, Hypothesis] = {value: constant(value, data.n) for value in (-0.5, 0.5)}

    def train_layer(self, mass: Array, totals: Array, seeds: AnyArray, turn: Array) -> list[Term]:
        """The terms of a layer at whose nodes there is this mass (n, nodes); writes P(right) to turn (n, nodes).

        The totals (2, nodes) of the classes may be summed in any order: where that might decide whether a class is
        present, and wherever both are, `train_node` adds them up in the order of the rows.
        """
        absent, present = totals < (1 - ROUNDING) * NEGLIGIBLE, totals > (1 + ROUNDING) * NEGLIGIBLE
        unclear = np.flatnonzero(present.all(axis=0) | ~(absent | present).all(axis=0))
        values = 0.5 * present[1] - 0.5 * present[0]  # (nodes,) P(right) − ½ where at most one class is present
        found = [self.ends.get(value) for value in values.tolist()]
        turn[:] = 0.5 + values
        if len(unclear):
            between = slice(unclear[0], unclear[-1] + 1)
            columns = np.ascontiguousarray(mass[:, between].T)  # (some nodes, n)
            turns = np.ascontiguousarray(turn[:, between].T)
            for node in unclear.tolist():
                i = node - between.start
                found[node], by = self.train_node(columns[i], int(seeds[node]))
                turns[i] = 0.5 + by
            turn[:, between] = turns.T
        return [Term(hypothesis, 1.0, node) for node, hypothesis in enumerate(found) if hypothesis is not None]

    def train_node(self, mass: Array, seed: int) -> tuple[Hypothesis | None, Array | float]:
        """A two-sided learner for the examples at a node, mass (n,), and P(right) − ½ of all rows; None is a fair coin.

        If only one class reaches the node, all of its examples are sent towards the side of their class.
        """
        data = self.data
        totals = np.bincount(data.c, mass, 2)
        there = totals > NEGLIGIBLE
        if not there.all():
            value = 0.5 * float(there[1]) - 0.5 * float(there[0])
            return self.ends.get(value), value
        weight = mass * (0.5 / totals).take(data.c)  # each class weighs ½
        G = (self.signs * weight)[:, None]
        rows = None if mass.all() else np.flatnonzero(mass)
        answer = self.learner.fit(Request(data, PlainPull(G, self.labels, weight), SIGNS, rows=rows, seed=seed))
        goes_right = positive(answer)
        # Taken by numbers: by a mask it would take several times as long, for a processor cannot guess the branches.
        left, right = two_sided(float(weight.take(np.flatnonzero(goes_right)).sum()))
        return turning(answer.hypothesis, left, right), np.array([left, right]).take(goes_right.view(np.int8))


def positive(answer: Answer) -> Mask:
    """Where the answer of one coordinate is positive, (n,); of a tree, the leaves are looked at instead of the rows."""
    compact = answer.compact
    if isinstance(compact, LeafOutputs):
        return (np.asarray(compact.values)[:, 0] > 0).take(compact.engine.host(compact.leaf_of_row))
    return compact[:, 0] > 0


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

    def __init__(self, c: Labels) -> None:
        self.c, self.own = c, np.array([c == 0, c == 1], dtype=np.float64)  # (n,), (2, n)
        self.records: dict[str, list[float]] = {name: [] for name in ("edge", "error", "bound", "learners")}
        self.advantage, self.skipped = 0.0, 0.0

    def add(self, totals: Array, going_right: Array, n_learners: int) -> None:
        """Record the edge and the bound of a layer, from the totals (2, nodes) and what goes right (n, nodes).

        If at every node of layer j at least ½ + γ_j of each class goes to the correct side, the final node of a class
        stochastically dominates a walk of independent steps, and by Hoeffding's inequality at most
        exp(−2 (Σγ_j)² / l) of the class ends on the wrong side or in the middle. Nodes that practically nothing reaches
        are left out of γ_j; the examples that do reach them are added to the bound as errors.
        """
        right = self.own @ going_right  # (2, nodes)
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

    def add_error(self, mass: Array) -> None:
        """Record the error that the random program would have if this layer were its last."""
        zero, one = answers(mass)
        self.records["error"].append(float(np.where(self.c == 1, zero, one).sum()))

    def arrays(self) -> dict[str, AnyArray]:
        """The records as arrays."""
        return {name: np.array(values) for name, values in self.records.items()}
