"""The branching program of MartiBoost: weak learners are not added up, each sends examples left or right.

Layer l has nodes 0 .. l. An example enters at the top; the learner of node v sends it left, to node v of the next
layer, or right, to node v + 1. After L layers its class is 1 if it went right more often than left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from .._typing import AnyArray, Array, Mask
from ..engine import CPU, Engine
from .hypotheses import Hypothesis
from .model import Term, add_terms


@dataclass(eq=False)
class Program:
    """A branching program whose turns are random.

    Attributes
    ----------
    terms : one for every node that has a learner, layer by layer; its coordinate is the node, its value P(right) − ½.
        A node without a term is a fair coin
    layer_ends : the number of terms after each layer
    """

    terms: list[Term] = field(default_factory=list)
    layer_ends: list[int] = field(default_factory=list)

    @property
    def n_layers(self) -> int:
        """The number of layers, L."""
        return len(self.layer_ends)

    def add_layer(self, terms: list[Term]) -> None:
        """Append a layer."""
        self.terms.extend(terms)
        self.layer_ends.append(len(self.terms))

    def layers(self) -> Iterator[list[Term]]:
        """The terms of one layer after another."""
        for begin, end in zip([0, *self.layer_ends], self.layer_ends, strict=False):
            yield self.terms[begin:end]

    def turns(self, X: AnyArray, engine: Engine = CPU) -> Iterator[Array]:
        """The probabilities of going right at the nodes of one layer after another, (n, l + 1)."""
        for layer, terms in enumerate(self.layers()):
            turn = np.full((X.shape[0], layer + 1), 0.5)
            add_terms(terms, X, turn, engine)
            yield turn

    def probabilities(self, X: AnyArray, engine: Engine = CPU) -> Array:
        """The probabilities of the answers 0 and 1, (n, 2); a draw counts half for each."""
        mass = np.ones((X.shape[0], 1))  # (n, nodes)
        for turn in self.turns(X, engine):
            mass = move(mass, turn)
        return np.clip(np.column_stack(answers(mass)), 0.0, 1.0)  # sums of masses may exceed one in the last digit

    def walk(self, X: AnyArray, random: np.random.RandomState, engine: Engine = CPU) -> Mask:
        """Whether one random path per example answers 1, (n,); a draw at the end is decided by a fair coin."""
        n = X.shape[0]
        at = np.zeros(n, dtype=np.intp)  # the node of every example
        for turn in self.turns(X, engine):
            at += random.random_sample(n) < turn[np.arange(n), at]
        return 2 * at + (random.random_sample(n) < 0.5) > self.n_layers


@dataclass(frozen=True, eq=False)
class Turn:
    """One of two numbers P(right) − ½, chosen by the sign of another hypothesis's answer."""

    hypothesis: Hypothesis
    left: float
    right: float

    def outputs(self, X: AnyArray, engine: Engine = CPU) -> Array:
        """P(right) − ½, (n, 1)."""
        return np.where(self.hypothesis.outputs(X, engine) > 0, self.right, self.left)


def move(mass: Array, turn: Array) -> Array:
    """One layer further: mass (n, nodes) and probabilities of going right → mass (n, nodes + 1)."""
    right = mass * turn
    out = np.zeros((len(mass), mass.shape[1] + 1))
    np.subtract(mass, right, out=out[:, :-1])
    out[:, 1:] += right
    return out


def answers(mass: Array) -> tuple[Array, Array]:
    """The mass (n,) that ends left and right of the middle; what ends in the middle counts half for each side."""
    half = mass.shape[1] // 2
    draw = 0.5 * mass[:, half : len(mass.T) - half].sum(axis=1)  # no column if the number of layers is odd
    return mass[:, :half].sum(axis=1) + draw, mass[:, len(mass.T) - half :].sum(axis=1) + draw
