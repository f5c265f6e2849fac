"""Adapts the library to the versions of Python and scikit-learn, and imports optional packages on first use.

Only this module depends on the version of scikit-learn, or knows which package to install for a missing module.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Generic, Self, TypeVar, overload

HAS_SKLEARN_CALLBACKS = find_spec("sklearn.callback") is not None  # since scikit-learn 1.9


def call_mixin(method: str, estimator: Any, *args: Any, **keywords: Any) -> Any:
    """Call a method of scikit-learn's callback mixin; the mixin is imported only now, because it imports rich."""
    return getattr(import_module("sklearn.callback").CallbackSupportMixin, method)(estimator, *args, **keywords)


def has_sklearn_callbacks(estimator: Any) -> bool:
    """Return whether scikit-learn's callbacks are set on the estimator, or on a meta-estimator that fits it."""
    return hasattr(estimator, "_skl_callbacks") or hasattr(estimator, "_parent_callback_ctx")


def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a fit method, so that scikit-learn's callbacks are released when it returns or raises an error."""

    @functools.wraps(method)
    def managed(estimator: Any, *args: Any, **keywords: Any) -> Any:
        if not has_sklearn_callbacks(estimator):
            return method(estimator, *args, **keywords)
        return import_module("sklearn.callback").with_callbacks(method)(estimator, *args, **keywords)

    return managed


Value = TypeVar("Value")


class cached(Generic[Value]):  # noqa: N801, a decorator like `property`
    """A property that is computed once per instance and then stored: ``functools.cached_property`` without its lock.

    Up to Python 3.11, ``functools.cached_property`` holds one lock for all instances of a class while it computes. Two
    threads could not bin their data at the same time, and a process that is forked meanwhile would wait for ever.
    Without the lock, threads may compute a value several times; all of them get the value that is stored first.
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
    """Return the imported module, or raise ImportError with ``what``, such as "plots need", and an install command."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"{what} {module.partition('.')[0]}: {install_command(module)}.") from error
