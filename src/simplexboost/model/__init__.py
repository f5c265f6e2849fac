"""The model: codes, hypotheses, sums of hypotheses and branching programs."""
