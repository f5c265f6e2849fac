"""Classifiers that are fitted on a Dask cluster, and predict for Dask collections."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._util.docstrings import described
from ...classifiers import BoostingClassifier, SimplexBoostClassifier
from ...classifiers.eval_sets import as_eval_set
from ...decide.costs import Costs
from ...decide.priors import check_prior
from .collections import accuracy, is_distributed, lazily, the_client
from .transport import eval_entries, fit_on_cluster


class OnDask:
    """What the Dask classifiers add to a local class: a fit on the cluster, and predictions that stay there."""

    local_class: ClassVar[Any]

    # ---- the local classifier ---------------------------------------------------------------------------------------

    def to_local(self) -> Any:
        """The ordinary fitted classifier, which knows nothing of Dask: that of a fit to all rows on one machine."""
        check_is_fitted(self)
        return self._local()

    def _local(self) -> Any:
        """A local classifier with the same parameters, and fitted attributes if there are any."""
        names = self._get_param_names()  # type: ignore[attr-defined]
        local = self.local_class(**{name: getattr(self, name) for name in names})
        local.__dict__.update({name: value for name, value in vars(self).items() if name not in (*names, "traffic_")})
        return local

    def _become(self, local: Any) -> None:
        """Take the fitted attributes of a local classifier."""
        names = self._get_param_names()  # type: ignore[attr-defined]
        for name in [name for name in vars(self) if name not in names]:
            delattr(self, name)
        self.__dict__.update({name: value for name, value in vars(local).items() if name not in names})

    def save(self, path: Any) -> None:
        """Write the local classifier to a file: the file of a fit on one machine, byte for byte.

        Parameters
        ----------
        path : str, Path or binary file
            Where to write.
        """
        self.to_local().save(path)

    def check_savable(self) -> None:
        """Raise a TypeError that says which parameters cannot be saved; call it before a long fit."""
        self._local().check_savable()

    # ---- fitting ----------------------------------------------------------------------------------------------------

    def _fit_on(self, client: Any, train: dict[str, Any], eval_set: Any, eval_metric: Any) -> Self:
        client, local = the_client(client), self._local()
        local._check_parameters()
        for callback in local.callbacks or ():
            callback.check(local)
        evals = eval_entries(eval_set, eval_metric, local.early_stopping)
        traffic = fit_on_cluster(client, local, train, evals, eval_metric)
        self._become(local)
        self.traffic_ = traffic
        return self

    # ---- predicting -------------------------------------------------------------------------------------------------

    def predict(
        self, X: Any, n_rounds: int | None = None, *, init_score: Any = None, costs: Any = None, prior: Any = None
    ) -> Any:
        """The class with the highest score, ties to the first. With costs, the decision that costs least.

        Parameters
        ----------
        X : Dask DataFrame, Dask Array, list of delayed partitions, or table in memory
            The rows, with the columns of the fit. For a Dask collection the answer is one of the same kind, not
            computed yet; a table in memory is answered at once.
        n_rounds : int or None, default=None
            Predict with the first rounds only; None takes all.
        init_score : Dask collection or array, or None, default=None
            Log-odds that the trees' scores are added to, of the same kind as X.
        costs : array of shape (K, K), data frame, or None, default=None
            What every decision (column) costs when a class (row) is true; the answer is the cheapest decision. For rows
            in memory also a matrix for every row, of shape (n, K, K).
        prior : array of shape (K,), dict or Series of shares by label, or None, default=None
            The shares of the classes among the rows to come, if they are others than in training.

        Returns
        -------
        Dask collection or array of shape (n,)
            The labels.
        """
        return self._predict("predict", X, init_score, n_rounds=n_rounds, costs=costs, prior=prior)

    def predict_proba(self, X: Any, n_rounds: int | None = None, *, init_score: Any = None, prior: Any = None) -> Any:
        """Probabilities by the loss's link; classes without training examples get 0, and only these.

        Parameters
        ----------
        X : Dask DataFrame, Dask Array, list of delayed partitions, or table in memory
            The rows, with the columns of the fit. For a Dask collection the answer is one of the same kind, not
            computed yet; a table in memory is answered at once.
        n_rounds : int or None, default=None
            Predict with the first rounds only; None takes all.
        init_score : Dask collection or array, or None, default=None
            Log-odds that the trees' scores are added to, of the same kind as X.
        prior : array of shape (K,), dict or Series of shares by label, or None, default=None
            The shares of the classes among the rows to come, if they are others than in training.

        Returns
        -------
        Dask collection or array of shape (n, K)
            The probabilities, a column for every class in the order of ``classes_``.
        """
        return self._predict("predict_proba", X, init_score, n_rounds=n_rounds, prior=prior)

    def predict_log_proba(self, X: Any, n_rounds: int | None = None, *, init_score: Any = None) -> Any:
        """The logarithms of `predict_proba`.

        Parameters
        ----------
        X : Dask DataFrame, Dask Array, list of delayed partitions, or table in memory
            The rows, with the columns of the fit. For a Dask collection the answer is one of the same kind, not
            computed yet; a table in memory is answered at once.
        n_rounds : int or None, default=None
            Predict with the first rounds only; None takes all.
        init_score : Dask collection or array, or None, default=None
            Log-odds that the trees' scores are added to, of the same kind as X.

        Returns
        -------
        Dask collection or array of shape (n, K)
            The logarithms.
        """
        return self._predict("predict_log_proba", X, init_score, n_rounds=n_rounds)

    def decision_function(self, X: Any, n_rounds: int | None = None, *, init_score: Any = None) -> Any:
        """Class scores U (n, K); with two classes the difference U₁ − U₀ (n,).

        Parameters
        ----------
        X : Dask DataFrame, Dask Array, list of delayed partitions, or table in memory
            The rows, with the columns of the fit. For a Dask collection the answer is one of the same kind, not
            computed yet; a table in memory is answered at once.
        n_rounds : int or None, default=None
            Predict with the first rounds only; None takes all.
        init_score : Dask collection or array, or None, default=None
            Log-odds that the trees' scores are added to, of the same kind as X.

        Returns
        -------
        Dask collection or array of shape (n, K) or (n,)
            The scores.
        """
        return self._predict("decision_function", X, init_score, n_rounds=n_rounds)

    def class_scores(self, X: Any, n_rounds: int | None = None, *, init_score: Any = None) -> Any:
        """Class scores U = ½ F Yᵀ.

        Parameters
        ----------
        X : Dask DataFrame, Dask Array, list of delayed partitions, or table in memory
            The rows, with the columns of the fit. For a Dask collection the answer is one of the same kind, not
            computed yet; a table in memory is answered at once.
        n_rounds : int or None, default=None
            Predict with the first rounds only; None takes all.
        init_score : Dask collection or array, or None, default=None
            Log-odds that the trees' scores are added to, of the same kind as X.

        Returns
        -------
        Dask collection or array of shape (n, K)
            The scores, a column for every class in the order of ``classes_``.
        """
        return self._predict("class_scores", X, init_score, n_rounds=n_rounds)

    def predict_set(self, X: Any, coverage: float = 0.9, per_class: bool = False, *, init_score: Any = None) -> Any:
        """A set of classes for every row that holds the true one with a promised probability.

        Parameters
        ----------
        X : Dask DataFrame, Dask Array, list of delayed partitions, or table in memory
            The rows, with the columns of the fit. For a Dask collection the answer is one of the same kind, not
            computed yet; a table in memory is answered at once.
        coverage : float, default=0.9
            The part of the sets that hold the true class, between 0 and 1.
        per_class : bool, default=False
            Whether that is so for the rows of every class, and not only for all rows together.
        init_score : Dask collection or array, or None, default=None
            Log-odds that the trees' scores are added to, of the same kind as X.

        Returns
        -------
        Dask collection or bool array of shape (n, K)
            Which classes are in the set, a column for every class in the order of ``classes_``.
        """
        self.to_local()._set_scores().thresholds(coverage, per_class)  # raises
        return self._predict("predict_set", X, init_score, coverage=coverage, per_class=per_class)

    def predict_or_abstain(
        self, X: Any, confidence: float = 0.9, *, missing: Any = None, init_score: Any = None
    ) -> Any:
        """The most probable class where its probability reaches a confidence, and no answer elsewhere.

        Parameters
        ----------
        X : Dask DataFrame, Dask Array, list of delayed partitions, or table in memory
            The rows, with the columns of the fit. For a Dask collection the answer is one of the same kind, not
            computed yet; a table in memory is answered at once.
        confidence : float, default=0.9
            The smallest probability with which a row gets an answer, from 0 to 1.
        missing : scalar or None, default=None
            What stands for no answer; None takes NaN, NaT or None, as suits the labels.
        init_score : Dask collection or array, or None, default=None
            Log-odds that the trees' scores are added to, of the same kind as X.

        Returns
        -------
        Dask collection or array of shape (n,)
            The labels.
        """
        self.to_local()._check_abstaining(confidence, missing)
        return self._predict("predict_or_abstain", X, init_score, confidence=confidence, missing=missing)

    def expected_costs(
        self, X: Any, costs: Any, *, prior: Any = None, n_rounds: int | None = None, init_score: Any = None
    ) -> Any:
        """What every decision is expected to cost, for every row.

        Parameters
        ----------
        X : Dask DataFrame, Dask Array, list of delayed partitions, or table in memory
            The rows, with the columns of the fit. For a Dask collection the answer is one of the same kind, not
            computed yet; a table in memory is answered at once.
        costs : array of shape (K, A), or data frame
            What every decision (column) costs when a class (row) is true. For rows in memory also a matrix for every
            row, of shape (n, K, A).
        prior : array of shape (K,), dict or Series of shares by label, or None, default=None
            The shares of the classes among the rows to come, if they are others than in training.
        n_rounds : int or None, default=None
            Predict with the first rounds only; None takes all.
        init_score : Dask collection or array, or None, default=None
            Log-odds that the trees' scores are added to, of the same kind as X.

        Returns
        -------
        Dask collection or array of shape (n, A)
            The expected costs, a column for every decision.
        """
        return self._predict("expected_costs", X, init_score, costs=costs, prior=prior, n_rounds=n_rounds)

    def estimate_prior(self, X: Any, *, init_score: Any = None) -> Any:
        """The shares of the classes among unlabelled rows in memory, by maximum likelihood.

        Parameters
        ----------
        X : table in memory of shape (n, p)
            The rows, with the columns of the fit; some thousands are enough.
        init_score : array of shape (n, K), of shape (n,) for two classes, or None, default=None
            Log-odds that the trees' scores are added to, in the same form that ``fit`` takes.

        Returns
        -------
        array of shape (K,)
            The shares, in the order of ``classes_``.
        """
        refuse_collection("estimate_prior", X)
        return self.to_local().estimate_prior(X, init_score=init_score)

    def calibrate_sets(self, X: Any, y: Any, sample_weight: Any = None, *, init_score: Any = None) -> Self:
        """Learn from fresh rows, in memory, how large the sets of `predict_set` must be.

        Parameters
        ----------
        X : table in memory of shape (n, p)
            The rows, with the columns of the fit; a few thousand are enough.
        y : array of shape (n,)
            Their labels, of the classes of the model.
        sample_weight : array of shape (n,) or None, default=None
            What the rows count.
        init_score : array of shape (n, K), of shape (n,) for two classes, or None, default=None
            Log-odds that the trees' scores are added to, in the same form that ``fit`` takes.

        Returns
        -------
        self : object
            The classifier.
        """
        refuse_collection("calibrate_sets", X)
        return super().calibrate_sets(X, y, sample_weight, init_score=init_score)  # type: ignore[misc]

    def _predict(self, method: str, X: Any, init_score: Any, **arguments: Any) -> Any:
        local = self.to_local()
        if not is_distributed(X):
            return getattr(local, method)(X, **arguments, init_score=init_score)
        local._rounds(arguments.get("n_rounds"))  # raises
        check_arguments(local, arguments)
        return lazily(local, method, X, init_score, arguments)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """The accuracy.

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
        if not is_distributed(X):
            return local.score(X, y, sample_weight)
        return accuracy(local, X, y, sample_weight)


@described
class DaskSimplexBoostClassifier(OnDask, SimplexBoostClassifier):
    """`SimplexBoostClassifier` on a Dask cluster: the same parameters, and the same model bit for bit.

    Rows stay on the workers, where they are binned once; sums over rows travel. The model does not depend on the number
    of workers or partitions, nor on workers that die in the middle of the fit.

    Parameters
    ----------
    n_jobs : int or None, default=None
        The number of threads on each worker. None takes as many as the worker has for tasks. The fitted model does not
        depend on it.

    Attributes
    ----------
    traffic_ : `simplexboost.distributed.comm.Traffic`
        What has travelled between the workers and here; ``print`` shows it.

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

    def add_classes(
        self, X: Any, y: Any, sample_weight: Any = None, *, n_rounds: Any = "auto", learning_rate: Any = "auto"
    ) -> Self:
        """Teach the fitted model new classes from rows in memory; see `SimplexBoostClassifier.add_classes`.

        Parameters
        ----------
        X : table in memory of shape (n, p)
            Rows of the new classes and, if they are at hand, of the old ones.
        y : array of shape (n,)
            The labels of the rows.
        sample_weight : array of shape (n,) or None, default=None
            The weights of the rows.
        n_rounds : int or "auto", default="auto"
            How many trees are grown for the new classes; 0 lets the leaves of the old trees learn.
        learning_rate : float or "auto", default="auto"
            Every step is multiplied by this.

        Returns
        -------
        self : object
            The classifier, which is changed in place.
        """
        if is_distributed(X):
            raise TypeError(
                f"add_classes takes rows in memory, not a {type(X).__name__}; X.compute() brings them here."
            )
        return super().add_classes(X, y, sample_weight, n_rounds=n_rounds, learning_rate=learning_rate)

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        eval_set: Any = None,
        eval_metric: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        groups: Any = None,
        init_score: Any = None,
        init_score_val: Any = None,
        client: Any = None,
    ) -> Self:
        """Boost on the workers of a cluster.

        Parameters
        ----------
        X : Dask DataFrame, Dask Array of shape (n, p), or list of delayed partitions
            The features. NaN and None mean missing.
        y : Dask collection of shape (n,)
            The labels, in the same partitions as X.
        sample_weight : Dask collection of shape (n,) or None, default=None
            The weights of the rows, in the same partitions as X. Only their ratios matter.
        eval_set : tuple, list of tuples or None, default=None
            Other rows to evaluate: ``(X, y)``, ``(X, y, sample_weight)`` or ``(X, y, sample_weight, init_score)`` of
            Dask collections, or a list of such tuples. Their risk and metrics after every round are in
            ``evals_result_``. With ``early_stopping`` the first entry decides when to stop.
        X_val : Dask DataFrame, Dask Array, list of delayed partitions or None, default=None
            The features of one evaluated set, in place of ``eval_set``.
        y_val : Dask collection or None, default=None
            The labels of the rows of ``X_val``.
        sample_weight_val : Dask collection or None, default=None
            The weights of the rows of ``X_val``.
        groups : Dask collection of shape (n,) or None, default=None
            The group of every row, in the same partitions as X. Rows of the same group are never on both sides of a
            split of the classifier's own choice.
        init_score : Dask collection of shape (n, K), of shape (n,) for two classes, or None, default=None
            Log-odds from which boosting starts, in the same partitions as X.
        init_score_val : Dask collection or None, default=None
            The log-odds from which boosting starts for the rows of ``X_val``.
        client : dask.distributed.Client or None, default=None
            The client of the cluster. None takes the current one.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        eval_set = as_eval_set(eval_set, X_val, y_val, sample_weight_val, init_score_val)
        train = {"X": X, "y": y, "sample_weight": sample_weight, "init_score": init_score, "groups": groups}
        return self._fit_on(client, train, eval_set, eval_metric)


@described
class DaskBoostingClassifier(OnDask, BoostingClassifier):
    """`BoostingClassifier` on a Dask cluster, for compositions whose learner is a tree of the engine.

    The model is that of a fit to all rows on one machine, bit for bit.

    Parameters
    ----------
    n_jobs : int or None, default=None
        The number of threads on each worker. None takes as many as the worker has for tasks. The fitted model does not
        depend on it.

    Attributes
    ----------
    traffic_ : `simplexboost.distributed.comm.Traffic`
        What has travelled between the workers and here; ``print`` shows it.

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

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        eval_set: Any = None,
        eval_metric: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        init_score: Any = None,
        init_score_val: Any = None,
        client: Any = None,
    ) -> Self:
        """Boost on the workers of a cluster.

        Parameters
        ----------
        X : Dask DataFrame, Dask Array of shape (n, p), or list of delayed partitions
            The features. NaN and None mean missing.
        y : Dask collection of shape (n,)
            The labels, in the same partitions as X.
        sample_weight : Dask collection of shape (n,) or None, default=None
            The weights of the rows, in the same partitions as X. Only their ratios matter.
        eval_set : tuple, list of tuples or None, default=None
            Other rows to evaluate: ``(X, y)``, ``(X, y, sample_weight)`` or ``(X, y, sample_weight, init_score)`` of
            Dask collections, or a list of such tuples. Their risk and metrics after every round are in
            ``evals_result_``. With ``early_stopping`` the first entry decides when to stop.
        X_val : Dask DataFrame, Dask Array, list of delayed partitions or None, default=None
            The features of one evaluated set, in place of ``eval_set``.
        y_val : Dask collection or None, default=None
            The labels of the rows of ``X_val``.
        sample_weight_val : Dask collection or None, default=None
            The weights of the rows of ``X_val``.
        init_score : Dask collection of shape (n, K), of shape (n,) for two classes, or None, default=None
            Log-odds from which boosting starts, in the same partitions as X.
        init_score_val : Dask collection or None, default=None
            The log-odds from which boosting starts for the rows of ``X_val``.
        client : dask.distributed.Client or None, default=None
            The client of the cluster. None takes the current one.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        eval_set = as_eval_set(eval_set, X_val, y_val, sample_weight_val, init_score_val)
        train = {"X": X, "y": y, "sample_weight": sample_weight, "init_score": init_score}
        return self._fit_on(client, train, eval_set, eval_metric)


def refuse_collection(method: str, X: Any) -> None:
    """Raise unless X is a table in memory."""
    if is_distributed(X):
        raise TypeError(
            f"{method} takes rows in memory, not a {type(X).__name__}; a few thousand rows are enough, and X.compute() "
            "brings them here."
        )


def check_arguments(local: Any, arguments: dict[str, Any]) -> None:
    """Raise now what would otherwise be raised when a prediction is computed."""
    if arguments.get("prior") is not None:
        check_prior(arguments["prior"], local.classes_, local.present_)
    if arguments.get("costs") is not None:
        if np.ndim(arguments["costs"]) == 3:
            raise ValueError("costs of single rows, of shape (n, K, A), need rows in memory, not a Dask collection.")
        Costs.of(arguments["costs"], local.classes_)
