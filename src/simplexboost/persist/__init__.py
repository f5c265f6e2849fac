"""Saves classifiers to files and loads them: a zip of a JSON header and raw arrays with checksums, never a pickle."""

from .archive import ModelFileError
from .saving import load, register_later

__all__ = ["ModelFileError", "load", "register_later"]
