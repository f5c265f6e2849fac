"""Adds, drops and merges classes of a fitted booster without a fit from scratch; docs/classes.md says how.

The m new classes are learned in a problem of m + 1 classes, whose class 0 stands for all old classes. The logit of
class 0 is ρ, the log-sum-exp of the logits of the old classes; the logits of the new classes start from zero. The first
column of leaf values, which would move all old classes alike, is subtracted from the other columns in every tree. So
the scores of the old classes stay the same, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .._util.arrays import AnyArray, Array, Labels, Mask
from .._util.docstrings import described
from .._util.messages import show_progress
from .._util.params import check_number, is_auto
from ..boosting import History
from ..boosting.decisions import merge_scores
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
from ..persist.saving import check_label_types
from ..tables.inputs import check_no_label_is_missing, check_several_labels, plain_labels
from ..tables.labels import as_listed, class_numbers, kind_of_label, label_numbers, listed_classes, of_one_kind
from ..tables.order import sort_by_content
from ..tables.problem import OneClass
from ..tables.training_set import TrainingSet
from ..tables.validation import Checked
from .booster import boost_run
from .eval_sets import EVAL_ATTRIBUTES


@described
@described
def add_classes(
    clf: Any, X: Any, y: Any, sample_weight: Any = None, *, n_rounds: Any = "auto", learning_rate: Any = "auto"
) -> Any:
    """Return a copy of a fitted `SimplexBoostClassifier` that has learned new classes.

    The scores of the old classes stay as they are, bit for bit; only the new classes get new scores. The model must
    have canonical codewords and the logistic loss without costs.

    Parameters
    ----------
    X : array, data frame or sparse matrix of shape (n, p)
        Rows of the new classes and, if available, of the old classes, with the columns of the fit. Classes should be as
        frequent as they will be in new data; sample weights can make them so.
    y : array of shape (n,)
        The labels of the rows. Labels without training examples in the model are the new classes.
    n_rounds : int or "auto", default="auto"
        The number of new trees, which are grown after the leaves of old trees have learned the new classes. 0 grows
        none, which keeps the size of the model. "auto" is 50, but 0 if an old class has no rows, because new trees
        could then not tell the new classes from it. The counts of training rows that old leaves store then replace the
        missing rows.
    learning_rate : float or "auto", default="auto"
        The factor of every step. "auto" is 0.2, but 0.1 if an old class has no rows.

    Returns
    -------
    fitted classifier
        The model with the new classes; ``clf`` does not change.

    Examples
    --------
    >>> import simplexboost as sb
    >>> digits = sb.datasets.load("digits")
    >>> X, y, old = digits.X_train, digits.y_train, digits.y_train < 8
    >>> clf = sb.SimplexBoostClassifier(n_estimators=100, random_state=0).fit(X[old], y[old])
    >>> more = add_classes(clf, X, y)
    >>> more.classes_
    array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    >>> bool((more.class_scores(digits.X_test)[:, :8] == clf.class_scores(digits.X_test)).all())
    True
    """
    check_number("n_rounds", n_rounds, int, 0, auto=True)
    check_number("learning_rate", learning_rate, float, 0.0, auto=True, open_low=True)
    check_can_learn(clf)
    clf = copy_estimator(clf)
    clf._check_parameters()
    for callback in clf.callbacks or ():
        callback.check(clf)
    y, sample_weight = clf._to_host(y), clf._to_host(sample_weight)
    labels = all_labels(clf.classes_, y)
    checked = clf._check_rows(clf._to_host(X), y, sample_weight, None, clf.parts().learner, labels)
    lesson = Lesson.of(clf, checked)
    if not lesson.complete and not is_auto(n_rounds) and n_rounds > 0:
        without_rows = lesson.classes[lesson.present & ~lesson.given]
        raise ValueError(
            f"n_rounds={n_rounds} grows trees, which needs rows of all old classes; there are none of "
            f"{without_rows[:5].tolist()}. Give some, or take n_rounds=0, which teaches the leaves of the trees "
            "that are there."
        )
    rounds = (ROUNDS if lesson.complete else 0) if is_auto(n_rounds) else int(n_rounds)
    rate = (RATE if lesson.complete else CAREFUL_RATE) if is_auto(learning_rate) else float(learning_rate)
    model, start = teach_leaves(clf, lesson, rate)
    if rounds:
        lesson = replace(lesson, data=replace(lesson.data, init_score=start.astype(np.float64)))
        fitted = grow_rounds(clf, lesson, model, rounds, rate)
    else:
        fitted = class_attributes(clf, lesson, model)
    return set_attributes(clf, fitted)


@described
@described
def drop_classes(clf: Any, classes: Any) -> Any:
    """Return a copy of a fitted booster without some classes; the remaining classes keep their scores, bit for bit.

    In every row, the probabilities of the remaining classes are divided by their sum.

    Parameters
    ----------
    classes : label or list of labels
        The classes to drop. At least two classes that had training examples must remain.

    Returns
    -------
    fitted classifier
        The model without the classes; ``clf`` does not change.

    Examples
    --------
    >>> drop_classes(clf, 0).classes_
    array([1, 2])
    """
    check_changeable(clf, "drop_classes")
    stays = ~np.isin(np.arange(len(clf.classes_)), class_numbers(classes, clf.classes_))
    present = clf._present[stays]
    if present.sum() < 2:
        raise ValueError(
            f"drop_classes leaves {clf.classes_[stays & clf._present].tolist()}; at least two classes that had "
            "training examples must be left."
        )
    owner = class_of_codeword(clf)
    kept = np.flatnonzero(stays[owner])
    ranks = np.cumsum(stays) - 1
    fitted = {
        **change_prior(clf, lambda prior: prior[stays] / prior[stays].sum()),
        **as_classes(clf.classes_[stays], present),
        **recode(clf.model_, kept, ranks[owner[kept]], present),
    }
    return set_attributes(copy_estimator(clf), fitted)


@described
@described
def merge_classes(clf: Any, groups: Any) -> Any:
    """Return a copy of a fitted booster in which several classes count as one, with the sum of their probabilities.

    The model keeps the scores of all member classes. The score of a merged class is ½ log Σ exp(2U) over its members,
    which the soft-max turns into the sum of their probabilities. This score is no sum over trees, so explanations by
    class and a warm start are refused.

    Parameters
    ----------
    groups : dict
        ``{label: [labels of classes that become one]}``. The new label may be that of a member; a group of a single
        class renames that class.

    Returns
    -------
    fitted classifier
        The model with the merged classes; ``clf`` does not change.

    Examples
    --------
    >>> merged = merge_classes(clf, {7: [1, 2]})
    >>> merged.classes_
    array([0, 7])
    >>> P = clf.predict_proba(X)
    >>> bool((merged.predict_proba(X)[:, 1] == P[:, 1] + P[:, 2]).all())
    True
    """
    check_changeable(clf, "merge_classes")
    after = check_groups(groups, clf.classes_)
    labels = new_labels(after, clf.classes_)
    number = np.searchsorted(labels, np.array(after, dtype=labels.dtype))  # (K,)
    present = np.zeros(len(labels), dtype=bool)
    present[number[clf._present]] = True
    if present.sum() < 2:
        raise ValueError("merge_classes leaves one class that had training examples; at least two must be left.")
    owner = number[class_of_codeword(clf)]
    fitted = {
        **change_prior(clf, lambda prior: np.bincount(number, prior, len(labels)).astype(np.float64)),
        **as_classes(labels, present),
        **recode(clf.model_, np.arange(len(owner)), owner, present),
    }
    return set_attributes(copy_estimator(clf), fitted)


@described
@described
def keep_rounds(clf: Any, n_rounds: int) -> Any:
    """Return a copy of a fitted booster that keeps its first ``n_rounds`` rounds only.

    Parameters
    ----------
    n_rounds : int
        The number of rounds to keep, from 1 to ``clf.n_iter_``.

    Returns
    -------
    fitted classifier
        The shorter model, which predicts as ``clf`` did after these rounds; ``clf`` does not change.

    Examples
    --------
    >>> short = keep_rounds(clf, 5)
    >>> short.n_iter_, clf.n_iter_
    (5, 20)
    """
    check_is_fitted(clf)
    check_number("n_rounds", n_rounds, int, 1, clf.n_iter_)
    clf, n = copy_estimator(clf), int(n_rounds)
    clf.model_, clf.n_iter_, clf.set_scores_ = clf.model_.first(n), n, None  # the scores are those of all rounds
    clf.history_ = {name: values[:n] for name, values in clf.history_.items()}
    return clf


# ---- what they share ------------------------------------------------------------------------------------------------


def copy_estimator(clf: Any) -> Any:
    """Return a shallow copy of an estimator, with its parameters and fitted attributes."""
    copy = object.__new__(type(clf))
    copy.__dict__.update(vars(clf))
    return copy


def check_changeable(estimator: Any, function: str) -> None:
    """Raise unless a fitted model's probabilities are a soft-max of class scores; refuse ordered classes and trees."""
    check_is_fitted(estimator)
    estimator._problem.check_one_class(
        f"{function} changes classes of which one is right; this model was fitted to several {{several}} per row."
    )
    for structure, attribute in (("an order", "class_order_"), ("a tree", "hierarchy_")):
        if getattr(estimator, attribute) is not None:
            raise ValueError(
                f"{function} would leave {structure} of classes that are not the model's; fit a new model to the "
                "wanted classes."
            )
    if not estimator.loss_.likelihood:
        raise ValueError(
            f"{function} needs probabilities that are the soft-max of the scores, as loss='logistic' without costs "
            f"gives them; this model has loss={estimator.loss_!r}."
        )


def set_attributes(estimator: Any, fitted: dict[str, Any]) -> Any:
    """Set fitted attributes, reset to None those that describe evaluated rows, and return the estimator."""
    estimator.__dict__.update(fitted | dict.fromkeys(EVAL_ATTRIBUTES), set_scores_=None)
    return estimator


def class_of_codeword(estimator: Any) -> Labels:
    """Return the class index, a position in ``classes_``, of every codeword, (number of codewords,)."""
    present = np.flatnonzero(estimator._present)
    merged: Labels | None = estimator._merged
    return present if merged is None else present[merged]


def recode(model: AdditiveModel, kept: Labels, owner: Labels, present: AnyArray) -> dict[str, Any]:
    """Return the attributes ``model_``, with the codewords ``kept`` only, and ``_merged``, the class of each codeword.

    ``owner`` has the class index of each kept codeword. If all are distinct, no class is merged: ``_merged`` is None,
    and the codewords are sorted by class.
    """
    if len(np.unique(owner)) == len(owner):
        return {"model_": without_classes(model, kept[np.argsort(owner)]), "_merged": None}
    whole = len(kept) == len(model.Y)
    ranks = (np.cumsum(present) - 1)[owner]
    return {"model_": model if whole else without_classes(model, kept), "_merged": ranks}


def change_prior(estimator: Any, after: Callable[[Array], Array]) -> dict[str, Any]:
    """Return a dict with ``class_prior_``, changed by the function ``after``; empty if the attribute is None."""
    known: Array | None = estimator.class_prior_
    return {} if known is None else {"class_prior_": after(known)}


def as_classes(classes: AnyArray, present: Mask) -> dict[str, Any]:
    """Return the fitted attributes that hold the class labels (K,) and the mask ``present`` (K,) of trained classes."""
    return {"classes_": classes, "_present": present, "_problem": OneClass(classes, present)}


# ---- new labels ------------------------------------------------------------------------------------------------------


def check_groups(groups: Any, classes: AnyArray) -> list[Any]:
    """Return the new label of every class, as ``groups`` of `merge_classes` says; raise if ``groups`` is invalid."""
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
    """Return a new label in the type of the classes: 7.0 is 7 if they are integers; raise if it means missing."""
    label = as_listed(label, classes)
    label = label.item() if isinstance(label, np.generic) and classes.dtype.kind not in "Mm" else label
    if label != label or label is None:
        raise ValueError(f"groups has the new label {label!r}, which means that it is missing; give a number or text.")
    whole = isinstance(label, float) and label.is_integer() and classes.dtype.kind in "iu"
    return int(label) if whole else label


def new_labels(after: list[Any], classes: AnyArray) -> AnyArray:
    """Return the distinct labels in ``after``, sorted; raise unless all are numbers, text, … as the classes are."""
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


# ---- classes that are added -----------------------------------------------------------------------------------------

# What "auto" stands for; docs/classes.md has the trials behind these numbers.
ROUNDS = 50
RATE, L2 = 0.2, 0.2
CAREFUL_RATE = 0.1  # if rows of old classes are missing
OLD_TREES = 200  # so many of the old trees learn
BLOCK = 2**22  # logits that are computed at a time


def check_can_learn(estimator: Any) -> None:
    """Raise unless `add_classes` can extend the model: canonical codewords, logistic loss, no ``init_score``."""
    check_changeable(estimator, "add_classes")
    if not hasattr(estimator, "_plan_for_new_classes"):
        raise TypeError(f"add_classes takes a SimplexBoostClassifier, not a {type(estimator).__name__}; fit a new one.")
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
    """Return the distinct labels of the model and of y, sorted; raise unless all are numbers, or all are text."""
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
    """A training set for new classes, in which one class stands for all old ones, with old and new class indices."""

    data: TrainingSet  # the rows as a problem of m + 1 classes, in their own order; class 0 stands for all old ones
    classes: AnyArray  # (K,) all labels
    present: Mask  # (K,) which of them have codewords
    old: Labels  # (K₀,) the numbers of the old ones among the present classes
    new: Labels  # (m,) those of the new ones
    given: Mask  # (K,) which classes have rows
    inner: float  # the risk of telling the old classes from each other, which does not change

    @classmethod
    def of(cls, estimator: Any, checked: Checked) -> Lesson:
        """Return the `Lesson` of checked rows for a fitted estimator; raise if no row has a new class."""
        was = label_numbers(checked.classes, estimator.classes_[estimator._present]) >= 0  # (K,)
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
        data, _ = sort_by_content(replace(checked.data, c=c, K=m + 1, init_score=start))
        weight, total = checked.data.weight, checked.data.engine.rows.total
        inner = total(np.where(c == 0, weight * (rest - own), 0.0)) / total(weight)
        return cls(data, checked.classes, present, rank[was], rank[fresh], checked.present, inner)

    @property
    def start(self) -> Array:
        """The initial logits (n, m + 1): the log-sum-exp of the old classes' logits, then 0 for all m new classes."""
        assert self.data.init_score is not None
        return self.data.init_score

    @property
    def m(self) -> int:
        """The number of new classes."""
        return len(self.new)

    @property
    def complete(self) -> bool:
        """Whether every old class has at least one row."""
        return bool(self.given[self.present].all())


def old_logits(estimator: Any, table: Any, own: Labels) -> tuple[Array, Array]:
    """Return the log-sum-exp (n,) of the old classes' logits, and the logit (n,) of class ``own``, 0 if that is −1."""
    model, n = estimator.model_, table.shape[0]
    rest, of_own = np.empty(n), np.zeros(n)
    step = max(1, BLOCK // len(model.Y))
    for begin in range(0, n, step):
        rows = slice(begin, begin + step)
        F = model.predictor(table[rows], estimator._engine(n))
        logits = 2.0 * merge_scores(model.scores(F), estimator._merged)
        top = logits.max(axis=1)
        rest[rows] = np.log(np.exp(logits - top[:, None]).sum(axis=1)) + top
        known = own[rows] >= 0
        of_own[rows][known] = logits[known, own[rows][known]]
    return rest, of_own


# ---- learning -------------------------------------------------------------------------------------------------------


def teach_leaves(estimator: Any, lesson: Lesson, rate: float) -> tuple[AdditiveModel, AnyArray]:
    """Add leaf values for the new classes to old trees; return the model and the logits of the training rows."""
    n_after, start = len(estimator.model_.Y) + lesson.m, lesson.start.astype(np.float32)
    places = new_places(estimator, lesson)
    model = with_classes(estimator.model_, np.setdiff1d(np.arange(n_after), places), n_after)  # zeros for new classes
    chosen = spread_evenly(len(model.terms), OLD_TREES)
    trees = [model.terms[i].hypothesis.tree for i in chosen]
    engine, data = cpu_engine(estimator._engine().compute.n_threads), lesson.data
    usual = estimator.parts().learner.l2_among(len(lesson.present))
    l2 = L2 if lesson.complete and is_auto(estimator.l2_regularization) else usual
    rule = LeafRule(float(l2), estimator.parts().optimizer.max_step or np.inf)
    if lesson.complete:
        code = Code(unit_vectors(lesson.m + 1, start))
        rows = RowObjective(estimator.loss_, data.c, data.weight, code, engine).rows
        moves = pass_over(trees, data.X, start, rows, rule, rate, engine)
    else:
        newcomers = Newcomers(data.X, data.c, data.weight, lesson.start[:, 0], lesson.m)
        moves = counted_pass(trees, newcomers, rule, rate, engine)
    for i, move in zip(chosen, moves, strict=True):
        model.terms[i] = with_columns(model.terms[i], move / model.temperature, places)
    return model, start


def grow_rounds(estimator: Any, lesson: Lesson, model: AdditiveModel, n_rounds: int, rate: float) -> dict[str, Any]:
    """Grow ``n_rounds`` trees that change the scores of the new classes only; return the fitted attributes."""
    l2 = L2 if is_auto(estimator.l2_regularization) else estimator.l2_regularization
    plan, history = estimator._plan_for_new_classes(lesson.data, n_rounds, rate, l2), History()
    plan.check(lesson.data)
    parts = plan.parts
    rng = np.random.default_rng([estimator._seed or 0, estimator.n_iter_, 2])
    Y = unit_vectors(lesson.m + 1, model.Y)
    run = Run(lesson.data, estimator.loss_, Y, parts.learner, parts.optimizer, parts.step, rate, rng)
    run.memory = parts.optimizer.memory(lesson.data, run.learner, Y.shape[1], n_rounds)
    finish = partial(append_rounds, estimator, lesson, model, history)
    before = {name: value for name, value in vars(estimator).items() if name not in estimator._get_param_names()}

    def snapshot() -> Any:
        return set_attributes(estimator._snapshot(before), finish(run))

    with show_progress(estimator.verbose):
        boost_run(run, n_rounds, estimator._callbacks(history, []), snapshot, "new rounds")
    return finish(run)


def append_rounds(estimator: Any, lesson: Lesson, model: AdditiveModel, history: History, run: Run) -> dict[str, Any]:
    """Append the rounds of a run on a `Lesson` to a copy of the model of all classes; return the fitted attributes."""
    model = AdditiveModel(model.Y, list(model.terms), list(model.round_ends), model.temperature)
    places, K = new_places(estimator, lesson), len(model.Y)
    for begin, end in zip([0, *run.model.round_ends], run.model.round_ends, strict=False):
        model.add_round([new_term(term, places, K, model.temperature) for term in run.model.terms[begin:end]])
    return {
        **class_attributes(estimator, lesson, model),
        "stop_reason_": run.stop_reason,
        "history_": append_history(estimator.history_, history.arrays(run.round), lesson.inner),
    }


def new_term(term: Term, places: Labels, K: int, temperature: float) -> Term:
    """Convert a term (tree and step) of a run on a `Lesson` to a term of all K classes; scores of old classes stay.

    Predictions multiply steps by the temperature of the old classes, so the step of the new term is divided by it.
    """
    values = term.hypothesis.values
    dense = values.toarray() if issparse(values) else values
    moved = spread_columns(dense[:, 1:] - dense[:, :1], places, K)
    hypothesis = TreeHypothesis(term.hypothesis.tree, sparse_values(moved) if K >= MANY_CLASSES else moved)
    return Term(hypothesis, term.step / temperature)


def new_places(estimator: Any, lesson: Lesson) -> Labels:
    """Return the score columns of the new classes: sorted by label, or after the old ones if classes were merged."""
    if estimator._merged is None:
        return lesson.new
    return len(estimator.model_.Y) + np.arange(lesson.m)


def class_attributes(estimator: Any, lesson: Lesson, model: AdditiveModel) -> dict[str, Any]:
    """Return the fitted attributes that new classes change: labels, shares, model and number of rounds."""
    merged: Labels | None = estimator._merged
    return {
        **change_prior(estimator, lambda prior: new_shares(estimator, lesson, prior)),
        **as_classes(lesson.classes, lesson.present),
        "model_": model,
        "n_iter_": model.n_rounds,
        "_merged": None if merged is None else np.concatenate([lesson.old[merged], lesson.new]),
    }


def new_shares(estimator: Any, lesson: Lesson, prior: Array) -> Array:
    """Return the class shares (K,) after new classes are added, from the shares ``prior`` of the old classes.

    New classes get their shares of the weight of the lesson's rows, and the old classes divide the rest as before. If
    an old class has no rows, the old classes together weigh at least as much as the training rows of the first tree.
    """
    data = lesson.data
    count = np.bincount(data.c, np.rint(data.weight * 2**20), lesson.m + 1) / 2**20  # exact in any order
    if not lesson.complete and estimator.model_.trees:
        count[0] = max(count[0], float(estimator.model_.trees[0].count[0]))
    shares = np.zeros(len(lesson.classes))
    shares[label_numbers(lesson.classes, estimator.classes_) >= 0] = prior * count[0] / count.sum()
    shares[np.flatnonzero(lesson.present)[lesson.new]] = count[1:] / count.sum()
    return shares


def append_history(before: dict[str, AnyArray], after: dict[str, AnyArray], inner: float) -> dict[str, AnyArray]:
    """Append the rounds ``after`` to those ``before``; add ``inner``, the risk among old classes, to the new risks."""
    n = len(before["step"])
    blank = np.zeros(n)  # model files do not hold the seconds
    after = after | {"risk": after["risk"] + inner}
    if n:
        after["seconds"] = after["seconds"] + before.get("seconds", blank)[-1]
    return {name: np.concatenate([before.get(name, blank), values]) for name, values in after.items()}
