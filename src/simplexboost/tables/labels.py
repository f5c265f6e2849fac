"""Converts labels to class indices, and checks initial scores given by the user.

Labels (n,) must be all numbers, all text or all truth values, so that they can be compared and sorted. A matrix y
becomes rows of zeros and ones (n, K). In an indicator matrix, the ones are the labels of a row. For several class
targets, a row has one column per class of each target, and the ones are its classes. Distinct rows get an index each.

Initial scores are log-odds, with a column per class.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from .._util.arrays import AnyArray, Array, Labels, Mask
from .._util.messages import warn_user
from .columns import WORDS, is_missing, kind_of_value
from .inputs import check_no_label_is_missing


def class_numbers(classes: Any, known: AnyArray, what: str = "classes") -> Labels:
    """Return the class indices of one or several labels; raise unless all are in ``known``, the model's classes."""
    labels = list_labels(classes, what)
    if not labels:
        raise ValueError(f"{what} is empty; choose among {show_labels(listed_classes(known))}.")
    chosen = np.empty(len(labels), dtype=object)
    chosen[:] = labels
    numbers = label_numbers(chosen, known)
    if (numbers < 0).any():
        raise ValueError(unknown_labels(chosen[numbers < 0], known, what, "the classes of the model"))
    return numbers


def list_labels(classes: Any, what: str) -> list[Any]:
    """Return one label, or an array or list of labels, as a list; raise TypeError for anything else."""
    refusal = TypeError(f"{what}={classes!r} must be a label or a list of labels.")
    mixed = isinstance(classes, list | tuple)  # of numbers and text, NumPy would make text
    try:
        labels = np.asarray(classes, dtype=object if mixed else None)
    except ValueError:  # lists of different lengths
        raise refusal from None
    found = listed_classes(labels.ravel())
    if labels.ndim > 1 or not all(isinstance(label, Hashable) for label in found):
        raise refusal
    return found


QUANTITY = 20  # more different numbers than this may be a quantity, if they hardly repeat
MOST_SHOWN = 5  # labels or classes in a message


def check_are_classes(y: AnyArray) -> None:
    """Raise ValueError unless scikit-learn accepts y as class labels, and not as a continuous target."""
    try:
        with np.errstate(invalid="ignore"):
            check_classification_targets(y)
    except ValueError as error:
        if "continuous" not in str(error).split(".")[0]:
            raise
        raise ValueError(
            f"{error} This library classifies only and has no regressor. Divide the numbers into classes first, for "
            "example by pd.cut, or take a regressor such as scikit-learn's HistGradientBoostingRegressor."
        ) from error


def warn_of_quantity(classes: AnyArray, n: int) -> None:
    """Warn if float labels of n rows are probably a continuous quantity: many distinct values that hardly repeat."""
    if classes.dtype.kind == "f" and len(classes) > QUANTITY and 3 * len(classes) > n:
        warn_user(
            f"y has {len(classes)} different numbers in {n} rows, which is rather a quantity than a class, and every "
            "number becomes a class of its own. If they are classes, pass integers or text; if not, divide them into "
            "classes first, or take a regressor of another library."
        )


def of_one_kind(y: AnyArray) -> AnyArray:
    """Return labels (n,) as a sortable array; raise ValueError if objects mix numbers, text and truth values."""
    if y.dtype.kind != "O":
        return y
    listed = y.tolist()
    kinds = {kind_of_label(of) for of in set(map(type, listed))}
    if len(kinds) > 1:
        check_no_label_is_missing(y)
        rows: dict[str, int] = {}
        for row, label in enumerate(listed):
            rows.setdefault(kind_of_label(type(label)), row)
        found = ", ".join(f"{type(listed[row]).__name__} (row {row}: {listed[row]!r:.60})" for row in rows.values())
        raise ValueError(f"y mixes labels of different types: {found}. Make them all numbers or all text.")
    if not kinds & {"number", "flag"}:
        return y
    numbers = np.array(listed)
    if numbers.dtype.kind == "O":
        raise ValueError(
            f"y has whole numbers beyond 64 bits, such as {max(listed, key=abs)}; use text for such labels."
        )
    return numbers


def kind_of_label(of: type) -> str:
    """Return "text", "flag" (truth value) or "number" for the Python type of a label; for another type its name."""
    kinds = (("text", str), ("flag", bool | np.bool_), ("number", Real))
    return next((kind for kind, types in kinds if issubclass(of, types)), of.__name__)


def listed_classes(classes: AnyArray) -> list[Any]:
    """Return classes (K,) as a list of Python values, but dates and durations as NumPy values."""
    return list(classes) if classes.dtype.kind in "Mm" else classes.tolist()


def as_listed(label: Any, classes: AnyArray) -> Any:
    """Return a label; if ``classes`` are dates or durations, it is converted to their NumPy type if possible.

    Examples
    --------
    >>> import datetime
    >>> classes = np.array(["2024-02-28", "2024-02-29"], dtype="M8[ns]")
    >>> listed_classes(classes).index(as_listed(datetime.date(2024, 2, 29), classes))
    1
    """
    if classes.dtype.kind not in "Mm" or isinstance(label, str | bytes | int | float):
        return label
    try:
        given = np.datetime64(label) if classes.dtype.kind == "M" else np.timedelta64(label)
        same = given.astype(classes.dtype)
    except (TypeError, ValueError, OverflowError):
        return label
    return same if same == given else label


# ---- labels as numbers of classes -----------------------------------------------------------------------------------


def label_numbers(labels: AnyArray, classes: AnyArray) -> Labels:
    """Return the index of each label (n,) among the classes (K,), which need no order; −1 for an unknown label.

    A label is a class if Python finds the two equal: 1, 1.0 and True are equal, and text never equals a number. NumPy's
    own searches (`searchsorted`, `setdiff1d`, `isin`) turn numbers into text if an array has both.

    Examples
    --------
    >>> label_numbers(np.array([3.0, 7.0, 5.0]), np.array([5, 3])).tolist()
    [1, -1, 0]
    >>> label_numbers(np.array(["3", "5"]), np.array([5, 3])).tolist()
    [-1, -1]
    """
    places = {(kind_of_value(label), label): k for k, label in enumerate(listed_classes(classes))}

    def place(label: Any) -> int:
        return places.get((kind_of_value(label), as_listed(label, classes)), -1)

    if labels.dtype.kind == "O":  # the values may have no order
        listed = labels.tolist()
        of_label = {label: place(label) for label in dict.fromkeys(listed)}
        return np.array([of_label[label] for label in listed], dtype=np.intp)
    found, inverse = np.unique(labels, return_inverse=True)
    return np.array([place(label) for label in listed_classes(found)], dtype=np.intp)[inverse]


def known_label_numbers(labels: AnyArray, classes: AnyArray, what: str, those: str = "the classes") -> Labels:
    """Return the class index of each label (n,); raise ValueError if a label is not among the classes.

    Parameters
    ----------
    what : the name of the parameter that holds the labels, for messages
    those : the words for the classes in messages
    """
    try:
        numbers = label_numbers(labels, classes)
    except TypeError as error:  # lists and other values that cannot be keys
        raise TypeError(f"{what} holds values that are no labels: {error}.") from error
    unknown = np.flatnonzero(numbers < 0)
    if len(unknown):
        row = next((i for i in unknown.tolist() if is_missing(labels[i])), None)
        if row is not None:
            raise ValueError(f"{what} contains NaN: the label of row {row} is missing. Leave such rows out.")
        raise ValueError(unknown_labels(labels[unknown], classes, what, those))
    return numbers


def merge_labels(labels: Mapping[str, AnyArray]) -> AnyArray:
    """Return the distinct labels of several parameters, sorted; raise ValueError unless all are of the same kind.

    Parameters
    ----------
    labels : the labels of each parameter, by its name
    """
    firsts = {name: listed_classes(some.ravel()[:1])[0] for name, some in labels.items() if some.size}
    kinds = {in_words(label): (name, label) for name, label in firsts.items()}
    if len(kinds) > 1:
        found = ", ".join(
            f"{name} holds {kind}, such as {show_labels([label])}" for kind, (name, label) in kinds.items()
        )
        raise ValueError(f"{found}; labels of different kinds are never equal, pass labels of one kind.")
    try:
        return np.unique(np.concatenate([some.ravel() for some in labels.values()]))
    except TypeError as error:
        raise ValueError(
            f"{' and '.join(labels)} hold labels of different kinds, which cannot be sorted; pass labels of one kind."
        ) from error


def unknown_labels(unknown: AnyArray, classes: AnyArray, what: str, those: str) -> str:
    """Return the error message for labels that are not among the classes."""
    listed, known = list(dict.fromkeys(listed_classes(unknown))), listed_classes(classes)
    shown = show_labels(known) + (f" ({len(known)} in all)" if len(known) > MOST_SHOWN else "")
    kinds = {in_words(label): None for label in known}
    others = [label for label in listed if in_words(label) not in kinds]
    if others:
        came = f"{in_words(others[0])}, such as {show_labels(others[:1])}"
        return f"{what} holds {came}, but {those} are {', '.join(kinds)}: {shown}."
    are_none = "is none" if len(listed) == 1 else "are none"
    return f"{what} holds {show_labels(listed)}, which {are_none} of {those}; these are {shown}."


def show_labels(labels: Sequence[Any]) -> str:
    """Return the first few labels as text for messages."""
    values = (str(label) if isinstance(label, np.generic) else f"{label!r:.60}" for label in labels[:MOST_SHOWN])
    return ", ".join(values) + (", …" if len(labels) > MOST_SHOWN else "")


def in_words(label: Any) -> str:
    """Return the kind of a label as a word for messages, such as "numbers" or "text"."""
    return WORDS.get(kind_of_value(label), f"values of the type {type(label).__name__}")


def is_matrix(y: Any) -> bool:
    """Return whether y has two dimensions and more than one column."""
    return np.ndim(y) == 2 and y.shape[1] > 1


def is_indicator(y: Any) -> bool:
    """Return whether a matrix has only zeros and ones and is "multilabel-indicator" for scikit-learn.

    scikit-learn gives this type also to matrices of two other numbers; this library reads such a matrix as class
    targets.

    Examples
    --------
    >>> is_indicator(np.array([[0, 1], [1, 1]])), is_indicator(np.array([[1, 2], [2, 2]]))
    (True, False)
    """
    if not issparse(y) and np.asarray(y).dtype.kind not in "biuf":
        return False
    with np.errstate(invalid="ignore"):  # of numbers beyond the integers that scikit-learn compares them with
        kind = type_of_target(y)
    return kind == "multilabel-indicator" and bool(np.isin(y.data if issparse(y) else y, (0, 1)).all())


def target_columns(y: Any) -> list[AnyArray]:
    """Return the columns of a matrix y with one class target per column, as sortable label arrays (n,)."""
    table = np.asarray(y.toarray() if issparse(y) else y)
    columns = []
    for t, labels in enumerate(table.T):
        try:
            check_no_label_is_missing(labels)
            columns.append(of_one_kind(labels))
            check_are_classes(columns[-1])
        except ValueError as error:
            raise ValueError(f"column {t} of y is refused: {error}") from error
    return columns


def indicator(columns: Sequence[AnyArray], classes: Sequence[AnyArray]) -> tuple[Mask, Mask]:
    """Return the classes of several targets as zeros and ones (n, K), and a mask (n,) of rows with known classes.

    Examples
    --------
    >>> columns, classes = [np.array(["a", "b", "?"]), np.array([5, 5, 7])], [np.array(["a", "b"]), np.array([5, 7])]
    >>> Z, known = indicator(columns, classes)
    >>> Z.astype(int), known
    (array([[1, 0, 1, 0],
           [0, 1, 1, 0],
           [0, 0, 0, 1]]), array([ True,  True, False]))
    """
    numbers = [label_numbers(column, labels) for column, labels in zip(columns, classes, strict=True)]
    blocks = [c[:, None] == np.arange(len(labels)) for c, labels in zip(numbers, classes, strict=True)]
    return np.hstack(blocks), np.all([block.any(axis=1) for block in blocks], axis=0)


def check_some_classes(classes: Sequence[AnyArray], left_out: bool) -> None:
    """Raise ValueError if every target has one class only; ``left_out``: rows of zero weight were dropped before."""
    if max(map(len, classes)) < 2:
        found = ", ".join(repr(labels.tolist()[0]) for labels in classes[:5])
        without = ", after leaving out rows of zero sample_weight" if left_out else ""
        raise ValueError(
            f"y has examples of one class only in every column ({found}{without}); at least one target needs two "
            "classes."
        )


LARGEST = 1e15  # far beyond any log-odds that make sense; products with codewords stay within single precision


def check_init_score(init_score: Any, n: int, K: int, what: str = "init_score") -> Array:
    """Return a user's ``init_score`` as initial logits 2U (n, K); for two classes, log-odds (n,) are also accepted.

    Examples
    --------
    >>> check_init_score([1.0, -2.0], 2, 2)
    array([[-0.5,  0.5],
           [ 1. , -1. ]])
    """
    try:
        if np.iscomplexobj(init_score):
            raise TypeError("they are complex")
        scores = np.asarray(init_score, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{what} must hold numbers: {error}") from error
    accepted = f"({n}, {K})" + (f" or ({n},)" if K == 2 else "")
    if K == 2 and scores.shape in ((n,), (n, 1)):
        scores = scores.reshape(n, 1) * np.array([-0.5, 0.5])
    if scores.shape != (n, K):
        raise ValueError(
            f"{what} has shape {np.shape(init_score)}; pass {accepted}: log-odds with a row per row of X and a column "
            "per class, in the order of classes_."
        )
    if not np.isfinite(scores).all():
        row = int(np.flatnonzero(~np.isfinite(scores).all(axis=1))[0])
        raise ValueError(f"{what} is not finite in row {row}; all entries must be finite numbers.")
    if np.abs(scores).max(initial=0.0) > LARGEST:
        row = int(np.abs(scores).max(axis=1).argmax())
        raise ValueError(
            f"{what} is {np.abs(scores).max():.3g} in row {row}; log-odds beyond {LARGEST:g} are too large."
        )
    return scores
