"""Runs boosting rounds, which add steps times weak hypotheses to F, until a limit, a stop or no more progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..parts.optimizers.run import DivergenceError, Run, Update
from .callbacks import Callback, next_look

NO_EDGE = "no edge: the weak learner found no direction that decreases the risk"
PERFECT = "perfect learner: every example gains on every rival class along it, its best step is infinite"
Actions = Sequence[Callable[[Run], None]]
MAX_DRAWS = 20  # boosting stops after so many samples without an edge


def boost(run: Run, n_rounds: int, callbacks: Sequence[Callback] = ()) -> None:
    """Add rounds until there are ``n_rounds``, the weak learner finds no edge, or a callback sets ``run.stop_reason``.

    Boosting also ends before a round that would make F too large; the model keeps the earlier rounds. Where no callback
    must see every round, the engine may make several in one call; the model is the same bit for bit.
    """
    run.n_rounds = n_rounds
    before, after = (overrides(callbacks, name) for name in ("before_round", "after_round"))
    for callback in callbacks:
        callback.start(run)
    while run.round < n_rounds and run.stop_reason is None:
        if run.optimizer.makes_blocks and make_block(run, callbacks, before, after):
            continue
        for act in before:
            act(run)
        try:
            updates = propose(run)  # the weak learner and the step
            if not updates:
                run.stop_reason = run.refusal or NO_EDGE
                break
            run.apply(updates)  # F += α h
        except DivergenceError as error:
            if run.round == 0:
                raise  # there is no round to keep
            run.stop_reason, run.diverged = str(error), True
            break
        if any(update.perfect for update in updates):
            run.stop_reason = PERFECT
        for act in after:
            act(run)
    for callback in callbacks:
        callback.finish(run)
    if not run.data.engine.device.is_host:
        run.model.materialise()


def make_block(run: Run, callbacks: Sequence[Callback], before: Actions, after: Actions) -> bool:
    """Let the engine make several rounds in one call, before the next callback is due; return whether it made any."""

    def begin_round() -> None:
        for act in before:
            act(run)

    most = min([run.n_rounds, *(next_look(callback, run) for callback in callbacks)]) - run.round
    if run.optimizer.make_rounds(run, most, begin_round) == 0:
        return False
    for act in after:
        act(run)
    return True


def propose(run: Run) -> list[Update]:
    """Return the updates of one round; if a random sample of rows shows no edge, try at most ``MAX_DRAWS`` samples."""
    run.refusal = run.risk_before = None
    updates, draws = run.optimizer.propose(run), 1
    while not updates and run.redraw is not None and draws < MAX_DRAWS:
        run.redraw(run)
        updates, draws = run.optimizer.propose(run), draws + 1
    return updates


def overrides(callbacks: Sequence[Callback], name: str) -> list[Callable[[Run], None]]:
    """Return the bound methods with this name of all callbacks that override it."""
    methods = [getattr(callback, name) for callback in callbacks]
    return [method for method in methods if getattr(method, "__func__", None) is not getattr(Callback, name)]
