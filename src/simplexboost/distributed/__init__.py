"""Fitting on rows that are spread over several machines: the same model, bit for bit, as on one machine."""
