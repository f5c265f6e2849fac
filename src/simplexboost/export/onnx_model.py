"""Export to ONNX: a graph from columns through trees and lines to F, scores U = ½ F Yᵀ, label and probabilities.

Trees become a TreeEnsembleRegressor. It has no questions about sets of categories, so such a node becomes a chain: "is
it the first category? the second? …", all answers "yes" leading to the same child, as converters from LightGBM write
it. onnxruntime turns a chain into one look-up if the numbers are from 1 to 64 (1 to 32 in single precision), so
categories are numbered from 1. What follows the trees is computed in double precision, so that differences and
soft-maxes of large scores lose nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._util import __version__
from .._util.arrays import AnyArray, Labels
from .._util.compat import import_optional
from .._util.messages import warn_user
from ..boosting.decisions import ABSENT, TIED
from ..persist.atomic_write import write_bytes
from .shipped import (
    Columns,
    Line,
    Link,
    Shipped,
    ShippedTree,
    as_exact_numbers,
    check_dtype,
    holds_text,
    n_numbers,
    numbers_in,
    shipped,
)

LESS_OR_EQUAL, EQUAL, LEAF = "BRANCH_LEQ", "BRANCH_EQ", "LEAF"


@dataclass(frozen=True, eq=False)
class Nodes:
    """The nodes of one tree; `yes` and `no` are where they lead, `missing` whether missing values take `yes`."""

    feature: AnyArray
    value: AnyArray
    mode: list[str]
    yes: AnyArray
    no: AnyArray
    missing: AnyArray


def nodes_of(tree: ShippedTree, columns: Columns) -> Nodes:
    """The nodes of a tree, those of chains after all others."""
    nodes = tree.tree.nodes
    is_leaf = nodes["feature"] < 0
    left = nodes["left"].astype(np.int64)
    plain = Nodes(
        np.where(is_leaf, 0, nodes["feature"]).astype(np.int64),
        np.where(is_leaf, 0.0, nodes["threshold"]),
        [LEAF if leaf else LESS_OR_EQUAL for leaf in is_leaf.tolist()],
        np.where(is_leaf, 0, left),
        np.where(is_leaf, 0, left + 1),
        np.where(is_leaf, 0, nodes["missing_left"]).astype(np.int64),
    )
    asking = np.flatnonzero(nodes["category"] >= 0)
    return with_chains(plain, tree, columns, asking.tolist()) if len(asking) else plain


def with_chains(nodes: Nodes, tree: ShippedTree, columns: Columns, asking: list[int]) -> Nodes:
    """The nodes, where each of those that ask for a set of categories begins a chain of questions."""
    feature, value, mode = nodes.feature.tolist(), nodes.value.tolist(), list(nodes.mode)
    yes, no, missing = nodes.yes.tolist(), nodes.no.tolist(), nodes.missing.tolist()
    for node in asking:
        left, right = sides(tree, node, columns)
        if not left or not right:  # all categories go to one side: the question is whether the value is missing
            value[node] = np.inf if left else -np.inf
            continue
        by_left = len(left) <= len(right)
        met, otherwise = (yes[node], no[node]) if by_left else (no[node], yes[node])
        more = range(len(mode), len(mode) + min(len(left), len(right)) - 1)
        missing[node] = int(bool(missing[node]) == by_left)
        mode[node], yes[node], value[node] = EQUAL, met, 1.0 + (left if by_left else right)[0]
        no[node] = more[0] if more else otherwise
        feature += [feature[node]] * len(more)
        value += [1.0 + number for number in (left if by_left else right)[1:]]
        mode += [EQUAL] * len(more)
        yes += [met] * len(more)
        no += [*more[1:], *([otherwise] if more else [])]
        missing += [missing[node]] * len(more)
    return Nodes(np.array(feature), np.array(value), mode, np.array(yes), np.array(no), np.array(missing))


def sides(tree: ShippedTree, node: int, columns: Columns) -> tuple[list[int], list[int]]:
    """The category numbers that a node sends left and right."""
    total = n_numbers(columns.categories[int(tree.tree.nodes["feature"][node])] or [])
    left = numbers_in(tree.tree.category_sets[tree.tree.nodes["category"][node]], total)
    return left, sorted(set(range(total)) - set(left))


def attributes(
    trees: list[ShippedTree], columns: Columns, place: AnyArray, n_targets: int, dtype: Any
) -> dict[str, Any]:
    """The attributes of a TreeEnsembleRegressor; ``place`` (p,) is where each column is in its input."""
    parts = [nodes_of(tree, columns) for tree in trees]
    sizes = [len(part.mode) for part in parts]
    value = np.concatenate([part.value for part in parts])
    return {
        "n_targets": n_targets,
        "nodes_treeids": np.repeat(np.arange(len(trees)), sizes),
        "nodes_nodeids": np.concatenate([np.arange(size) for size in sizes]),
        "nodes_featureids": place[np.concatenate([part.feature for part in parts])],
        "nodes_modes": [mode for part in parts for mode in part.mode],
        "nodes_truenodeids": np.concatenate([part.yes for part in parts]),
        "nodes_falsenodeids": np.concatenate([part.no for part in parts]),
        "nodes_missing_value_tracks_true": np.concatenate([part.missing for part in parts]),
        **numbers("nodes_values", rounded_down(value) if dtype == np.float32 else value),
        **leaf_entries(trees, dtype),
    }


def leaf_entries(trees: list[ShippedTree], dtype: Any) -> dict[str, Any]:
    """The values of all leaves that are not zero; a leaf without any has a zero, since every leaf needs an entry."""
    of_tree, of_node, target, weight = [], [], [], []
    for number, tree in enumerate(trees):
        nodes, values = tree.tree.nodes, tree.values
        node_of_leaf = np.empty(tree.tree.n_leaves, dtype=np.int64)
        node_of_leaf[nodes["left"][nodes["feature"] < 0]] = np.flatnonzero(nodes["feature"] < 0)
        counts = np.diff(values.indptr)
        empty = node_of_leaf[counts == 0]
        of_tree.append(np.full(len(values.data) + len(empty), number))
        of_node += [np.repeat(node_of_leaf, counts), empty]
        target += [values.indices, np.zeros(len(empty), dtype=np.int64)]
        weight += [values.data, np.zeros(len(empty))]
    return {
        "target_treeids": np.concatenate(of_tree),
        "target_nodeids": np.concatenate(of_node),
        "target_ids": np.concatenate(target).astype(np.int64),
        **numbers("target_weights", np.concatenate(weight).astype(dtype)),
    }


def numbers(name: str, values: AnyArray) -> dict[str, Any]:
    """Numbers as an attribute; those in double precision are a tensor."""
    return {name: values} if values.dtype == np.float32 else {f"{name}_as_tensor": values}


def rounded_down(thresholds: AnyArray) -> AnyArray:
    """The largest single-precision numbers that are not above the thresholds: x <= t is then the same for such x."""
    with np.errstate(over="ignore"):
        single = thresholds.astype(np.float32)
    return np.where(single > thresholds, np.nextafter(single, np.float32(-np.inf)), single)


class Graph:
    """A graph in the making: nodes and constants, referred to by name.

    ``taken`` are the names of columns; names in the graph begin as none of them does.
    """

    def __init__(self, taken: list[str]) -> None:
        onnx = import_optional("onnx", "this export needs")
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


def probabilities(graph: Graph, link: Link, U: str) -> str:
    """The probabilities of the classes that had training examples."""
    match link.kind:
        case "softmax":
            return graph.op("Softmax", scaled(graph, U, link.scale), axis=1)
        case "savage":
            return savage(graph, U)
        case "one-vs-all":
            return graph.op("Softmax", log_sigmoid(graph, scaled(graph, U, link.scale)), axis=1)
        case "sigmoid":
            return graph.op("Exp", log_sigmoid(graph, scaled(graph, U, link.scale)))
        case "shares":
            return shares(graph, U)
        case "certain":
            return graph.op("Exp", graph.op("Mul", U, graph.constant(0.0)))
    raise ValueError(
        "ONNX cannot hold probabilities under a cost_matrix, which solve a linear system for every row; "
        "probabilities=False exports labels and scores."
    )


def scaled(graph: Graph, U: str, scale: float) -> str:
    """Scale · U."""
    return graph.op("Mul", U, graph.constant(scale))


def log_sigmoid(graph: Graph, x: str) -> str:
    """log σ(x) = min(x, 0) − log(1 + e^{−|x|})."""
    small = graph.op("Exp", graph.op("Neg", graph.op("Abs", x)))
    return graph.op("Sub", graph.op("Min", x, graph.constant(0.0)), log_of_one_plus(graph, small))


def log_of_one_plus(graph: Graph, x: str) -> str:
    """log(1 + x)."""
    return graph.op("Log", graph.op("Add", x, graph.constant(1.0)))


def total(graph: Graph, x: str) -> str:
    """The sum of every row, (n, 1)."""
    return graph.op("ReduceSum", x, graph.constant([1]), keepdims=1)


def shares(graph: Graph, U: str) -> str:
    """U_k / Σ_j U_j; a row whose sum is 0 gets equal shares, which a tiny addition to every score does."""
    more = graph.op("Add", U, graph.constant(1e-30))
    return graph.op("Div", more, total(graph, more))


def savage(graph: Graph, U: str) -> str:
    """Savage's posterior; `parts.losses.links.savage_link` explains how it avoids cancellation."""
    best = graph.op("ReduceMax", U, graph.constant([1]), keepdims=1)
    first = graph.op("ArgMax", U, axis=1, keepdims=1)
    index = graph.op("CumSum", graph.op("Exp", graph.op("Mul", U, graph.constant(0.0))), graph.constant(1), exclusive=1)
    is_best = graph.op("Equal", index, graph.op("Cast", first, to=graph.types.DOUBLE))
    low = graph.op("Where", is_best, graph.constant(-1e300), U)
    second = graph.op("ReduceMax", low, graph.constant([1]), keepdims=1)
    gap = scaled(graph, graph.op("Sub", second, best), 2.0)
    below = graph.op("Exp", scaled(graph, graph.op("Sub", U, second), 2.0))
    others = total(graph, graph.op("Where", is_best, graph.constant(0.0), below))
    rest = graph.op("Add", gap, graph.op("Log", others))
    ahead = graph.op("Sub", graph.op("Exp", rest), graph.op("Exp", scaled(graph, graph.op("Sub", U, best), 2.0)))
    usual = log_of_one_plus(graph, graph.op("Max", ahead, graph.constant(0.0)))
    return graph.op("Softmax", graph.op("Neg", graph.op("Where", is_best, rest, usual)), axis=1)


OPSET, ML_OPSET, IR = 18, 4, 9  # of 2023; onnxruntime reads them since 1.18
MOST_BYTES = 2**31 - 1  # of a file in the format of Protocol Buffers


def onnx(clf: Any, path: Any = None, *, dtype: Any = "float64", probabilities: bool = True) -> Any:
    """A fitted booster as an ONNX model; needs the package onnx (``pip install onnx``).

    The model has one input ``X`` (n, p), or if some categories are text an input (n, 1) for every column under its
    name (x0, x1, … for arrays); NaN means missing, and so does the empty text. Dates are days since 1970, durations
    days. Its outputs are ``label`` (n,), ``probabilities`` (n, K) and ``scores`` (n, K), the latter two in single
    precision. Labels are text, whole numbers or floats; others, such as dates, become text. If examples have several
    labels, ``label`` is an indicator matrix (n, K).

    Parameters
    ----------
    clf : fitted booster
        The model to export.
    path : str, Path, binary file or None, default=None
        The file to write, or a file that is open; None writes none.
    dtype : {"float64", "float32"}, default="float64"
        The precision of X. In single precision the model asks the same questions about values that are rounded.
    probabilities : bool, default=True
        Whether there is an output of that name. Those under a ``cost_matrix`` solve a linear system, which ONNX cannot
        hold; then this must be False.

    Returns
    -------
    onnx.ModelProto
        The model.

    Examples
    --------
    >>> import onnxruntime
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.SimplexBoostClassifier(n_estimators=10, random_state=0).fit(X, y)
    >>> session = onnxruntime.InferenceSession(sb.export.onnx(clf).SerializeToString())
    >>> label, P, U = session.run(None, {"X": X})
    >>> bool((label == clf.predict(X)).all()), float(abs(P - clf.predict_proba(X)).max()) < 1e-5
    (True, True)
    """
    precision = check_dtype(dtype)
    model = shipped(clf)
    graph = Graph(model.columns.names or [])
    inputs, X, place = read_columns(graph, model.columns, precision)
    U = merged_scores(graph, model, scores(graph, model, predictor(graph, model, X, place, precision)))
    outputs = write_outputs(graph, model, U, {info.name for info in inputs}, probabilities)
    made = assemble(graph, inputs, outputs)
    if path is not None:
        write_bytes(path, made.SerializeToString())
    return made


def assemble(graph: Graph, inputs: list[Any], outputs: list[Any]) -> Any:
    """The model, checked by ONNX."""
    package = import_optional("onnx", "this export needs")
    body = graph.helper.make_graph(graph.nodes, "simplexboost", inputs, outputs, graph.constants)
    sets = [graph.helper.make_opsetid("", OPSET), graph.helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
    named = {"producer_name": "simplexboost", "producer_version": __version__, "ir_version": IR}
    model = graph.helper.make_model(body, opset_imports=sets, **named)
    if model.ByteSize() > MOST_BYTES:
        raise ValueError(
            f"the model would take {model.ByteSize() / 2**30:.1f} GB as ONNX, and a file of that format holds 2; "
            "export it as Python or JavaScript, whose files are several times smaller."
        )
    package.checker.check_model(model)
    return model


# ---- outputs --------------------------------------------------------------------------------------------------------


def write_outputs(graph: Graph, model: Shipped, U: str, taken: set[str], with_probabilities: bool) -> list[Any]:
    """Label, probabilities and scores of all classes, from the scores of those that had training examples."""
    name = {out: unused(out, taken) for out in ("label", "probabilities", "scores")}
    K = len(model.classes)
    outputs = []
    if model.threshold is None:
        kind = write_labels(graph, model, U, name["label"])
        outputs.append(value_info(graph, name["label"], kind, None))
        decision = U
    else:
        decision = above_threshold(graph, model, U)
        positive = graph.op("Greater", decision, graph.constant(0.0))
        graph.op("Cast", positive, out=name["label"], to=graph.types.INT64)
        outputs.append(value_info(graph, name["label"], np.int64, K))
    if with_probabilities:
        P = all_classes(graph, probabilities(graph, model.link, decision), model)
        graph.op("Cast", P, out=name["probabilities"], to=graph.types.FLOAT)
        outputs.append(value_info(graph, name["probabilities"], np.float32, K))
    graph.op("Cast", all_scores(graph, U, model), out=name["scores"], to=graph.types.FLOAT)
    return [*outputs, value_info(graph, name["scores"], np.float32, K)]


def merged_scores(graph: Graph, model: Shipped, U: str) -> str:
    """The scores of classes of which some count as one, ½ log Σ exp(2U) over each, (n, K')."""
    if model.merged is None:
        return U
    columns = []
    for k in range(int(model.merged.max()) + 1):
        members = graph.op("Gather", U, graph.constant(np.flatnonzero(model.merged == k)), axis=1)
        columns.append(members if (model.merged == k).sum() == 1 else half_log_sum(graph, members))
    return graph.op("Concat", *columns, axis=1)


def half_log_sum(graph: Graph, U: str) -> str:
    """½ log Σ exp(2U) of every row, (n, 1)."""
    top = graph.op("ReduceMax", U, graph.constant([1]), keepdims=1)
    E = graph.op("Exp", graph.op("Mul", graph.op("Sub", U, top), graph.constant(2.0)))
    log = graph.op("Log", graph.op("ReduceSum", E, graph.constant([1]), keepdims=1))
    return graph.op("Add", top, graph.op("Mul", log, graph.constant(0.5)))


def unused(name: str, taken: set[str]) -> str:
    """The name of an output, with underscores after it as long as a column is called so."""
    while name in taken:
        name += "_"
    return name


def write_labels(graph: Graph, model: Shipped, U: str, out: str) -> Any:
    """The label of the highest score, or of the median of ordered classes; returns its type."""
    if model.order is None:
        labels = exported_labels(model.classes[model.present])
        best = graph.op("ArgMax", U if model.exact else among_best(graph, U), axis=1, keepdims=0)
    else:
        labels = exported_labels(model.classes[model.order])
        best = median_of(graph, all_classes(graph, probabilities(graph, model.link, U), model), model.order)
    graph.op("Gather", graph.constant(labels), best, out=out, axis=0)
    return str if labels.dtype == object else labels.dtype


def among_best(graph: Graph, U: str) -> str:
    """1 for the highest of some scores (n, K) and those that rounding may have parted from it, 0 for the others."""
    highest = lambda values: graph.op("ReduceMax", values, graph.constant([1]), keepdims=1)  # noqa: E731
    tied = graph.op("Mul", highest(graph.op("Abs", U)), graph.constant(TIED))
    found = graph.op("GreaterOrEqual", U, graph.op("Sub", highest(U), tied))
    return graph.op("Cast", found, to=graph.types.INT64)


def median_of(graph: Graph, P: str, order: Labels) -> str:
    """The place in the order (K,) of the median of probabilities (n, K): the first that has half of them up to it."""
    in_order = graph.op("Gather", P, graph.constant(order.astype(np.int64)), axis=1)
    up_to = graph.op("CumSum", in_order, graph.constant(np.int64(1)))
    total = graph.op("ReduceSum", in_order, graph.constant(np.array([1])), keepdims=1)
    half = graph.op("Mul", total, graph.constant(1.0 - TIED))
    enough = graph.op("GreaterOrEqual", graph.op("Mul", up_to, graph.constant(2.0)), half)
    return graph.op("ArgMax", graph.op("Cast", enough, to=graph.types.INT64), axis=1, keepdims=0)


def exported_labels(labels: AnyArray) -> AnyArray:
    """Labels as whole numbers, floats or text, which are the types that ONNX has."""
    if labels.dtype.kind == "O" and all(type(label) is int for label in labels.tolist()):
        labels = np.array(labels.tolist())
    if labels.dtype.kind in "iu" and np.can_cast(labels.dtype, np.int64):
        return labels.astype(np.int64)
    if labels.dtype.kind == "f":
        return labels.astype(np.float64)
    return np.array([str(label) for label in labels.tolist()], dtype=object)


def above_threshold(graph: Graph, model: Shipped, U: str) -> str:
    """How far every score is above the threshold ⟨w, U⟩ + b, (n, K)."""
    assert model.threshold is not None
    cut = graph.op("MatMul", U, graph.constant(model.threshold[:-1, None]))
    return graph.op("Sub", U, graph.op("Add", cut, graph.constant(model.threshold[-1])))


def all_classes(graph: Graph, values: str, model: Shipped) -> str:
    """Values (n, K') of the classes that had training examples → those of all classes (n, K); the others get 0."""
    if model.present.all():
        return values
    return spread(graph, values, graph.op("Mul", lowest(graph, values), graph.constant(0.0)), model)


def all_scores(graph: Graph, U: str, model: Shipped) -> str:
    """The scores of all classes, (n, K); those without training examples score far below the others."""
    if model.present.all():
        return U
    return spread(graph, U, graph.op("Sub", lowest(graph, U), graph.constant(ABSENT)), model)


def lowest(graph: Graph, values: str) -> str:
    """The lowest value of every row, (n, 1)."""
    return graph.op("ReduceMin", values, graph.constant([1]), keepdims=1)


def spread(graph: Graph, values: str, absent: str, model: Shipped) -> str:
    """Values (n, K') of some classes and one (n, 1) for the others → values of all classes, (n, K)."""
    joined = graph.op("Concat", values, absent, axis=1)
    where = np.where(model.present, np.cumsum(model.present) - 1, model.present.sum())
    return graph.op("Gather", joined, graph.constant(where), axis=1)
