"""Reads and checks the user's X, y and weights, and makes a `TrainingSet` of them."""
