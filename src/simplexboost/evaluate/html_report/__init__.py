"""The report: one HTML page about a fitted classifier and its predictions for labelled rows."""
