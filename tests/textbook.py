"""The boosters as their papers write them, in plain NumPy, without a line of the package: what the tests compare with.

Every booster takes X (n, p), labels c (n,), weights (n,) and a number of rounds and returns the rounds as dicts (the
learner's answers on the training rows, its error or edge, the step) and the final scores (n, K). Learners are small
greedy trees by exhaustive search.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

# ---- trees ----------------------------------------------------------------------------------------------------------


def tree(X, statistics, score, leaf, depth):
    """Answers (n, …) on the training rows of a greedy tree: the split that adds most to the score, root first."""
    answers = [None] * len(X)
    node(X, statistics, score, leaf, depth, np.arange(len(X)), answers)
    return np.array(answers)


def node(X, statistics, score, leaf, depth, rows, answers):
    """Answer for the rows of a node: split them if that helps."""
    S = statistics[rows]
    own, best, split = score(S.sum(axis=0)), -np.inf, None
    for x in X[rows].T if depth > 0 else ():
        for low, high in pairwise(np.unique(x)):
            left = x <= (low + high) / 2
            value = score(S[left].sum(axis=0)) + score(S[~left].sum(axis=0))
            if value > best + 1e-12 * abs(best) if np.isfinite(best) else True:
                best, split = value, left
    if split is None or best - own <= 1e-10 * (abs(best) + abs(own)):
        for i in rows:
            answers[i] = leaf(S.sum(axis=0))
        return
    for part in (rows[split], rows[~split]):
        node(X, statistics, score, leaf, depth - 1, part, answers)


def class_tree(X, gains, depth):
    """The class of every row (n,); gains (n, K) of naming each class."""
    return tree(X, gains, np.max, np.argmax, depth)


def info_tree(X, c, weight, K, depth):
    """The class of every row (n,); splits by information gain."""

    def minus_entropy(w):
        w = w[w > 0]
        return float((w * np.log(w / w.sum())).sum()) if len(w) else 0.0

    return tree(X, weight[:, None] * np.eye(K)[c], minus_entropy, np.argmax, depth)


def sign_tree(X, g, depth):
    """±1 for every row (n,), like the sign of g (n,) where it weighs most."""
    return tree(X, g[:, None], lambda s: abs(s[0]), lambda s: np.sign(s[0]), depth)


def regression_tree(X, z, weight, depth):
    """Weighted means of z (n,) in the leaves, (n,)."""
    statistics = np.column_stack([weight * z, weight])
    return tree(X, statistics, lambda s: s[0] ** 2 / s[1], lambda s: s[0] / s[1], depth)


# ---- boosters -------------------------------------------------------------------------------------------------------


def m1(X, c, weight, n_rounds, depth=2):
    """AdaBoost.M1 (Freund & Schapire 1997) with information trees."""
    K = c.max() + 1
    w, votes, rounds = weight / weight.sum(), np.zeros((len(c), K)), []
    for _ in range(n_rounds):
        h = info_tree(X, c, w, K, depth)
        error = w[h != c].sum()
        if error >= 0.5:
            break
        alpha = math.log((1 - error) / error)
        w = w * np.exp(-alpha * (h == c))
        w /= w.sum()
        votes[np.arange(len(c)), h] += alpha
        rounds.append({"h": h, "error": error, "alpha": alpha})
    return rounds, votes


def samme(X, c, weight, n_rounds, depth=2):
    """SAMME (Zhu et al. 2009, Algorithm 2) with information trees."""
    K = c.max() + 1
    w, votes, rounds = weight / weight.sum(), np.zeros((len(c), K)), []
    for _ in range(n_rounds):
        h = info_tree(X, c, w, K, depth)
        error = w[h != c].sum()
        if error >= 1 - 1 / K:
            break
        alpha = math.log((1 - error) / error) + math.log(K - 1)
        w = w * np.exp(alpha * (h != c))
        w /= w.sum()
        votes[np.arange(len(c)), h] += alpha
        rounds.append({"h": h, "error": error, "alpha": alpha})
    return rounds, votes


def mm(X, c, weight, n_rounds, rule, depth=2):
    """AdaBoost.MM (Mukherjee & Schapire 2013, Algorithm 1); rule 61 or 62."""
    n, K = len(c), c.max() + 1
    f, rounds, rows = np.zeros((n, K)), [], np.arange(n)
    for _ in range(n_rounds):
        E = weight[:, None] * np.exp(f - f[rows, c][:, None])
        E[rows, c] = 0.0
        C = E.copy()
        C[rows, c] = -E.sum(axis=1)
        h = class_tree(X, -C, depth)
        Z, gained, lost = E.sum(), E[h == c].sum(), E[rows, h][h != c].sum()
        delta = (gained - lost) / Z
        if delta <= 0:
            break
        alpha = 0.5 * math.log((1 + delta) / (1 - delta) if rule == 61 else gained / lost)
        f[rows, h] += alpha
        rounds.append({"h": h, "edge": delta, "moved": (gained + lost) / Z, "alpha": alpha})
    return rounds, f


def adaboost(X, z, weight, n_rounds, depth=1):
    """AdaBoost (Freund & Schapire 1997) for labels z = ±1."""
    w, f, rounds = weight / weight.sum(), np.zeros(len(z)), []
    for _ in range(n_rounds):
        h = sign_tree(X, w * z, depth)
        error = w[h != z].sum()
        if error >= 0.5 - 1e-12:
            break
        alpha = 0.5 * math.log((1 - error) / error) if error > 0 else 10.0
        w = w * np.exp(-alpha * z * h)
        w /= w.sum()
        f += alpha * h
        rounds.append({"h": h, "error": error, "alpha": alpha})
        if error == 0:
            break
    return rounds, f


def one_vs_all(X, c, weight, n_rounds, depth=1):
    """An AdaBoost per class: the rounds of each, and the scores."""
    runs = [adaboost(X, np.where(c == k, 1.0, -1.0), weight, n_rounds, depth) for k in range(c.max() + 1)]
    return [rounds for rounds, _ in runs], np.column_stack([f for _, f in runs])


def ecc(X, c, weight, columns, depth=2):
    """AdaBoost.ECC (Guruswami & Sahai 1999) with given columns (K, T): the code grows, F gets a coordinate a round."""
    n = len(c)
    F, rounds = np.zeros((n, 0)), []
    for t, mu in enumerate(columns.T):
        scores = F @ columns[:, :t].T  # (n, K) ⟨f, y_l⟩
        E = weight[:, None] * np.exp(scores - scores[np.arange(n), c][:, None])
        d = (E * (mu[None, :] != mu[c][:, None])).sum(axis=1)  # rivals of the other colour
        g = sign_tree(X, d * mu[c], depth)
        error = d[g != mu[c]].sum() / d.sum()
        alpha = 0.25 * math.log((1 - error) / error) if error > 0 else 10.0
        F = np.column_stack([F, alpha * g])
        rounds.append({"h": g, "error": error, "alpha": alpha})
    return rounds, F @ columns.T


def logitboost(X, c, weight, n_rounds, depth=2, clip=4.0):
    """Multiclass LogitBoost (Friedman, Hastie & Tibshirani 2000, Algorithm 6)."""
    n, K = len(c), c.max() + 1
    F, rounds = np.zeros((n, K)), []
    for _ in range(n_rounds):
        p = np.exp(F - F.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        answers = np.empty((n, K))
        for k in range(K):
            w = np.maximum(p[:, k] * (1 - p[:, k]), 1e-12)
            z = np.clip(((c == k) - p[:, k]) / w, -clip, clip)
            answers[:, k] = regression_tree(X, z, weight * w, depth)
        F = F + (K - 1) / K * (answers - answers.mean(axis=1, keepdims=True))
        rounds.append({"h": answers})
    return rounds, F
