"""Links as nodes of an ONNX graph: scores U (n, K) → probabilities (n, K), in double precision."""

from __future__ import annotations

from .links import Link
from .onnx_graph import Graph


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
    """Savage's posterior; `losses.links.savage_link` explains how it avoids cancellation."""
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
