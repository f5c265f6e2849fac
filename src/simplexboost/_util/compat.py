"""Adapts the library to the versions of Python and scikit-learn, and imports optional packages on first use.

No other module asks which scikit-learn is installed, or knows what to install for a missing package; a test compares
the texts and pages that name packages with this module.

`cached` is ``functools.cached_property`` without its lock. Up to Python 3.11 that lock is held while a value is
computed, one for all instances of the class: two threads that fit could not bin their data at the same time, and a
child process forked meanwhile would wait for ever, because the thread that holds the lock does not exist in it.
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
