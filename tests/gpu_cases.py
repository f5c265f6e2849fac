"""What the tests of the GPU engine share."""

import numpy as np
from cases import blobs
from cuda_emulator import EmulatedDevice, ForeignArray


def table(n=200, K=4):
    """Numbers, some missing, and a column of categories."""
    X, y = blobs(n=n, p=4, K=K, missing=0.05)
    X[:, 3] = np.nan_to_num(np.abs(np.round(X[:, 3])))
    return X, y


def foreign(engine):
    """What makes arrays of another library on the engine's device, which NumPy cannot read."""
    return ForeignArray if isinstance(engine.device, EmulatedDevice) else engine.device.upload
