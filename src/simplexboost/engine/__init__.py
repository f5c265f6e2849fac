"""The engine: grows one vector-valued tree in one call. ``cpu`` is compiled, ``reference`` its NumPy twin."""

from .cpu import apply, grow, node_bytes
from .interface import SCORES, Dense, Growth, OneHot
from .tree import NODE, Grown, Tree

__all__ = ["NODE", "SCORES", "Dense", "Grown", "Growth", "OneHot", "Tree", "apply", "grow", "node_bytes"]
