"""Output codes around one tree: `python -m benchmarks.output_codes [--data letter] [--depth 8]` prints a table.

The same depth-limited decision tree is used by itself and as the binary classifier of every code.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from simplexboost import OutputCodeClassifier, datasets
from simplexboost.parts.codewords import BCH, MaxHamming, RandomDense

CODES = {
    "one-vs-all": "one-vs-all",
    "all pairs": "all-pairs",
    "random dense": "random-dense",
    "random sparse": "random-sparse",
    "Hadamard": "hadamard",
    "max-Hamming": "max-hamming",
    "random dense, 127 columns": RandomDense(127),
    "BCH, 127 columns": BCH(127),
    "max-Hamming, 127 columns": MaxHamming(127),
}


def main() -> None:
    """Fit and score every code with Hamming and with logistic decoding."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="letter")
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    data = datasets.load(arguments.data)
    tree = DecisionTreeClassifier(max_depth=arguments.depth, random_state=arguments.seed)
    print(f"{data}, trees of depth {arguments.depth}, seed {arguments.seed}\n")
    print("| code | columns | distance | corrects | Hamming | logistic | log-loss | coupled | fit |")
    print("|---|---|---|---|---|---|---|---|---|")
    begin = time.perf_counter()
    alone = tree.fit(data.X_train, data.y_train).score(data.X_test, data.y_test)
    print(f"| none: the tree itself | | | | {alone:.3f} | | | | {time.perf_counter() - begin:.1f} s |")
    for name, code in CODES.items():
        print(row(name, OutputCodeClassifier(tree, code, random_state=arguments.seed), data), flush=True)


def row(name: str, clf: OutputCodeClassifier, data: datasets.Dataset) -> str:
    """One line of the table: the columns are fitted once and decoded in several ways."""
    begin = time.perf_counter()
    clf.fit(data.X_train, data.y_train)
    seconds = time.perf_counter() - begin
    hamming, logistic = (clf.set_params(decoding=d).score(data.X_test, data.y_test) for d in ("hamming", "logistic"))
    own = np.arange(len(data.y_test)), data.y_test
    losses = [  # a class of probability 0 counts as 10⁻⁶
        -np.log(clf.set_params(probability=link).predict_proba(data.X_test)[own].clip(1e-6)).mean()
        for link in ("softmax", "coupling")
    ]
    return (
        f"| {name} | {clf.codewords_.shape[1]} | {clf.min_distance_:g} | {clf.bits_corrected_} | {hamming:.3f} "
        f"| {logistic:.3f} | {losses[0]:.2f} | {losses[1]:.2f} | {seconds:.1f} s |"
    )


if __name__ == "__main__":
    main()
