"""Models for other programs: ONNX, one Python file on NumPy alone, JavaScript.

Every function takes a fitted booster and the path to write to. What a format cannot hold is refused in one sentence.
"""

from .javascript_module import javascript
from .onnx_model import onnx
from .python_file import python

__all__ = ["javascript", "onnx", "python"]
