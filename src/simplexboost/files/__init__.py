"""Model files: a zip of a JSON header and raw arrays with checksums, never a pickle.

``container`` writes the file itself, complete or not at all by ``whole``, and ``reading`` reads it; ``scalars``,
``pandas_values``, ``values`` and ``parameters`` the JSON in its header, from single values to estimators; ``terms`` and
``models`` the arrays. ``checks`` refuses damaged models, ``boosters`` has what only boosters store, ``classifiers``
saves and loads. The format is described in docs/files.md.
"""

from .boosters import (
    pack_booster,
    pack_features,
    pack_program,
    unpack_booster,
    unpack_features,
    unpack_program,
)
from .checks import ModelFileError, check_layout, damaged, is_number
from .classifiers import Saves, check_label_types, load, pack, save, unpack

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
