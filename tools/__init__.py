"""Measures of the package: `house` makes a table of its size and shape, `calls` counts calls of its functions."""
