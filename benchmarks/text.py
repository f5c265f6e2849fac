"""Texts as sparse tables: ``python -m benchmarks.text`` races LightGBM and XGBoost on words.

Documents are made on the spot, as strings of words: word frequencies follow Zipf's law, and every class speaks of a few
topics, each of which prefers words of its own. `TfidfVectorizer` turns them into sparse tables of up to 20 000 columns.
The 20 newsgroups are raced too where scikit-learn has them (``--newsgroups``; nothing is fetched). Everyone runs with
its defaults, on the same CSR matrix, each in a process of its own; who does not finish within the budget is scored by
the rounds there are. Memory is the peak of the process less what it had before the fit.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from simplexboost._util.arrays import AnyArray

from . import machine
from .adapter import Clock
from .cell import peak_memory
from .contestants import CONTESTANTS, OURS
from .curves import score
from .tables import best_in_bold, number, table

PAGE = Path(__file__).with_name("TEXT.md")
VOCABULARY = 60_000
TOPIC_WORDS = 200  # words that a topic prefers
TOPICS_OF_A_CLASS = 3
HEAD = [
    "corpus",
    "rows × columns",
    "classes",
    "",
    "log-loss",
    "accuracy",
    "fit s",
    "CPU s",
    "rounds",
    "trees",
    "fit MB",
]


@dataclass(frozen=True, eq=False)
class Texts:
    """Sparse tables of words, X (n, p) and y (n,), to train on and to test on."""

    X: Any
    y: AnyArray
    X_test: Any
    y_test: AnyArray


def documents(n: int, K: int, seed: int = 0) -> tuple[list[str], AnyArray]:
    """Texts of about 80 words, and their classes (n,).

    Two words in five come from a topic: mostly one of the three topics of the class, sometimes one of any class.
    """
    rng = np.random.default_rng(seed)
    cumulated = np.cumsum(1.0 / np.arange(1, VOCABULARY + 1))  # of Zipf's frequencies
    n_topics = 2 * K
    topics = rng.integers(50, VOCABULARY // 3, size=(n_topics, TOPIC_WORDS))  # words that are neither common nor rare
    of_class = np.array([rng.choice(n_topics, TOPICS_OF_A_CLASS, replace=False) for _ in range(K)])
    words = np.array([f"word{i:05d}" for i in range(VOCABULARY)], dtype=object)
    c = rng.permutation(np.arange(n) % K)
    out = []
    for k in c:
        length = int(np.clip(rng.lognormal(4.2, 0.5), 10, 400))
        drawn = np.searchsorted(cumulated, rng.random(length) * cumulated[-1])
        topic = rng.choice(of_class[k]) if rng.random() < 0.7 else rng.integers(n_topics)
        of_topic = topics[topic, np.minimum(rng.geometric(0.03, length) - 1, TOPIC_WORDS - 1)]
        drawn = np.where(rng.random(length) < 0.4, of_topic, drawn)
        out.append(" ".join(words[drawn]))
    return out, c


def made(n: int, K: int, p: int) -> Texts:
    """Documents as a table of p words; a fifth of them to test on."""
    texts, y = documents(n + n // 4, K)
    return vectorised(texts[:n], y[:n], texts[n:], y[n:], p)


def newsgroups(p: int) -> Texts:
    """The 20 newsgroups without headers, footers and quotes, if they are in scikit-learn's data folder."""
    from sklearn.datasets import fetch_20newsgroups

    bare = ("headers", "footers", "quotes")
    train, test = (fetch_20newsgroups(subset=s, remove=bare, download_if_missing=False) for s in ("train", "test"))
    return vectorised(train.data, train.target, test.data, test.target, p)


def vectorised(texts: Sequence[str], y: AnyArray, test: Sequence[str], y_test: AnyArray, p: int) -> Texts:
    """Texts as tables of the p most frequent words, in single precision."""
    words = TfidfVectorizer(max_features=p, dtype=np.float32, sublinear_tf=True)
    return Texts(words.fit_transform(texts), y, words.transform(test), y_test)


def load(corpus: str, p: int) -> Texts:
    """The corpus of a name: "newsgroups", or "made-N-K" of N documents and K classes."""
    if corpus == "newsgroups":
        return newsgroups(p)
    n, K = map(int, corpus.split("-")[1:])
    return made(n, K, p)


def run(corpus: str, name: str, p: int, threads: int, budget: float) -> dict[str, Any]:
    """One fit, in this process."""
    warnings.simplefilter("ignore")  # libraries differ in what they warn of
    texts = load(corpus, p)
    columns = texts.X.shape[1]
    none = np.zeros(columns, dtype=bool)
    kind = CONTESTANTS[name]
    tiny = kind("defaults", threads=threads, seed=0, categorical=none[:5])  # loads the library before the clock starts
    tiny.fit(np.random.default_rng(0).random((60, 5)), np.arange(60) % 3, Clock(60.0, 2))
    contestant = kind("defaults", threads=threads, seed=0, categorical=none, own_rounds=True)
    before, cpu, clock = peak_memory(), time.process_time(), Clock(budget)
    contestant.fit(texts.X, texts.y, clock)
    seconds, cpu, memory = clock.elapsed(), time.process_time() - cpu, peak_memory() - before
    contestant.keep(contestant.n_rounds)
    accuracy, loss = score(contestant.predict_proba(texts.X_test), texts.y_test)
    return {
        "n": texts.X.shape[0],
        "p": columns,
        "stored": int(texts.X.nnz),
        "K": int(texts.y.max()) + 1,
        "accuracy": accuracy,
        "log_loss": loss,
        "seconds": seconds,
        "cpu_seconds": cpu,
        "stopped": clock.stopped and name != OURS,
        "rounds": contestant.n_rounds,
        "trees": contestant.n_trees(int(texts.y.max()) + 1),
        "memory": memory,
    }


def apart(corpus: str, name: str, options: argparse.Namespace) -> dict[str, Any]:
    """One fit in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.text", "--one", corpus, name]
    command += ["--columns", str(options.columns), "--threads", str(options.threads), "--budget", str(options.budget)]
    out = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    return dict(json.loads(out.stdout.splitlines()[-1]))


def section(results: dict[str, dict[str, dict[str, Any]]], options: argparse.Namespace) -> str:
    """The text of the page."""
    rows = []
    for corpus, by_name in results.items():
        losses = best_in_bold([r["log_loss"] for r in by_name.values()], 4, higher_is_better=False)
        accuracies = best_in_bold([r["accuracy"] for r in by_name.values()], 4, higher_is_better=True)
        for (name, r), loss, accuracy in zip(by_name.items(), losses, accuracies, strict=True):
            first = [corpus, f"{r['n']} × {r['p']}", str(r["K"])] if name == next(iter(by_name)) else ["", "", ""]
            seconds = number(r["seconds"], 1) + ("*" if r["stopped"] else "")
            last = [seconds, number(r["cpu_seconds"], 1), str(r["rounds"]), str(r["trees"]), number(r["memory"], 0)]
            rows.append([*first, name, loss, accuracy, *last])
    about = machine.describe()
    stored = ", ".join(f"{corpus} {next(iter(r.values()))['stored']}" for corpus, r in results.items())
    return (
        f"Generated by `python -m benchmarks.text`, which says how the documents are made. Everyone runs with its "
        f"defaults on {options.threads} thread(s), once, on the same sparse matrix (stored numbers: {stored}); * marks "
        f"fits that were ended after {options.budget:g} s. CPU seconds are those of all "
        f"threads. Memory is what the fit needs beside the matrix. "
        f"{about['processor']}, {about['cores']} cores. {options.note}\n\n{table(HEAD, rows)}\n"
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Race, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.text", description=__doc__)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--classes", default="20,100", help="numbers of classes, comma separated")
    parser.add_argument("--columns", type=int, default=20_000)
    parser.add_argument("--contestants", default="simplexboost,lightgbm,xgboost")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--budget", type=float, default=120.0, help="seconds for a fit of another library")
    parser.add_argument("--newsgroups", action="store_true", help="race the 20 newsgroups too")
    parser.add_argument("--note", default="", help="a sentence about the conditions, for the page")
    parser.add_argument("--output", type=Path, default=PAGE)
    parser.add_argument("--one", nargs=2, metavar=("CORPUS", "NAME"), help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.one:
        print(json.dumps(run(*options.one, options.columns, options.threads, options.budget)))
        return
    corpora = [f"made-{options.documents}-{K}" for K in options.classes.split(",")]
    corpora += ["newsgroups"] if options.newsgroups else []
    names = [name for name in options.contestants.split(",") if CONTESTANTS[name].is_installed()]
    results: dict[str, dict[str, dict[str, Any]]] = {}
    for corpus in corpora:
        results[corpus] = {}
        for name in names:
            results[corpus][name] = apart(corpus, name, options)
            print(corpus, name, results[corpus][name], flush=True)
    options.output.write_text(section(results, options))


if __name__ == "__main__":
    main()
