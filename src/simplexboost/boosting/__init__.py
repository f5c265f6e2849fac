"""Boosting: the loop, its state, and the model it makes."""
