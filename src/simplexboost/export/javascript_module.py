"""Boosters for the browser: an ES module of a few kilobytes, and the model file beside it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from ..files.whole import write_files
from .options import source_path
from .shipped import shipped

SOURCE = Path(__file__).with_name("predictor.js")
SLOT = "const MODEL = null;"  # where the name of the model file goes


def javascript(clf: Any, path: Any) -> None:
    """A fitted booster as an ES module and, beside it, the model file that the module reads.

    ``import { load } from "./model.js"; const model = await load()`` gives a model with ``predict(row)``,
    ``probabilities(row)`` and ``scores(row)``, in browsers and in Node 20.12 or later, without dependencies. A row is
    an array, or an object with the names of the columns as keys; text and missing values are as in the fit.

    Parameters
    ----------
    clf : fitted booster
        The model to export.
    path : str or Path
        The file of the module, for instance "model.js". The model file has the same name with the ending .sb.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.SimplexBoostClassifier(n_estimators=10, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sb.export.javascript(clf, f"{folder}/model.js")
    ...     sorted(path.name for path in pathlib.Path(folder).iterdir())
    ['model.js', 'model.sb']
    """
    shipped(clf)  # refuses what cannot be exported
    target, memory = source_path(path, ".js", ".mjs"), io.BytesIO()
    clf.save(memory)
    beside = target.with_suffix(".sb")
    source = SOURCE.read_text(encoding="utf-8").replace(SLOT, f"const MODEL = {json.dumps(beside.name)};")
    write_files({target: source.encode(), beside: memory.getvalue()})
