"""Many small measurements, each saved when it is finished: what `benchmarks` and `experiments` run on.

A *cell* is one piece of work, such as one booster on one data set with one seed. It has a key that says what it is, and
its result is JSON. A *store* keeps results on disk: `Folder` in a file for every cell, `File` in one for all of them.
`run` computes the cells that a store does not hold yet, in this process or in `Workers`:

- what is finished is not computed again, so that an interrupted run goes on where it was;
- every outcome is saved as soon as it is there, by moving a whole file into place;
- a cell that fails, is killed or takes too long is recorded with its error, the others go on, and the next run tries it
  again;
- every outcome is printed beside the time to go.
"""

from .run import Countdown, run
from .stores import Cell, File, Folder, Outcome, Store
from .workers import Workers

__all__ = ["Cell", "Countdown", "File", "Folder", "Outcome", "Store", "Workers", "run"]
