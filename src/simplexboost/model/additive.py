"""Defines the additive model F(x) = Σ_t α_t h_t(x), weak hypotheses h_t times steps α_t, with scores U = ½ F Yᵀ (n, K).

Classes can be removed from a fitted model or added to it. With canonical codewords every class has its own column in
the leaf values (L, K), and its scores are a sum over this column alone. So columns can be removed or inserted while the
trees stay unchanged, and the scores of the remaining classes stay the same bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from .._util.arrays import AnyArray, Array, Labels
from .._util.compat import cached
from ..engine import CPU, Candidates, Engine, ForestArrays, PackedForest, RoundBlock, Tree
from .code import FEW, Code, identity, is_view
from .hypotheses import LeafOutputs, LinearHypothesis, PendingTree, TreeHypothesis, sparse_values


@dataclass(frozen=True, eq=False)
class Term:
    """One summand of an additive model: a weak hypothesis h times a step, added to all columns of F or to one only."""

    hypothesis: Any  # a `Hypothesis`
    step: float
    coordinate: int | None = None

    def add_to(self, F: AnyArray, outputs: Array | LeafOutputs) -> None:
        """Add step times h to F (n, d) in place, given the outputs of the hypothesis h on the rows of F."""
        if isinstance(outputs, LeafOutputs):
            outputs.engine.compute.add_leaves(F, outputs.values, self.step, outputs.leaf_of_row)
        elif self.coordinate is None:
            F += self.step * outputs
        else:
            F[:, self.coordinate] += self.step * outputs[:, 0]


@dataclass(eq=False)
class AdditiveModel:
    """The additive model: F is a sum of terms (weak hypothesis times step), and the class scores are U = ½ F Yᵀ.

    Attributes
    ----------
    Y : the coding matrix, (K, d)
    terms : the summands, in the order in which they were added
    round_ends : the number of terms after each round
    temperature : the factor by which predictions multiply all steps; further boosting uses the steps without it.
        With several labels or class targets it may be an array (d,), a factor for every column of F
    """

    Y: Array
    terms: list[Term] = field(default_factory=list)
    round_ends: list[int] = field(default_factory=list)
    temperature: Any = 1.0
    _forest: tuple[Any, PackedForest] | None = field(default=None, init=False, repr=False)

    @cached
    def code(self) -> Code:
        return Code(self.Y)

    @property
    def n_rounds(self) -> int:
        return len(self.round_ends)

    @property
    def trees(self) -> list[Tree]:
        return [term.hypothesis.tree for term in self.terms if isinstance(term.hypothesis, TreeHypothesis)]

    def add_round(self, terms: list[Term]) -> None:
        self.terms.extend(terms)
        self.round_ends.append(len(self.terms))

    def add_block(self, block: RoundBlock, sparse: bool) -> None:
        """Add rounds of one tree each, made by an engine in one call; if ``sparse``, store the leaf values sparsely."""
        for tree, values in block.trees():
            self.terms.append(Term(TreeHypothesis(tree, sparse_values(values) if sparse else values), block.step))
            self.round_ends.append(len(self.terms))

    @property
    def constant(self) -> Array | None:
        """The vector (d,) that the first term adds to every row of F if it is a tree with one leaf; else None."""
        first = self.terms[0].hypothesis if self.terms else None
        if type(first) is not TreeHypothesis or first.tree.n_leaves > 1:
            return None
        return np.asarray(self.terms[0].step * (first.values.toarray() if issparse(first.values) else first.values)[0])

    def materialise(self) -> None:
        """Replace trees that a GPU is still computing by the finished trees."""
        for i, term in enumerate(self.terms):
            if isinstance(term.hypothesis, PendingTree):
                self.terms[i] = replace(term, hypothesis=term.hypothesis.made)

    def first(self, n_rounds: int) -> AdditiveModel:
        """Return a model with only the first ``n_rounds`` rounds."""
        ends = self.round_ends[:n_rounds]
        return AdditiveModel(self.Y, self.terms[: ends[-1] if ends else 0], ends, self.temperature)

    def at(self, temperature: Any) -> AdditiveModel:
        """Return the model with another temperature; the `constant` that the first term adds to F stays the same."""
        if np.array_equal(temperature, self.temperature):
            return self
        terms = list(self.terms)
        if self.constant is not None:
            terms[0] = multiply_outputs(terms[0], self.temperature / np.asarray(temperature))
        return AdditiveModel(self.Y, terms, list(self.round_ends), temperature)

    @property
    def scaled_terms(self) -> list[Term]:
        """The terms, with their steps (or the columns of their leaf values) multiplied by the temperature."""
        one = np.ndim(self.temperature) == 0 and self.temperature == 1.0
        return self.terms if one else [multiply_outputs(term, self.temperature) for term in self.terms]

    @property
    def dtype(self) -> Any:
        """The floating-point type of F, which equals that of the coding matrix."""
        return self.Y.dtype

    def predictor(self, X: AnyArray, engine: Engine = CPU) -> AnyArray:
        """Compute F (n, d) for the rows of X (n, p)."""
        F = np.zeros((X.shape[0], self.Y.shape[1]), dtype=self.dtype)  # (n, d)
        packed = self._packed(X.shape[1], engine)
        if packed is None:
            add_terms(self.scaled_terms, X, F, engine)
        else:
            packed.predict(X, F, engine.compute.n_threads)
        return F

    def finish_on_device(self, what: str, X: AnyArray, out: AnyArray, engine: Engine) -> bool:
        """Write probabilities or predicted classes to ``out`` if a GPU can compute them; return whether this was done.

        ``what`` is "probabilities" or "winners" (predicted class indices); see `engine.cuda.forest.CudaForest.finish`.
        """
        if engine.device.is_host or not self.code.canonical or (what == "probabilities" and self.dtype != np.float32):
            return False
        packed: Any = self._packed(X.shape[1], engine)
        return packed is not None and packed.finish(what, X, len(self.Y), out)

    def _packed(self, n_features: int, engine: Engine) -> PackedForest | None:
        """Return the trees in the engine's form for prediction, which is cached; None unless all terms are trees."""
        kept, key = self._forest, (len(self.terms), type(engine.compute), engine.device)
        if kept is None or kept[0] != key:  # another thread may pack it for another engine meanwhile
            if not self.terms or len(self.trees) < len(self.terms):
                return None
            kept = self._forest = (key, engine.compute.pack(make_forest(self.scaled_terms, n_features, self.dtype)))
        return kept[1]

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__ | {"_forest": None}
        if is_view(self.Y):  # which a pickle would write out, K × K
            state |= {"Y": (len(self.Y), self.Y.dtype)}
            state.pop("code", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if isinstance(self.Y, tuple):
            self.Y = identity(*self.Y)

    def staged_predictor(self, X: AnyArray, engine: Engine = CPU) -> Iterator[AnyArray]:
        """Yield F (n, d) after every round, always in the same array, which is updated in place."""
        F = np.zeros((X.shape[0], self.Y.shape[1]), dtype=self.dtype)  # (n, d)
        terms = self.scaled_terms
        for begin, end in zip([0, *self.round_ends], self.round_ends, strict=False):
            add_terms(terms[begin:end], X, F, engine)
            yield F

    def feature_gains(self, p: int) -> Array:
        """Return each feature's share (p,) in the total gain of all splits; gains are multiplied by the tree's step."""
        gains, most = np.zeros(p), np.finfo(np.float64).max / max(p, 1)
        with np.errstate(over="ignore", invalid="ignore"):  # numbers so large come from files that were made by hand
            for term in self.terms:
                if isinstance(term.hypothesis, TreeHypothesis):
                    tree = term.hypothesis.tree
                    inner = tree.nodes["feature"] >= 0
                    np.add.at(gains, tree.nodes["feature"][inner], term.step * tree.gain[inner])
                elif isinstance(term.hypothesis, LinearHypothesis):
                    gains[term.hypothesis.feature] += term.step * np.linalg.norm(term.hypothesis.slope)
        gains = np.clip(np.nan_to_num(gains), -most, most)  # so that their sum is finite
        return gains / gains.sum() if gains.sum() > 0 else gains

    def scores(self, F: AnyArray) -> Array:
        """Compute the class scores U = ½ F Yᵀ, (n, K), in double precision."""
        return self.code.scores(F)


def multiply_outputs(term: Term, factors: Any) -> Term:
    """Return the term with its step multiplied by a number, or with column j of its leaf values by factors[j]."""
    if np.ndim(factors) == 0:
        return replace(term, step=term.step * float(factors))
    values = term.hypothesis.values
    return with_values(term, values * factors.astype(values.dtype))


def add_terms(terms: list[Term], X: AnyArray, F: AnyArray, engine: Engine = CPU) -> None:
    """Add steps times h(X) of all terms to F, an array (n, d) or `Candidates` (scores of a few classes per row)."""
    if isinstance(F, Candidates):
        for term in terms:
            leaves = engine.compute.apply(term.hypothesis.tree, X)
            engine.compute.add_leaves(F, term.hypothesis.values, term.step, leaves)
        return
    for are_trees, run in groupby(terms, key=lambda term: isinstance(term.hypothesis, TreeHypothesis)):
        if are_trees:
            engine.compute.pack(make_forest(list(run), X.shape[1], F.dtype)).predict(X, F, engine.compute.n_threads)
        else:
            for term in run:
                term.add_to(F, term.hypothesis.outputs(X, engine))


def make_forest(terms: list[Term], n_features: int, dtype: Any) -> ForestArrays:
    """Return the trees, leaf values and steps of the terms as `ForestArrays`, from which an engine predicts."""
    hypotheses = [term.hypothesis for term in terms if isinstance(term.hypothesis, TreeHypothesis)]
    return ForestArrays(
        [h.tree for h in hypotheses],
        [h.values for h in hypotheses],
        np.array([-1 if t.coordinate is None else t.coordinate for t in terms], dtype=np.int32),
        np.array([t.step for t in terms]),
        n_features,
        dtype,
    )


def has_columns(model: AdditiveModel) -> bool:
    """Tell whether every class has its own column in the leaf values: all terms are trees, and Y is the identity."""
    trees = all(isinstance(t.hypothesis, TreeHypothesis) and t.coordinate is None for t in model.terms)
    return model.code.canonical and trees


def without_classes(model: AdditiveModel, kept: Labels) -> AdditiveModel:
    """Return the model with only the classes ``kept``, in this order; their scores stay the same bit for bit.

    If classes have no columns of their own in the leaf values, only rows of the coding matrix are removed.
    """
    if not has_columns(model):
        return AdditiveModel(model.Y[kept], list(model.terms), list(model.round_ends), model.temperature)
    terms = []
    for term in model.terms:
        values = term.hypothesis.values[:, kept]
        if issparse(values):
            values.sort_indices()
        terms.append(with_values(term, values if issparse(values) else np.ascontiguousarray(values)))
    return AdditiveModel(unit_vectors(len(kept), model.Y), terms, list(model.round_ends), model.temperature)


def with_classes(model: AdditiveModel, places: Labels, K: int) -> AdditiveModel:
    """Return the model for K classes: old classes get the ascending indices ``places``, new ones zero scores."""
    terms = [with_values(term, spread_columns(term.hypothesis.values, places, K)) for term in model.terms]
    return AdditiveModel(unit_vectors(K, model.Y), terms, list(model.round_ends), model.temperature)


def spread_columns(values: Any, places: Labels, K: int) -> Any:
    """Return leaf values (L, K) with the columns of ``values`` (L, d) at the indices ``places`` and zeros elsewhere.

    >>> spread_columns(np.array([[1.0, 2.0]]), np.array([0, 2]), 4)
    array([[1., 0., 2., 0.]])
    """
    if issparse(values):
        at = places[values.indices].astype(values.indices.dtype)
        return csr_array((values.data, at, values.indptr), shape=(values.shape[0], K))
    out = np.zeros((len(values), K), dtype=values.dtype)
    out[:, places] = values
    return out


def with_columns(term: Term, columns: AnyArray, places: Labels) -> Term:
    """Return the term with leaf values changed so that step times their columns ``places`` is ``columns``."""
    values = term.hypothesis.values
    dense = values.toarray() if issparse(values) else values.copy()
    dense[:, places] = columns / term.step
    return with_values(term, sparse_values(dense) if issparse(values) else dense)


def with_values(term: Term, values: Any) -> Term:
    return replace(term, hypothesis=TreeHypothesis(term.hypothesis.tree, values))


def unit_vectors(K: int, like: AnyArray) -> AnyArray:
    """Return the identity (K, K) as coding matrix, with the data type of ``like``; a read-only view for large K."""
    return np.eye(K, dtype=like.dtype) if K <= FEW else identity(K, like.dtype)
