"""Export of fitted boosters to ONNX, treelite, C, JavaScript, and one Python file that needs only NumPy.

Every function takes a fitted booster and the path to write to. What a format cannot hold is refused in one sentence.
"""

from .c_source import c
from .onnx_model import onnx
from .scripts import javascript, python
from .shipped import numbers
from .treelite_model import treelite

__all__ = ["c", "javascript", "numbers", "onnx", "python", "treelite"]
