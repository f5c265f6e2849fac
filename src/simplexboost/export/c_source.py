"""Exports models to C99: tables of nodes and of leaf values that are not zero, and functions that predict from them.

tl2cgen, which makes C of treelite models, writes a statement for every class in every leaf: 21 MB for 100 rounds on
letter, which took a compiler more than a minute. As tables the same model is 6 MB and takes 2 seconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from .._util.arrays import AnyArray
from .._util.docstrings import described
from ..boosting.decisions import TIED
from ..parts.losses.links import Link
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

PREDICTS = {
    "one": "/* The index of the label in NAME_classes. */\nint NAME_predict(const double *x);\n",
    "several": "/* 1 for the labels of x, 0 for the others. */\nvoid NAME_predict(const double *x, int *labels);\n",
    "median": "/* The index of the median label in NAME_classes. */\nint NAME_predict(const double *x);\n",
    "probabilities": "/* The probabilities of all classes. */\nvoid NAME_probabilities(const double *x, double *p);\n",
}

DECISIONS = {
    "one": """\
int NAME_predict(const double *x) {
  double u[K];
  int best = 0;
  present_scores(x, u);
  for (int k = 1; k < K; k++)
    if (u[k] > u[best]) best = k;
  return present[best];
}
""",
    "one of tied": """\
int NAME_predict(const double *x) {
  double u[K], top = -HUGE_VAL, largest = 0;
  int best = 0;
  present_scores(x, u);
  for (int k = 0; k < K; k++) {
    top = fmax(top, u[k]);
    largest = fmax(largest, fabs(u[k]));
  }
  while (u[best] < top - TIED * largest) best++;
  return present[best];
}
""",
    "median": """\
int NAME_predict(const double *x) {
  double p[UPPER_N_CLASSES], sum = 0, up_to = 0;
  int k = 0;
  NAME_probabilities(x, p);
  for (int i = 0; i < UPPER_N_CLASSES; i++) sum += p[order[i]];
  while (2 * (up_to += p[order[k]]) < (1 - TIED) * sum) k++;
  return order[k];
}
""",
    "several": """\
static void above_threshold(const double *x, double *u) {
  double cut = threshold[K];
  present_scores(x, u);
  for (int k = 0; k < K; k++) cut += threshold[k] * u[k];
  for (int k = 0; k < K; k++) u[k] -= cut;
}

void NAME_predict(const double *x, int *labels) {
  double u[K];
  above_threshold(x, u);
  for (int k = 0; k < K; k++) labels[k] = u[k] > 0;
}
""",
}

LOG_SIGMOID = """\
static double log_sigmoid(double x) { return fmin(x, 0) - log1p(exp(-fabs(x))); }
"""

SOFTMAX = """\
static void softmax(double *u) {
  double top = u[0], sum = 0;
  for (int k = 1; k < K; k++) top = fmax(top, u[k]);
  for (int k = 0; k < K; k++) sum += u[k] = exp(u[k] - top);
  for (int k = 0; k < K; k++) u[k] /= sum;
}
"""

BODIES = {
    "softmax": (SOFTMAX, "  for (int k = 0; k < K; k++) u[k] *= SCALE;\n  softmax(u);"),
    "one-vs-all": (
        SOFTMAX + LOG_SIGMOID,
        "  for (int k = 0; k < K; k++) u[k] = log_sigmoid(SCALE * u[k]);\n  softmax(u);",
    ),
    "sigmoid": (LOG_SIGMOID, "  for (int k = 0; k < K; k++) u[k] = exp(log_sigmoid(SCALE * u[k]));"),
    "shares": (
        "",
        "  double sum = 0;\n"
        "  for (int k = 0; k < K; k++) sum += u[k];\n"
        "  for (int k = 0; k < K; k++) u[k] = sum > 0 ? u[k] / sum : 1.0 / K;",
    ),
    "certain": ("", "  u[0] = 1;"),
    "savage": (
        SOFTMAX,
        """\
  /* 1 / (1 - p_k) over its sum with p = softmax(2u); the sum over the others loses no digits where p is near 1. */
  int best = 0;
  for (int k = 1; k < K; k++)
    if (u[k] > u[best]) best = k;
  double top = u[best], second = -HUGE_VAL, sum = 0;
  for (int k = 0; k < K; k++)
    if (k != best) second = fmax(second, u[k]);
  for (int k = 0; k < K; k++)
    if (k != best) sum += exp(2 * (u[k] - second));
  const double rest = 2 * (second - top) + log(sum);
  for (int k = 0; k < K; k++) u[k] = k == best ? -rest : -log1p(fmax(exp(rest) - exp(2 * (u[k] - top)), 0));
  softmax(u);""",
    ),
}


def probability_source(link: Link) -> str:
    """Return the C function for probabilities, and the functions that it calls."""
    if link.kind not in BODIES:
        raise refuse_costs("the C source")
    helpers, body = BODIES[link.kind]
    scores = "above_threshold" if link.kind == "sigmoid" else "present_scores"
    return f"""\
{helpers}
void NAME_probabilities(const double *x, double *p) {{
  double u[K];
  {scores}(x, u);
{body.replace("SCALE", repr(float(link.scale)))}
  spread(u, 0, p);
}}
"""


FOLDER = Path(__file__).parent


@described
def c(clf: Any, path: Any, *, probabilities: bool = True) -> None:
    """Export a fitted booster to C source without dependencies: ``path`` and, beside it, a header.

    If the file is called model.c, there are ``model_predict(x)``, the index of a label in ``model_classes``,
    ``model_probabilities(x, p)`` and ``model_scores(x, u)``. ``x`` are p doubles, NAN where missing, dates in days
    since 1970. Categories that are numbers are passed as they are; for those that are text,
    ``model_category(column, text)`` returns the number to pass. If rows may have several labels,
    ``model_predict(x, labels)`` fills an array with 0 and 1.

    Parameters
    ----------
    path : str or Path
        The file of the source, for instance "model.c". Its name without the ending begins all names in it.
    probabilities : bool, default=True
        Whether there is a function for probabilities. Under a ``cost_matrix`` they solve a linear system, which the C
        source does not; then this must be False.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.SimplexBoostClassifier(n_estimators=10, random_state=0).fit(X, y)
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
    header = header_of(model, name, probabilities)
    impossible = re.search(r'["\\?\n\r\ud800-\udfff]', beside.name)  # a name that C cannot include
    source = source_of(model, name, header if impossible else f'#include "{beside.name}"', probabilities)
    write_files({target: source.encode(), beside: header.encode()})


def header_of(model: PlainModel, name: str, probabilities: bool) -> str:
    predict = PREDICTS[model.decides]
    if probabilities:
        predict += PREDICTS["probabilities"]
    return filled(
        filled((FOLDER / "template.h").read_text(), PREDICT=predict.rstrip("\n")),
        N_FEATURES=model.columns.n,
        N_CLASSES=len(model.classes),
        NAME=name,
        UPPER=name.upper(),
    )


def source_of(model: PlainModel, name: str, header: str, probabilities: bool) -> str:
    """Return the source; ``header`` is the line that includes the header, or the text of the header."""
    functions = filled(
        (FOLDER / "template.c").read_text(),
        SCORES=SCORES["canonical" if model.code.canonical else "codewords"],
        DECISION=DECISIONS["one of tied" if model.decides == "one" and not model.exact else model.decides],
        PROBABILITIES=probability_source(model.link) if probabilities else "",
    )
    return filled(
        functions,
        HEADER=header,
        TABLES=tables(model, name),
        MOST_TIED=TIED,
        N_COORDINATES=model.d,
        N_PRESENT=int(model.present.sum()),
        N_TREES=len(model.trees),
        N_LINES=len(model.lines),
        N_CATEGORIES=len(category_table(model)),
        NAME=name,
        UPPER=name.upper(),
    )


def filled(template: str, **words: Any) -> str:
    """Return the template with words replaced, all at once, because a replacement may contain another of the words."""
    return re.sub(rf"\b({'|'.join(words)})(?=\b|_)", lambda found: str(words[found[1]]), template)


SCORES = {
    "canonical": "  for (int k = 0; k < K; k++) u[k] = 0.5 * f[k];",
    "codewords": "  for (int k = 0; k < K; k++) {\n"
    "    u[k] = 0;\n"
    "    for (int j = 0; j < D; j++) u[k] += codeword[k][j] * f[j];\n"
    "  }",
}


# ---- tables ---------------------------------------------------------------------------------------------------------


def tables(model: PlainModel, name: str) -> str:
    categories, known = category_table(model), [known_numbers(of_column) for of_column in model.columns.categories]
    parts = [
        texts(
            f"const char *const {name}_classes[{name.upper()}_N_CLASSES]",
            [str(label) for label in model.classes.tolist()],
        ),
        texts(
            f"const char *const {name}_columns[{name.upper()}_N_FEATURES]",
            model.columns.names or [f"x{j}" for j in range(model.columns.n)],
        ),
        array("static const int present[K]", np.flatnonzero(model.present)),
        *tree_tables(model),
        *line_tables(model),
        array("static const int category_column[]", [column for column, _, _ in categories] or [0]),
        array("static const int category_number[]", [number for _, _, number in categories] or [0]),
        texts("static const char *const category_text[]", [text for _, text, _ in categories] or [""]),
        array(f"static const int category_other[{name.upper()}_N_FEATURES]", other_numbers(model)),
        array("static const double known[]", [value for of_column in known for value, _ in of_column] or [0.0]),
        array("static const int known_number[]", [number for of_column in known for _, number in of_column] or [0]),
        array(f"static const long known_begin[{name.upper()}_N_FEATURES + 1]", starts([len(part) for part in known])),
    ]
    if not model.code.canonical:
        parts.append(matrix("static const double codeword[K][D]", 0.5 * model.code.Y.astype(np.float64)))
    if model.order is not None:
        parts.append(array(f"static const int order[{name.upper()}_N_CLASSES]", model.order))
    if model.threshold is not None:
        parts.append(array("static const double threshold[K + 1]", model.threshold))
    return "\n".join(parts)


def tree_tables(model: PlainModel) -> list[str]:
    """Return the nodes, category sets and leaf values of all trees, one tree after another."""
    trees = model.trees
    n_nodes = starts([len(t.tree.nodes) for t in trees])
    n_leaves = starts([t.tree.n_leaves for t in trees])
    n_sets = starts([len(t.tree.category_sets) for t in trees])
    lines = []
    for tree, node, leaf, first in zip(trees, n_nodes, n_leaves, n_sets, strict=False):
        nodes = tree.tree.nodes
        is_leaf = nodes["feature"] < 0
        left = nodes["left"].astype(np.int64) + np.where(is_leaf, leaf, node)
        chosen = np.where(nodes["category"] < 0, -1, nodes["category"].astype(np.int64) + first)
        rows = zip(nodes["threshold"].tolist(), nodes["feature"].tolist(), left.tolist(), chosen.tolist(),
                   nodes["missing_left"].tolist(), strict=True)  # fmt: skip
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


def line_tables(model: PlainModel) -> list[str]:
    """Return the terms that are the same for all rows, and the lines."""
    lines = model.lines
    slopes = np.array([line.slope for line in lines] or np.zeros((1, model.d)))
    return [
        array("static const double constant[D]", sum((line.intercept for line in lines), np.zeros(model.d))),
        array("static const int line_feature[]", [line.feature for line in lines] or [0]),
        array("static const double line_centre[]", [line.centre for line in lines] or [0]),
        matrix("static const double line_slope[][D]", slopes),
    ]


def category_table(model: PlainModel) -> list[tuple[int, str, int]]:
    """Return the column, the text and the number of every category that is text."""
    return [
        (j, text, number)
        for j, values in enumerate(model.columns.categories)
        if values and holds_text(values)
        for number, text in enumerate(values)
    ]


def known_numbers(categories: list[Any] | None) -> list[tuple[float, int]]:
    """Return the values and the numbers of categories that are numbers, sorted by value."""
    if not categories or holds_text(categories):
        return []
    values = as_exact_numbers(categories, np.float64, "C")
    return sorted((value, number) for number, value in enumerate(values.tolist()))


def other_numbers(model: PlainModel) -> list[int]:
    """Return for every column the number that unknown categories share, or −1."""
    of_columns = [values or [] for values in model.columns.categories]
    return [len(values) if n_numbers(values) > len(values) else -1 for values in of_columns]


def starts(sizes: Any) -> AnyArray:
    """Return the offsets of consecutive parts of these sizes, and the end of the last one."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


# ---- C --------------------------------------------------------------------------------------------------------------


def number(value: float) -> str:
    """Return a number with as many digits as are needed to read back the same one."""
    return {np.inf: "HUGE_VAL", -np.inf: "-HUGE_VAL"}.get(value) or repr(value)


def array(declaration: str, values: Any, single: bool = False) -> str:
    """Return the declaration of an array; nine digits are enough in single precision."""
    listed = np.asarray(values).tolist()
    return braces(declaration, [f"{v:.9g}" for v in listed] if single else [number(v) for v in listed])


def matrix(declaration: str, values: AnyArray) -> str:
    return braces(declaration, ["{" + ",".join(map(number, row)) + "}" for row in values.tolist()])


def texts(declaration: str, values: Iterable[str]) -> str:
    return braces(declaration, [quoted(text) for text in values])


def braces(declaration: str, entries: list[str]) -> str:
    """Return a declaration with its entries, sixteen in a line."""
    lines = [",".join(entries[at : at + 16]) for at in range(0, len(entries), 16)]
    return f"{declaration} = {{\n" + ",\n".join(lines) + "};"


def quoted(text: str) -> str:
    """Return a C string; all characters but plain ones are octal bytes of UTF-8."""
    plain = lambda byte: 32 <= byte < 127 and chr(byte) not in '"\\?'  # noqa: E731
    return '"' + "".join(chr(byte) if plain(byte) else f"\\{byte:03o}" for byte in text.encode()) + '"'
