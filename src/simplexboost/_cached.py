"""A property that is computed once."""

from functools import cached_property as cached

__all__ = ["cached"]
