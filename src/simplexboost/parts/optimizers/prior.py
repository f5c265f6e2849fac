"""Starts boosting at the class frequencies, with a tree of one leaf whose values are the log-odds of the classes."""

from __future__ import annotations

import numpy as np
from scipy.special import entr

from ..._util.arrays import AnyArray, Array
from ...engine import single_leaf
from ...model.hypotheses import LeafOutputs, TreeHypothesis
from ...tables.training_set import TrainingSet
from .run import Run, Update

# So many rows are added to those of every class, because the only row of a class may be held out.
EXTRA = 0.5
# Shares of classes are even if their entropy is at least this part of the largest possible one.
EVEN = 0.98


def prior_update(run: Run) -> Update:
    """The round that moves all rows to the log-odds of the classes among the rows of this round."""
    shares = class_shares(run.data, slice(None) if run.rows is None else run.rows)
    logits = np.log(shares) - (np.log1p(-shares) if run.data.problem.yes_or_no else np.log(shares).mean())
    values = run.code.predictor(logits[None])  # (1, d)
    outputs = LeafOutputs(values, np.zeros(run.data.n_here, dtype=np.int32), run.data.engine)
    return Update(
        TreeHypothesis(single_leaf(run.data.n), values), outputs, 1.0 / run.learning_rate, edge=0.0, perfect=False
    )


def class_shares(data: TrainingSet, rows: AnyArray | slice = slice(None)) -> Array:
    """The shares of the classes in some of the rows that are here, of the labels, or of each target's classes; (K,)."""
    return data.problem.shares(data.target_weights(rows), EXTRA)


def has_even_classes(data: TrainingSet) -> bool:
    """Whether the classes are about equally frequent; with several labels or targets, whether those of each are."""
    questions = data.problem.by_question(class_shares(data))
    return all(entr(outcomes).sum() >= EVEN * np.log(len(outcomes)) for outcomes in questions)
