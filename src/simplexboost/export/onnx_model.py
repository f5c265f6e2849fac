"""Exports models to ONNX: a graph from the columns of X to F, the sum of trees and lines, class scores and predictions.

Trees become a TreeEnsembleRegressor. This operator cannot split by sets of categories, so such a tree node becomes a
chain of nodes, each of which compares with one category; all matches lead to the same child. onnxruntime turns a chain
into one look-up if category codes are from 1 to 64 (1 to 32 in single precision), so codes begin at 1. All other
operations are in double precision, so that differences and softmaxes of large scores lose no digits.
"""

from __future__ import annotations

from functools import partial, reduce
from itertools import chain
from typing import Any

import numpy as np
from scipy.sparse import vstack

from .._util import __version__
from .._util.arrays import AnyArray, Labels
from .._util.compat import import_optional
from .._util.docstrings import described
from .._util.messages import warn_user
from ..boosting.decisions import ABSENT, TIED
from ..engine import Tree
from ..model.hypotheses import LinearHypothesis, TreeHypothesis
from ..parts.losses.links import Link
from ..persist.atomic_write import write_bytes
from .plain_model import (
    Columns,
    PlainModel,
    as_exact_numbers,
    as_plain_model,
    check_dtype,
    holds_text,
    n_numbers,
    refuse_costs,
    round_down,
)

LESS_OR_EQUAL, EQUAL, LEAF = "BRANCH_LEQ", "BRANCH_EQ", "LEAF"


def nodes_of(tree: Tree, columns: Columns) -> dict[str, list[Any]]:
    """Return the nodes of a tree for ONNX: a dict of lists, one per attribute; added nodes of category chains are last.

    ``yes`` and ``no`` are the children if the condition is true or false; ``missing`` is 1 if NaN goes to ``yes``.
    """
    nodes, is_leaf = tree.nodes, tree.nodes["feature"] < 0
    feature, value, yes, no, missing = (
        np.where(is_leaf, 0, values).tolist()
        for values in (nodes["feature"], nodes["threshold"], nodes["left"], nodes["left"] + 1, nodes["missing_left"])
    )
    mode = [LEAF if leaf else LESS_OR_EQUAL for leaf in is_leaf.tolist()]
    for node in np.flatnonzero(nodes["category"] >= 0).tolist():
        left, right = columns.sides(tree, node)
        if not left or not right:  # all categories go to one side, so that only missing values differ
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
    return {"feature": feature, "value": value, "mode": mode, "yes": yes, "no": no, "missing": missing}


def attributes(
    trees: list[TreeHypothesis], columns: Columns, place: AnyArray, n_targets: int, dtype: Any
) -> dict[str, Any]:
    """Return the attributes of a TreeEnsembleRegressor; ``place`` (p,) has the index of each feature in its input.

    Only nonzero leaf values are stored; a leaf without any gets one zero, because every leaf needs an entry.
    """
    parts = [nodes_of(tree.tree, columns) for tree in trees]
    nodes = {name: list(chain.from_iterable(part[name] for part in parts)) for name in parts[0]}
    sizes, value = [len(part["mode"]) for part in parts], np.array(nodes["value"])
    leaves = [np.flatnonzero(tree.tree.nodes["feature"] < 0) for tree in trees]
    in_order = [at[np.argsort(t.tree.nodes["left"][at])] for at, t in zip(leaves, trees, strict=True)]
    node_of_leaf, values = np.concatenate(in_order), vstack([tree.values for tree in trees], format="csr")
    counts = np.diff(values.indptr)
    rows, is_value = (np.repeat(what, np.maximum(counts, 1)) for what in (np.arange(len(counts)), counts > 0))
    target, weight = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=dtype)
    target[is_value], weight[is_value] = values.indices, values.data
    return {
        "n_targets": n_targets,
        "nodes_treeids": np.repeat(np.arange(len(trees)), sizes),
        "nodes_nodeids": np.concatenate([np.arange(size) for size in sizes]),
        "nodes_featureids": place[nodes["feature"]],
        "nodes_modes": nodes["mode"],
        "nodes_truenodeids": nodes["yes"],
        "nodes_falsenodeids": nodes["no"],
        "nodes_missing_value_tracks_true": nodes["missing"],
        **({"nodes_values": round_down(value)} if dtype == np.float32 else {"nodes_values_as_tensor": value}),
        "target_treeids": np.repeat(np.arange(len(trees)), [len(at) for at in leaves])[rows],
        "target_nodeids": node_of_leaf[rows],
        "target_ids": target,
        "target_weights" if dtype == np.float32 else "target_weights_as_tensor": weight,
    }


class Graph:
    """An ONNX graph under construction: lists of operator nodes and of constants, all with names.

    ``taken`` are the names of columns of X; names in the graph get a prefix with which no column name begins.
    """

    def __init__(self, taken: list[str]) -> None:
        onnx = import_optional("onnx", "this export needs")
        self.prefix = "sb_"
        while any(name.startswith(self.prefix) for name in taken):
            self.prefix += "_"
        self.helper, self.types, self.tensor = onnx.helper, onnx.TensorProto, onnx.numpy_helper.from_array
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def op(self, kind: str, *inputs: Any, out: str | None = None, ml: bool = False, **attributes: Any) -> str:
        """Add an operator node and return the name of its output; each input is the name of an output or a constant."""
        names = []
        for given in inputs:
            names.append(given if isinstance(given, str) else f"{self.prefix}constant_{len(self.constants)}")
            if not isinstance(given, str):
                self.constants.append(self.tensor(np.asarray(given), names[-1]))
        out = f"{self.prefix}{len(self.nodes)}_{kind}" if out is None else out
        domain = {"domain": "ai.onnx.ml"} if ml else {}
        self.nodes.append(self.helper.make_node(kind, names, [out], **domain, **attributes))
        return out

    def reduce(self, kind: str, x: str) -> str:
        """Add a node for the "Sum", "Max" or "Min" (n, 1) of every row of the output x; return its output's name."""
        return self.op(f"Reduce{kind}", x, [1], keepdims=1)

    def double(self, x: str) -> str:
        return self.op("Cast", x, to=self.types.DOUBLE)


# ---- columns --------------------------------------------------------------------------------------------------------


def add_columns(graph: Graph, columns: Columns, dtype: Any) -> tuple[list[Any], str, AnyArray]:
    """Add nodes for X as numbers (n, p); return the inputs, the matrix's name, and each feature's index in it (p,).

    If some categories are text, every feature has its own input (n, 1), since a tensor holds text or numbers; else
    there is one input X (n, p). In the matrix, numeric features come first, then categorical ones as codes from 1.
    """
    numeric = [j for j in range(columns.n) if columns.categories[j] is None]
    rest = [j for j in range(columns.n) if columns.categories[j] is not None]
    if not rest:
        return [value_info(graph, "X", dtype, columns.n)], "X", np.arange(columns.n)
    if any(holds_text(of_column) for of_column in columns.categories):
        names = columns.names or [f"x{j}" for j in range(columns.n)]
        if "" in names:
            raise ValueError("a column has no name, and an input of an ONNX model needs one; name it before the fit.")
        kinds = [str if holds_text(of_column) else dtype for of_column in columns.categories]
        inputs = [value_info(graph, name, kind, 1) for name, kind in zip(names, kinds, strict=True)]
        pieces = [names[j] for j in numeric]
        asked = [names[j] for j in rest]
    else:
        inputs = [value_info(graph, "X", dtype, columns.n)]
        pieces = [graph.op("Gather", "X", np.array(numeric), axis=1)] if numeric else []
        asked = [graph.op("Gather", "X", np.array([j]), axis=1) for j in rest]
    pieces += [
        add_encoder(graph, name, columns.categories[j] or [], dtype) for j, name in zip(rest, asked, strict=True)
    ]
    place = np.empty(columns.n, dtype=np.int64)
    place[[*numeric, *rest]] = np.arange(columns.n)
    return inputs, graph.op("Concat", *pieces, axis=1), place


def value_info(graph: Graph, name: str, dtype: Any, width: int | None) -> Any:
    """Return the ONNX description of an input or output of shape (n, width), or (n,) if the width is None."""
    kind = graph.types.STRING if dtype is str else graph.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return graph.helper.make_tensor_value_info(name, kind, ["n"] if width is None else ["n", width])


def add_encoder(graph: Graph, name: str, categories: list[Any], dtype: Any) -> str:
    """Add a node from categories (n, 1) to codes from 1; missing values become NaN. Return the name of its output.

    Unknown categories get a shared code or NaN. Empty text stands for a missing value, unless it is a category.
    """
    found = np.arange(1.0, len(categories) + 1, dtype=dtype)
    shared = n_numbers(categories) > len(categories)
    other = np.array([len(categories) + 1.0 if shared else np.nan], dtype=dtype)
    keys: AnyArray
    if holds_text(categories):
        if "" in categories:
            warn_user(
                f"column {name!r} has the empty text as a category, which in ONNX stands for missing values elsewhere: "
                "in this column they cannot be passed on."
            )
        keys, missing = np.array(categories, dtype=object), np.array([""], dtype=object)
        shared = shared and "" not in categories
    else:
        keys, missing = as_exact_numbers(categories, dtype, "ONNX"), np.array([np.nan], dtype=dtype)
    if shared:  # otherwise missing values are among the others
        keys, found = np.append(keys, missing), np.append(found, dtype.type(np.nan))
    table = {"keys_tensor": graph.tensor(keys), "values_tensor": graph.tensor(found)}
    return graph.op("LabelEncoder", name, ml=True, **table, default_tensor=graph.tensor(other))


# ---- the predictor --------------------------------------------------------------------------------------------------


def add_predictor(graph: Graph, model: PlainModel, X: str, place: AnyArray, dtype: Any) -> str:
    """Add nodes for F (n, d) in double precision, the sum of trees, lines and constants; return the output's name."""
    split = [tree for tree in model.trees if len(tree.tree.nodes) > 1]
    constant = sum((tree.values.toarray()[0] for tree in model.trees if len(tree.tree.nodes) == 1), np.zeros(model.d))
    constant = constant + sum((line.intercept for line in model.lines), np.zeros(model.d))
    pieces: list[Any] = [constant] if constant.any() else []
    if split:
        entries = attributes(split, model.columns, place, model.d, dtype)
        entries |= {name: graph.tensor(values) for name, values in entries.items() if name.endswith("_as_tensor")}
        pieces.append(graph.double(graph.op("TreeEnsembleRegressor", X, ml=True, **entries)))
    if model.lines:
        pieces.append(add_lines(graph, model.lines, X, place))
    if not split and not model.lines:  # the same for every row; the zeros give it as many rows as X
        first = graph.op("Gather", X, np.array([0]), axis=1)
        zeros = graph.op("Mul", graph.double(graph.op("IsNaN", first)), 0.0)
        pieces.append(graph.op("Add", zeros, np.zeros(model.d)))
    return reduce(partial(graph.op, "Add"), pieces)


def add_lines(graph: Graph, lines: list[LinearHypothesis], X: str, place: AnyArray) -> str:
    """Add nodes for the sum (n, d) of slope · (x − centre) over all lines; a missing feature x counts as the centre."""
    asked = sorted({(line.feature, line.centre) for line in lines})
    slopes = np.zeros((len(asked), len(lines[0].slope)))
    for line in lines:
        slopes[asked.index((line.feature, line.centre))] += line.slope
    x = graph.double(graph.op("Gather", X, place[[feature for feature, _ in asked]], axis=1))
    x = graph.op("Sub", x, np.array([centre for _, centre in asked]))
    return graph.op("MatMul", graph.op("Where", graph.op("IsNaN", x), 0.0, x), slopes)


def add_link(graph: Graph, link: Link, U: str) -> str:
    """Add nodes for the probabilities of the classes that had training examples, from their scores U."""
    match link.kind:
        case "softmax":
            return graph.op("Softmax", graph.op("Mul", U, link.scale), axis=1)
        case "savage":
            return add_savage_link(graph, U)
        case "one-vs-all":
            return graph.op("Softmax", add_log_sigmoid(graph, graph.op("Mul", U, link.scale)), axis=1)
        case "sigmoid":
            return graph.op("Exp", add_log_sigmoid(graph, graph.op("Mul", U, link.scale)))
        case "shares":  # the tiny addition gives equal shares to a row whose sum is 0
            more = graph.op("Add", U, 1e-30)
            return graph.op("Div", more, graph.reduce("Sum", more))
        case "certain":
            return graph.op("Exp", graph.op("Mul", U, 0.0))
    raise refuse_costs("ONNX")


def add_log_sigmoid(graph: Graph, x: str) -> str:
    """Add nodes for log σ(x) = min(x, 0) − log(1 + e^{−|x|}), where σ is the logistic function."""
    small = graph.op("Exp", graph.op("Neg", graph.op("Abs", x)))
    return graph.op("Sub", graph.op("Min", x, 0.0), graph.op("Log", graph.op("Add", small, 1.0)))


def add_savage_link(graph: Graph, U: str) -> str:
    """Add nodes for the probabilities of Savage's loss, by the formula of `parts.losses.links.savage_link`."""
    best = graph.reduce("Max", U)
    first = graph.op("ArgMax", U, axis=1, keepdims=1)
    index = graph.op("CumSum", graph.op("Exp", graph.op("Mul", U, 0.0)), 1, exclusive=1)
    is_best = graph.op("Equal", index, graph.double(first))
    second = graph.reduce("Max", graph.op("Where", is_best, -1e300, U))
    gap = graph.op("Mul", graph.op("Sub", second, best), 2.0)
    below = graph.op("Exp", graph.op("Mul", graph.op("Sub", U, second), 2.0))
    others = graph.reduce("Sum", graph.op("Where", is_best, 0.0, below))
    rest = graph.op("Add", gap, graph.op("Log", others))
    own = graph.op("Exp", graph.op("Mul", graph.op("Sub", U, best), 2.0))
    ahead = graph.op("Max", graph.op("Sub", graph.op("Exp", rest), own), 0.0)
    usual = graph.op("Log", graph.op("Add", ahead, 1.0))
    return graph.op("Softmax", graph.op("Neg", graph.op("Where", is_best, rest, usual)), axis=1)


OPSET, ML_OPSET, IR = 18, 4, 9  # of 2023; onnxruntime reads them since 1.18
MOST_BYTES = 2**31 - 1  # limit of files in the format of Protocol Buffers


@described
def onnx(clf: Any, path: Any = None, *, dtype: Any = "float64", probabilities: bool = True) -> Any:
    """Export a fitted booster to ONNX; needs the package onnx (``pip install onnx``).

    The ONNX model has one input ``X`` (n, p). If some categories are text, it has one input (n, 1) per column instead,
    with the name of the column (x0, x1, … for arrays). NaN and empty text are missing values. Dates are days since
    1970, durations are days. The outputs are ``label`` (n,), ``probabilities`` (n, K) and ``scores`` (n, K), the last
    two in single precision. Labels are text or numbers; labels of other types, such as dates, become text. If rows may
    have several labels, ``label`` is an indicator matrix (n, K).

    Parameters
    ----------
    path : str, Path, binary file or None, default=None
        The path or the open binary file to write to; None writes no file.
    dtype : {"float64", "float32"}, default="float64"
        The precision of X. With "float32", rounded features are compared with the thresholds of the fit.
    probabilities : bool, default=True
        Whether the ONNX model has the output ``probabilities``. Must be False if there is a ``cost_matrix``, since
        probabilities then solve a linear system, for which ONNX has no operator.

    Returns
    -------
    onnx.ModelProto
        The exported model.

    Examples
    --------
    >>> import onnxruntime
    >>> session = onnxruntime.InferenceSession(sb.export.onnx(clf).SerializeToString())
    >>> label, P, U = session.run(None, {"X": X})
    >>> bool((label == clf.predict(X)).all()), float(abs(P - clf.predict_proba(X)).max()) < 1e-5
    (True, True)
    """
    precision = check_dtype(dtype)
    model = as_plain_model(clf)
    graph = Graph(model.columns.names or [])
    inputs, X, place = add_columns(graph, model.columns, precision)
    F = add_predictor(graph, model, X, place, precision)
    if model.code.canonical:
        U = graph.op("Mul", F, 0.5)
    else:
        U = graph.op("MatMul", F, 0.5 * model.code.Y.astype(np.float64).T)
    if model.merged is not None:
        U = merge_scores(graph, model.merged, U)
    outputs = add_outputs(graph, model, U, {info.name for info in inputs}, probabilities)
    body = graph.helper.make_graph(graph.nodes, "simplexboost", inputs, outputs, graph.constants)
    sets = [graph.helper.make_opsetid("", OPSET), graph.helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
    named = {"producer_name": "simplexboost", "producer_version": __version__, "ir_version": IR}
    made = graph.helper.make_model(body, opset_imports=sets, **named)
    if made.ByteSize() > MOST_BYTES:
        raise ValueError(
            f"the model would take {made.ByteSize() / 2**30:.1f} GB as ONNX, and a file of that format holds 2; "
            "export it as Python or JavaScript, whose files are several times smaller."
        )
    import_optional("onnx.checker", "this export needs").check_model(made)
    if path is not None:
        write_bytes(path, made.SerializeToString())
    return made


# ---- outputs --------------------------------------------------------------------------------------------------------


def add_outputs(graph: Graph, model: PlainModel, U: str, taken: set[str], with_probabilities: bool) -> list[Any]:
    """Add the graph's outputs from the scores U of classes with training examples; return the output descriptions."""
    name = {}
    for out in ("label", "probabilities", "scores"):  # with underscores as long as a column has this name
        name[out] = min({f"{out}{'_' * n}" for n in range(len(taken) + 1)} - taken, key=len)
    K = len(model.classes)
    outputs = []
    if model.threshold is None:
        kind = add_labels(graph, model, U, name["label"])
        outputs.append(value_info(graph, name["label"], kind, None))
        decision = U
    else:  # how far every score is above the threshold ⟨w, U⟩ + b
        cut = graph.op("Add", graph.op("MatMul", U, model.threshold[:-1, None]), model.threshold[-1])
        decision = graph.op("Sub", U, cut)
        positive = graph.op("Greater", decision, 0.0)
        graph.op("Cast", positive, out=name["label"], to=graph.types.INT64)
        outputs.append(value_info(graph, name["label"], np.int64, K))
    if with_probabilities:
        P = add_probabilities(graph, model, decision)
        graph.op("Cast", P, out=name["probabilities"], to=graph.types.FLOAT)
        outputs.append(value_info(graph, name["probabilities"], np.float32, K))
    if not model.present.all():
        U = add_absent(graph, U, graph.op("Sub", graph.reduce("Min", U), ABSENT), model)
    graph.op("Cast", U, out=name["scores"], to=graph.types.FLOAT)
    return [*outputs, value_info(graph, name["scores"], np.float32, K)]


def merge_scores(graph: Graph, merged: Labels, U: str) -> str:
    """Add nodes for the scores (n, K') of K' classes: ½ log Σ exp(2U) over the codewords that belong to a class."""
    columns = []
    for k in range(int(merged.max()) + 1):
        members = graph.op("Gather", U, np.flatnonzero(merged == k), axis=1)
        if (merged == k).sum() > 1:
            top = graph.reduce("Max", members)
            E = graph.op("Exp", graph.op("Mul", graph.op("Sub", members, top), 2.0))
            log = graph.op("Log", graph.reduce("Sum", E))
            members = graph.op("Add", top, graph.op("Mul", log, 0.5))
        columns.append(members)
    return graph.op("Concat", *columns, axis=1)


def add_labels(graph: Graph, model: PlainModel, U: str, out: str) -> Any:
    """Add nodes for the label of highest score, or the median label of ordered classes; return the type of labels."""
    if model.order is None:
        labels = as_onnx_labels(model.classes[model.present])
        if not model.exact:  # 1 for the highest score and all that differ from it by rounding only
            tied = graph.op("Mul", graph.reduce("Max", graph.op("Abs", U)), TIED)
            U = graph.op("GreaterOrEqual", U, graph.op("Sub", graph.reduce("Max", U), tied))
            U = graph.op("Cast", U, to=graph.types.INT64)
        best = graph.op("ArgMax", U, axis=1, keepdims=0)
    else:  # the median is the first class with half of the probabilities up to it
        labels = as_onnx_labels(model.classes[model.order])
        P = graph.op("Gather", add_probabilities(graph, model, U), model.order.astype(np.int64), axis=1)
        half = graph.op("Mul", graph.reduce("Sum", P), 1.0 - TIED)
        enough = graph.op("GreaterOrEqual", graph.op("Mul", graph.op("CumSum", P, np.int64(1)), 2.0), half)
        best = graph.op("ArgMax", graph.op("Cast", enough, to=graph.types.INT64), axis=1, keepdims=0)
    graph.op("Gather", labels, best, out=out, axis=0)
    return str if labels.dtype == object else labels.dtype


def as_onnx_labels(labels: AnyArray) -> AnyArray:
    """Return labels in a type that ONNX has: whole numbers, floats or text."""
    if labels.dtype.kind == "O" and all(type(label) is int for label in labels.tolist()):
        labels = np.array(labels.tolist())
    if labels.dtype.kind in "iu" and np.can_cast(labels.dtype, np.int64):
        return labels.astype(np.int64)
    if labels.dtype.kind == "f":
        return labels.astype(np.float64)
    return np.array([str(label) for label in labels.tolist()], dtype=object)


def add_probabilities(graph: Graph, model: PlainModel, U: str) -> str:
    """Add nodes for the probabilities of all classes (n, K); a class without training examples has probability 0."""
    P = add_link(graph, model.link, U)
    return P if model.present.all() else add_absent(graph, P, graph.op("Mul", graph.reduce("Min", P), 0.0), model)


def add_absent(graph: Graph, values: str, absent: str, model: PlainModel) -> str:
    """Add nodes that widen values to all classes (n, K); classes without training examples get ``absent``."""
    where = np.where(model.present, np.cumsum(model.present) - 1, model.present.sum())
    return graph.op("Gather", graph.op("Concat", values, absent, axis=1), where, axis=1)
