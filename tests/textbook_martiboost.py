"""MartiBoost as the papers describe it, in plain NumPy: every stump is tried, every node is a dict entry."""

from __future__ import annotations

import numpy as np


def best_stump(X, y, w):
    """The stump (feature, threshold, answer left of it, right of it) with the least weighted error; y is 0 or 1.

    Of thresholds between which no row has weight the lowest.
    """
    s = np.where(y == 1, w, -w)
    best = (-1.0, None)
    for f in range(X.shape[1]):
        values = np.unique(X[:, f])
        for threshold in (values[1:] + values[:-1]) / 2:
            left, right = s[X[:, f] <= threshold].sum(), s[X[:, f] > threshold].sum()
            if abs(left) + abs(right) > best[0] + 1e-12:
                best = (abs(left) + abs(right), (f, threshold, int(left > 0), int(right > 0)))
    return best[1]


def answer(stump, X):
    f, threshold, left, right = stump
    return np.where(X[:, f] <= threshold, left, right)


def right_turns(node, X):
    """P(right) of every row at a node: ("coin",), ("constant", class) or ("stump", stump, after 0, after 1)."""
    if node[0] == "coin":
        return np.full(len(X), 0.5)
    if node[0] == "constant":
        return np.full(len(X), float(node[1]))
    return np.where(answer(node[1], X) == 1, node[3], node[2])


def train(X, y, w, n_layers):
    """The nodes of the program by (layer, index), each trained on the distribution that is filtered down to it."""
    program, at = {}, {(0, 0): w / w.sum()}
    for layer in range(n_layers):
        for index in range(layer + 1):
            mass = at[layer, index]
            positive, negative = mass[y == 1].sum(), mass[y == 0].sum()
            if max(positive, negative) < 1e-9:
                node = ("coin",)
            elif min(positive, negative) < 1e-9:
                node = ("constant", int(positive > negative))
            else:
                balanced = np.where(y == 1, mass / (2 * positive), mass / (2 * negative))
                stump = best_stump(X, y, balanced)
                p = balanced[answer(stump, X) == 1].sum()
                node = ("stump", stump, 0.0, 1 / (2 * p)) if p > 0.5 else ("stump", stump, 1 - 1 / (2 * (1 - p)), 1.0)
            program[layer, index] = node
            turn = right_turns(node, X)
            for to, part in ((index, 1 - turn), (index + 1, turn)):
                at[layer + 1, to] = at.get((layer + 1, to), 0.0) + mass * part
    return program


def probability(program, X, n_layers):
    """P(answer 1), a draw counting half."""
    at = {(0, 0): np.ones(len(X))}
    for (layer, index), node in program.items():
        turn = right_turns(node, X)
        for to, part in ((index, 1 - turn), (index + 1, turn)):
            at[layer + 1, to] = at.get((layer + 1, to), 0.0) + at[layer, index] * part
    ends = [at[n_layers, index] for index in range(n_layers + 1)]
    return sum(mass * (0.5 if 2 * i == n_layers else float(2 * i > n_layers)) for i, mass in enumerate(ends))
