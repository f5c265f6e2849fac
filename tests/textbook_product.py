"""Boosters with product learners h(x, k), in plain NumPy: AdaBoost.MH, AdaBoost.MR (M2 with one label), sm-boost.

Trees are grown by trying every split; scores, weights and steps are written as in the papers, with the corrections that
they need, and share nothing with the package.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

# ---- trees ----------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Node:
    rows: np.ndarray
    depth: int = 0
    split: tuple | None = None  # gain, feature, threshold
    children: list = field(default_factory=list)
    value: np.ndarray | None = None


def node_score(G):
    return np.abs(G.sum(axis=0)).sum()


def best_split(X, G, node):
    """The split with the largest Σ_j|ΣG_j| of the children; ties to the lower feature, then the lower threshold."""
    best = None
    for f in range(X.shape[1]):
        values = np.unique(X[:, f])
        for threshold in (values[1:] + values[:-1]) / 2:
            left = X[node.rows, f] <= threshold
            if left.all() or not left.any():
                continue
            gain = node_score(G[node.rows[left]]) + node_score(G[node.rows[~left]]) - node_score(G[node.rows])
            if best is None or gain > best[0] + 1e-13:
                best = (gain, f, threshold)
    return best if best is not None and best[0] > 1e-13 else None


def grow(X, G, max_leaf_nodes=None, max_depth=None):
    """A tree whose leaves hold sign(ΣG_j): best first to a number of leaves, or as deep as allowed."""
    root = Node(np.arange(len(X)))
    leaves = [root]
    waiting = [root]
    root.split = best_split(X, G, root)
    while waiting and (max_leaf_nodes is None or len(leaves) < max_leaf_nodes):
        waiting = [node for node in waiting if node.split is not None and node.depth != max_depth]
        if not waiting:
            break
        node = max(waiting, key=lambda node: node.split[0])
        waiting.remove(node)
        leaves.remove(node)
        left = X[node.rows, node.split[1]] <= node.split[2]
        node.children = [Node(node.rows[side], node.depth + 1) for side in (left, ~left)]
        for child in node.children:
            child.split = best_split(X, G, child)
            leaves.append(child)
            waiting.append(child)
    for leaf in leaves:
        leaf.value = np.sign(G[leaf.rows].sum(axis=0))
    return root


def answers(node, X):
    """h(X), (n, d)."""
    if not node.children:
        return np.tile(node.value, (len(X), 1))
    left = X[:, node.split[1]] <= node.split[2]
    first, second = (answers(child, X) for child in node.children)
    return np.where(left[:, None], first, second)


def one_tree(X, G, **limits):
    """One tree for all classes, a sign for each in every leaf."""
    tree = grow(X, G, **limits)
    return lambda X: answers(tree, X)


def separate_trees(X, G, **limits):
    """A tree for every class."""
    trees = [grow(X, G[:, [k]], **limits) for k in range(G.shape[1])]
    return lambda X: np.hstack([answers(tree, X) for tree in trees])


def index_stump(X, G, **limits):
    """A stump on [x, k]: nK rows of p + 1 features, the last one the number of the class."""
    n, K = G.shape
    augmented = np.column_stack([np.repeat(X, K, axis=0), np.tile(np.arange(K), n)])
    tree = grow(augmented, G.reshape(-1, 1), max_depth=1)

    def h(X):
        pairs = np.column_stack([np.repeat(X, K, axis=0), np.tile(np.arange(K), len(X))])
        return answers(tree, pairs).reshape(len(X), K)

    return h


# ---- boosters -------------------------------------------------------------------------------------------------------


@dataclass
class Round:
    h: object
    edge: float
    step: float
    Z: float


def adaboost_mh(X, Z, w, rounds, learner, **limits):
    """Schapire & Singer's AdaBoost.MH; Z (n, K) of ±1, w (n,) example weights."""
    D = np.repeat(w[:, None], Z.shape[1], axis=1)
    D /= D.sum()
    out = []
    for _ in range(rounds):
        h = learner(X, D * Z, **limits)
        edge = (D * Z * h(X)).sum()
        if edge < 1e-12:
            break
        step = 0.5 * np.log((1 + edge) / (1 - edge))
        D = D * np.exp(-step * Z * h(X))
        out.append(Round(h, edge, step, D.sum()))
        D /= D.sum()
    return out


def adaboost_mr(X, labels, w, rounds, learner, **limits):
    """Schapire & Singer's AdaBoost.MR with answers in {0, 1}; labels (n, K) of zeros and ones.

    Every pair of a label and a class that is none is kept, (n, K, K); the pseudo-loss and the step are AdaBoost.M2's.
    """
    pairs = labels[:, :, None] * (1 - labels[:, None, :])  # (i, label, other)
    D = w[:, None, None] * pairs / np.maximum(pairs.sum(axis=(1, 2), keepdims=True), 1)
    D /= D.sum()
    out = []
    for _ in range(rounds):
        # Σ_i,l,o D (g_l − g_o) = Σ_i,k g_k (Σ_o D[i,k,o] − Σ_l D[i,l,k])
        h = learner(X, D.sum(axis=2) - D.sum(axis=1), **limits)
        g = (h(X) + 1) / 2
        pseudo_loss = 0.5 * (D * (1 - g[:, :, None] + g[:, None, :])).sum()
        if pseudo_loss > 0.5 - 1e-12:
            break
        step = np.log((1 - pseudo_loss) / pseudo_loss)
        D = D * np.exp(-0.5 * step * (g[:, :, None] - g[:, None, :]))
        out.append(Round(lambda X, h=h: (h(X) + 1) / 2, 1 - 2 * pseudo_loss, step, D.sum()))
        D /= D.sum()
    return out


def sm_boost(X, cost, w, rounds, learner, draws=None, **limits):
    """Geist's sm-boost; cost (n, K); ``draws(g, t)`` gives the pairs of a round as counts (n, K), None uses them all.

    The answers are h of the paper: +1 marks costly labels, and ψ falls along them.
    """
    n, K = cost.shape
    psi, out, p = np.zeros((n, K)), [], w / w.sum()
    for t in range(rounds):
        g = np.exp(psi - psi.max(axis=1, keepdims=True))
        g /= g.sum(axis=1, keepdims=True)
        above = cost - (g * cost).sum(axis=1, keepdims=True)  # Δc
        if draws is None:
            share = p[:, None] * g
        else:
            counts = draws(p[:, None] * g, t)
            share = counts / counts.sum()
        h = learner(X, share * above, **limits)
        R = (share * above * h(X)).sum()
        if R < 1e-12:
            break
        risk = (p[:, None] * g * cost).sum()
        step = K * R / (p @ (h(X) ** 2).sum(axis=1))  # R itself, unless h abstains: no pair of a class in a leaf
        psi = psi - step * h(X)
        out.append(Round(h, R, step, risk))
    return out
