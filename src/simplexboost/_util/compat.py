"""Adapts the library to the versions of Python and scikit-learn, and imports optional packages on first use.

No other module asks which scikit-learn is installed, or knows what to install for a missing package.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Generic, Self, TypeVar, overload

HAS_SKLEARN_CALLBACKS = find_spec("sklearn.callback") is not None  # since scikit-learn 1.9


def call_mixin(method: str, estimator: Any, *args: Any, **keywords: Any) -> Any:
    """Call a method of scikit-learn's mixin for callbacks, which is imported on first use, since it imports rich."""
    return getattr(import_module("sklearn.callback").CallbackSupportMixin, method)(estimator, *args, **keywords)


def has_sklearn_callbacks(estimator: Any) -> bool:
    """Tell whether callbacks of scikit-learn were set, on the estimator or on a meta-estimator that fits it."""
    return hasattr(estimator, "_skl_callbacks") or hasattr(estimator, "_parent_callback_ctx")


def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
    """Make a method that fits let go of scikit-learn's callbacks at its end, also if it fails."""

    @functools.wraps(method)
    def managed(estimator: Any, *args: Any, **keywords: Any) -> Any:
        if not has_sklearn_callbacks(estimator):
            return method(estimator, *args, **keywords)
        return import_module("sklearn.callback").with_callbacks(method)(estimator, *args, **keywords)

    return managed


Value = TypeVar("Value")


class cached(Generic[Value]):  # noqa: N801, a decorator like `property`
    """``functools.cached_property`` without a lock.

    Up to Python 3.11 that holds one lock for all instances of a class while it computes: two threads that fit could not
    bin their data at the same time, and a process that is forked meanwhile would wait for ever. Threads that read the
    attribute at the same time may each compute the value; all of them get the one that was ready first.
    """

    def __init__(self, function: Callable[[Any], Value]) -> None:
        self.function = function
        self.name = function.__name__
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: Any, owner: type) -> Any:
        """Return the value, or the descriptor itself on the class; called only if ``__dict__`` has no value."""
        if instance is None:
            return self
        value = self.function(instance)
        return instance.__dict__.setdefault(self.name, value)  # in one step, so that all threads see one value


# What pip installs for a module, where that is not the module's own name.
PIP_NAMES = {"cupy": "cupy-cuda12x", "dask": "'dask[array,dataframe]'"}


def install_command(*modules: str) -> str:
    """Return the command that installs the packages of these modules, such as "pip install matplotlib"."""
    names = [module.partition(".")[0] for module in modules]
    return f"pip install {' '.join(PIP_NAMES.get(name, name) for name in names)}"


def import_optional(module: str, what: str) -> Any:
    """Import a module, or raise an ImportError that says how to install it; ``what`` needs it, such as "plots need"."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"{what} {module.partition('.')[0]}: {install_command(module)}.") from error
