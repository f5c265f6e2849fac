"""All experiments: importing this module registers them and their tasks."""

from . import beyond, boostexter, geist, geist_explained, jmlr, jmlr_explained, lecture, mukherjee, nips2011

__all__ = [
    "beyond",
    "boostexter",
    "geist",
    "geist_explained",
    "jmlr",
    "jmlr_explained",
    "lecture",
    "mukherjee",
    "nips2011",
]
