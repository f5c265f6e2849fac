"""The engine: grows one vector-valued tree in one call. ``cpu`` is compiled, ``reference`` its NumPy twin."""

from .cpu import apply, grow, node_bytes
from .interface import SCORES, Dense, Growth, OneHot
from .tree import NODE, SET_BYTES, Grown, Tree, no_sets, single_leaf

__all__ = [
    "NODE",
    "SCORES",
    "SET_BYTES",
    "Dense",
    "Grown",
    "Growth",
    "OneHot",
    "Tree",
    "apply",
    "grow",
    "no_sets",
    "node_bytes",
    "single_leaf",
]
