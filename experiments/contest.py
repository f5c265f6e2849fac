"""All boosters of the package, the flagship and four peers on many sets under one protocol."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

import simplexboost as sb
from simplexboost.parts.learners import ClassTree, RegressionTree, SignTree, SubsetTree, VectorTree

from . import data, fits
from .boosters import class_tree, limits
from .cells import Cell, Results, task
from .comparison import Samples, entry
from .ranks import rank_blocks, scores_of
from .registry import Block, Plan, Table, Text, experiment
from .statistics import signs

LEAVES = 16
TREES = 50  # for every class
STAGES = 24  # at which errors are taken, spread geometrically over the rounds

Staged = Callable[[Any, Any, Sequence[int]], Iterator[Any]]  # model, X, rounds → labels after each of them


@dataclass(frozen=True)
class Contestant:
    """A booster.

    Attributes
    ----------
    make : rounds and seed → the estimator
    per_class : it grows a tree for every class in a round, else one
    staged : labels after some rounds; None where `fits.errors_at` can tell
    peer : it is another library's
    """

    make: Callable[[int, int], Any]
    per_class: bool = False
    staged: Staged | None = None
    peer: bool = False

    def rounds(self, K: int, trees: int) -> int:
        """Rounds that make so many trees for every class."""
        return trees if self.per_class else trees * K


def ours(make: Callable[[], Any], per_class: bool = False) -> Contestant:
    """A booster of the package."""
    return Contestant(lambda T, seed: make().set_params(n_estimators=T, random_state=seed), per_class)


def of_leaves(tree: Any) -> Any:
    """A tree learner of so many leaves, grown best first."""
    return tree(**limits(leaves=LEAVES))


def gini() -> Any:
    """A tree for one class, grown by the Gini index."""
    return class_tree("gini", None, LEAVES)


def by_ranges(model: Any, X: Any, stops: Sequence[int]) -> Iterator[Any]:
    """XGBoost's labels."""
    return (np.asarray(model.predict(X, iteration_range=(0, t))) for t in stops)


def by_numbers(model: Any, X: Any, stops: Sequence[int]) -> Iterator[Any]:
    """LightGBM's labels."""
    return (np.asarray(model.predict(X, num_iteration=t)) for t in stops)


def by_ends(model: Any, X: Any, stops: Sequence[int]) -> Iterator[Any]:
    """CatBoost's labels."""
    return (np.ravel(model.predict(X, ntree_end=t)) for t in stops)


def by_stages(model: Any, X: Any, stops: Sequence[int]) -> Iterator[Any]:
    """scikit-learn's labels."""
    wanted = set(stops)
    return (labels for t, labels in enumerate(model.staged_predict(X), 1) if t in wanted)


def xgboost(T: int, seed: int) -> Any:
    """XGBoost's defaults with trees grown best first."""
    from xgboost import XGBClassifier

    size = {"max_leaves": LEAVES, "max_depth": 0, "grow_policy": "lossguide", "tree_method": "hist"}
    return XGBClassifier(n_estimators=T, random_state=seed, n_jobs=1, **size)


def lightgbm(T: int, seed: int) -> Any:
    """LightGBM's defaults."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=T, num_leaves=LEAVES, random_state=seed, n_jobs=1, verbose=-1)


def catboost(T: int, seed: int) -> Any:
    """CatBoost's defaults, whose trees are symmetric."""
    from catboost import CatBoostClassifier

    quiet = {"verbose": False, "allow_writing_files": False}
    return CatBoostClassifier(iterations=T, depth=4, random_seed=seed, thread_count=1, **quiet)


def histgb(T: int, seed: int) -> Any:
    """scikit-learn's defaults."""
    return HistGradientBoostingClassifier(max_iter=T, max_leaf_nodes=LEAVES, early_stopping=False, random_state=seed)


CONTESTANTS: dict[str, Contestant] = {
    "SimplexBoost": ours(lambda: sb.SimplexBoostClassifier(max_leaf_nodes=LEAVES)),
    "GD, vector leaves": ours(lambda: sb.GDMCBoostClassifier(learner=of_leaves(VectorTree))),
    "GD, codeword leaves": ours(lambda: sb.GDMCBoostClassifier(learner=of_leaves(ClassTree))),
    "CD, in turn": ours(lambda: sb.CDMCBoostClassifier(learner=of_leaves(SignTree), schedule="cyclic")),
    "MM, edge step": ours(lambda: sb.AdaBoostMMClassifier(of_leaves(ClassTree), step="edge")),
    "MM, exact step": ours(lambda: sb.AdaBoostMMClassifier(of_leaves(ClassTree), step="exact")),
    "SAMME": ours(lambda: sb.SAMMEClassifier(of_leaves(ClassTree))),
    "M1": ours(lambda: sb.AdaBoostM1Classifier(of_leaves(ClassTree))),
    "M2": ours(lambda: sb.AdaBoostM2Classifier(of_leaves(SubsetTree))),
    "MH": ours(lambda: sb.AdaBoostMHClassifier(of_leaves(SignTree))),
    "ECC": ours(lambda: sb.AdaBoostECCClassifier(of_leaves(VectorTree))),
    "one-vs-all": ours(lambda: sb.OneVsAllBoostClassifier(gini()), per_class=True),
    "LogitBoost": ours(lambda: sb.LogitBoostClassifier(of_leaves(RegressionTree)), per_class=True),
    "sm-boost": ours(lambda: sb.SoftmaxBoostClassifier(gini(), n_pairs="n"), per_class=True),
    "XGBoost": Contestant(xgboost, True, by_ranges, True),
    "LightGBM": Contestant(lightgbm, True, by_numbers, True),
    "CatBoost": Contestant(catboost, False, by_ends, True),
    "scikit-learn HGB": Contestant(histgb, True, by_stages, True),
}
LEFT_OUT = (
    "Left out: MartiBoost, which is for two classes; the optimal strategies OS, which need a known edge; mnist, "
    "connect4, aloi27, ujiindoorloc and omniglot242, where one run of everything takes hours (the peers are raced "
    "there in `benchmarks`)."
)
CAVEAT = (
    "This is a comparison of algorithms with equal trees, not of libraries as they are used. XGBoost, LightGBM, "
    "CatBoost and scikit-learn make small steps by default (0.3, 0.1, about 0.1, 0.1), for which 50 rounds are few; "
    "M1 and SAMME stop early where their trees are too weak; CatBoost's trees are symmetric. Libraries with their own "
    "defaults are raced in `benchmarks`."
)
SETS = (
    "abalone", "breast_tissue", "car", "covtype15k", "dna", "ecoli", "isolet", "krvskp", "letter", "magic04", "nursery",
    "optdigits", "pendigits", "plants_margin", "plants_shape", "poker", "satimage", "segment", "shuttle", "soybean",
    "splice", "vehicle", "vertebral", "vowel",
)  # fmt: skip

FEW_SPLITS = {"isolet": 1, "letter": 2, "plants_margin": 1, "plants_shape": 1}  # where a split of all takes long


@task
def contest(contestant: str, problem: dict[str, Any], trees: int, seed: int) -> dict[str, Any]:
    """Test errors of a booster over its rounds, and the processor time of its fit."""
    given = data.problem(**problem)
    entrant = CONTESTANTS[contestant]
    T = entrant.rounds(given.K, trees)
    model = entrant.make(T, seed)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # a booster that cannot go on says so
        begin = time.process_time()
        model.fit(given.X_train, given.y_train)
        seconds = time.process_time() - begin
        made = T if entrant.peer else int(model.n_iter_)
        stops = sorted({max(1, round(made ** (i / STAGES))) for i in range(STAGES + 1)}) if made else []
        if entrant.staged is None:
            errors = fits.errors_at(model, given.X_test, given.y_test, stops) if made else []
        else:
            errors = [float((labels != given.y_test).mean()) for labels in entrant.staged(model, given.X_test, stops)]
    per_round = given.K if entrant.per_class else 1
    return {"rounds": stops, "test": [round(e, 6) for e in errors], "n_iter": made, "per_round": per_round,
            "cpu_seconds": round(seconds, 3), "K": given.K}  # fmt: skip


def contest_cell(plan: Plan, contestant: str, name: str, seed: int) -> Cell:
    """One run."""
    n_train, n_test, p, K = data.SHAPES[name]
    problem = {"name": name, "sizes": [n_train, n_test], "shuffle": True, "seed": seed, "one_hot": True}
    problem |= {"rows": plan.rows} if plan.rows else {}
    trees = plan.pick(TREES, 4)
    n = min(n_train, plan.rows or n_train)
    cost = trees * K * (n * p * 2e-8 + (n * K * 4e-8 if not CONTESTANTS[contestant].per_class else 0) + 1e-3) + 0.1
    return Cell("contest", {"contestant": contestant, "problem": problem, "trees": trees, "seed": seed}, cost)


def contest_cells(plan: Plan, contestant: str, name: str) -> list[Cell]:
    """The runs of one booster on one set: random splits of the stored sizes."""
    return [contest_cell(plan, contestant, name, seed) for seed in splits(plan, name)]


def splits(plan: Plan, name: str) -> range:
    """The random splits of a set."""
    return plan.repeats[: FEW_SPLITS.get(name)]


@experiment("beyond-contest", "All boosters, the flagship and four peers under one protocol", urgency=3)
def everyone(plan: Plan) -> list[Cell]:
    """Every booster has 50 trees of at most 16 leaves for every class, whatever a round of it is (one tree for all
    classes, or one for each), full steps where its paper has them, and the peers' default steps; CatBoost's trees
    are symmetric, of depth 4. Five random splits of the stored sizes (two of letter, one of isolet and of the
    plants, where all boosters together take up to an hour for a split), categories as 0/1 columns, one core. The
    same runs are looked at twice: with the same number of trees, and with the same processor time, which is that of
    the fastest booster that made all its trees on the split (time grows with the rounds; errors are known at 25 of
    them). At a first look the time was that of the fastest of all, which a booster that gives up after a round made
    far too short. Where AdaBoost.M1 and SAMME had votes beyond 10, which an earlier version cut, they were run again on
    another machine; their time is the earlier time of a round.
    """
    return [c for name in SETS for contestant in CONTESTANTS for c in contest_cells(plan, contestant, name)]


def final(result: dict[str, Any]) -> float:
    """The test error in percent after the last round; 100 where a booster could not begin."""
    return 100 * result["test"][-1] if result["test"] else 100.0


def went_on(result: dict[str, Any], trees: int) -> bool:
    """Whether a booster made all its trees."""
    return bool(result["n_iter"] * result["per_round"] >= trees * result["K"])


def within(result: dict[str, Any], seconds: float) -> float:
    """The test error in percent after so much processor time; 100 where the first round takes longer."""
    rounds = result["n_iter"] * min(1.0, seconds / max(result["cpu_seconds"], 1e-9))
    known = [e for t, e in zip(result["rounds"], result["test"], strict=True) if t <= rounds + 1e-9]
    return 100 * known[-1] if known else 100.0


def errors_of_all(plan: Plan, found: Results, same_time: bool) -> dict[str, dict[str, Samples]]:
    """Set → booster → test errors over the splits that all boosters have run."""
    table = {}
    for name in SETS:
        runs = {c: [found.get(cell) for cell in contest_cells(plan, c, name)] for c in CONTESTANTS}
        wanted = len(splits(plan, name))
        whole = [i for i in range(wanted) if all(own[i] is not None for own in runs.values())]
        trees = plan.pick(TREES, 4)
        budgets = {i: min(r[i]["cpu_seconds"] for r in runs.values() if went_on(r[i], trees)) for i in whole}
        table[name] = {
            c: Samples(tuple(within(own[i], budgets[i]) if same_time else final(own[i]) for i in whole), wanted)
            for c, own in runs.items()
        }
    return table


def contest_table(errors: dict[str, dict[str, Samples]]) -> Table:
    """A row per set, the lowest error in bold."""
    rows = []
    for name, own in errors.items():
        best = min((s.mean for s in own.values() if s.values), default=None)
        rows.append([name, *("—" if s.mean == 100.0 else entry(s, None, s.mean == best) for s in own.values())])
    return Table(["set", *CONTESTANTS], rows)


def complete_scores(errors: dict[str, dict[str, Samples]]) -> tuple[list[str], Any]:
    """Sets with a split that all have run, and mean errors with their sign changed (sets, boosters)."""
    return scores_of({name: list(own.values()) for name, own in errors.items()}, error=True)


@everyone.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    yield Text(LEFT_OUT)
    yield Text(CAVEAT)
    for same_time, title in ((False, "with the same number of trees"), (True, "in the same processor time")):
        errors = errors_of_all(plan, found, same_time)
        known, _ = complete_scores(errors)
        yield Text(f"Test errors in percent {title}, mean ± half of its 95 % interval over splits that all have run:")
        yield contest_table({name: errors[name] for name in known} or errors)
        picture = f"beyond-contest-{'time' if same_time else 'trees'}"
        ranked = {name: list(own.values()) for name, own in errors.items()}
        yield from rank_blocks(picture, ranked, list(CONTESTANTS), error=True)
    yield from leaves_blocks(plan, found)


def leaves_gaps(plan: Plan, found: Results) -> dict[str, float]:
    """Set → the error of GD-MCBoost with codewords in its leaves less that with vectors, mean over common splits."""
    gaps = {}
    for name in SETS:
        pairs = [
            (final(a), final(b))
            for s in splits(plan, name)
            if (a := found.get(contest_cell(plan, "GD, vector leaves", name, s))) is not None
            and (b := found.get(contest_cell(plan, "GD, codeword leaves", name, s))) is not None
        ]
        if pairs:
            gaps[name] = round(float(np.mean([b - a for a, b in pairs])), 6)
    return gaps


def leaves_blocks(plan: Plan, found: Results) -> Iterator[Block]:
    """Vector or codeword leaves: GD-MCBoost with both, on the same splits."""
    gaps = leaves_gaps(plan, found)
    if not gaps:
        return
    worse = [name for name, gap in gaps.items() if gap < 0]
    yield Text(
        "**Vector or codeword leaves?** GD-MCBoost with vectors in its leaves has a lower error than with codewords "
        f"{signs(list(gaps.values()))}; the higher ones are on {', '.join(worse) or 'no set'}."
    )
    yield Text(
        "*What theory says.* A codeword in a leaf is the nearest of K directions to the one that lowers the risk "
        "most, a vector is that direction itself; so a tree with vectors lowers the risk more, and the round is "
        "AdaBoost.MM's with the exact step if codewords are in the leaves (`jmlr-identity`). Trees of 16 leaves leave "
        "less to gain than the trees of depth 2 of the papers' tables, and a lower risk is not a lower test error."
    )
