"""Saves classifiers to model files and loads them: a file is a zip of a JSON header and raw arrays, never a pickle."""

from .archive import ModelFileError
from .saving import load, register_later

__all__ = ["ModelFileError", "load", "register_later"]
