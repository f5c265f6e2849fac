"""Saves classifiers to files and loads them: a zip of a JSON header and raw arrays with checksums, never a pickle."""

from .checks import ModelFileError, check_layout, damaged, is_number
from .models import pack_booster, pack_features, pack_program, unpack_booster, unpack_features, unpack_program
from .saving import Saves, check_label_types, load, pack, save, unpack

__all__ = [
    "ModelFileError",
    "Saves",
    "check_label_types",
    "check_layout",
    "damaged",
    "is_number",
    "load",
    "pack",
    "pack_booster",
    "pack_features",
    "pack_program",
    "save",
    "unpack",
    "unpack_booster",
    "unpack_features",
    "unpack_program",
]
