"""What may come of a call: a result that makes sense, or an error that names what is wrong."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

# What compiled code, NumPy or Python say when nobody has checked a value before them. After a few words that name the
# culprit it may be said, as the reason.
RAW = [
    "incompatible function arguments",
    "cannot reshape",
    "could not be broadcast",
    "could not broadcast",
    "cannot be broadcast",
    "mismatch in its core dimension",
    "shape mismatch",
    "all the input array dimensions",
    "need at least one array",
    "zero-size array",
    "zip() argument",
    "unsupported operand",
    "not supported between",
    "ufunc",
    "object is not",
    "not subscriptable",
    "has no attribute",
    "has no len()",
    "unexpected keyword",
    "positional argument",
    "bad operand type",
    "cannot convert float",
    "unhashable",
    "only integer scalar arrays",
    "truth value",
    "setting an array element",
    "inhomogeneous",
    "too large to convert",
    "Maximum allowed",
    "array is too big",
    "must be real number, not",
    "must be str, not",
    "bad allocation",
    "vector::",
    "Cannot cast",
    "cannot cast",
    "Singular matrix",
    "did not converge",
    "math domain",
]
NOTHING_IS_ODD = r"(?!)"  # matches no message: nothing is odd, so nothing may be refused
MOST_WARNINGS = 3


class BrokenError(AssertionError):
    """A promise about inputs is broken."""


def outcome(call: Callable[[], Any], words: str) -> tuple[Any, Exception | None]:
    """What a call returns, or the error by which it refuses; raise `BrokenError` for anything else.

    Parameters
    ----------
    call : what to do
    words : a regular expression; a refusal has to say one of these words, the names of what is odd about the input
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("error", RuntimeWarning)  # of numbers that went wrong inside
        warnings.simplefilter("error", DeprecationWarning)
        try:
            result, refusal = call(), None
        except (ValueError, TypeError, MemoryError) as error:
            check_refusal(error, words)
            result, refusal = None, error
        except BrokenError:
            raise
        except Exception as error:
            raise BrokenError(f"raised {type(error).__name__}: {error}") from error
    check_warnings(caught)
    return result, refusal


def check_refusal(error: Exception, words: str) -> None:
    """A refusal names the culprit, and does not come from the depths."""
    message = str(error)
    for raw in RAW:
        before, found, _ = message.partition(raw)
        if found and not re.search(words, before):
            raise BrokenError(f"refused with an internal error: {type(error).__name__}: {message}") from error
    if not re.search(words, message):
        raise BrokenError(f"refused, but does not say any of {words}: {type(error).__name__}: {message}") from error


def check_warnings(caught: list[warnings.WarningMessage]) -> None:
    """Warnings are few."""
    shown = {str(warning.message) for warning in caught}  # Python shows a text once
    if len(shown) > MOST_WARNINGS:
        raise BrokenError(f"warned {len(shown)} times: {[text[:80] for text in shown]}")


def check_predictions(clf: Any, X: Any, n: int) -> None:
    """Labels are known ones, scores are finite, and probabilities are finite and sum to one."""
    labels = clf.predict(X)
    if isinstance(clf.classes_, list):  # a class of each of several targets
        if labels.shape != (n, len(clf.classes_)):
            raise BrokenError(f"predict gave shape {labels.shape} for {n} rows of {len(clf.classes_)} targets")
        ask = ("class_scores", "decision_function", "predict_proba", "predict_log_proba")
        answers = zip(*(getattr(clf, name)(X) for name in ask), strict=True)
        for t, (classes, answer) in enumerate(zip(clf.classes_, answers, strict=True)):
            check_labels(labels[:, t], classes, n)
            check_scores(answer[0], answer[1], np.ones(len(classes), dtype=bool), n)
            check_probabilities(answer[2], answer[3], (n, len(classes)), sum_to_one=True)
        return
    K, several = len(clf.classes_), has_several_labels(clf)
    if several and (labels.shape != (n, K) or not np.isin(labels, (0, 1)).all()):
        raise BrokenError(f"predict gave shape {labels.shape}, or other numbers than 0 and 1, for {n} rows")
    if not several:
        check_labels(labels, clf.classes_, n)
    present = getattr(clf, "_present", np.ones(K, dtype=bool))
    check_scores(clf.class_scores(X), clf.decision_function(X), present, n)
    if hasattr(clf, "predict_proba"):
        check_probabilities(clf.predict_proba(X), clf.predict_log_proba(X), (n, K), sum_to_one=not several)


def has_several_labels(clf: Any) -> bool:
    """Whether a row may have several labels."""
    return any(getattr(clf, name, None) is not None for name in ("threshold_", "thresholds_"))


def check_labels(labels: np.ndarray, classes: np.ndarray, n: int) -> None:
    """There is one for every row, and it is one of the classes."""
    if labels.shape != (n,):
        raise BrokenError(f"predict gave shape {labels.shape} for {n} rows")
    if not np.isin(labels, classes).all():
        raise BrokenError(f"predict gave {labels[~np.isin(labels, classes)][:3]}, which is no label")


def check_scores(U: np.ndarray, decision: np.ndarray, present: np.ndarray, n: int) -> None:
    """Scores of classes that had training examples are finite."""
    if U.shape != (n, len(present)) or not np.isfinite(U[:, present]).all():
        raise BrokenError(f"class_scores of shape {U.shape}, not all finite: {U[:3]}")
    if not (np.isfinite(decision).all() or not present.all()):
        raise BrokenError("decision_function is not finite")


def check_probabilities(P: np.ndarray, logarithm: np.ndarray, shape: tuple[int, int], sum_to_one: bool) -> None:
    """They are some."""
    if P.shape != shape or not ((P >= 0) & (P <= 1)).all():
        raise BrokenError(f"probabilities of shape {P.shape}, outside of [0, 1]: {P[:3]}")
    if sum_to_one and not np.allclose(P.sum(axis=1), 1.0, atol=1e-6):
        raise BrokenError(f"probabilities that sum to {P.sum(axis=1)[:3]}")
    if np.isnan(logarithm).any():
        raise BrokenError("predict_log_proba is NaN")


def check_quality(clf: Any, X: Any, y: np.ndarray, clear: bool = True) -> None:
    """A classifier beats the class shares on the rows of its fit, whose labels y (n,) are a clear function of X.

    Where they are not clear, it is not worse, up to a thousandth.
    """
    share = np.unique(y, return_counts=True)[1] / len(y)
    right = float(np.mean(clf.predict(X) == y))
    if clear and right <= share.max():
        raise BrokenError(f"{right:.4f} of the rows are right; the most frequent class alone gives {share.max():.4f}")
    if hasattr(clf, "predict_proba"):
        own = clf.predict_log_proba(X)[np.arange(len(y)), np.searchsorted(clf.classes_, y)]
        risk, of_shares = float(-own.mean()), float(-(share @ np.log(share)))
        if not risk < of_shares + (0.0 if clear else 1e-3):
            raise BrokenError(
                f"log-loss {risk:.4f} on the rows of the fit; that of the class shares is {of_shares:.4f}"
            )
