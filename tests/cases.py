"""What the tests run over: every part and every booster once, and small problems for them.

A new part that stands in its table (``LOSSES``, ``CODEWORDS``, ...) is tested without further ado.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from cuda_emulator import EmulatedDevice
from scipy.sparse import csr_array
from sklearn.base import ClassifierMixin
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from twin import reference_engine

import simplexboost as sb
from simplexboost.boosting.loop import boost
from simplexboost.classifiers.booster import Booster
from simplexboost.engine import CPU, NODE, Engine, Grown, Tree, cpu_engine, cuda_engine, has_gpu, single_leaf
from simplexboost.model.additive import AdditiveModel
from simplexboost.model.code import Gradient
from simplexboost.parts.codewords import CODEWORDS as CODEWORD_TABLE
from simplexboost.parts.codewords import Codewords, MaxMin, RandomDense, RandomSparse
from simplexboost.parts.learners import LEARNERS as LEARNER_TABLE
from simplexboost.parts.learners import Answer, Learner, Request, SklearnLearner, TreeLearner
from simplexboost.parts.losses import LOSSES as LOSS_TABLE
from simplexboost.parts.losses import GammaPhi, Loss, OwnScoreExponential, SoftmaxCost, UserGammaPhi
from simplexboost.parts.optimizers import OPTIMIZERS as OPTIMIZER_TABLE
from simplexboost.parts.optimizers import AllCoordinates, CoordinateDescent, GradientDescent, Optimizer
from simplexboost.parts.optimizers.run import Run
from simplexboost.parts.steps import STEPS as STEP_TABLE
from simplexboost.parts.steps import ClosedForm, LineSearch, Step
from simplexboost.tables.training_set import TrainingSet

ENGINES: dict[str, Engine] = {"cpu": cpu_engine(), "reference": reference_engine()}
# Those of GPUs: one whose kernels run on the processor, and a real one, where there is a GPU.
GPU_ENGINES: dict[str, Any] = {
    "emulated": pytest.param(cuda_engine(1, EmulatedDevice()), marks=pytest.mark.gxx),
    "cuda": pytest.param(cuda_engine() if has_gpu() else None, marks=pytest.mark.cuda),
}


def sparse_rows(shape: tuple[int, int], density: float, rng: np.random.Generator) -> csr_array:
    """A sparse table of numbers between zero and one; SciPy's own function for it is younger than the oldest SciPy."""
    return csr_array(np.where(rng.random(shape) < density, rng.random(shape), 0.0))


# ---- parts ----------------------------------------------------------------------------------------------------------


def smooth_hinge(**more: Any) -> UserGammaPhi:
    """γ(v) = v, φ(v) = log(1 + e^{−v}): convex, outside the named losses, without second derivatives."""
    return UserGammaPhi(
        gamma=lambda v: v,
        phi=lambda v: np.logaddexp(0.0, -v),
        gamma_prime=np.ones_like,
        phi_prime=lambda v: -1 / (1 + np.exp(v)),
        convex=True,
        **more,
    )


LOSSES: dict[str, Loss] = {
    **{name: kind() for name, kind in LOSS_TABLE.items()},
    "own-score 1/3": OwnScoreExponential(alpha=1 / 3),
    "user's pair": smooth_hinge(),
}
CONVEX = {name: loss for name, loss in LOSSES.items() if loss.convex}
GAMMA_PHI = {name: loss for name, loss in LOSSES.items() if isinstance(loss, GammaPhi)}

COST = np.array([[0.0, 2.0, 0.5, 1.0], [1.0, 0.0, 3.0, 0.0], [0.25, 4.0, 0.0, 1.0], [1.0, 1.0, 2.0, 0.0]])
COSTLY: dict[str, Loss] = {
    **{f"{name} with cost": type(loss)(cost_matrix=COST) for name, loss in GAMMA_PHI.items() if name in LOSS_TABLE},
    "softmax-cost with cost": SoftmaxCost(cost_matrix=COST),
    "user's pair with cost": smooth_hinge(cost_matrix=COST),
}

CODEWORDS: dict[str, Codewords] = {
    **{name: kind() for name, kind in CODEWORD_TABLE.items()},
    "random-dense": RandomDense(code_dim=6),
    "random-sparse": RandomSparse(code_dim=6),
    "max-min": MaxMin(code_dim=2),
}

LEARNERS: dict[str, Learner] = {
    **{name: kind() for name, kind in LEARNER_TABLE.items()},
    "sklearn classifier": SklearnLearner(DecisionTreeClassifier(max_depth=2)),
    "sklearn regressor": SklearnLearner(DecisionTreeRegressor(max_depth=2)),
    "sklearn ridge": SklearnLearner(Ridge()),
}
TREES = {name: learner for name, learner in LEARNERS.items() if isinstance(learner, TreeLearner)}

# Optimizers that want a coordinate per class and a loss of their own; the boosters they belong to test them.
CLASSWISE = ("newton-coordinates", "new-column", "signed", "sampled-pairs", "sketched-newton")
OPTIMIZERS: dict[str, Optimizer] = {
    **{name: kind() for name, kind in OPTIMIZER_TABLE.items() if name not in CLASSWISE},
    "coordinate cyclic": CoordinateDescent(schedule="cyclic"),
    "all-coordinates separate": AllCoordinates(shared_step=False),
}

STEPS: dict[str, Step] = {
    **{name: kind() for name, kind in STEP_TABLE.items()},
    "closed-form edge": ClosedForm(rule="edge"),
}

CLASSIFIERS = {
    name: kind
    for name in sb.__all__
    if isinstance(kind := getattr(sb, name), type) and issubclass(kind, ClassifierMixin)
}
# Learners weak enough that small problems take several rounds, and seeds for boosters that draw by default.
SETTINGS: dict[str, dict[str, Any]] = {
    "AdaBoostECCClassifier": {"random_state": 0},
    "AdaBoostM1Classifier": {"learner": "info-tree"},
    "SoftmaxBoostClassifier": {"random_state": 0},
}
BOOSTERS = {
    name: partial(kind, **SETTINGS[name]) if name in SETTINGS else kind
    for name, kind in CLASSIFIERS.items()
    if issubclass(kind, Booster) and name != "SimplexBoostClassifier"
}


def each(argument: str, table: dict[str, Any]) -> pytest.MarkDecorator:
    """Run a test once for every entry of a table."""
    return pytest.mark.parametrize(argument, list(table.values()), ids=list(table))


def each_engine(test: Any) -> Any:
    """Run a test once for every engine, those of GPUs included."""
    return each("engine", ENGINES | GPU_ENGINES)(test)


def in_leaves(leaf_of_row: np.ndarray, n_leaves: int) -> Grown:
    """What `RowLoss.leaves` asks of a tree: the leaf of every row."""
    return Grown(single_leaf(len(leaf_of_row)), leaf_of_row, np.empty((n_leaves, 0)))


def code(name: str, K: int) -> np.ndarray:
    """The matrix (K, d) of a named code."""
    return CODEWORDS[name].matrix(K, np.random.default_rng(0))


# ---- problems -------------------------------------------------------------------------------------------------------


def blobs(n: int = 60, p: int = 3, K: int = 3, seed: int = 0, missing: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping Gaussians, X (n, p) and labels c (n,); every class occurs, no two values of a feature are equal."""
    rng = np.random.default_rng(seed)
    c = rng.permutation(np.arange(n) % K)
    X = rng.normal(size=(K, p))[c] + rng.normal(size=(n, p))
    X[rng.random((n, p)) < missing] = np.nan
    return X, c


def training_set(X: np.ndarray, c: Any, weight: np.ndarray | None = None, **more: Any) -> TrainingSet:
    """Arrays as a training set; weights of mean one."""
    c = np.asarray(c)
    weight = np.ones(len(c)) if weight is None else weight / weight.mean()
    return TrainingSet(np.ascontiguousarray(X), c, weight, int(c.max()) + 1, **more)


def problem(n: int = 60, p: int = 3, K: int = 3, seed: int = 0, missing: float = 0.0, **more: Any) -> TrainingSet:
    """Blobs with random weights: no ties between classes, splits or hypotheses."""
    weight = np.random.default_rng(seed + 1).uniform(0.5, 1.5, n)
    return training_set(*blobs(n, p, K, seed, missing), weight, **more)


def request(data: TrainingSet, d: int = 2, seed: int = 0, **more: Any) -> Request:
    """A random gradient G (n, d) as a request; codewords are the simplex where d = K − 1, ±1 where d = 1."""
    rng = np.random.default_rng(seed)
    G = rng.normal(size=(data.n, d)) + 0.5 * rng.normal(size=(data.K, d))[data.c]
    if d == 1:
        labels, weight, Y = (G[:, 0] < 0).astype(np.intp), np.abs(G[:, 0]), np.array([[1.0], [-1.0]])
    else:
        labels, weight = data.c, rng.uniform(0.1, 1.0, data.n)
        Y = code("simplex", d + 1) if d == data.K - 1 else rng.normal(size=(data.K, d))
    return Request(**{"data": data, "gradient": Gradient(labels, weight, G=G), "Y": Y, **more})


def with_gradient(req: Request, **changed: Any) -> Request:
    """The request with another G, labels or weight."""
    now = {"G": req.G, "labels": req.labels, "weight": req.weight, **changed}
    return replace(req, gradient=Gradient(**now))


def make_run(
    data: TrainingSet,
    loss: Loss,
    Y: np.ndarray,
    learner: Learner,
    step: Step | None = None,
    seed: int = 0,
    optimizer: Optimizer | None = None,
    **more: Any,
) -> Run:
    """A run ready to boost, by gradient descent and line search unless told otherwise."""
    optimizer, step = GradientDescent() if optimizer is None else optimizer, LineSearch() if step is None else step
    return Run(data, loss, Y, learner, optimizer, step, rng=np.random.default_rng(seed), **more)


def boost_with(run: Run, optimizer: Optimizer, n_rounds: int, callbacks: Any = ()) -> AdditiveModel:
    """Boost with another optimizer than the run was made for, which needs the same objective."""
    run.optimizer = optimizer
    boost(run, n_rounds, callbacks)
    return run.model


def stump(feature: int, threshold: float, gain: float = 1.0) -> Tree:
    """A tree of one split made by hand: leaf 0 has the values up to the threshold, leaf 1 the others."""
    nodes = np.zeros(3, dtype=NODE)
    nodes["feature"], nodes["category"] = [feature, -1, -1], -1
    nodes["threshold"][0], nodes["left"] = threshold, [1, 0, 1]
    return Tree(nodes, np.array([gain, 0.0, 0.0]), np.array([2, 1, 1], dtype=np.int64))


# ---- a learner that chooses from a list -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Listed:
    """Candidate ``number`` of a list; feature 0 of X is the row's number."""

    number: int
    table: np.ndarray  # (n, d)

    def outputs(self, X: np.ndarray, engine: Engine = CPU) -> np.ndarray:
        return self.table[X[:, 0].astype(int)]


@dataclass(eq=False, repr=False)
class ListLearner(Learner):
    """Exactly the candidate h that maximises Σ⟨G, h⟩; ties, up to rounding, to the first.

    ``candidates`` (m, n): integers are classes, answered with codewords; other numbers are scalar outputs.
    """

    candidates: Any

    def fit(self, request: Request) -> Answer:
        H, at = np.asarray(self.candidates), request.data.X[:, 0].astype(int)
        table = request.Y[H] if H.dtype.kind == "i" else H[:, :, None]  # (m, n, d), by the numbers of the rows
        outputs = table[:, at]
        values = np.einsum("nd,mnd->m", request.G, outputs)
        best = int(np.flatnonzero(values >= values.max() - 1e-10 * np.abs(values).max())[0])
        return Answer(Listed(best, table[best]), outputs[best], H[best, at] if H.dtype.kind == "i" else None)


def listed_data(c: Any, weight: np.ndarray | None = None) -> TrainingSet:
    """Data for a `ListLearner`: the only feature is the row's number."""
    return training_set(np.arange(len(c), dtype=float)[:, None], c, weight)
