"""Exports fitted boosters to ONNX, treelite, C, JavaScript, and one Python file that needs only NumPy.

`numbers` converts X for models exported to treelite or C. Every other function takes a fitted booster and the path to
write to, and raises an error for a model that the format cannot hold.
"""

from .c_source import c
from .onnx_model import onnx
from .plain_model import numbers
from .scripts import javascript, python
from .treelite_model import treelite

__all__ = ["c", "javascript", "numbers", "onnx", "python", "treelite"]
