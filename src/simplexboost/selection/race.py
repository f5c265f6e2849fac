"""The race of the candidates, in stages of more and more rounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import Any

import numpy as np

from .._threads import side_by_side
from .._typing import Array
from ..boosting.loop import boost
from ..boosting.run import Run
from ..callbacks import Callback
from ..deciding.sets import SetScores
from ..optimizers import Optimizer
from .choice import Choice, describe
from .held_out import held_out_scores
from .splits import Split
from .temperatures import best_temperature, cautious, held_out_losses
from .thresholds import best_thresholds, held_out_counts

# How many candidates are still in the race after its first stages; one from then on.
LEFT = (3, 2, 2)
# A candidate wins over those before it in the list, and a temperature over 1, only if its risk is lower by this part.
CLEARLY = 0.005
# A candidate has had its best round if so much of its rounds came after it.
PAST = 0.5
# Beyond the usual number, rounds go on only as long as the later half of them has lowered the risk by this part of it.
WORTHWHILE = 0.03


@dataclass(frozen=True, eq=False)
class Candidate:
    """A setting that takes part in the choice.

    Attributes
    ----------
    params : dict
        The parameters that tell it from the others.
    start : callable
        A function of a split: it returns a run on the split's training rows that has made no rounds yet, its optimizer
        and its callbacks.
    most : int or None, default=None
        It makes no more than so many rounds. One round that gives all rows the class shares is what any candidate must
        not be worse than in order to win.

    Examples
    --------
    >>> candidate = Candidate({"growth": "best"}, start=lambda split: None)
    >>> candidate.params
    {'growth': 'best'}
    """

    params: dict[str, Any]
    start: Callable[[Split], tuple[Run, Optimizer, list[Callback]]]
    most: int | None = None


@dataclass(frozen=True)
class Terms:
    """The terms of a race.

    Attributes
    ----------
    stages : the numbers of rounds after which candidates are compared
    usual : the number of rounds that is always worth its time, unless the risk rises
    haste : how many times the learning rate of the fit is that of the race, which needs so many times fewer rounds
    workers : how many trials run side by side, each on one thread
    temperatures : (T,) those among which to choose
    thresholds : whether to find the probabilities above which labels are predicted
    exact : the number of rounds of the fit, if it is given: that of the last stage, which is the only one compared
    say : prints a line of progress
    given : the temperature of the fit, if none is chosen
    sets : whether the scores of the rows held out are wanted, from which sets of classes are made
    """

    stages: Sequence[int]
    usual: float
    haste: float
    workers: int
    temperatures: Array
    thresholds: bool = False
    exact: int | None = None
    say: Callable[[str], None] = lambda line: None
    given: float | None = None
    sets: bool = True


class Cancelled(Callback):
    """Ends a run at its next round when the event is set."""

    def __init__(self, event: Event) -> None:
        self.event = event

    def after_round(self, run: Run) -> None:
        """Stop if nobody needs the run any more."""
        if self.event.is_set():
            run.stop_reason = "cancelled"


class Trial:
    """A candidate on one split: boosts, and records the risk of the rows held out."""

    def __init__(self, candidate: Candidate, split: Split, terms: Terms, cancelled: Event) -> None:
        self.split, self.terms, self.cancelled = split, terms, cancelled
        self.most = np.inf if candidate.most is None else candidate.most
        self.run, self.optimizer, callbacks = candidate.start(split)
        self.callbacks = [*callbacks, Cancelled(cancelled)]
        self.losses: dict[int, Array] = {}  # number of rounds → (T, B) sums over the rows held out
        self.counts: dict[int, Array] = {}  # number of rounds → (2, K, bins) weights of these rows, by score

    def advance(self, marks: Sequence[int]) -> None:
        """Boost until every one of these numbers of rounds; a run that stops earlier keeps its last losses."""
        for mark in marks:
            if self.cancelled.is_set():
                return
            boost(self.run, self.optimizer, int(min(mark, self.most)), self.callbacks)
            stuck = self.run.round < mark and self.losses
            self.losses[mark] = (
                self.losses[max(self.losses)]
                if stuck
                else held_out_losses(self.run, self.split.held, self.terms.temperatures)
            )
            if self.terms.thresholds:
                self.counts[mark] = held_out_counts(self.run, self.split.held)


class Entrant:
    """A candidate on all splits."""

    def __init__(self, candidate: Candidate, splits: Sequence[Split], terms: Terms, cancelled: Event) -> None:
        self.candidate, self.terms = candidate, terms
        self.trials = [Trial(candidate, split, terms, cancelled) for split in splits]
        self.weight = sum(held_weight(t.run, t.split) for t in self.trials)
        self.bests: list[float] = []  # the lowest risk at the end of every stage

    def curve(self) -> tuple[Array, Array, Array, Array]:
        """Rounds so far (C,), the risk (C, T), the best temperature of every block (C, B), and its risk (C,).

        Where no temperature lowers the risk clearly below that of a temperature of 1, all of them are 1.
        """
        marks = sorted(self.trials[0].losses)
        risk = np.array([sum(t.losses[mark] for t in self.trials) for mark in marks]) / self.weight  # (C, T, B)
        best = np.array([[best_temperature(self.terms.temperatures, of) for of in row.T] for row in risk])  # (C, B, 2)
        risk, t, calibrated = risk.sum(axis=2), best[:, :, 0], best[:, :, 1].sum(axis=1)
        plain = risk[:, plain_place(self.terms.temperatures)]
        at = self.best(plain), self.best(calibrated)
        if calibrated[at[1]] >= plain[at[0]] - CLEARLY * abs(plain[at[0]]):
            t, calibrated = np.ones_like(t), plain
        return np.array(marks), risk, t, calibrated

    def thresholds(self) -> Array | None:
        """The probabilities (K,) above which labels are predicted, at the best number of rounds; None if not asked."""
        if not self.terms.thresholds:
            return None
        rounds, _, _, risk = self.curve()
        mark = int(rounds[self.best(risk)])
        temperature = self.summary()["temperature"] if self.terms.given is None else self.terms.given
        counts = sum((t.counts[mark] for t in self.trials[1:]), self.trials[0].counts[mark])
        starts = [start for trial in self.trials if (start := trial.run.model.constant) is not None]
        prior = np.mean(starts, axis=0) if starts else 0.0
        return best_thresholds(counts, temperature, prior)

    def best(self, risk: Array) -> int:
        """Where a curve of risks (C,) is lowest; the last place if the number of rounds is given."""
        return int(risk.argmin()) if self.terms.exact is None else len(risk) - 1

    def close_stage(self) -> None:
        """Note the lowest risk so far."""
        risk = self.curve()[3]
        self.bests.append(float(risk[self.best(risk)]))

    @property
    def still_gains(self) -> bool:
        """Whether more rounds may be worth their time."""
        if self.terms.exact is not None or self.candidate.most is not None:
            return self.candidate.most is None
        rounds, _, _, risk = self.curve()
        if rounds[self.best(risk)] <= (1 - PAST) * rounds[-1]:
            return False
        first_half = risk[rounds <= rounds[-1] / 2].min(initial=np.inf)
        return bool(rounds[-1] < self.terms.usual or risk.min() <= (1 - WORTHWHILE) * first_half)

    def summary(self) -> dict[str, Any]:
        """A line of the table of candidates, in rounds of the learning rate of the fit."""
        rounds, _, temperature, risk = self.curve()
        i = self.best(risk)
        chosen, tried = (max(1, round(r * self.terms.haste)) for r in (rounds[i], rounds[-1]))
        if self.candidate.most is not None:
            chosen = tried = self.candidate.most
        return {
            "params": self.candidate.params,
            "risk": float(risk[i]),
            "n_estimators": self.terms.exact or chosen,
            "temperature": of_blocks([cautious(float(t)) for t in temperature[i]]),
            "n_tried": self.terms.exact or tried,
        }

    def held_out(self, temperature: float) -> SetScores:
        """The scores of the true classes of all rows held out, at the best number of rounds."""
        rounds, _, _, risk = self.curve()
        temperature = temperature if self.terms.given is None else self.terms.given
        runs = [(trial.run, trial.split) for trial in self.trials]
        return held_out_scores(runs, int(rounds[self.best(risk)]), temperature)


def of_blocks(temperatures: list[float]) -> Any:
    """The temperature of one block as a number, those of several as an array."""
    return temperatures[0] if len(temperatures) == 1 else np.array(temperatures)


def race(candidates: Sequence[Candidate], splits: Sequence[Split], terms: Terms) -> Choice:
    """The candidate of the lowest held-out risk, with the number of rounds and the temperature where it is lowest."""
    cancelled = Event()
    entrants = [Entrant(candidate, splits, terms, cancelled) for candidate in candidates]
    running, done = list(entrants), 0
    terms.say(opening(entrants, terms))
    for number, stage in enumerate(terms.stages):
        trials = [trial for entrant in running for trial in entrant.trials]
        side_by_side(partial(Trial.advance, marks=checkpoints(done, stage)), trials, terms.workers, cancelled)
        done = stage
        for entrant in running:
            entrant.close_stage()
        leader = entrants[first_choice([e.bests[-1] for e in entrants], limit_of(entrants))]
        terms.say(progress(stage, terms, running, leader))
        running = [e for e in running if e.candidate.most is None]
        running = [e for e in ranked(running)[: left_after(number)] if e.still_gains]
        if not running:
            break
    return decide(entrants, splits, terms)


def held_weight(run: Run, split: Split) -> float:
    """The weight of the rows held out."""
    return run.data.engine.total(run.data.weight[run.data.engine.here(split.held)])


def first_choice(risks: Sequence[float], limit: float = np.inf) -> int:
    """The number of the first candidate whose risk is about as low as the lowest one, and not above a limit.

    A risk of zero may come out as a negative number, by rounding.
    """
    lowest = min(risks)
    enough = min(lowest + CLEARLY * abs(lowest), max(limit, lowest))
    return int(np.argmax(np.asarray(risks) <= enough))


def plain_place(temperatures: Array) -> int:
    """The place of the temperature of 1."""
    return int(np.abs(np.log(temperatures)).argmin())


def limit_of(entrants: Sequence[Entrant]) -> float:
    """The highest risk with which a candidate may win: that of the class shares, if they take part."""
    return min((entrant.bests[-1] for entrant in entrants if entrant.candidate.most is not None), default=np.inf)


def ranked(entrants: Sequence[Entrant]) -> list[Entrant]:
    """The entrants, the lowest risk first."""
    return sorted(entrants, key=lambda entrant: entrant.bests[-1])


def left_after(stage: int) -> int:
    """How many candidates go on after a stage (0 is the first)."""
    return LEFT[stage] if stage < len(LEFT) else 1


def checkpoints(begin: int, end: int) -> list[int]:
    """Where the held-out risk is taken, after `begin` and up to `end`: every twelfth of it."""
    gap = max(1, end // 12)
    return [*range(begin + gap, end, gap), end]


def opening(entrants: Sequence[Entrant], terms: Terms) -> str:
    """The first line for the user, with a forecast: one candidate goes all the way, the others a quarter of it."""
    seconds = [trial.run.seconds or 0.0 for entrant in entrants for trial in entrant.trials]
    share = (0.75 + 0.25 * len(entrants)) / len(entrants) / terms.workers
    rounds = min(max(terms.usual, 1.0), terms.stages[-1])
    return (
        f"choosing: {len(entrants)} candidate(s) on {len(entrants[0].trials)} split(s), about "
        f"{share * rounds * sum(seconds):.1f} s for {round(rounds * terms.haste)} rounds"
    )


def progress(stage: int, terms: Terms, running: Sequence[Entrant], leader: Entrant) -> str:
    """A line for the user."""
    return (
        f"choosing: {len(running)} candidate(s) after {round(stage * terms.haste)} rounds; the best has held-out risk "
        f"{leader.bests[-1]:.4f}: {describe(leader.candidate.params)}"
    )


def decide(entrants: Sequence[Entrant], splits: Sequence[Split], terms: Terms) -> Choice:
    """The best entrant as a `Choice`."""
    table = [entrant.summary() for entrant in entrants]
    winner = first_choice([line["risk"] for line in table], limit_of(entrants))
    rounds, risk, _, calibrated = entrants[winner].curve()
    curve = {
        "n_estimators": np.rint(rounds * terms.haste).astype(int),
        "risk": risk[:, plain_place(terms.temperatures)],
        "calibrated": calibrated,
    }
    held = sum(len(split.held) for split in splits)
    return Choice(**{k: table[winner][k] for k in ("params", "n_estimators", "temperature", "risk")},
                  candidates=table, curve=curve, n_splits=len(splits), n_held=held,
                  sets=entrants[winner].held_out(table[winner]["temperature"]) if terms.sets else None,
                  thresholds=entrants[winner].thresholds())  # fmt: skip
