"""Defines fitted models: sums of weak hypotheses with their codewords, and branching programs."""
