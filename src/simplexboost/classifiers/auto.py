"""Choice of the parameters of `SimplexBoostClassifier` that are "auto": by the size of the table and by held-out risk.

The rules are here; `search` compares the candidates on the rows held out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Labels
from .._util.runtime import free_memory
from ..boosting import Callback, Sampling
from ..engine import CpuCompute, cpu_engine
from ..parts.losses import Loss, for_label_sets
from ..parts.optimizers.run import Run
from ..tables.training_set import TrainingSet
from .plan import Plan
from .search import TEMPERATURES, Candidate, Choice, Split, Terms, drawn_by_class, folds, one_split, race

N_FOLDS = 5  # of small tables; fewer rows than that are too few to hold out some of them
FASTEST = 0.3  # the largest learning rate of a race, unless that of the fit is larger


@dataclass(frozen=True)
class Effort:
    """What a choice may cost.

    Attributes
    ----------
    n_splits : so many of five folds are held out in turn; 0 holds out one part, and chooses the shape on a sample
    most_held : the most rows of that part, at most a fifth of all
    haste : the race is run at no more than so many times the learning rate of the fit, with as many times fewer rounds
    rate : the learning rate of the fit, unless the user gives one
    """

    n_splits: int
    most_held: int
    haste: float
    rate: float

    def haste_at(self, rate: float) -> float:
        """The haste of a race for a fit at this learning rate: it goes no faster than `FASTEST`, if the fit does not.

        A faster race over-fits from its first rounds on, which the fit does not. It would find a temperature that is
        far too low, and sets of classes that are too large.

        Examples
        --------
        >>> cost = Effort(n_splits=5, most_held=0, haste=4.0, rate=0.05)
        >>> [cost.haste_at(rate) for rate in (0.05, 0.1, 0.2, 0.3, 0.5)]
        [4.0, 3.0, 1.5, 1.0, 1.0]
        """
        return max(1.0, min(self.haste, round(FASTEST / rate, 9)))


def effort_on(data: TrainingSet) -> Effort:
    """The effort that suits a training set.

    Labels, whose scores move half as far as the difference of two classes (`flagship.pace`), have a learning rate of
    0.1 throughout, and half the haste.
    """
    found = effort(data.n, data.p, data.K)
    return replace(found, haste=max(1.0, found.haste / 2), rate=0.1) if data.problem.yes_or_no else found


def effort(n: int, p: int, K: int) -> Effort:
    """The effort that suits n rows of p columns and K classes.

    A fit of up to 10 000 rows takes about a second: there a smaller learning rate pays, and folds cost about as much as
    the fit itself. Larger tables have rows enough for one part held out.
    """
    cells = n * max(p, K)
    if n <= 1_000 or (n <= 10_000 and cells <= 1_000_000):  # a fifth of few rows would tell too little
        return Effort(5 if n <= 2_500 else 3 if n <= 5_000 else 2, 0, 4.0, 0.05)
    if n <= 100_000 and cells <= 10_000_000:
        return Effort(0, 10_000, 2.0, 0.1)
    return Effort(0, 20_000, 3.0, 0.1)


@dataclass(frozen=True)
class Wanted:
    """What is to be chosen.

    Attributes
    ----------
    longest : the most rounds of the race
    usual : see `Terms`
    exact : the number of rounds of the fit, if it is given: then the race compares after `longest` rounds only
    calibrate : whether a temperature is chosen
    say : prints a line of progress
    temperature : that of the fit, if it is not chosen
    thresholds : whether the probabilities above which labels are predicted are chosen
    haste : see `Terms`
    """

    longest: int
    usual: float
    exact: int | None
    calibrate: bool
    say: Callable[[str], None]
    temperature: float | None = None
    thresholds: bool = False
    haste: float = 1.0


@dataclass(frozen=True, eq=False)
class Table:
    """The rows to choose on: the training set, which classes are present (K,), and the groups (n,) of its rows."""

    data: TrainingSet
    present: AnyArray
    groups: AnyArray | None

    def brought(self, rows: AnyArray) -> Table:
        """Some of the rows (ascending), all in the place where the engine decides."""
        engine, groups = self.data.engine, self.groups
        if groups is not None:
            groups = engine.rows.subset(rows).gather(groups[engine.rows.find(rows)])
        return Table(self.data.gather_sample(rows), self.present, groups)

    @property
    def divisible(self) -> bool:
        """Whether there is a group to hold out and another to train on."""
        return self.groups is None or len(np.unique(self.groups)) > 1


@dataclass(frozen=True, eq=False)
class Starter:
    """Starts the run of a plan on the training rows of a split; the other rows only follow."""

    plan: Plan
    table: Table
    seed: int

    def __call__(self, split: Split) -> tuple[Run, list[Callback]]:
        """The run and its callbacks."""
        plan, data = self.plan, self.table.data
        loss = loss_on(plan.parts.loss, data)
        run = plan.start(data, loss, self.table.present, np.random.default_rng(self.seed))
        return run, [Sampling(plan.subsample, plan.max_features, split.held)]


def loss_on(loss: Loss, data: TrainingSet) -> Loss:
    """The loss on a training set: for a matrix y, that of its labels or of its targets."""
    table = data.problem.table
    return loss if table is None else for_label_sets(loss, table, data.problem.widths)


Rivals = Sequence[tuple[dict[str, Any], Plan]]  # parameters that name a candidate, and a plan that has them


def choose(rivals: Rivals, shares: Rivals, table: Table, seed: int, wanted: Wanted) -> Choice:
    """The best of some plans by held-out risk, its number of rounds and its temperature.

    The rivals have the learning rate of the race. Large tables choose one of them on a sample first; all rows then tell
    its rounds and temperature. None of them may be worse than the class shares, which ``shares`` predicts after one
    round; it is empty if they cannot be predicted so.
    """
    data, rng = table.data, np.random.default_rng([seed, 1])
    cost, decide = effort_on(data), data.engine.rows.decide
    if cost.n_splits > 0:
        small = table.brought(np.arange(data.n))
        return decide(lambda: hold_race(rivals, shares, small, make_splits(small, cost, rng), seed, cost, wanted))
    first: Choice | None = None
    if len(rivals) > 1:
        c = data.engine.rows.gather(strata(data))
        sample = table.brought(decide(lambda: drawn_by_class(c, sample_rows(data.n), rng, fewest=5)))

        def on_sample() -> Choice | None:
            if not sample.divisible:
                return None
            choice = hold_race(rivals, shares, sample, make_splits(sample, cost, rng), seed, cost, wanted, sets=False)
            return replace(choice, n_sample=sample.data.n)

        first = decide(on_sample)
        if first is not None:  # where the class shares are best on the sample, all rows may still tell more
            rivals = [rival for rival in rivals if rival[0] == first.params] or rivals[:1]
    c = data.engine.rows.gather(strata(data))
    groups = None if table.groups is None else data.engine.rows.gather(table.groups)
    splits = decide(lambda: one_split(c, groups, held_rows(data.n, cost), rng))
    choice = hold_race(rivals, shares, table, splits, seed, cost, wanted)
    return choice if first is None else replace(choice, candidates=first.candidates, n_sample=first.n_sample)


def hold_race(
    rivals: Rivals,
    shares: Rivals,
    table: Table,
    splits: list[Split],
    seed: int,
    cost: Effort,
    wanted: Wanted,
    sets: bool = True,
) -> Choice:
    """A race of the rivals on these rows, with the scores of those held out or without."""
    engine, workers = table.data.engine, 1
    threads = isinstance(engine.compute, CpuCompute) and engine.device.is_host and not engine.rows.is_spread
    if len(splits) * len(rivals) > 1 and threads:
        # A thread for each trial: small tables do not keep several threads busy. A GPU takes one trial after another.
        table, workers = replace(table, data=table.data.on(cpu_engine(1))), engine.compute.n_threads
    stages = stages_up_to(wanted.longest, 2.0 if len(rivals) > 1 else 1.25)
    terms = Terms(
        stages if wanted.exact is None else [wanted.longest],
        wanted.usual,
        wanted.haste,
        workers,
        TEMPERATURES if wanted.calibrate else np.ones(1),
        wanted.thresholds,
        wanted.exact,
        wanted.say,
        wanted.temperature,
        sets and not table.data.problem.is_matrix,
    )
    candidates = [Candidate(params, Starter(rival, table, seed)) for params, rival in rivals]
    constant = [Candidate(params, Starter(rival, table, seed), most=1) for params, rival in shares]
    return race(candidates + constant, splits, terms)


def make_splits(table: Table, cost: Effort, rng: np.random.Generator) -> list[Split]:
    """The rows to train on and to hold out."""
    n, c = table.data.n, strata(table.data)
    if cost.n_splits == 0:
        return one_split(c, table.groups, held_rows(n, cost), rng)
    return folds(c, table.groups, N_FOLDS, rng)[: cost.n_splits]


def strata(data: TrainingSet) -> Labels:
    """What is spread evenly over the parts of a split, (n,): the classes, whatever they are called, not label sets."""
    return data.problem.strata(data.c if data.class_ranks is None else data.class_ranks[data.c])


def held_rows(n: int, cost: Effort) -> int:
    """How many of n rows are held out, if it is one part."""
    return min(n // 5, cost.most_held)


def sample_rows(n: int) -> int:
    """The rows of a large table on which the shape of the trees is chosen: an eighth, from 8 000 to 24 000."""
    return min(n, max(8_000, min(n // 8, 24_000)))


def stages_up_to(longest: int, ratio: float) -> list[int]:
    """Numbers of rounds, each so many times the one before; the last is the largest allowed."""
    stages = [longest]
    while stages[0] > 40:
        stages.insert(0, int(np.ceil(stages[0] / ratio)))
    return stages


def most_canonical(n: int) -> int:
    """The largest number K of classes for which n rows may have canonical codewords.

    Two n × K arrays of single precision and the codewords themselves, K × K in both precisions, must fit into half of
    the free memory: 8 n K + 12 K². So a table near that limit gets another code on a smaller machine.
    """
    return max(1024, (math.isqrt((8 * n) ** 2 + 24 * free_memory()) - 8 * n) // 24)
