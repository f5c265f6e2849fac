"""Defines fitted models: sums of weak hypotheses with a coding matrix, and branching programs."""
