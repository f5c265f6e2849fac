"""Saves classifiers to files and loads them: a zip of a JSON header and raw arrays with checksums, never a pickle."""

from .checks import ModelFileError, check_layout, damaged, is_number
from .models import pack_booster, pack_features, pack_program, unpack_booster, unpack_features, unpack_program
from .parameters import register, register_later
from .saving import check_label_types, check_savable, load, pack, save, unpack

__all__ = [
    "ModelFileError",
    "check_label_types",
    "check_layout",
    "check_savable",
    "damaged",
    "is_number",
    "load",
    "pack",
    "pack_booster",
    "pack_features",
    "pack_program",
    "register",
    "register_later",
    "save",
    "unpack",
    "unpack_booster",
    "unpack_features",
    "unpack_program",
]
