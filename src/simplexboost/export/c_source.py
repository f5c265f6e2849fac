"""Exports models to C99: tables of tree nodes and of nonzero leaf values, and functions that predict from the tables.

tl2cgen, which makes C from treelite models, writes a statement for every class in every leaf. For 100 rounds on the
data set letter, that source takes 21 MB and over a minute to compile; with tables it takes 6 MB and 2 seconds.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from .._util.arrays import AnyArray
from .._util.docstrings import described
from ..boosting.decisions import TIED
from ..persist.atomic_write import write_files
from .plain_model import (
    PlainModel,
    as_exact_numbers,
    as_plain_model,
    holds_text,
    n_numbers,
    refuse_costs,
    refuse_merged,
    source_path,
)
from .standalone import starts

TEMPLATE = Path(__file__).with_name("template.c")


@described
def c(clf: Any, path: Any, *, probabilities: bool = True) -> None:
    """Export a fitted booster to a C source file without dependencies, and a header file beside it.

    For a file model.c, ``model_predict(x)`` returns the index of a label in ``model_classes``; if rows may have several
    labels, ``model_predict(x, labels)`` fills an array with 0 and 1. ``model_probabilities(x, p)`` and
    ``model_scores(x, u)`` fill the arrays p and u. The row x has a double per feature: NAN if missing, dates in days
    since 1970, numeric categories unchanged. For a category that is text, ``model_category(column, text)`` returns the
    number to pass.

    Parameters
    ----------
    path : str or Path
        The source file, for instance "model.c". Public names begin with the file's name, here "model".
    probabilities : bool, default=True
        Whether to write a function for probabilities. Must be False if there is a ``cost_matrix``, since probabilities
        then solve a linear system, for which the C source has no code.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sb.export.c(clf, f"{folder}/iris.c")
    ...     "int iris_predict(const double *x);" in pathlib.Path(folder, "iris.h").read_text()
    True
    """
    model, target = as_plain_model(clf), source_path(path, ".c")
    refuse_merged(model, "C")
    if model.decides == "median" and not probabilities:
        raise ValueError(
            "probabilities=False does not go with a model of ordered classes, which predicts the median of its "
            "probabilities; take probabilities=True."
        )
    name, beside = re.sub(r"\W", "_", target.stem, flags=re.ASCII), target.with_suffix(".h")
    if name[:1].isdigit():
        name = f"_{name}"
    parts = dict(re.findall(r"^//: ([^\n]+)\n(.*?)\n(?=\n//: |\Z)", TEMPLATE.read_text(), re.MULTILINE | re.DOTALL))
    names = {"N_FEATURES": model.columns.n, "N_CLASSES": len(model.classes), "NAME": name, "UPPER": name.upper()}
    declared = [parts[f"declare {model.decides}"]] + [parts["declare probabilities"]] * probabilities
    header = fill_template(fill_template(parts["header"], PREDICT="\n".join(declared)), **names)
    tied = model.decides == "one" and not model.exact
    functions = fill_template(
        parts["source"],
        SCORES=parts["scores canonical" if model.code.canonical else "scores codewords"],
        DECISION=parts["predict one of tied" if tied else f"predict {model.decides}"],
        PROBABILITIES=probability_source(model, parts) if probabilities else "",
    )
    impossible = re.search(r'["\\?\n\r\ud800-\udfff]', beside.name)  # a name that C cannot include
    categories = list_categories(model)
    source = fill_template(
        functions,
        HEADER=header if impossible else f'#include "{beside.name}"',
        TABLES=declare_tables(model, name, categories),
        MOST_TIED=TIED,
        N_COORDINATES=model.d,
        N_PRESENT=int(model.present.sum()),
        N_TREES=len(model.trees),
        N_LINES=len(model.lines),
        N_CATEGORIES=len(categories),
        **names,
    )
    write_files({target: f"{source}\n".encode(), beside: f"{header}\n".encode()})


def probability_source(model: PlainModel, parts: dict[str, str]) -> str:
    """Return the C functions for probabilities; raise if probabilities depend on a cost matrix."""
    link = parts.get(f"link {model.link.kind}")
    if link is None:
        raise refuse_costs("the C source")
    return fill_template(
        parts["probabilities"],
        HELPERS="\n".join(parts[name] for name in ("softmax", "log_sigmoid") if f"{name}(" in link),
        READ_SCORES="above_threshold" if model.link.kind == "sigmoid" else "present_scores",
        LINK=fill_template(link, SCALE=repr(float(model.link.scale))),
    )


def fill_template(template: str, **words: Any) -> str:
    """Replace several words of a template in one pass, because a replacement may contain another of these words."""
    return re.sub(rf"\b({'|'.join(words)})(?=\b|_)", lambda found: str(words[found[1]]), template)


# ---- tables ---------------------------------------------------------------------------------------------------------


def declare_tables(model: PlainModel, name: str, categories: list[tuple[int, str, int]]) -> str:
    """Return the C declarations of all arrays of the model; ``categories`` is the result of `list_categories`."""
    known = [known_numbers(of_column) for of_column in model.columns.categories]
    listed, names = [values or [] for values in model.columns.categories], model.columns.names
    others = [len(values) if n_numbers(values) > len(values) else -1 for values in listed]
    n_classes, n_features, lines = f"{name.upper()}_N_CLASSES", f"{name.upper()}_N_FEATURES", model.lines
    parts = [
        texts(f"const char *const {name}_classes[{n_classes}]", model.classes.tolist()),
        texts(f"const char *const {name}_columns[{n_features}]", names or [f"x{j}" for j in range(model.columns.n)]),
        array("static const int present[K]", np.flatnonzero(model.present)),
        *declare_trees(model),
        # the terms that are the same for all rows, and the lines
        array("static const double constant[D]", sum((line.intercept for line in lines), np.zeros(model.d))),
        array("static const int line_feature[]", [line.feature for line in lines] or [0]),
        array("static const double line_centre[]", [line.centre for line in lines] or [0]),
        matrix("static const double line_slope[][D]", np.array([line.slope for line in lines] or [np.zeros(model.d)])),
        array("static const int category_column[]", [column for column, _, _ in categories] or [0]),
        array("static const int category_number[]", [number for _, _, number in categories] or [0]),
        texts("static const char *const category_text[]", [text for _, text, _ in categories] or [""]),
        array(f"static const int category_other[{n_features}]", others),
        array("static const double known[]", [value for of_column in known for value, _ in of_column] or [0.0]),
        array("static const int known_number[]", [number for of_column in known for _, number in of_column] or [0]),
        array(f"static const long known_begin[{n_features} + 1]", starts([len(part) for part in known])),
    ]
    if not model.code.canonical:
        parts.append(matrix("static const double codeword[K][D]", 0.5 * model.code.Y.astype(np.float64)))
    if model.order is not None:
        parts.append(array(f"static const int order[{n_classes}]", model.order))
    if model.threshold is not None:
        parts.append(array("static const double threshold[K + 1]", model.threshold))
    return "\n".join(parts)


def declare_trees(model: PlainModel) -> list[str]:
    """Return the C declarations of tree nodes, category sets and leaf values, each concatenated over the trees."""
    trees = model.trees
    n_nodes = starts([len(t.tree.nodes) for t in trees])
    n_leaves = starts([t.tree.n_leaves for t in trees])
    n_sets = starts([len(t.tree.category_sets) for t in trees])
    lines = []
    for tree, node, leaf, first in zip(trees, n_nodes, n_leaves, n_sets, strict=False):
        nodes = tree.tree.nodes
        left = nodes["left"].astype(np.int64) + np.where(nodes["feature"] < 0, leaf, node)
        chosen = np.where(nodes["category"] < 0, -1, nodes["category"].astype(np.int64) + first)
        columns = (nodes["threshold"], nodes["feature"], left, chosen, nodes["missing_left"])
        rows = zip(*(values.tolist() for values in columns), strict=True)
        lines += [f"{{{number(t)},{f},{at},{s},{m}}}" for t, f, at, s, m in rows]
    single = model.code.Y.dtype == np.float32
    counts = np.concatenate([np.zeros(0, int), *(np.diff(t.values.indptr) for t in trees)])
    values = np.concatenate([np.zeros(0), *(t.values.data for t in trees)])
    coordinates = np.concatenate([np.zeros(0, int), *(t.values.indices for t in trees)])
    sets = np.concatenate([np.zeros((0, 32), np.uint8), *(t.tree.category_sets for t in trees)])
    small = "uint8_t" if model.d <= 2**8 else "uint16_t" if model.d <= 2**16 else "uint32_t"
    return [
        braces("static const node nodes[]", lines or ["{0,-1,0,-1,0}"]),
        array("static const int root[]", n_nodes),
        matrix("static const uint8_t sets[][32]", sets if len(sets) else np.zeros((1, 32), np.uint8)),
        array("static const long begin[]", starts(counts)),
        array(f"static const {small} coordinate[]", coordinates if len(coordinates) else [0]),
        array(f"static const {'float' if single else 'double'} value[]", values if len(values) else [0], single),
    ]


def list_categories(model: PlainModel) -> list[tuple[int, str, int]]:
    """Return for every category that is text a tuple of column index, text and category code."""
    return [
        (j, text, number)
        for j, values in enumerate(model.columns.categories)
        if values and holds_text(values)
        for number, text in enumerate(values)
    ]


def known_numbers(categories: list[Any] | None) -> list[tuple[float, int]]:
    """Return (value, category code) for categories that are numbers, sorted by value; an empty list for text."""
    if not categories or holds_text(categories):
        return []
    values = as_exact_numbers(categories, np.float64, "C")
    return sorted((value, number) for number, value in enumerate(values.tolist()))


# ---- C --------------------------------------------------------------------------------------------------------------


def number(value: float) -> str:
    """Return a number as C source, with enough digits to restore it exactly."""
    return {np.inf: "HUGE_VAL", -np.inf: "-HUGE_VAL"}.get(value) or repr(value)


def array(declaration: str, values: Any, single: bool = False) -> str:
    """Return the C declaration of an array; ``single`` writes nine digits, which is enough for single precision."""
    listed = np.asarray(values).tolist()
    return braces(declaration, [f"{v:.9g}" for v in listed] if single else [number(v) for v in listed])


def matrix(declaration: str, values: AnyArray) -> str:
    return braces(declaration, ["{" + ",".join(map(number, row)) + "}" for row in values.tolist()])


def texts(declaration: str, values: list[Any]) -> str:
    """Return the C declaration of an array of strings; special characters become octal escapes of their UTF-8 bytes."""

    def quoted(byte: int) -> str:
        return chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"

    return braces(declaration, ['"' + "".join(map(quoted, str(value).encode())) + '"' for value in values])


def braces(declaration: str, entries: list[str]) -> str:
    """Return a C declaration with its initial values, sixteen per line."""
    lines = [",".join(entries[at : at + 16]) for at in range(0, len(entries), 16)]
    return f"{declaration} = {{\n" + ",\n".join(lines) + "};"
