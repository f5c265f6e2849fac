"""Other packages and versions: optional packages, scikit-learn's versions, cached attributes without a lock.

The one place that asks which scikit-learn is installed.

Attributes that are computed on first use, without a lock.

Up to Python 3.11 ``functools.cached_property`` holds a lock while it computes, one for all instances of the class. Two
threads that fit could then not bin their data at the same time, and a child process forked meanwhile would wait for
ever, because the thread that holds the lock does not exist in the child.

Packages that only a part of the library needs, imported on first use; an error says how to install a missing one.

This is the only place that knows what to install: texts and pages name the packages too, and a test compares them.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Generic, Self, TypeVar, overload

__all__ = ["HAS_SKLEARN_CALLBACKS", "CallbackSupportMixin", "with_callbacks"]

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


Value = TypeVar("Value")


class cached(Generic[Value]):  # noqa: N801, a decorator like `property`
    """A method as an attribute: computed on first use, then kept in the instance's ``__dict__``.

    Threads that ask the same instance at the same time may each compute the value; all of them get the one that was
    ready first.

    Examples
    --------
    >>> class Square:
    ...     side = 3
    ...     @cached
    ...     def area(self):
    ...         print("computing")
    ...         return self.side**2
    >>> square = Square()
    >>> square.area, square.area
    computing
    (9, 9)
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
        """The value, or the descriptor itself on the class. Python calls this only while ``__dict__`` has no value."""
        if instance is None:
            return self
        value = self.function(instance)
        return instance.__dict__.setdefault(self.name, value)  # in one step, so that all threads see one value


# What pip installs for a module, where that is not the module's own name.
BY_PIP = {"cupy": "cupy-cuda12x", "dask": "'dask[array,dataframe]'"}


def how_to_install(*modules: str) -> str:
    """The command that installs the packages of these modules.

    Examples
    --------
    >>> how_to_install("matplotlib.pyplot")
    'pip install matplotlib'
    >>> how_to_install("dask", "distributed")
    "pip install 'dask[array,dataframe]' distributed"
    """
    names = [module.partition(".")[0] for module in modules]
    return f"pip install {' '.join(BY_PIP.get(name, name) for name in names)}"


def needed(module: str, what: str) -> Any:
    """A module; an error that says how to install it if it is not there.

    Parameters
    ----------
    module : its name, as in an import
    what : what needs it, with the verb, such as "plots need"
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"{what} {module.partition('.')[0]}: {how_to_install(module)}.") from error
