"""Models for other programs: ONNX."""

from .onnx_model import onnx
from .python_file import python

__all__ = ["onnx", "python"]
