"""Classes that come: `SimplexBoostClassifier.add_classes`.

A fitted model has probabilities P(k | x, old) of the old classes. By the rule of products,

    P(k | x) = P(k | x, old) · P(old | x)     for an old class k,

so that only P(old | x) and the probabilities of the m new classes have to be learned: a problem of m + 1 classes, in
which all old classes together are one. Its logits are ρ, the log of the sum of exp(logit) over the old classes, which
the fitted model knows, and the logits N (m,) of the new classes. They start from ρ and zeros. First the leaves of old
trees learn them (`boosting.leaf_pass`), then new trees are grown. The first column of every tree, which would move all
old classes alike, is subtracted from the others: the scores of the old classes stay as they are, bit for bit. The
soft-max of a round costs n · (m + 1) in place of n · K.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import column_or_1d

from .._blas import one_blas_thread
from .._parts import check_number, is_auto
from .._telling import telling
from .._typing import AnyArray, Array, Labels, Mask
from .._warn import warn_user
from ..boosting.columns import has_columns, spread_columns, tree_of, unit_vectors, values_of, with_classes, with_columns
from ..boosting.decisions import merged_scores
from ..boosting.hypotheses import TreeHypothesis, sparse_values
from ..boosting.leaf_pass import Newcomers, counted_pass, pass_over, spread_evenly
from ..boosting.loop import boost
from ..boosting.model import AdditiveModel, Term
from ..boosting.run import Run
from ..callbacks import History
from ..codewords.code import Code
from ..data.inputs import check_no_label_is_missing, check_several_labels, plain_labels
from ..data.labels import kind_of_label, label_numbers, of_one_kind
from ..data.order import in_own_order
from ..data.training_set import TrainingSet
from ..data.validation import Checked
from ..engine import CpuEngine, LeafRule
from ..files import check_label_types
from ..optimizers.sketched import MANY_CLASSES, RowObjective
from .changing import change, check_changeable, shares_of

# What "auto" stands for; docs/classes.md has the trials behind these numbers.
ROUNDS = 50
RATE, L2 = 0.2, 0.2
CAREFUL_RATE = 0.1  # if rows of old classes are missing
OLD_TREES = 200  # so many of the old trees learn
BLOCK = 2**22  # logits that are computed at a time


def add_classes(estimator: Any, X: Any, y: Any, sample_weight: Any, n_rounds: Any, learning_rate: Any) -> None:
    """Teach a fitted flagship new classes, in place; see `SimplexBoostClassifier.add_classes`."""
    check_number("n_rounds", n_rounds, int, 0, auto=True)
    check_number("learning_rate", learning_rate, float, 0.0, auto=True, open_low=True)
    check_can_learn(estimator)
    estimator._check_parameters()
    for callback in estimator.callbacks or ():
        callback.check(estimator)
    y, sample_weight = estimator._brought(y), estimator._brought(sample_weight)
    labels = all_labels(estimator.classes_, y)
    checked = estimator._check_rows(estimator._brought(X), y, sample_weight, None, labels, reset=False)
    lesson = Lesson.of(estimator, checked)
    if not lesson.complete and not is_auto(n_rounds) and n_rounds > 0:
        raise ValueError(
            f"n_rounds={n_rounds} grows trees, which needs rows of all old classes; there are none of "
            f"{lesson.without_rows[:5].tolist()}. Give some, or take n_rounds=0, which teaches the leaves of the trees "
            "that are there."
        )
    rounds = (ROUNDS if lesson.complete else 0) if is_auto(n_rounds) else int(n_rounds)
    rate = (RATE if lesson.complete else CAREFUL_RATE) if is_auto(learning_rate) else float(learning_rate)
    model, start = taught(estimator, lesson, rate)
    if rounds:
        fitted = grown(estimator, lesson.after(start), model, rounds, rate)
    else:
        fitted = attributes(estimator, lesson, model)
    change(estimator, fitted)


# ---- what comes -----------------------------------------------------------------------------------------------------


def check_can_learn(estimator: Any) -> None:
    """Raise unless the fitted model can learn new classes."""
    check_changeable(estimator, "add_classes")
    if not has_columns(estimator.model_):
        raise ValueError(
            f"add_classes needs codewords='canonical', where every class has a coordinate of its own, and two classes "
            f"at least; this model has codewords of shape {estimator.model_.Y.shape}."
        )
    if getattr(estimator, "_started", False):
        raise ValueError(
            "add_classes needs whole scores, but this model was fitted with init_score, which it does not contain; "
            "fit a new one instead."
        )


def all_labels(classes: AnyArray, y: Any) -> AnyArray:
    """The labels of the model and of y together, sorted; they must be of one kind."""
    check_several_labels(y)
    y = column_or_1d(plain_labels(y), warn=True)
    check_no_label_is_missing(y)
    assert_all_finite(y, input_name="y")
    y = of_one_kind(y)
    listed: list[Any] = y.tolist()
    kinds = [{kind_of_label(of) for of in set(map(type, some))} for some in (classes.tolist(), listed)]
    if listed and kinds[0] != kinds[1]:
        raise ValueError(
            f"y has labels such as {listed[0]!r}, but the model has classes such as {classes.tolist()[0]!r}; all of "
            "them must be numbers, or all text."
        )
    fresh = np.unique(y[label_numbers(y, classes) < 0])
    same = fresh.astype(classes.dtype) if classes.dtype.kind in "iu" else fresh
    fresh = same if np.array_equal(same, fresh) else fresh  # 7.0 is the class 7 of a model whose classes are integers
    labels = np.sort(np.concatenate([classes, fresh]))
    check_label_types(labels)
    return labels


@dataclass(frozen=True, eq=False)
class Lesson:
    """The rows from which new classes are learned, and the places of old and new ones.

    Attributes
    ----------
    data : the rows as a problem of m + 1 classes, in their own order; class 0 stands for all old ones
    classes : (K,) all labels
    present : (K,) which of them have codewords
    old, new : their numbers among the present classes; (K₀,) and (m,)
    given : (K,) which of them have rows here
    inner : the risk of telling the old classes from each other, which does not change
    """

    data: TrainingSet
    classes: AnyArray
    present: Mask
    old: Labels
    new: Labels
    given: Mask
    inner: float

    @classmethod
    def of(cls, estimator: Any, checked: Checked) -> Lesson:
        """The lesson that checked rows are for a fitted estimator; raise if they have no new class."""
        was = label_numbers(checked.classes, estimator.classes_[estimator.present_]) >= 0  # (K,)
        fresh = checked.present & ~was
        if not fresh.any():
            raise ValueError(
                f"y has no new class; the model knows {checked.classes[checked.present][:5].tolist()} already. To "
                "train on more rows of known classes, use warm_start=True."
            )
        present = was | fresh
        rank = np.cumsum(present) - 1
        number = np.flatnonzero(checked.present)[checked.data.c]  # (n,) classes of the rows
        c = np.where(was, 0, np.cumsum(fresh))[number]
        rest, own = old_logits(estimator, checked.data.table, np.where(c == 0, (np.cumsum(was) - 1)[number], -1))
        m = int(fresh.sum())
        start = np.column_stack([rest, np.zeros((len(rest), m))])
        data, _ = in_own_order(replace(checked.data, c=c, K=m + 1, init_score=start))
        weight, total = checked.data.weight, checked.data.engine.total
        inner = total(np.where(c == 0, weight * (rest - own), 0.0)) / total(weight)
        return cls(data, checked.classes, present, rank[was], rank[fresh], checked.present, inner)

    @property
    def rows(self) -> Newcomers:
        """The rows in the form of `counted_pass`."""
        return Newcomers(self.data.X, self.data.c, self.data.weight, self.start[:, 0], self.m)

    @property
    def start(self) -> Array:
        """The logits (ρ, 0, …, 0) from which the new classes are learned, (n, m + 1)."""
        assert self.data.init_score is not None
        return self.data.init_score

    @property
    def m(self) -> int:
        """The number of new classes."""
        return len(self.new)

    def after(self, start: AnyArray) -> Lesson:
        """The lesson that goes on from other logits, (n, m + 1)."""
        return replace(self, data=replace(self.data, init_score=start.astype(np.float64)))

    @property
    def complete(self) -> bool:
        """Whether every old class has rows."""
        return bool(self.given[self.present].all())

    @property
    def without_rows(self) -> AnyArray:
        """The labels of old classes without rows."""
        return self.classes[self.present & ~self.given]


def old_logits(estimator: Any, table: Any, own: Labels) -> tuple[Array, Array]:
    """ρ (n,) and the logit (n,) of every row's own class, by its number among the present ones; 0 for −1."""
    model, n = estimator.model_, table.shape[0]
    rest, of_own = np.empty(n), np.zeros(n)
    step = max(1, BLOCK // len(model.Y))
    for begin in range(0, n, step):
        rows = slice(begin, begin + step)
        F = model.predictor(table[rows], estimator._engine(n))
        logits = 2.0 * merged_scores(model.scores(F), getattr(estimator, "merged_", None))
        top = logits.max(axis=1)
        rest[rows] = np.log(np.exp(logits - top[:, None]).sum(axis=1)) + top
        known = own[rows] >= 0
        of_own[rows][known] = logits[known, own[rows][known]]
    return rest, of_own


# ---- learning -------------------------------------------------------------------------------------------------------


def taught(estimator: Any, lesson: Lesson, rate: float) -> tuple[AdditiveModel, AnyArray]:
    """The model after a pass over old trees, whose leaves learn the new classes; and the logits (n, m + 1) then."""
    model, start = widened(estimator, lesson), lesson.start.astype(np.float32)
    chosen = spread_evenly(len(model.terms), OLD_TREES)
    trees = [tree_of(model.terms[i]) for i in chosen]
    engine, data = CpuEngine(estimator._engine().n_threads), lesson.data
    usual = estimator.parts().learner.suited_l2(len(lesson.present))
    l2 = L2 if lesson.complete and is_auto(estimator.l2_regularization) else usual
    rule = LeafRule(float(l2), estimator.max_step or np.inf)
    if lesson.complete:
        code = Code(unit_vectors(lesson.m + 1, start))
        rows = RowObjective(estimator.loss_, data.c, data.weight, code, engine).rows
        moves = pass_over(trees, data.X, start, rows, rule, rate, engine)
    else:
        moves = counted_pass(trees, lesson.rows, rule, rate, engine)
    for i, move in zip(chosen, moves, strict=True):
        model.terms[i] = with_columns(model.terms[i], move / model.temperature, new_places(estimator, lesson))
    return model, start


def grown(estimator: Any, lesson: Lesson, model: AdditiveModel, n_rounds: int, rate: float) -> dict[str, Any]:
    """The fitted attributes after so many rounds, whose trees move the scores of the new classes alone."""
    l2 = L2 if is_auto(estimator.l2_regularization) else estimator.l2_regularization
    settled, history = estimator._for_newcomers(lesson.data, n_rounds, rate, l2), History()
    parts = settled.parts()
    parts.check()
    parts.check_memory(lesson.data, n_rounds)
    rng = np.random.default_rng([estimator.seed_ or 0, estimator.n_iter_, 2])
    Y = unit_vectors(lesson.m + 1, model.Y)
    run = Run(lesson.data, estimator.loss_, Y, parts.learner, parts.step, rate, rng)
    parts.check_run(run, n_rounds)
    finish = partial(joined, estimator, lesson, model, history)
    run.snapshot = snapshot_of(estimator, lambda: finish(run))
    try:
        with one_blas_thread(), telling(estimator.verbose):
            boost(run, parts.optimizer, n_rounds, settled._callbacks(history, []))
    finally:
        run.snapshot = None  # it knows the run: neither would be freed before Python looks for cycles
    if run.diverged:
        warn_user(f"{run.stop_reason} The model keeps its new rounds.", ConvergenceWarning)
    return finish(run)


def snapshot_of(estimator: Any, fitted: Callable[[], dict[str, Any]]) -> Callable[[], Any]:
    """A function that returns the estimator as if it had learned what it has so far."""

    def snapshot() -> Any:
        before = {name: value for name, value in vars(estimator).items() if name.endswith("_")}
        copy = estimator._snapshot(before)
        change(copy, fitted())
        return copy

    return snapshot


def joined(estimator: Any, lesson: Lesson, model: AdditiveModel, history: History, run: Run) -> dict[str, Any]:
    """The fitted attributes with the rounds of a run of the m + 1 classes after those of a model."""
    model = AdditiveModel(model.Y, list(model.terms), list(model.round_ends), model.temperature)
    places, K = new_places(estimator, lesson), len(model.Y)
    for begin, end in zip([0, *run.model.round_ends], run.model.round_ends, strict=False):
        model.add_round([new_term(term, places, K, model.temperature) for term in run.model.terms[begin:end]])
    return {
        **attributes(estimator, lesson, model),
        "stop_reason_": run.stop_reason,
        "history_": longer(estimator.history_, history.arrays(run.round), lesson.inner),
    }


def new_term(term: Term, places: Labels, K: int, temperature: float) -> Term:
    """A term of the m + 1 classes as one of K classes, in which the old ones do not move.

    Predictions multiply steps by the temperature, which belongs to the old classes; the new ones are learned with it.
    """
    values = values_of(term)
    dense = values.toarray() if issparse(values) else values
    moved = spread_columns(dense[:, 1:] - dense[:, :1], places, K)
    hypothesis = TreeHypothesis(tree_of(term), sparse_values(moved) if K >= MANY_CLASSES else moved)
    return Term(hypothesis, term.step / temperature)


def widened(estimator: Any, lesson: Lesson) -> AdditiveModel:
    """The model with columns of zeros for the new classes."""
    kept = np.setdiff1d(np.arange(len(estimator.model_.Y) + lesson.m), new_places(estimator, lesson))
    return with_classes(estimator.model_, kept, len(kept) + lesson.m)


def new_places(estimator: Any, lesson: Lesson) -> Labels:
    """The columns of the new classes: in the order of the labels, or after all others if classes were merged."""
    if getattr(estimator, "merged_", None) is None:
        return lesson.new
    return len(estimator.model_.Y) + np.arange(lesson.m)


def attributes(estimator: Any, lesson: Lesson, model: AdditiveModel) -> dict[str, Any]:
    """The fitted attributes that change with the classes."""
    merged: Labels | None = getattr(estimator, "merged_", None)
    return {
        **shares_of(estimator, lambda prior: new_shares(estimator, lesson, prior)),
        "classes_": lesson.classes,
        "present_": lesson.present,
        "model_": model,
        "n_iter_": model.n_rounds,
        "merged_": None if merged is None else np.concatenate([lesson.old[merged], lesson.new]),
    }


def new_shares(estimator: Any, lesson: Lesson, prior: Array) -> Array:
    """The shares (K,) of all classes that the model expects, from those of the old ones before.

    The new classes have their shares in the rows that were given, and the old ones share the rest as they did; rows
    that are missing count as old ones.
    """
    data = lesson.data
    count = np.bincount(data.c, np.rint(data.weight * 2**20), lesson.m + 1) / 2**20  # exact in any order
    if not lesson.complete and estimator.model_.trees:
        count[0] = max(count[0], float(estimator.model_.trees[0].count[0]))
    shares = np.zeros(len(lesson.classes))
    shares[label_numbers(lesson.classes, estimator.classes_) >= 0] = prior * count[0] / count.sum()
    shares[np.flatnonzero(lesson.present)[lesson.new]] = count[1:] / count.sum()
    return shares


def longer(before: dict[str, AnyArray], after: dict[str, AnyArray], inner: float) -> dict[str, AnyArray]:
    """The history with further rounds; their risk is that of all classes on the rows that were given."""
    n = len(before["step"])
    blank = np.zeros(n)  # model files do not hold the seconds
    after = after | {"risk": after["risk"] + inner}
    if n:
        after["seconds"] = after["seconds"] + before.get("seconds", blank)[-1]
    return {name: np.concatenate([before.get(name, blank), values]) for name, values in after.items()}
