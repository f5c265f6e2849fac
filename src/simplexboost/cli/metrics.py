"""Scores of predictions, added up chunk by chunk."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._typing import AnyArray, Array, Labels

TINY = 1e-15  # probabilities are at least this in the log-loss, which is otherwise infinite


@dataclass
class Scores:
    """What is known of some predictions.

    Attributes
    ----------
    pairs : how often class c was taken for class k, by (c, k); a label that the model does not know is −1
    top : rows whose class is among the five most probable ones
    loss : the sum of −log p over rows of known classes; None without probabilities
    """

    classes: AnyArray
    pairs: Counter[tuple[int, int]] = field(default_factory=Counter)
    top: int = 0
    loss: float | None = 0.0

    def add(self, c: Labels, predicted: Labels, P: Array | None) -> None:
        """Add rows: their classes (n,), predictions (n,) and probabilities (n, K) if there are any."""
        pairs, counts = np.unique(np.stack([c, predicted]), axis=1, return_counts=True)
        self.pairs.update(dict(zip(map(tuple, pairs.T.tolist()), counts.tolist(), strict=True)))
        if P is None or self.loss is None:
            self.loss = None
            return
        known = np.flatnonzero(c >= 0)
        own = P[known, c[known]]
        self.loss -= float(np.log(np.maximum(own, TINY)).sum())
        self.top += int((np.sum(P[known] > own[:, None], axis=1) < 5).sum())

    @property
    def n(self) -> int:
        """The number of rows."""
        return sum(self.pairs.values())

    def of_classes(self) -> dict[int, dict[str, Any]]:
        """Rows, recall and precision of every class that has rows; precision is None if it was never predicted."""
        rows: Counter[int] = Counter()
        said: Counter[int] = Counter()
        for (c, k), count in self.pairs.items():
            rows[c] += count
            said[k] += count
        return {
            c: {
                "class": self.label(c),
                "rows": rows[c],
                "recall": self.pairs[c, c] / rows[c],
                "precision": self.pairs[c, c] / said[c] if said[c] else None,
            }
            for c in sorted(rows)
            if c >= 0
        }

    def label(self, c: int) -> Any:
        """The label of a class."""
        return self.classes[c].item() if isinstance(self.classes[c], np.generic) else self.classes[c]

    def summary(self) -> dict[str, Any]:
        """The scores by name; None where they need probabilities."""
        right = sum(count for (c, k), count in self.pairs.items() if c == k)
        unknown = sum(count for (c, _), count in self.pairs.items() if c < 0)
        recalls = [entry["recall"] for entry in self.of_classes().values()]
        with_loss = self.loss is not None and self.n > unknown
        return {
            "rows": self.n,
            "unknown_labels": unknown,
            "accuracy": right / self.n,
            "balanced_accuracy": float(np.mean(recalls)) if recalls else None,
            "log_loss": self.loss / (self.n - unknown) if with_loss and self.loss is not None else None,
            "top_5_accuracy": self.top / self.n if with_loss and len(self.classes) > 5 else None,
        }

    def worst_pairs(self, most: int = 5) -> list[dict[str, Any]]:
        """The most frequent confusions."""
        wrong = [((c, k), count) for (c, k), count in self.pairs.items() if c != k and c >= 0]
        wrong.sort(key=lambda entry: (-entry[1], entry[0]))
        return [{"class": self.label(c), "taken_for": self.label(k), "rows": n} for (c, k), n in wrong[:most]]
