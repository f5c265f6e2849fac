"""Tables as estimators take them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.utils import get_tags


def as_frame(X: Any, classifier: Any) -> Any:
    """A table or a sparse matrix in the form that the classifier takes; (n, p).

    That is a table without its names if it was fitted without names, and a dense matrix if it takes no other.
    """
    if isinstance(X, pa.Table):
        nameless = hasattr(classifier, "classes_") and not hasattr(classifier, "feature_names_in_")
        return np.column_stack([column.to_numpy() for column in X.columns]) if nameless else X
    return X if get_tags(classifier).input_tags.sparse else X.toarray()
