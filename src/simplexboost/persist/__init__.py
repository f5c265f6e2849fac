"""Saves classifiers to files and loads them: a zip of a JSON header and raw arrays with checksums, never a pickle."""

from .archive import ModelFileError, damaged
from .models import (
    check_layout,
    is_number,
    pack_booster,
    pack_features,
    pack_program,
    unpack_booster,
    unpack_features,
    unpack_program,
)
from .saving import (
    check_label_types,
    check_savable,
    from_json,
    load,
    pack,
    register,
    register_later,
    save,
    to_json,
    unpack,
)

__all__ = [
    "ModelFileError",
    "check_label_types",
    "check_layout",
    "check_savable",
    "damaged",
    "from_json",
    "is_number",
    "load",
    "pack",
    "pack_booster",
    "pack_features",
    "pack_program",
    "register",
    "register_later",
    "save",
    "to_json",
    "unpack",
    "unpack_booster",
    "unpack_features",
    "unpack_program",
]
