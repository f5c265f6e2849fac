"""Changed model files, led by what they reach: ``python -m promises.guided -max_total_time=600``.

The changes are those of `mutations`, and plain ones of bytes. atheris, which is to be installed before (``pip install
atheris``; 3.0 was tried), keeps the files that reach new places of the package in build/guided, and changes
them further. The options are those of libFuzzer. It ends with a traceback, and keeps the file in build, where one is
neither refused by `ModelFileError` nor works.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

CORPUS = Path("build", "guided")
OPTIONS = ["-max_len=65536", "-rss_limit_mb=4096", "-timeout=60", "-artifact_prefix=build/", "-reduce_inputs=0"]


def main() -> None:
    """Change files until time is up or one breaks the promise."""
    import atheris  # type: ignore[import-not-found, import-untyped, unused-ignore]

    with atheris.instrument_imports(include=["simplexboost", "zipfile"]):
        from . import files, mutations

        for path in mutations.FOLDER.glob("*.sb"):  # which imports what is imported at the first use
            files.use(path.read_bytes())

    def attempt(data: bytes) -> None:
        files.use(data)

    def change(data: bytes, max_size: int, seed: int) -> bytes:
        rng = np.random.default_rng(seed)
        try:
            parts = mutations.Parts(*mutations.pieces(data))
            mutations.pick(rng, mutations.CHANGES)(rng, parts)
            return bytes(parts.written(rng)[:max_size])
        except Exception:  # it is no sound file any more
            return bytes(atheris.Mutate(data, max_size))

    CORPUS.mkdir(parents=True, exist_ok=True)
    for path in mutations.FOLDER.glob("*.sb"):
        (CORPUS / path.name).write_bytes(path.read_bytes())
    atheris.Setup([sys.argv[0], *OPTIONS, *sys.argv[1:], str(CORPUS)], attempt, custom_mutator=change)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
