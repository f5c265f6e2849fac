"""Attributes that are computed on first use, without a lock.

Up to Python 3.11 ``functools.cached_property`` holds a lock while it computes, one for all instances of the class. Two
threads that fit could then not bin their data at the same time, and a child process forked meanwhile would wait for
ever, because the thread that holds the lock does not exist in the child.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

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
