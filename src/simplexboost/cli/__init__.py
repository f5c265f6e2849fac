"""The command line: ``simplexboost fit``, ``predict``, ``evaluate``, ``compare``, ``inspect``, ``list`` and others.

The commands need three libraries, the extra ``cli``, which are imported only here:

- click reads the arguments. It gives nested commands, ``--help``, completion in bash, zsh and fish, and a runner for
  tests. argparse has neither completion nor the runner; typer is click with a layer that we have no use for.
- rich draws progress bars and tables on a terminal.
- pyarrow reads and writes CSV, Parquet and Feather, block by block and compressed, and its columns know missing values.
  The three other formats come from libraries at hand: LIBSVM from scikit-learn, NPZ from NumPy, and ARFF is a header of
  declarations before a CSV.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Import the module `algorithms` on first use."""
    if name == "algorithms":
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
