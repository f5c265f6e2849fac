"""Models for other programs: ONNX."""

from .onnx_model import onnx

__all__ = ["onnx"]
