"""The report: one HTML page about a fitted classifier and how it does on labelled rows."""
