"""All experiments: importing this module registers them and their tasks."""

from . import beyond, geist, jmlr, lecture, mukherjee, nips2011

__all__ = ["beyond", "geist", "jmlr", "lecture", "mukherjee", "nips2011"]
