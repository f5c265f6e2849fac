"""The one place that asks which scikit-learn is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

try:  # scikit-learn >= 1.9 has a callback protocol of its own
    from sklearn.callback import CallbackSupportMixin, with_callbacks

    HAS_SKLEARN_CALLBACKS = True
except ImportError:  # older versions: estimators have no set_callbacks

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """An empty class in place of scikit-learn's."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """The method, unchanged."""
        return method

    HAS_SKLEARN_CALLBACKS = False

__all__ = ["HAS_SKLEARN_CALLBACKS", "CallbackSupportMixin", "with_callbacks"]
