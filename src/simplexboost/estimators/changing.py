"""Classes that go: `drop_classes` and `merge_classes` on a fitted booster. Those that come are in `adding`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._typing import AnyArray, Array, Labels
from ..boosting.columns import without_classes
from ..boosting.model import AdditiveModel
from ..data.labels import as_listed, kind_of_label, listed_classes
from ..explain.choosing import class_numbers
from ..files import check_label_types
from .atomic import all_or_nothing
from .evaluation import FOLLOWED


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
        with all_or_nothing(self) as draft:
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
        with all_or_nothing(self) as draft:
            change(draft, regrouped(draft, check_groups(groups, draft.classes_)))
        return self


def check_changeable(estimator: Any, method: str) -> None:
    """Raise unless the estimator is fitted and its probabilities are the soft-max of one score per class."""
    check_is_fitted(estimator)
    if estimator._answers != "one":
        raise ValueError(
            f"{method} changes classes of which one is right; this model was fitted to several {estimator._answers} "
            "per row."
        )
    for parameter, structure in (("ordinal", "class_order_"), ("hierarchy", "hierarchy_")):
        if getattr(estimator, structure, None) is not None:
            raise ValueError(
                f"{method} would leave {parameter} with classes that are not the model's; fit anew with the wanted "
                f"classes, or without {parameter}."
            )
    if not estimator.loss_.likelihood:
        raise ValueError(
            f"{method} needs probabilities that are the soft-max of the scores, as loss='logistic' without costs gives "
            f"them; this model has loss={estimator.loss_!r}."
        )


def change(estimator: Any, fitted: dict[str, Any]) -> None:
    """Let these be fitted attributes; what rows have shown of the classes before is removed."""
    for name in (*FOLLOWED, "sets_"):
        estimator.__dict__.pop(name, None)
    estimator.__dict__.update(fitted)
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
    """The shares of the classes in training, from those before; files of earlier versions have none."""
    known: Array | None = getattr(estimator, "class_prior_", None)
    return {} if known is None else {"class_prior_": after(known)}


# ---- classes that go ------------------------------------------------------------------------------------------------


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
        "classes_": estimator.classes_[stays],
        "present_": present,
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
    return {"classes_": labels, "present_": present, **model, **prior}
