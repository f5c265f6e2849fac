"""The ONNX graph of a booster: columns → trees and lines → F → scores U = ½ F Yᵀ → label and probabilities.

What follows the trees is computed in double precision, so that differences and soft-maxes of large scores lose nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._packages import needed
from .._typing import AnyArray
from .._warn import warn_user
from .onnx_trees import attributes
from .shipped import Columns, Line, Shipped, ShippedTree, as_exact_numbers, holds_text, n_numbers


class Graph:
    """A graph in the making: nodes and constants, referred to by name.

    ``taken`` are the names of columns; names in the graph begin as none of them does.
    """

    def __init__(self, taken: list[str]) -> None:
        onnx = needed("onnx", "this export needs")
        self.ours = "sb_"
        while any(name.startswith(self.ours) for name in taken):
            self.ours += "_"
        self.helper, self.types, self._from_array = onnx.helper, onnx.TensorProto, onnx.numpy_helper.from_array
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, values: Any) -> str:
        """The name of a constant."""
        name = f"{self.ours}constant_{len(self.constants)}"
        self.constants.append(self._from_array(np.asarray(values), name))
        return name

    def op(self, kind: str, *inputs: str, out: str | None = None, ml: bool = False, **attributes: Any) -> str:
        """Add a node; its output is called ``out``, or gets a new name."""
        out = f"{self.ours}{len(self.nodes)}_{kind}" if out is None else out
        domain = {"domain": "ai.onnx.ml"} if ml else {}
        self.nodes.append(self.helper.make_node(kind, list(inputs), [out], **domain, **attributes))
        return out

    def tensor(self, values: AnyArray) -> Any:
        """Values as a tensor that is an attribute."""
        return self._from_array(values)


# ---- columns --------------------------------------------------------------------------------------------------------


def read_columns(graph: Graph, columns: Columns, dtype: Any) -> tuple[list[Any], str, AnyArray]:
    """The inputs of the graph, the name of all columns as numbers (n, p), and (p,) where each column is in them.

    If categories are text there is an input (n, 1) for every column, since a tensor holds text or numbers; else there
    is one input X (n, p). Numbers come before categories, which become numbers from 1.
    """
    if not columns.has_categories:
        return [value_info(graph, "X", dtype, columns.n)], "X", np.arange(columns.n)
    numeric = [j for j in range(columns.n) if columns.categories[j] is None]
    rest = [j for j in range(columns.n) if columns.categories[j] is not None]
    pieces = []
    if columns.has_text:
        names = column_names(columns)
        check_text_inputs(columns, names)
        kinds = [str if holds_text(columns.categories[j]) else dtype for j in range(columns.n)]
        inputs = [value_info(graph, name, kind, 1) for name, kind in zip(names, kinds, strict=True)]
        pieces += [names[j] for j in numeric]
        pieces += [encoded(graph, names[j], columns.categories[j] or [], dtype) for j in rest]
    else:
        inputs = [value_info(graph, "X", dtype, columns.n)]
        take = lambda some: graph.op("Gather", "X", graph.constant(np.array(some)), axis=1)  # noqa: E731
        pieces += [take(numeric)] * bool(numeric)
        pieces += [encoded(graph, take([j]), columns.categories[j] or [], dtype) for j in rest]
    place = np.empty(columns.n, dtype=np.int64)
    place[[*numeric, *rest]] = np.arange(columns.n)
    return inputs, graph.op("Concat", *pieces, axis=1), place


def check_text_inputs(columns: Columns, names: list[str]) -> None:
    """Refuse a column without a name; say where the empty text is a category and cannot stand for missing values."""
    if "" in names:
        raise ValueError("a column has no name, and an input of an ONNX model needs one; name it before the fit.")
    for name, categories in zip(names, columns.categories, strict=True):
        if "" in (categories or []):
            warn_user(
                f"column {name!r} has the empty text as a category, which in ONNX stands for missing values elsewhere: "
                "in this column they cannot be passed on.",
            )


def column_names(columns: Columns) -> list[str]:
    """The names of the inputs where each column is one: their own, or x0, x1, … for arrays."""
    return columns.names or [f"x{j}" for j in range(columns.n)]


def value_info(graph: Graph, name: str, dtype: Any, width: int | None) -> Any:
    """An input or output (n, width), or (n,) if the width is None."""
    kind = graph.types.STRING if dtype is str else graph.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return graph.helper.make_tensor_value_info(name, kind, ["n"] if width is None else ["n", width])


def encoded(graph: Graph, name: str, categories: list[Any], dtype: Any) -> str:
    """Categories (n, 1) as their numbers + 1; NaN for missing ones, and for those that share no number.

    A text tensor has no missing values: the empty text stands for them, unless it is itself a category.
    """
    found = np.arange(1.0, len(categories) + 1, dtype=dtype)
    shared = n_numbers(categories) > len(categories)
    other = np.array([len(categories) + 1.0 if shared else np.nan], dtype=dtype)
    if holds_text(categories):
        missing = [""] * (shared and "" not in categories)
        keys: AnyArray = np.array([*categories, *missing], dtype=object)
    else:
        missing = [""] * shared
        keys = np.append(as_exact_numbers(categories, dtype, "ONNX"), np.full(len(missing), np.nan, dtype=dtype))
    values = np.append(found, np.full(len(missing), np.nan, dtype=dtype))
    table = {"keys_tensor": graph.tensor(keys), "values_tensor": graph.tensor(values)}
    return graph.op("LabelEncoder", name, ml=True, **table, default_tensor=graph.tensor(other))


# ---- the predictor --------------------------------------------------------------------------------------------------


def predictor(graph: Graph, model: Shipped, X: str, place: AnyArray, dtype: Any) -> str:
    """F (n, d) in double precision: the sum of the trees, the lines and what is constant."""
    split = [tree for tree in model.trees if len(tree.tree.nodes) > 1]
    constant = sum((tree.values.toarray()[0] for tree in model.trees if len(tree.tree.nodes) == 1), np.zeros(model.d))
    constant = constant + sum((line.intercept for line in model.lines), np.zeros(model.d))
    pieces = [graph.constant(constant)] if constant.any() else []
    if split:
        pieces.append(tree_sum(graph, split, model, X, place, dtype))
    if model.lines:
        pieces.append(line_sum(graph, model.lines, X, place))
    if not split and not model.lines:  # the same for every row; the zeros give it as many rows as X
        first = graph.op("Gather", X, graph.constant(np.array([0])), axis=1)
        zeros = graph.op("Mul", graph.op("Cast", graph.op("IsNaN", first), to=graph.types.DOUBLE), graph.constant(0.0))
        pieces.append(graph.op("Add", zeros, graph.constant(np.zeros(model.d))))
    F = pieces[0]
    for piece in pieces[1:]:
        F = graph.op("Add", F, piece)
    return F


def tree_sum(graph: Graph, trees: list[ShippedTree], model: Shipped, X: str, place: AnyArray, dtype: Any) -> str:
    """Σ trees, (n, d)."""
    entries = attributes(trees, model.columns, place, model.d, dtype)
    for name in [name for name in entries if name.endswith("_as_tensor")]:
        entries[name] = graph.tensor(entries[name])
    out = graph.op("TreeEnsembleRegressor", X, ml=True, **entries)
    return graph.op("Cast", out, to=graph.types.DOUBLE)


def line_sum(graph: Graph, lines: list[Line], X: str, place: AnyArray) -> str:
    """Σ slope · (x_f − centre) over the lines, (n, d), where missing values count as the centre."""
    asked = sorted({(line.feature, line.centre) for line in lines})
    slopes = np.zeros((len(asked), len(lines[0].slope)))
    for line in lines:
        slopes[asked.index((line.feature, line.centre))] += line.slope
    where = graph.constant(place[[feature for feature, _ in asked]])
    x = graph.op("Cast", graph.op("Gather", X, where, axis=1), to=graph.types.DOUBLE)
    x = graph.op("Sub", x, graph.constant(np.array([centre for _, centre in asked])))
    x = graph.op("Where", graph.op("IsNaN", x), graph.constant(0.0), x)
    return graph.op("MatMul", x, graph.constant(slopes))


def scores(graph: Graph, model: Shipped, F: str) -> str:
    """U = ½ F Yᵀ of the classes that had training examples, (n, K')."""
    if model.code.canonical:
        return graph.op("Mul", F, graph.constant(0.5))
    return graph.op("MatMul", F, graph.constant(0.5 * model.code.Y.astype(np.float64).T))
