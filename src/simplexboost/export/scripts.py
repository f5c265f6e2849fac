"""Exports models to one Python file that needs only NumPy, and to a JavaScript module for browsers.

The Python file is the source code of `standalone`, followed by the model as text or by the name of a model file beside
it. The JavaScript module reads a model file beside it.
"""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

from .._util.docstrings import described
from ..persist.atomic_write import write_files
from . import standalone
from .plain_model import as_plain_model, source_path

WIDTH = 118  # characters of the model's text in a line

EMBEDDED = '''

# ---- the model ------------------------------------------------------------------------------------------------------

import base64  # noqa: E402
import io  # noqa: E402

model = load(io.BytesIO(base64.b85decode("""
{text}
""".replace("\\n", ""))))
'''
BESIDE = """

# ---- the model ------------------------------------------------------------------------------------------------------

import pathlib  # noqa: E402

model = load(pathlib.Path(__file__).with_name({name!r}))
"""
NAMES = """classes_ = model.classes_
predict, predict_proba, class_scores = model.predict, model.predict_proba, model.class_scores
"""


@described
def python(clf: Any, path: Any, *, embed: bool = True) -> None:
    """Export a fitted booster to a Python file that needs only NumPy and predicts labels and probabilities.

    Use the file with ``import model; model.predict(X)``. X is an array, a list of rows, a dict of columns or a data
    frame, with text, categories and missing values as in the fit. Scores are equal to those of the classifier bit for
    bit, unless they need a matrix product. Predictions are slower than those of the classifier.

    Parameters
    ----------
    embed : bool, default=True
        Whether the Python file contains the model, as text. If False, the model is written to a model file beside it,
        with the extension .sb; a large model then loads faster.

    Examples
    --------
    >>> import runpy, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sb.export.python(clf, f"{folder}/iris_model.py")
    ...     model = runpy.run_path(f"{folder}/iris_model.py")  # like `import iris_model`
    >>> bool((model["predict"](X) == clf.predict(X)).all())
    True
    """
    target, saved = source_path(path, ".py"), saved_model(clf)
    source = Path(standalone.__file__).read_text(encoding="utf-8")
    if embed:
        text = base64.b85encode(saved).decode()
        lines = "\n".join(text[at : at + WIDTH] for at in range(0, len(text), WIDTH))
        write_files({target: (source + EMBEDDED.replace("{text}", lines) + NAMES).encode()})
    else:
        beside = target.with_suffix(".sb")
        write_files({target: (source + BESIDE.format(name=beside.name) + NAMES).encode(), beside: saved})


SOURCE = Path(__file__).with_name("predictor.js")
SLOT = "const MODEL = null;"  # is replaced by the name of the model file


@described
def javascript(clf: Any, path: Any) -> None:
    """Export a fitted booster to a JavaScript (ES) module, and a model file beside it that the module reads.

    ``import { load } from "./model.js"; const model = await load()`` gives a model with ``predict(row)``,
    ``probabilities(row)`` and ``scores(row)``, in browsers and in Node 20.12 or later, without dependencies. A row is
    an array, or an object with the names of the columns as keys; text and missing values are as in the fit.

    Parameters
    ----------
    path : str or Path
        The module, for instance "model.js". The model file has the same name with the extension .sb.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sb.export.javascript(clf, f"{folder}/model.js")
    ...     sorted(path.name for path in pathlib.Path(folder).iterdir())
    ['model.js', 'model.sb']
    """
    target, saved = source_path(path, ".js", ".mjs"), saved_model(clf)
    beside = target.with_suffix(".sb")
    source = SOURCE.read_text(encoding="utf-8").replace(SLOT, f"const MODEL = {json.dumps(beside.name)};")
    write_files({target: source.encode(), beside: saved})


def saved_model(clf: Any) -> bytes:
    """Return the bytes of a booster's model file; raise if the booster cannot be exported."""
    as_plain_model(clf)
    memory = io.BytesIO()
    clf.save(memory)
    return memory.getvalue()
