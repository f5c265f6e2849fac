"""Packages of the extra ``export``, imported when a route is used."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def needed(name: str) -> Any:
    """A module; an error that says how to install it if it is not there."""
    try:
        return import_module(name)
    except ImportError as error:
        package = name.split(".")[0]
        raise ImportError(f"this export needs {package}: pip install 'simplexboost[export]'.") from error
