"""Data: tables as they come → a checked `TrainingSet`."""
