"""Provides data sets with a training and a test part, loaded by name (`load`) or generated (``make_…``)."""

from .generators import (
    BAYES_ERROR,
    COVARIANCES,
    MEANS,
    MadelonParameters,
    make_long_servedio,
    make_madelon_like,
    make_ova_suboptimal,
    make_samme_counterexample,
    make_three_gaussians,
    three_gaussians_bayes,
)
from .sources import EMBEDDED, ENVIRONMENT, KEYS, OPENML, Dataset, OpenMLSet, available, load, read_npz

__all__ = [
    "BAYES_ERROR",
    "COVARIANCES",
    "EMBEDDED",
    "ENVIRONMENT",
    "KEYS",
    "MEANS",
    "OPENML",
    "Dataset",
    "MadelonParameters",
    "OpenMLSet",
    "available",
    "load",
    "make_long_servedio",
    "make_madelon_like",
    "make_ova_suboptimal",
    "make_samme_counterexample",
    "make_three_gaussians",
    "read_npz",
    "three_gaussians_bayes",
]
