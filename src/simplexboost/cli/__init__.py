"""The command line: ``simplexboost fit``, ``predict``, ``evaluate``, ``compare``, ``inspect``, ``list`` and others.

The commands need the libraries of the extra ``cli``, which only this subpackage imports; docs/command-line.md says why.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Import the module `algorithms` on first use."""
    if name == "algorithms":
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
