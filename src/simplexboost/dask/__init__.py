"""Fitting on a Dask cluster: the same model, bit for bit, as on one machine."""
