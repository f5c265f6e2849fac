"""Settings that must be in place before the tests import anything."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # else scikit-learn skips its array-API check
