"""Tables as estimators take them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from sklearn.utils import get_tags


def as_frame(X: Any, classifier: Any) -> Any:
    """A table as it is; so is a sparse matrix, but dense if the classifier takes no other; (n, p)."""
    if isinstance(X, pa.Table) or get_tags(classifier).input_tags.sparse:
        return X
    return X.toarray()
