"""Data: the user's tables → a checked `TrainingSet`."""
