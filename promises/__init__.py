"""What the library promises, as functions that try to break it.

A *promise* is a function of a case number: it makes a case from that number, such as a table and a booster, and raises
where the library does not do what was promised. The same functions serve twice: `make test` tries a few cases of each,
`make soak` tries very many and writes docs/reliability.md. Cases run in processes of their own, so that a crash or a
hang is a failure of one case and the others go on.

`python -m promises --help` lists the options; `python -m promises NAME --case 17` repeats a single case here.
"""

from .promise import Promise, all_promises, promise

__all__ = ["Promise", "all_promises", "promise"]
