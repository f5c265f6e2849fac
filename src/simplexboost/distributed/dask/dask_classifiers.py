"""Classifiers that are fitted on a Dask cluster and predict for Dask collections.

Their methods are made from those of the class for tables in memory, the local class: `LAZY` lists the methods that also
take Dask collections. Some functions of `simplexboost.decide` do so, too; everything else raises an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from inspect import Parameter, cleandoc, signature
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ... import decide
from ..._util.docstrings import complete_docstring
from ...classifiers import BoostingClassifier, SimplexBoostClassifier
from ...classifiers.eval_sets import check_metric_rows, read_eval_sets
from ...decide.costs import Costs
from ...decide.probabilities import check_prior, nodes_of
from ...decide.sets import check_abstaining
from .collections import find_client, is_distributed, predict_lazily, score_lazily
from .transport import fit_on_cluster

LAZY = ("predict", "predict_proba", "predict_log_proba", "decision_function", "class_scores")
LAZY_FUNCTIONS = {"predict", "predict_proba", "expected_costs", "predict_sets", "predict_or_abstain"}
LAZY_FUNCTIONS |= {"predict_level", "predict_proba_level"}

# Entries for parameters that differ from those of the local class.
OF_PREDICTIONS = """Predict.

Parameters
----------
X : Dask DataFrame, Dask Array, list of delayed partitions, or table in memory
    The rows, with the columns of the fit. For a Dask collection the answer is one of the same kind, not computed yet; a
    table in memory is answered at once.
init_score : Dask collection or array, or None, default=None
    Log-odds that the trees' scores are added to, of the same kind as X.
"""
OF_FIT = """Fit.

Parameters
----------
X : Dask DataFrame, Dask Array of shape (n, p), or list of delayed partitions
    The features. NaN and None mean missing.
y : Dask collection of shape (n,)
    The labels, in the same partitions as X.
sample_weight : Dask collection of shape (n,) or None, default=None
    The weights of the rows, in the same partitions as X. Only their ratios matter.
groups : Dask collection of shape (n,) or None, default=None
    The group of every row, in the same partitions as X. Rows of the same group are never on both sides of a split of
    the classifier's own choice.
X_val : Dask DataFrame, Dask Array, list of delayed partitions, tuple of these or None, default=None
    The features of rows to evaluate after every round; a tuple gives several sets of rows. Their risk and metrics are
    in ``evals_result_``. With ``early_stopping`` the first set decides when to stop.
init_score : Dask collection of shape (n, K), of shape (n,) for two classes, or None, default=None
    Log-odds from which boosting starts, in the same partitions as X.
client : dask.distributed.Client or None, default=None
    The client of the cluster. None takes the current one.
"""


class DaskMixin:
    """A mixin for classifiers that are fitted on a Dask cluster and predict for Dask collections lazily.

    Parameters
    ----------
    n_jobs : int or None, default=None
        The number of threads on each worker. None means as many as the worker has for tasks. The fitted model does not
        depend on the number.

    Attributes
    ----------
    traffic_ : `simplexboost.distributed.comm.Traffic`
        The counts of messages between the workers and the client; ``print`` shows them as a table.
    """

    local_class: ClassVar[Any]

    def __init_subclass__(cls, **more: Any) -> None:
        for name in ("fit", *LAZY):
            make = make_fit if name == "fit" else make_lazy
            setattr(cls, name, make(getattr(cls.local_class, name)))
        super().__init_subclass__(**more)

    def to_local(self) -> Any:
        """Return the fitted classifier of the local class, the same as after a fit to all rows on one machine."""
        check_is_fitted(self)
        return self._local()

    def _local(self) -> Any:
        """Return a classifier of the local class with the same parameters and, if fitted, fitted attributes."""
        names = self._get_param_names()  # type: ignore[attr-defined]
        local = self.local_class(**{name: getattr(self, name) for name in names})
        local.__dict__.update({name: value for name, value in vars(self).items() if name not in (*names, "traffic_")})
        return local

    def _become(self, local: Any) -> None:
        """Replace this classifier's fitted attributes by those of a local classifier."""
        names = self._get_param_names()  # type: ignore[attr-defined]
        for name in [name for name in vars(self) if name not in names]:
            delattr(self, name)
        self.__dict__.update({name: value for name, value in vars(local).items() if name not in names})

    def save(self, path: Any) -> None:
        """Write the local classifier to a file; a fit on one machine gives the same file, byte for byte.

        Parameters
        ----------
        path : str, Path or binary file
            Where to write.
        """
        self.to_local().save(path)

    def check_savable(self) -> None:
        """Raise a TypeError that says which parameters cannot be saved; call it before a long fit."""
        self._local().check_savable()

    def _answer_lazily(
        self, function: Callable[..., Any], X: Any, some: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        """Return the predictions by a function of `simplexboost.decide`, or NotImplemented if X is in memory."""
        if not is_distributed(X) or function.__name__ not in LAZY_FUNCTIONS:
            return NotImplemented
        given = signature(function).bind(self, X, *some, **keywords)
        given.apply_defaults()
        arguments = {name: value for name, value in given.arguments.items() if name not in ("clf", "X")}
        local = self.to_local()
        check_arguments(local, arguments)
        return predict_lazily(local, getattr(decide, function.__name__), X, arguments.pop("init_score"), arguments)

    def _to_host(self, array: Any) -> Any:
        if is_distributed(array):
            raise TypeError(
                f"this takes rows in memory, not a {type(array).__name__}, which X.compute() brings here; fit, score, "
                f"{', '.join(LAZY)} and the predictions of `simplexboost.decide` take Dask collections."
            )
        return super()._to_host(array)  # type: ignore[misc]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Return the accuracy of the predicted labels.

        Parameters
        ----------
        X : Dask DataFrame, Dask Array, list of delayed partitions, or table in memory
            The rows, with the columns of the fit.
        y : Dask collection or array of shape (n,)
            The true labels, of the same kind as X.
        sample_weight : Dask collection or array of shape (n,), or None, default=None
            The weights of the rows.

        Returns
        -------
        float, or Dask Array without dimensions
            The accuracy; ``float`` computes that of Dask collections.
        """
        local = self.to_local()
        return score_lazily(local, X, y, sample_weight) if is_distributed(X) else local.score(X, y, sample_weight)


# ---- methods made from those of the local class ---------------------------------------------------------------------


def make_fit(local_fit: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method ``fit`` of a Dask classifier: that of the local class, with one more parameter ``client``."""
    parameters = signature(local_fit).parameters.values()
    known = signature(local_fit).replace(
        parameters=[*parameters, Parameter("client", Parameter.KEYWORD_ONLY, default=None, annotation="Any")]
    )

    def fit(self: Any, *args: Any, **keywords: Any) -> Any:
        given = known.bind(self, *args, **keywords)
        given.apply_defaults()
        some = given.arguments
        names = ("X_val", "y_val", "sample_weight_val", "init_score_val")
        sets, eval_metric = read_eval_sets(*(some.pop(name) for name in names)), some.pop("eval_metric")
        client, local = find_client(some.pop("client")), self._local()
        local._check_parameters()
        for callback in local.callbacks or ():
            callback.check(local)
        check_metric_rows(eval_metric is not None, sets, local.early_stopping)
        train = {name: value for name, value in some.items() if name != "self"}
        traffic = fit_on_cluster(client, local, train, sets, eval_metric)
        self._become(local)
        self.traffic_ = traffic
        return self

    fit.__signature__ = known  # type: ignore[attr-defined]
    describe(fit, local_fit, "Boost on the workers of a cluster.", OF_FIT)
    return fit


def make_lazy(local_method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a prediction method that works like the local one on tables in memory, and lazily on Dask collections."""
    known = signature(local_method)

    @wraps(local_method)
    def method(self: Any, *args: Any, **keywords: Any) -> Any:
        local, given = self.to_local(), known.bind(self, *args, **keywords)
        given.apply_defaults()
        _, X = given.arguments.pop("self"), given.arguments.pop("X")
        if not is_distributed(X):
            return local_method(local, X, **given.arguments)
        return predict_lazily(local, local_method, X, given.arguments.pop("init_score"), given.arguments)

    describe(method, local_method, "", OF_PREDICTIONS)
    return method


def describe(method: Any, local: Any, summary: str, parameters: str) -> None:
    """Give a method the docstring of the local method, with another summary and other text for some parameters."""
    method.__name__, method.__qualname__, method.__module__ = local.__name__, local.__qualname__, __name__
    if local.__doc__ is None:  # python -OO
        return
    doc = cleandoc(local.__doc__).partition("\n\nExamples\n")[0]
    method.__doc__ = re.sub(r"Parameters\n-+\n(?:[^\n]+\n)+\n?", "", doc)
    if summary:
        method.__doc__ = summary + method.__doc__[method.__doc__.index("\n") :]
    method.__doc__ = complete_docstring(method, [parameters, doc], "")


def check_arguments(local: Any, arguments: dict[str, Any]) -> None:
    """Raise now the errors that a function of `simplexboost.decide` would only raise when Dask computes predictions."""
    if "coverage" in arguments:
        decide.set_thresholds(local, arguments["coverage"], arguments["per_class"])
    if "confidence" in arguments:
        check_abstaining(local, arguments["confidence"], arguments["missing"])
    if "level" in arguments:
        nodes_of(local, arguments["level"])
    if arguments.get("prior") is not None:
        check_prior(arguments["prior"], local.classes_, local._present)
    if arguments.get("costs") is not None:
        if np.ndim(arguments["costs"]) == 3:
            raise ValueError("costs of single rows, of shape (n, K, A), need rows in memory, not a Dask collection.")
        Costs.of(arguments["costs"], local.classes_)


# ---- the classifiers ------------------------------------------------------------------------------------------------


class DaskSimplexBoostClassifier(DaskMixin, SimplexBoostClassifier, stored=False):
    """A `SimplexBoostClassifier` that is fitted on a Dask cluster: same parameters and same model, bit for bit.

    Rows stay on the workers, where they are binned once; only sums over rows are sent. The model does not depend on the
    number of workers or partitions, nor on workers that die during the fit.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> with Client(n_workers=2, processes=False, dashboard_address=":0") as client:
    ...     X, y = da.from_array(X, chunks=(50, -1)), da.from_array(y, chunks=50)
    ...     clf = DaskSimplexBoostClassifier(n_estimators=10, random_state=0).fit(X, y, client=client)
    ...     float(clf.score(X, y)) > 0.95
    True
    >>> clf.to_local()
    SimplexBoostClassifier(n_estimators=10, random_state=0)
    """

    local_class = SimplexBoostClassifier


class DaskBoostingClassifier(DaskMixin, BoostingClassifier, stored=False):
    """A `BoostingClassifier` that is fitted on a Dask cluster; its weak learner must be a tree of the engine.

    The model is the same, bit for bit, as after a fit to all rows on one machine.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> with Client(n_workers=2, processes=False, dashboard_address=":0") as client:
    ...     X, y = da.from_array(X, chunks=(50, -1)), da.from_array(y, chunks=50)
    ...     clf = DaskBoostingClassifier(n_estimators=10, learner="class-tree").fit(X, y, client=client)
    ...     float(clf.score(X, y)) > 0.95
    True
    """

    local_class = BoostingClassifier
