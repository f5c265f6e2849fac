"""Classes of a fitted booster that are added, dropped or merged without a fit from scratch.

To add classes, let P(k | x, old) be the fitted model's probabilities of the old classes. By the product rule,

    P(k | x) = P(k | x, old) · P(old | x)     for an old class k,

so only P(old | x) and the probabilities of the m new classes are learned: a problem of m + 1 classes, in which the old
ones together are one, with the log-sum-exp ρ of their logits as its logit. The new logits (m,) start from zero. First
the leaves of the old trees learn them (`model.leaf_pass`), then new trees are grown. The first column of every tree,
which would move all old classes alike, is subtracted from the others, so that the scores of the old classes stay the
same, bit for bit. The soft-max of a round costs n · (m + 1) in place of n · K.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .._util.arrays import AnyArray, Array, Labels, Mask
from .._util.messages import show_progress, warn_user
from .._util.params import check_number, is_auto
from .._util.runtime import one_blas_thread
from ..boosting import History
from ..boosting.decisions import merge_scores
from ..boosting.loop import boost
from ..engine import LeafRule, cpu_engine
from ..model.additive import (
    AdditiveModel,
    Term,
    has_columns,
    spread_columns,
    unit_vectors,
    with_classes,
    with_columns,
    without_classes,
)
from ..model.code import Code
from ..model.hypotheses import TreeHypothesis, sparse_values
from ..model.leaf_pass import Newcomers, counted_pass, pass_over, spread_evenly
from ..parts.optimizers.run import Run
from ..parts.optimizers.sketched import MANY_CLASSES, RowObjective
from ..persist import check_label_types
from ..tables.inputs import check_no_label_is_missing, check_several_labels, plain_labels
from ..tables.labels import as_listed, class_numbers, kind_of_label, label_numbers, listed_classes, of_one_kind
from ..tables.order import in_own_order
from ..tables.problem import OneClass
from ..tables.training_set import TrainingSet
from ..tables.validation import Checked
from .base_classifier import transaction
from .eval_sets import EVAL_ATTRIBUTES


class ChangesClasses:
    """Gives a booster whose probabilities are the soft-max of its scores the methods that take classes away."""

    def drop_classes(self, classes: Any) -> Self:
        """Take classes away from the fitted model; the others keep their scores, bit for bit.

        The probabilities of a row are divided among the classes that are left, each in proportion to what it had.

        Parameters
        ----------
        classes : label or list of labels
            The classes that go. At least two classes that had training examples must be left.

        Returns
        -------
        self : object
            The classifier, which is changed in place; after an error it is as it was.

        Examples
        --------
        >>> import simplexboost as sb
        >>> from sklearn.datasets import load_iris
        >>> iris = load_iris()
        >>> clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0)
        >>> clf = clf.fit(iris.data, iris.target_names[iris.target])
        >>> clf.drop_classes("setosa").classes_
        array(['versicolor', 'virginica'], dtype='<U10')
        """
        check_changeable(self, "drop_classes")
        with transaction(self) as draft:
            gone = class_numbers(classes, draft.classes_)
            change(draft, without(draft, gone))
        return self

    def merge_classes(self, groups: Any) -> Self:
        """Let several classes of the fitted model count as one, whose probability is the sum of theirs.

        The model keeps the scores of all of them. The score of a merged class is ½ log Σ exp(2U) over its members,
        which the soft-max turns into the sum of their probabilities. So it is no sum over trees any more, and what
        needs such a sum is refused: explanations by class, and a fit that goes on.

        Parameters
        ----------
        groups : dict
            ``{label: [labels of classes that become one]}``. The new label may be that of a member; a group of one
            class renames it.

        Returns
        -------
        self : object
            The classifier, which is changed in place; after an error it is as it was.

        Examples
        --------
        >>> import simplexboost as sb
        >>> from sklearn.datasets import load_iris
        >>> iris = load_iris()
        >>> clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0)
        >>> clf = clf.fit(iris.data, iris.target_names[iris.target])
        >>> P = clf.predict_proba(iris.data)
        >>> clf.merge_classes({"other": ["versicolor", "virginica"]}).classes_
        array(['other', 'setosa'], dtype='<U6')
        >>> bool((clf.predict_proba(iris.data)[:, 0] == P[:, 1] + P[:, 2]).all())
        True
        """
        check_changeable(self, "merge_classes")
        with transaction(self) as draft:
            change(draft, regrouped(draft, check_groups(groups, draft.classes_)))
        return self


def check_changeable(estimator: Any, method: str) -> None:
    """Raise unless the estimator is fitted and its probabilities are the soft-max of one score per class."""
    check_is_fitted(estimator)
    estimator._problem.check_one_class(
        f"{method} changes classes of which one is right; this model was fitted to several {{several}} per row."
    )
    for structure, attribute in (("an order", "class_order_"), ("a tree", "hierarchy_")):
        if getattr(estimator, attribute, None) is not None:
            raise ValueError(
                f"{method} would leave {structure} of classes that are not the model's; fit a new model to the wanted "
                "classes."
            )
    if not estimator.loss_.likelihood:
        raise ValueError(
            f"{method} needs probabilities that are the soft-max of the scores, as loss='logistic' without costs gives "
            f"them; this model has loss={estimator.loss_!r}."
        )


def change(estimator: Any, fitted: dict[str, Any]) -> None:
    """Let these be fitted attributes; what rows have shown of the classes before is removed."""
    for name in EVAL_ATTRIBUTES:
        estimator.__dict__.pop(name, None)
    estimator.__dict__.update(fitted, set_scores_=None)
    if estimator.merged_ is None:
        del estimator.merged_


def class_of_codeword(estimator: Any) -> Labels:
    """The number in ``classes_`` of the class that each codeword belongs to, (K',)."""
    present = np.flatnonzero(estimator.present_)
    merged: Labels | None = getattr(estimator, "merged_", None)
    return present if merged is None else present[merged]


def recoded(model: AdditiveModel, kept: Labels, owner: Labels, present: AnyArray) -> dict[str, Any]:
    """``model_`` with some of its codewords, and ``merged_``: which class each belongs to, by its number in ``owner``.

    Where each of them has a class of its own, they follow the order of the classes, and ``merged_`` is None.
    """
    if len(np.unique(owner)) == len(owner):
        return {"model_": without_classes(model, kept[np.argsort(owner)]), "merged_": None}
    whole = len(kept) == len(model.Y)
    ranks = (np.cumsum(present) - 1)[owner]
    return {"model_": model if whole else without_classes(model, kept), "merged_": ranks}


def shares_of(estimator: Any, after: Callable[[Array], Array]) -> dict[str, Any]:
    """The shares of the classes in training, from those before; models of several labels have none."""
    known: Array | None = getattr(estimator, "class_prior_", None)
    return {} if known is None else {"class_prior_": after(known)}


# ---- classes that go ------------------------------------------------------------------------------------------------


def as_classes(classes: AnyArray, present: Mask) -> dict[str, Any]:
    """Return the fitted attributes that hold the classes (K,) and which of them are trained on (K,)."""
    return {"classes_": classes, "present_": present, "_problem": OneClass(classes, present)}


def without(estimator: Any, gone: Labels) -> dict[str, Any]:
    """The fitted attributes without some classes, given by their numbers."""
    stays = ~np.isin(np.arange(len(estimator.classes_)), gone)
    present = estimator.present_[stays]
    if present.sum() < 2:
        raise ValueError(
            f"drop_classes leaves {estimator.classes_[stays & estimator.present_].tolist()}; at least two classes that "
            "had training examples must be left."
        )
    owner = class_of_codeword(estimator)
    kept = np.flatnonzero(stays[owner])
    ranks = np.cumsum(stays) - 1
    return {
        **shares_of(estimator, lambda prior: prior[stays] / prior[stays].sum()),
        **as_classes(estimator.classes_[stays], present),
        **recoded(estimator.model_, kept, ranks[owner[kept]], present),
    }


# ---- classes that become one ----------------------------------------------------------------------------------------


def check_groups(groups: Any, classes: AnyArray) -> list[Any]:
    """The new label of every class (K,), from a dict of new labels and the labels of their members."""
    if not isinstance(groups, Mapping) or not groups:
        raise TypeError(f"groups={groups!r} must be a dict {{label: [labels of classes that become one]}}.")
    labels = listed_classes(classes)
    after = list(labels)
    taken: set[int] = set()
    for label, members in groups.items():
        numbers = set(class_numbers(members, classes, f"groups[{label!r}]").tolist())
        if numbers & taken:
            raise ValueError(f"groups has {labels[min(numbers & taken)]!r} twice; a class can be in one group only.")
        taken |= numbers
        for k in numbers:
            after[k] = new_label(label, classes)
    for label in groups:
        if (same := as_listed(label, classes)) in labels and labels.index(same) not in taken:
            raise ValueError(f"groups has the new label {label!r}, which is that of a class outside of its group.")
    return after


def new_label(label: Any, classes: AnyArray) -> Any:
    """A new label as it stands beside the classes: 7.0 is the class 7 of a model whose classes are integers."""
    label = as_listed(label, classes)
    label = label.item() if isinstance(label, np.generic) and classes.dtype.kind not in "Mm" else label
    if label != label or label is None:
        raise ValueError(f"groups has the new label {label!r}, which means that it is missing; give a number or text.")
    whole = isinstance(label, float) and label.is_integer() and classes.dtype.kind in "iu"
    return int(label) if whole else label


def new_labels(after: list[Any], classes: AnyArray) -> AnyArray:
    """Different labels, sorted; they must be of the kind that the classes have."""
    kinds = {kind_of_label(type(label)) for label in after} | {kind_of_label(type(listed_classes(classes)[0]))}
    if len(kinds) > 1:
        few = listed_classes(classes[:3])
        raise ValueError(f"groups gives labels of the kinds {sorted(kinds)}; all must be like {few}.")
    listed = np.array(after, dtype=object if classes.dtype == object else None)
    if classes.dtype.kind in "iu" and listed.dtype.kind not in "iu" and all(isinstance(label, int) for label in after):
        raise ValueError(f"groups has the new label {max(after, key=abs)}, which has more than 64 bits; use text.")
    found = np.unique(listed)
    check_label_types(found)
    return found


def regrouped(estimator: Any, after: list[Any]) -> dict[str, Any]:
    """The fitted attributes if every class gets the label ``after`` (K,); classes with the same label become one."""
    labels = new_labels(after, estimator.classes_)
    number = np.searchsorted(labels, np.array(after, dtype=labels.dtype))  # (K,)
    present = np.zeros(len(labels), dtype=bool)
    present[number[estimator.present_]] = True
    if present.sum() < 2:
        raise ValueError("merge_classes leaves one class that had training examples; at least two must be left.")
    owner = number[class_of_codeword(estimator)]
    model = recoded(estimator.model_, np.arange(len(owner)), owner, present)
    prior = shares_of(estimator, lambda prior: np.bincount(number, prior, len(labels)).astype(np.float64))
    return {**as_classes(labels, present), **model, **prior}


# ---- classes that are added -----------------------------------------------------------------------------------------

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
    learner = estimator.parts().learner
    checked = estimator._check_rows(estimator._brought(X), y, sample_weight, None, labels, learner, reset=False)
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
        weight, total = checked.data.weight, checked.data.engine.rows.total
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
        logits = 2.0 * merge_scores(model.scores(F), getattr(estimator, "merged_", None))
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
    trees = [model.terms[i].hypothesis.tree for i in chosen]
    engine, data = cpu_engine(estimator._engine().compute.n_threads), lesson.data
    usual = estimator.parts().learner.l2_among(len(lesson.present))
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
    plan, history = estimator._plan_for_new_classes(lesson.data, n_rounds, rate, l2), History()
    plan.check(lesson.data)
    parts = plan.parts
    rng = np.random.default_rng([estimator.seed_ or 0, estimator.n_iter_, 2])
    Y = unit_vectors(lesson.m + 1, model.Y)
    run = Run(lesson.data, estimator.loss_, Y, parts.learner, parts.optimizer, parts.step, rate, rng)
    run.memory = parts.optimizer.memory(lesson.data, run.learner, Y.shape[1], n_rounds)
    finish = partial(joined, estimator, lesson, model, history)
    run.snapshot = snapshot_of(estimator, lambda: finish(run))
    try:
        with one_blas_thread(), show_progress(estimator.verbose):
            boost(run, n_rounds, estimator._callbacks(history, []))
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
    values = term.hypothesis.values
    dense = values.toarray() if issparse(values) else values
    moved = spread_columns(dense[:, 1:] - dense[:, :1], places, K)
    hypothesis = TreeHypothesis(term.hypothesis.tree, sparse_values(moved) if K >= MANY_CLASSES else moved)
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
        **as_classes(lesson.classes, lesson.present),
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
