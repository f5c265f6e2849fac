"""Warnings that point to the line of the user's code from which they come."""

from __future__ import annotations

import sys
import warnings

# scikit-learn calls our methods too: it wraps `fit`, and its searches and cross-validation fit many models.
PASSED_OVER = {__name__.partition(".")[0], "sklearn", "joblib"}


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, as of the line of the first caller that belongs to none of these packages."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in PASSED_OVER:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
