"""What an exported model weighs: ``python -m benchmarks.exports --sets letter,aloi27 --rounds 20 --data-home DIR``.

One line per route with the megabytes of what is written, compressed (gzip) as well, and the seconds it takes to write;
below stand the files of LightGBM and XGBoost after as many rounds, fitted with their defaults.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from simplexboost import SimplexBoostClassifier, export
from simplexboost.datasets import load

from .pages import parser_of, publish

ABOUT = (
    "Every library has its defaults; the accuracy on the test part stands beside, since equally many rounds are not "
    "equally good."
)
HEAD = ["set", "classes", "file", "accuracy", "MB", "MB gzipped", "seconds to write"]


def routes(clf: Any) -> dict[str, Callable[[Path], Any]]:
    """How our model is written, by the name of the file."""
    return {
        "model.sb": clf.save,
        "model.onnx": lambda path: export.onnx(clf, path),
        "model.treelite": lambda path: export.treelite(clf, path),
        "model.c": lambda path: export.c(clf, path),
        "model.py": lambda path: export.python(clf, path),
        "model.js": lambda path: export.javascript(clf, path),
    }


def peers(
    X: Any, y: Any, rounds: int, threads: int
) -> Iterator[tuple[str, Callable[[Any], Any], Callable[[Path], Any]]]:
    """The name of the file, the prediction and the way to save of other libraries that are installed."""
    try:
        from lightgbm import LGBMClassifier

        light = LGBMClassifier(n_estimators=rounds, n_jobs=threads, verbose=-1).fit(X, y)
        yield "LightGBM .txt", light.predict, lambda path: light.booster_.save_model(path)
    except ImportError:
        pass
    try:
        from xgboost import XGBClassifier

        extreme = XGBClassifier(n_estimators=rounds, n_jobs=threads).fit(X, y)
        yield "XGBoost .ubj", extreme.predict, lambda path: extreme.save_model(path.with_suffix(".ubj"))
    except ImportError:
        pass


def weighed(write: Callable[[Path], Any], name: str) -> list[str]:
    """Megabytes of all files that are written, the same compressed, and seconds."""
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        write(Path(folder, name.replace(" ", "")))
        seconds = time.perf_counter() - begin
        contents = [path.read_bytes() for path in Path(folder).iterdir()]
    packed = sum(len(gzip.compress(data, 6)) for data in contents)
    return [f"{sum(map(len, contents)) / 1e6:.1f}", f"{packed / 1e6:.1f}", f"{seconds:.1f}"]


def lines(name: str, options: argparse.Namespace) -> list[list[str]]:
    """A line per file."""
    data = load(name, options.data_home)
    labels, y = np.unique(data.y_train, return_inverse=True)
    clf = SimplexBoostClassifier(n_estimators=options.rounds, random_state=0, n_jobs=options.threads)
    clf.fit(data.X_train, data.y_train)
    found = []
    for file, write in routes(clf).items():
        found.append(
            [name, str(len(labels)), file, f"{clf.score(data.X_test, data.y_test):.4f}", *weighed(write, file)]
        )
        print(found[-1], flush=True)
    for file, predict, save in peers(data.X_train, y, options.rounds, options.threads):
        accuracy = float(np.mean(labels[np.asarray(predict(data.X_test))] == data.y_test))
        found.append([name, str(len(labels)), file, f"{accuracy:.4f}", *weighed(save, file)])
        print(found[-1], flush=True)
    return found


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, print and perhaps write a page."""
    parser = parser_of("exports", __doc__, 100)
    parser.add_argument("--threads", type=int, default=2)
    publish(parser, argv, HEAD, lines, ABOUT)


if __name__ == "__main__":
    main()
