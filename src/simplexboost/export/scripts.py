"""Exports models to one Python file that needs only NumPy, and to a JavaScript module for browsers.

The Python file is the source of `standalone`, with the model in it or beside it. The JavaScript module reads a model
file beside it.
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
    """Export a fitted booster to one Python file that needs NumPy alone and predicts labels and probabilities.

    The file can be imported, ``import model; model.predict(X)``, and copied anywhere. It takes arrays, lists of rows,
    dicts of columns and data frames, with text, categories and missing values as in the fit. Its scores are those of
    the classifier bit for bit where these need no matrix product; it is slower than the compiled code.

    Parameters
    ----------
    embed : bool, default=True
        Whether the model is in the file, as text. If not, the model file is written beside it, with the ending .sb,
        which loads faster if the model is large.

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
    """Export a fitted booster to an ES module and, beside it, the model file that the module reads.

    ``import { load } from "./model.js"; const model = await load()`` gives a model with ``predict(row)``,
    ``probabilities(row)`` and ``scores(row)``, in browsers and in Node 20.12 or later, without dependencies. A row is
    an array, or an object with the names of the columns as keys; text and missing values are as in the fit.

    Parameters
    ----------
    path : str or Path
        The file of the module, for instance "model.js". The model file has the same name with the ending .sb.

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
    """Return the model file of a booster; raise if it cannot be exported."""
    as_plain_model(clf)
    memory = io.BytesIO()
    clf.save(memory)
    return memory.getvalue()
