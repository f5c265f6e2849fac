"""Methods of classifiers for prediction sets, abstention, costs of decisions and other class priors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._util.arrays import AnyArray, Array, Mask
from .._util.params import check_number
from ..boosting.decisions import Decision
from ..decide.abstaining import check_missing, with_missing
from ..decide.costs import Costs, cheapest
from ..decide.priors import adapted, check_prior, estimated_prior
from ..decide.sets import FRESH, SetScores, own_scores, sets_of
from ..tables.validation import check_sample_weight, check_some_weight, known_labels
from .base_classifier import transaction

BLOCK = 2**20  # probabilities that are looked at together: sorting them takes some memory


class Decides:
    """What classifiers with probabilities answer beside a label for every row."""

    classes_: AnyArray
    present_: Mask
    class_prior_: Array
    sets_: SetScores
    n_iter_: int
    stop_reason_: str | None

    def predict_set(self, X: Any, coverage: float = 0.9, per_class: bool = False, *, init_score: Any = None) -> Mask:
        """A set of classes for every row that holds the true one with a promised probability, (n, K).

        The set has the most probable class, the second, and so on, until their probabilities add up to more than a
        threshold. That threshold comes from rows that the model was not trained on: those that `SimplexBoostClassifier`
        holds out when it chooses its rounds, or those given to `calibrate_sets`. No set is empty, so coverages below
        the accuracy give sets of one class. See the page about sets for what is guaranteed and what is not.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit. NaN and None mean missing.
        coverage : float, default=0.9
            The part of the sets that hold the true class, between 0 and 1.
        per_class : bool, default=False
            Whether that is so for the rows of every class, and not only for all rows together. A class with fewer than
            coverage / (1 − coverage) known rows (9 for a coverage of 0.9) is then in every set.
        init_score : array of shape (n, K), of shape (n,) for two classes, or None, default=None
            Log-odds that the trees' scores are added to, in the same form that ``fit`` takes.

        Returns
        -------
        bool array of shape (n, K)
            Which classes are in the set, a column for every class in the order of ``classes_``. Classes without
            training examples are in none.

        Examples
        --------
        >>> import simplexboost as sb
        >>> from sklearn.datasets import load_wine
        >>> X, y = load_wine(return_X_y=True)
        >>> clf = sb.SimplexBoostClassifier(random_state=0).fit(X[::2], y[::2])
        >>> S = clf.predict_set(X[1::2], coverage=0.99)
        >>> S.shape, S.any(axis=1).all().item()
        ((89, 3), True)
        """
        X = self._check_X(X)  # type: ignore[attr-defined]
        thresholds = self._set_scores().thresholds(coverage, per_class)
        S = np.empty((X.shape[0], len(self.classes_)), dtype=bool)
        for rows, P in self._blocks(X, init_score):
            S[rows] = sets_of(P, thresholds)
        return S

    def calibrate_sets(self, X: Any, y: Any, sample_weight: Any = None, *, init_score: Any = None) -> Self:
        """Learn from fresh rows how large the sets of `predict_set` must be.

        The rows must not have been used for the fit, in no way: then the promised coverage is a theorem. They take the
        place of rows that the fit held out itself.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit.
        y : array of shape (n,)
            Their labels, of the classes of the model. Rows of a class without training examples can be in no set, and
            count as not covered.
        sample_weight : array of shape (n,) or None, default=None
            What the rows count; the promise is then for rows drawn in proportion to these weights.
        init_score : array of shape (n, K), of shape (n,) for two classes, or None, default=None
            Log-odds that the trees' scores are added to, in the same form that ``fit`` takes.

        Returns
        -------
        self : object
            The classifier.

        Examples
        --------
        >>> import simplexboost as sb
        >>> from sklearn.datasets import load_wine
        >>> X, y = load_wine(return_X_y=True)
        >>> clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(X[::2], y[::2])
        >>> clf.calibrate_sets(X[1::4], y[1::4]).predict_set(X[3::4]).shape
        (44, 3)
        """
        with transaction(self) as draft:
            draft.sets_ = draft._scores_of(X, y, sample_weight, init_score)
        return self

    def predict_or_abstain(
        self, X: Any, confidence: float = 0.9, *, missing: Any = None, init_score: Any = None
    ) -> AnyArray:
        """The most probable class where its probability reaches a confidence, and no answer elsewhere; (n,).

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit. NaN and None mean missing.
        confidence : float, default=0.9
            The smallest probability with which a row gets an answer, from 0 to 1.
        missing : scalar or None, default=None
            What stands for no answer, for instance -1 or "unknown"; it must not be a class. None takes NaN if the
            labels are numbers (whole numbers then become floats), NaT if they are dates, and None, in an array of
            objects, for all other labels: what pandas and scikit-learn take for missing values.
        init_score : array of shape (n, K), of shape (n,) for two classes, or None, default=None
            Log-odds that the trees' scores are added to, in the same form that ``fit`` takes.

        Returns
        -------
        array of shape (n,)
            The labels. The type depends on the labels only, not on whether a row is without an answer.

        Examples
        --------
        >>> import simplexboost as sb
        >>> from sklearn.datasets import load_iris
        >>> iris = load_iris()
        >>> clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0)
        >>> clf = clf.fit(iris.data, iris.target_names[iris.target])
        >>> clf.predict_or_abstain(iris.data[[0, 77]], confidence=0.9).tolist()
        ['setosa', None]
        """
        X = self._check_X(X)  # type: ignore[attr-defined]
        self._check_abstaining(confidence, missing)
        best, sure = np.empty(X.shape[0], dtype=np.intp), np.empty(X.shape[0], dtype=bool)
        for rows, P in self._blocks(X, init_score):
            best[rows] = P.argmax(axis=1)
            sure[rows] = P.max(axis=1) >= confidence
        return with_missing(self.classes_, best, sure, missing)

    # ---- costs and priors -------------------------------------------------------------------------------------------

    def expected_costs(
        self, X: Any, costs: Any, *, prior: Any = None, n_rounds: int | None = None, init_score: Any = None
    ) -> Array:
        """What every decision is expected to cost, for every row, (n, A): Σ_k p_k C_ka.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit. NaN and None mean missing.
        costs : array of shape (K, A), of shape (n, K, A), data frame or Hierarchy
            What every decision (column) costs when a class (row) is true, in the order of ``classes_``. Costs of single
            rows have a matrix each. A data frame names the classes in its index and the decisions in its columns. The
            decisions may be others than the classes. A tree of classes gives their distances in it.
        prior : array of shape (K,), dict or Series of shares by label, or None, default=None
            The shares of the classes among the rows to come, if they are others than in training.
        n_rounds : int or None, default=None
            Predict with the first rounds only, 1 .. ``n_iter_``; None takes all.
        init_score : array of shape (n, K), of shape (n,) for two classes, or None, default=None
            Log-odds that the trees' scores are added to, in the same form that ``fit`` takes.

        Returns
        -------
        array of shape (n, A)
            The expected costs, a column for every decision.

        Examples
        --------
        >>> import simplexboost as sb
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
        >>> costs = [[0, 1, 1, 0.2], [1, 0, 1, 0.2], [1, 1, 0, 0.2]]  # the last decision is to ask somebody
        >>> E = clf.expected_costs(X[[0, 77]], costs)
        >>> E.argmin(axis=1).tolist()
        [0, 3]
        """
        found, P = self._costs_and_proba(X, costs, prior, n_rounds, init_score)
        return found.expected(P)

    def estimate_prior(self, X: Any, *, init_score: Any = None) -> Array:
        """The shares of the classes among unlabelled rows, (K,): nearly those under which the rows are most likely.

        The likelihood counts as if max(K, √n) more rows had been seen, with the shares of training. Take it for rows
        to come whose classes have other shares than in training but look the same, and pass it on:
        ``clf.predict_proba(X, prior=clf.estimate_prior(X))``.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit; some hundreds at least.
        init_score : array of shape (n, K), of shape (n,) for two classes, or None, default=None
            Log-odds that the trees' scores are added to, in the same form that ``fit`` takes.

        Returns
        -------
        array of shape (K,)
            The shares, in the order of ``classes_``; they sum to one.

        Examples
        --------
        >>> import simplexboost as sb
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(X[::2], y[::2])
        >>> clf.estimate_prior(X[1:50:2]).round(1).tolist()  # flowers of the first class only
        [0.9, 0.1, 0.1]
        """
        return estimated_prior(self._adapted(X, None, None, init_score), self.class_prior_)

    def _decided(self, X: Any, costs: Any, prior: Any, n_rounds: int | None, init_score: Any) -> AnyArray:
        """The labels of the cheapest decisions; without costs, of those that the model makes itself; (n,)."""
        if costs is None:
            self._check_no_costs_in_scores()
            decision: Decision = self._decision()  # type: ignore[attr-defined]
            return decision.of_probabilities(self._adapted(X, prior, n_rounds, init_score))
        found, P = self._costs_and_proba(X, costs, prior, n_rounds, init_score)
        return found.labels(cheapest(found.expected(P)))

    def _check_no_costs_in_scores(self) -> None:
        """Raise if scores have a ``cost_matrix`` in them: probabilities, and decisions by them, do not have it."""
        check_is_fitted(self)
        if getattr(self.loss_, "cost_matrix", None) is not None:  # type: ignore[attr-defined]
            raise ValueError(
                "prior= decides by probabilities, which leave out the cost_matrix that this model was fitted with; "
                "pass costs=, too."
            )

    def _costs_and_proba(
        self, X: Any, costs: Any, prior: Any, n_rounds: int | None, init_score: Any
    ) -> tuple[Costs, Array]:
        """Costs that are checked, and probabilities (n, K)."""
        P = self._adapted(X, prior, n_rounds, init_score)
        return Costs.of(costs, self.classes_, len(P)), P

    def _adapted(self, X: Any, prior: Any, n_rounds: int | None, init_score: Any) -> Array:
        """Probabilities (n, K) for other shares of the classes; for those of training if ``prior`` is None."""
        X = self._check_X(X)  # type: ignore[attr-defined]
        self._refuse_several_labels("costs and prior are those of classes of which one is right")
        shares = None if prior is None else check_prior(prior, self.classes_, self.present_)
        P: Array = self._proba(X, self._rounds(n_rounds), self._start(X, init_score))  # type: ignore[attr-defined]
        return P if shares is None else adapted(P, shares, self.class_prior_)

    # ---- what they share --------------------------------------------------------------------------------------------

    def _check_abstaining(self, confidence: Any, missing: Any) -> None:
        """Raise if the arguments of `predict_or_abstain` are none."""
        self._refuse_several_labels("predict_or_abstain answers with one label")
        check_number("confidence", confidence, float, 0.0, 1.0)
        check_missing(missing, self.classes_)

    def _set_scores(self) -> SetScores:
        """The scores that sets are made from; raise if there are none, or if they are those of other classes."""
        self._refuse_several_labels("predict_set answers with classes of which one is right")
        scores = getattr(self, "sets_", None)
        if scores is None or scores.n_classes != len(self.classes_) or not self._is_whole(scores.n_rounds):
            raise ValueError(
                "predict_set needs labelled rows that the model was not trained on: call calibrate_sets(X, y) with "
                'some, or fit SimplexBoostClassifier with n_estimators="auto", which holds out rows itself.'
            )
        return scores

    def _is_whole(self, n_rounds: int) -> bool:
        """Whether the model has so many rounds, or boosting stopped by itself before."""
        return self.n_iter_ == n_rounds or (self.n_iter_ < n_rounds and self.stop_reason_ is not None)

    def _scores_of(self, X: Any, y: Any, sample_weight: Any, init_score: Any) -> SetScores:
        """The scores of fresh rows; a class that the model does not know has a score that no set reaches."""
        X = self._check_X(X)  # type: ignore[attr-defined]
        self._refuse_several_labels("calibrate_sets takes one label per row")
        c = known_labels(self._brought(y), X.shape[0], self.classes_)  # type: ignore[attr-defined]
        sample_weight = self._brought(sample_weight)  # type: ignore[attr-defined]
        weight = None if sample_weight is None else check_sample_weight(sample_weight, X)
        check_some_weight(weight is None or bool(weight.any()))
        score = np.empty(X.shape[0])
        for rows, P in self._blocks(X, init_score):
            score[rows] = own_scores(P, c[rows])
        score[~self.present_[c]] = 2.0  # more than all probabilities together
        used = np.ones(len(c), dtype=bool) if weight is None else weight > 0
        weight = None if weight is None else weight[used]
        about = {"source": FRESH, "n_rounds": self.n_iter_}
        return SetScores.of(score[used], c[used], len(self.classes_), weight, **about)

    def _blocks(self, X: AnyArray, init_score: Any) -> Iterator[tuple[slice, Array]]:
        """Some of the checked rows at a time, and their probabilities (n, K)."""
        start = self._start(X, init_score)  # type: ignore[attr-defined]
        step = max(64, BLOCK // len(self.classes_))
        for begin in range(0, X.shape[0], step):
            rows = slice(begin, begin + step)
            from_start = None if start is None else start[rows]
            yield rows, self._proba(X[rows], self.model_, from_start)  # type: ignore[attr-defined]

    def _refuse_several_labels(self, what: str) -> None:
        message = f"{what}; this model was fitted to several {{several}} per row."
        self._problem.check_one_class(message)  # type: ignore[attr-defined]
