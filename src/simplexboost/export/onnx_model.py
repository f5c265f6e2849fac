"""Boosters as ONNX models."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import __version__
from .._packages import needed
from .._typing import AnyArray, Labels
from ..boosting.decisions import ABSENT, TIED
from ..files.whole import write_bytes
from .onnx_graph import Graph, predictor, read_columns, scores, value_info
from .onnx_links import probabilities as linked
from .options import check_dtype
from .shipped import Shipped, shipped

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
    package = needed("onnx", "this export needs")
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
        P = all_classes(graph, linked(graph, model.link, decision), model)
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
        best = median_of(graph, all_classes(graph, linked(graph, model.link, U), model), model.order)
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
