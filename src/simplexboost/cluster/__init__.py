"""Fitting on rows that are spread over the members of a group: the same model, bit for bit, as on one machine."""
