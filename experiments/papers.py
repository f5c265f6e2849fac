"""All experiments: importing this module registers them and their tasks."""

from . import beyond, boostexter, geist, jmlr, lecture, mukherjee, nips2011

__all__ = ["beyond", "boostexter", "geist", "jmlr", "lecture", "mukherjee", "nips2011"]
