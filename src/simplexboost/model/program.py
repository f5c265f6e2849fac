"""Defines MartiBoost's branching program, in which each weak hypothesis sends examples left or right.

Layer l has nodes 0 .. l. An example enters at the top; the hypothesis of node v sends it left, to node v of the next
layer, or right, to node v + 1. After L layers its class is 1 if it went right more often than left.
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
    """A branching program whose turns are random; a node without a term is a fair coin."""

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
        """Yield the probabilities of going right at the nodes of one layer after another, (n, l + 1)."""
        for layer, terms in enumerate(self.layers()):
            turn = np.full((X.shape[0], layer + 1), 0.5)
            add_terms(terms, X, turn, engine)
            yield turn

    def probabilities(self, X: AnyArray, engine: Engine = CPU) -> Array:
        """Return the probabilities of the answers 0 and 1, (n, 2); a draw counts half for each."""
        mass = np.ones((X.shape[0], 1))  # (n, nodes)
        for turn in self.turns(X, engine):
            mass = move(mass, mass * turn, np.empty((len(mass), turn.shape[1] + 1)))
        return np.clip(np.column_stack(answers(mass)), 0.0, 1.0)  # sums of masses may exceed one in the last digit

    def walk(self, X: AnyArray, random: np.random.RandomState, engine: Engine = CPU) -> Mask:
        """Tell whether one random path per example answers 1, (n,); a fair coin decides a draw."""
        n = X.shape[0]
        at = np.zeros(n, dtype=np.intp)  # the node of every example
        for terms in self.layers():
            at += random.random_sample(n) < chances(terms, X, at, engine)
        return 2 * at + (random.random_sample(n) < 0.5) > self.n_layers


@dataclass(frozen=True, eq=False)
class Turn:
    """One of two numbers P(right) − ½, chosen by the sign of another hypothesis's answer."""

    hypothesis: Hypothesis
    left: float
    right: float

    def outputs(self, X: AnyArray, engine: Engine = CPU) -> Array:
        return np.where(self.hypothesis.outputs(X, engine) > 0, self.right, self.left)


def chances(terms: list[Term], X: AnyArray, at: AnyArray, engine: Engine = CPU) -> Array:
    """Return the probabilities of going right of examples at some nodes (n,) of a layer with these terms, (n,).

    A tree only sees the examples at its node: all examples at all nodes would be hundreds of times as many.
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
    """Move the mass (n, nodes) to the next layer, out (n, nodes + 1), from what goes right."""
    np.subtract(mass, right, out=out[:, :-1])
    out[:, -1] = 0.0
    out[:, 1:] += right
    return out


def answers(mass: Array) -> tuple[Array, Array]:
    """Return the mass (n,) that ends left and right of the middle; what ends in the middle counts half for each."""
    half = mass.shape[1] // 2
    draw = 0.5 * mass[:, half : len(mass.T) - half].sum(axis=1)  # no column if the number of layers is odd
    return mass[:, :half].sum(axis=1) + draw, mass[:, len(mass.T) - half :].sum(axis=1) + draw
