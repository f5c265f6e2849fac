"""Errors of estimators that a user brings: they say whose they are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


@contextmanager
def blamed(who: str) -> Iterator[None]:
    """A context in which an error says whose it is: estimators of other libraries do not always name the culprit.

    Numbers that overflow are no warning in it: trees of scikit-learn turn X into single precision, and refuse what is
    infinite then.
    """
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except (TypeError, ValueError, OverflowError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{who} refuses X, y, sample_weight or its own parameters: {error}") from error
