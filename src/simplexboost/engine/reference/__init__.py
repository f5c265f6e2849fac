"""The engine in plain NumPy: the specification of ``cpu.py``, and its oracle in the tests."""

from .grow import grow

__all__ = ["grow"]
