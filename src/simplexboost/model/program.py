"""Defines MartiBoost's branching program, in which weak hypotheses send each row left or right.

Layer l has the nodes 0 .. l. A row starts at the node of layer 0; the hypothesis of node v sends it left, to node v of
the next layer, or right, to node v + 1. After the last layer its class is 1 if it went right more often than left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from .._util.arrays import AnyArray, Array, Mask
from ..engine import CPU, Engine
from .additive import Term, add_terms
from .hypotheses import Hypothesis, TreeHypothesis


@dataclass(eq=False)
class Program:
    """The branching program of MartiBoost: rows go left or right at random; without a hypothesis, P(right) = ½."""

    # For every node that has a learner, layer by layer: its coordinate is the node, its value P(right) − ½.
    terms: list[Term] = field(default_factory=list)
    layer_ends: list[int] = field(default_factory=list)  # the number of terms after each layer

    @property
    def n_layers(self) -> int:
        return len(self.layer_ends)

    def layers(self) -> Iterator[list[Term]]:
        """Yield the terms of one layer after another."""
        for begin, end in zip([0, *self.layer_ends], self.layer_ends, strict=False):
            yield self.terms[begin:end]

    def turns(self, X: AnyArray, engine: Engine = CPU) -> Iterator[Array]:
        """Yield for each layer l, in order, the probabilities (n, l + 1) that a row goes right at each of its nodes."""
        for layer, terms in enumerate(self.layers()):
            turn = np.full((X.shape[0], layer + 1), 0.5)
            add_terms(terms, X, turn, engine)
            yield turn

    def probabilities(self, X: AnyArray, engine: Engine = CPU) -> Array:
        """Return the probabilities of both classes, (n, 2); paths with as many left as right turns are halved."""
        mass = np.ones((X.shape[0], 1))  # (n, nodes)
        for turn in self.turns(X, engine):
            mass = move(mass, mass * turn, np.empty((len(mass), turn.shape[1] + 1)))
        return np.clip(np.column_stack(answers(mass)), 0.0, 1.0)  # sums of masses may exceed one in the last digit

    def walk(self, X: AnyArray, random: np.random.RandomState, engine: Engine = CPU) -> Mask:
        """Return for every row, (n,), the class (True for 1) after one random path; ties are decided at random."""
        n = X.shape[0]
        at = np.zeros(n, dtype=np.intp)  # the node of every example
        for terms in self.layers():
            at += random.random_sample(n) < chances(terms, X, at, engine)
        return 2 * at + (random.random_sample(n) < 0.5) > self.n_layers


@dataclass(frozen=True, eq=False)
class Turn:
    """A hypothesis with two outputs, P(right) − ½: ``right`` where another hypothesis is positive, else ``left``."""

    hypothesis: Hypothesis
    left: float
    right: float

    def outputs(self, X: AnyArray, engine: Engine = CPU) -> Array:
        return np.where(self.hypothesis.outputs(X, engine) > 0, self.right, self.left)


def chances(terms: list[Term], X: AnyArray, at: AnyArray, engine: Engine = CPU) -> Array:
    """Return the probability (n,) that each row of X goes right at its node ``at`` (n,) of the layer with these terms.

    A tree is evaluated only on the rows at its node: all rows at all nodes would be hundreds of times as many.
    """
    chance = np.full(len(at), 0.5)
    order = np.argsort(at.astype(np.min_scalar_type(at.max(initial=0))), kind="stable")  # fast for short integers
    ends = np.cumsum(np.bincount(at)).tolist()
    for term in terms:
        if (node := term.coordinate or 0) >= len(ends):
            break  # nodes ascend, and nothing is further right
        rows = order[ends[node - 1] if node else 0 : ends[node]]
        if len(rows):
            h = term.hypothesis
            if not isinstance(h, TreeHypothesis):
                outputs = h.outputs(X, engine)[rows, 0]  # it may answer differently if it sees only some rows
            else:
                outputs = h.values[0, 0] if len(h.values) == 1 else h.outputs(X[rows], engine)[:, 0]
            chance[rows] += term.step * outputs
    return chance


def move(mass: Array, right: Array, out: Array) -> Array:
    """Write to ``out`` the node probabilities of the next layer if ``right`` of the ``mass`` (n, nodes) goes right."""
    np.subtract(mass, right, out=out[:, :-1])
    out[:, -1] = 0.0
    out[:, 1:] += right
    return out


def answers(mass: Array) -> tuple[Array, Array]:
    """Return the probabilities of classes 0 and 1, (n,) each, from those of the last nodes; the middle counts half."""
    half = mass.shape[1] // 2
    draw = 0.5 * mass[:, half : len(mass.T) - half].sum(axis=1)  # no column if the number of layers is odd
    return mass[:, :half].sum(axis=1) + draw, mass[:, len(mass.T) - half :].sum(axis=1) + draw
