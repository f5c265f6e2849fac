"""Changed model files, led by what they reach: ``python -m promises.guided -max_total_time=600``.

The changes are those of `mutations`, and plain ones of bytes; atheris, which is to be installed before (``pip install
atheris``), keeps the files that reach new lines of the reader and changes them further. The options are those of
libFuzzer. It ends with a traceback, and keeps the file, where one is neither refused by `ModelFileError` nor works.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np


def main() -> None:
    """Change files until time is up or one breaks the promise."""
    import atheris  # type: ignore[import-not-found, import-untyped, unused-ignore]

    with atheris.instrument_imports(include=["simplexboost.files", "simplexboost.svm.machine", "zipfile", "json"]):
        from . import files, mutations

    def change(data: bytes, max_size: int, seed: int) -> bytes:
        rng = np.random.default_rng(seed)
        try:
            parts = mutations.Parts(*mutations.pieces(data))
            mutations.pick(rng, mutations.CHANGES)(rng, parts)
            return bytes(parts.written(rng)[:max_size])
        except Exception:  # it is no sound file any more
            return bytes(atheris.Mutate(data, max_size))

    with tempfile.TemporaryDirectory() as corpus:
        for path in mutations.FOLDER.glob("*.sb"):
            Path(corpus, path.name).write_bytes(path.read_bytes())
        options: list[Any] = [*sys.argv, corpus, "-max_len=65536", "-rss_limit_mb=2048", "-timeout=5"]
        atheris.Setup(options, files.use, custom_mutator=change)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
