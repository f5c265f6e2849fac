"""Defines short names for the NumPy array types that signatures use, such as `Array` for float64 arrays."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]
AnyArray: TypeAlias = NDArray[Any]
