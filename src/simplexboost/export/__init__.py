"""Models for other programs: ONNX, treelite, C, one Python file on NumPy alone, JavaScript.

Every function takes a fitted booster and the path to write to. What a format cannot hold is refused in one sentence.
"""

from .c_source import c
from .onnx_model import onnx
from .scripts import javascript, python
from .shipped import numbers
from .treelite_model import treelite

__all__ = ["c", "javascript", "numbers", "onnx", "python", "treelite"]
