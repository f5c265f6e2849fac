"""Packages that only a part of the library needs, imported on first use; an error says how to install a missing one.

This is the only place that knows what to install: texts and pages name the packages too, and a test compares them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

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
