"""`SimplexBoostClassifier`, the main classifier: boosting for many classes with one vector-valued tree per round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from .._util.arrays import AnyArray, Array
from .._util.params import check_choice, check_number, is_auto
from ..boosting.decisions import OneLabel
from ..engine import ORDERS
from ..parts.codewords import Auto, Canonical, Codewords, MaxMin, Ordered, Ordinal, Simplex, as_codewords
from ..parts.learners import SketchTree
from ..parts.learners.constraints import is_by_class
from ..parts.losses import Logistic, Loss, Savage, SoftmaxCost, UserLoss
from ..parts.optimizers import SketchedNewton
from ..parts.optimizers.run import Run
from ..parts.optimizers.sketched import has_even_classes
from ..parts.steps import FixedStep
from ..persist.archive import damaged
from ..persist.models import is_number
from ..persist.saving import from_json, to_json
from ..tables.labels import class_numbers
from ..tables.training_set import TrainingSet
from ..tables.validation import Checked
from .auto import N_FOLDS, Table, Wanted, choose, effort_on, most_canonical
from .booster import Booster
from .eval_sets import read_eval_sets
from .plan import Parts, Plan
from .search import EVEN, Choice
from .structured import (
    check_structure,
    class_order,
    declared_labels,
    declared_order,
    is_hierarchy_code,
    read_hierarchy,
    read_order,
    structured_codewords,
    tree_of,
)


def by_class_number(cst: Any, checked: Checked) -> Any:
    """Return ``monotonic_cst`` with class indices as keys instead of labels, if it is a dict by class.

    Only classes with training rows are numbered, and constraints of the others are dropped.
    """
    if not isinstance(cst, Mapping) or not is_by_class(cst):
        return cst
    named = class_numbers(list(cst), checked.classes, "monotonic_cst")
    numbers = checked.present.cumsum() - 1
    known = zip(named.tolist(), cst.values(), strict=True)
    return {int(numbers[k]): of_class for k, of_class in known if checked.present[k]}


# The shapes of trees that compete, the preferred one first; the second one is taken where nothing is chosen. Symmetric
# trees alone would serve most tables (benchmarks/TUNING.md), but best-first ones learn intricate tables faster.
SHAPES: list[dict[str, Any]] = [
    {"growth": "symmetric", "gain_noise": 1.0, "max_leaf_nodes": 64},
    {"growth": "best", "gain_noise": 0.0, "max_leaf_nodes": "auto"},
    {"growth": "symmetric", "gain_noise": 1.0, "max_leaf_nodes": 256},
]
FEW_ROWS = 5_000  # up to here the last shape does not take part: on small tables it gains nothing
USUAL = 40  # the usual number of rounds, times the learning rate
HOTTEST = 1e6  # the largest temperature: with it scores stay finite, however large boosting lets the predictor become
LONGEST = 80  # the most rounds to choose from, times the learning rate

CANDIDATES = 32  # classes beside its own whose scores a row keeps, if there are many of them
MANY_CLASSES, MANY_SCORES = 1024, 10**8  # beyond so many classes, and scores of rows for classes, not all are kept

ROW_LOSSES: dict[str, type[Loss]] = {"logistic": Logistic, "savage": Savage, "softmax-cost": SoftmaxCost}


class SimplexBoostClassifier(Booster, kw_only=True):
    """Gradient boosting for many classes: one vector tree per round, whatever the number of classes.

    It uses the logistic loss, Newton steps in the leaves, and splits that are searched along a random direction of the
    gradient. The number of rounds, the temperature of the probabilities and the shape of the trees are chosen by the
    risk on held-out rows; then all rows are fitted. The defaults should serve most data sets.

    If y is an indicator matrix, or holds several class targets, one vector tree per round serves all of its columns.
    ``classes_`` then has the column indices of the labels, or is a list with the classes of each target.

    Parameters
    ----------
    n_estimators : int or "auto", default="auto"
        The number of rounds, each of one tree. "auto" chooses it, up to 80 / learning_rate (twice as many for an
        indicator matrix), together with those of `growth`, `gain_noise`, `max_leaf_nodes` and `calibration` that are
        "auto". A number gives exactly so many rounds without a choice, which takes less time. With ``early_stopping``
        nothing is chosen either, and "auto" is the largest number of rounds: 80 / learning_rate.
    learning_rate : float or "auto", default="auto"
        The factor of every tree. Smaller values need more rounds and often generalise better. "auto" is 0.1, but 0.05
        if the number of rounds is chosen, y is no indicator matrix, and the table is so small that twice the rounds
        cost little.
    max_leaf_nodes : int, "auto" or None, default="auto"
        The largest number of leaves of a tree. "auto" grows with the number of rows (one leaf for about 128 rows, at
        least 16 and at most 255) unless it is chosen. None sets no limit.
    max_depth : int or None, default=None
        The largest number of splits between the root of a tree and a leaf. None sets no limit, so that only
        `max_leaf_nodes` limits the size of trees.
    growth : {"best", "symmetric", "level", "auto"}, default="auto"
        The order in which the nodes of a tree are split. "best" splits the node that gains most; "symmetric" splits all
        nodes of a level by the same condition, which gives 64 leaves unless a limit says otherwise; "level" splits the
        oldest node. "auto" chooses between the first two, or is "best" if nothing is chosen.
    gain_noise : float or "auto", default="auto"
        The size, in standard deviations, of random noise that is added to the gains of the features, which makes the
        trees differ more from each other. "auto" is 1 for symmetric trees and 0 for others, unless it is chosen.
    min_samples_leaf : int or "auto", default="auto"
        The smallest number of training rows in a leaf. "auto" is 1 up to 1000 rows and 5 beyond.
    l2_regularization : float or "auto", default="auto"
        A number that is added to the curvature in every leaf, so that leaves of few rows move scores less. "auto" is
        10 / K, and 0.2 from 50 classes on; 1 for labels of an indicator matrix; for several class targets K is the mean
        of their numbers of classes.
    codewords : str, Codewords or array of shape (K, d), default="auto"
        The vectors of the classes. "auto" takes canonical codewords, a coordinate for every class, unless there are
        more than 1024 classes and the free memory is too little for two arrays of rows × classes: then it takes a
        max-min code of few dimensions. Names are "canonical", "simplex", "max-min", "samme", "hadamard" and others of
        `simplexboost.parts.codewords`; a `Codewords` object, such as ``MaxMin(code_dim=8)``, or your own matrix, a row
        for every class in the order of ``classes_``, is taken as well. Of ordered classes, "auto" takes the code
        "ordered"; "hierarchy" takes that of the tree in ``classes``.
    loss : {"logistic", "savage", "softmax-cost"} or Loss, default="logistic"
        What boosting minimises. "logistic" is the negative log-likelihood. "savage" and "softmax-cost" give little
        weight to examples that are clearly misclassified, which helps where many labels are wrong.
        ``parts.losses.Logistic(cost_matrix=C)`` says how much it matters to tell class c (row) from class k (column). A
        `parts.losses.UserLoss` is a loss of your own, given by its gradient and second derivatives in the scores.
    optimizer : `parts.optimizers.SketchedNewton` or "auto", default="auto"
        How the gradient becomes a tree and its leaf values: ``SketchedNewton(sketch=2, max_step=None)`` searches splits
        along two random directions of the gradient and sets no limit to the values of leaves; other parameters set the
        initial logits, and for how many classes a row stores scores if there are thousands. "auto" is
        ``SketchedNewton()``.
    calibration : bool, float or "auto", default="auto"
        The temperature, a number that multiplies all scores so that probabilities are neither too sure nor too unsure.
        True chooses it by held-out risk, also if the number of rounds is given, which then takes as long as one to four
        further fits; "auto" chooses it if the rounds or thresholds are chosen; a number is taken as it is; False leaves
        the scores as boosting made them. It applies to the logistic loss only.
    thresholds : float, array of shape (K,) or "f1", default=0.5
        The probability above which a label is predicted, if y is an indicator matrix: one for all labels, or one for
        each. 0.5 makes mistakes rarest. "f1" chooses for every label the threshold that makes its F1 largest, from
        the scores of rows held out, also if the number of rounds is given: rare labels are then predicted more often.
        "f1" does not go with ``early_stopping``, which leaves the number of rounds open.
    max_features : float or "auto", default="auto"
        The fraction of the features that each tree sees, drawn anew in every round. "auto" is 0.8, and 0.4 if there are
        more than 256 features.
    max_bins : int or "auto", default="auto"
        The number of bins into which the values of a feature are sorted before trees are grown, at most 255. "auto"
        takes fewer if there are few rows and many features.
    monotonic_cst : list, dict or None, default=None
        The direction in which scores may follow features: 1 lets them only rise, −1 only fall, 0 does not constrain
        them. With two classes it is a list of p numbers, or a dict by the name or position of the feature, for the
        probability of the second class. With more classes it is a dict ``{label: list or dict}``, which constrains the
        scores of these classes. It applies to canonical codewords only.
    interaction_cst : {"pairwise", "no_interactions"}, list of sets of features or None, default=None
        Which features may interact, that is, be split on the same path of a tree: those that are together in one of the
        sets, which hold positions or names. Features in none of the sets form a set of their own. "no_interactions"
        puts every feature in a set of its own, "pairwise" makes a set of every two. None does not constrain the trees.
    n_jobs : int or None, default=None
        The number of threads. None takes the cores that the process may use, or its share of them inside a joblib
        worker; −1 takes all. The fitted model does not depend on it.
    classes : sequence of labels, Ordinal, Hierarchy, dict or None, default=None
        The classes and how they are related. None takes the labels that occur in y. A sequence lists all labels, of
        which some may be absent from the training data: those get probability zero. An `Ordinal` gives an order, like
        that of grades or stars: ``Ordinal()`` the order of numbers or of an ordered categorical y, ``Ordinal(["low",
        "high"])`` that of its labels. The codewords are then "ordered" unless others are given, and `predict` returns
        the median of the probabilities, which has the smallest expected absolute error. A `Hierarchy`, or a dict of its
        nodes such as ``{"bird": ["owl", "wren"], "fish": ["eel", "carp"]}``, gives a tree, whose nodes can be predicted
        as well. It does not change the fit unless ``codewords="hierarchy"``.

    Attributes
    ----------
    class_order_ : array of shape (K,) or None
        The labels from the lowest to the highest if ``classes`` is an `Ordinal`; else None. ``classes_`` are sorted all
        the same.
    hierarchy_ : `Hierarchy` or None
        The tree of the classes, if the model was fitted with one.
    thresholds_ : array of shape (K,), or None
        The probability above which each label is predicted, if y was an indicator matrix.

    Notes
    -----
    Probabilities are softmax(F Yᵀ). With affinely independent codewords (canonical, simplex) that is the posterior that
    minimises the loss; a code of fewer than K − 1 dimensions cannot represent every posterior, but in practice its
    probabilities are good.

    Examples
    --------
    >>> from simplexboost import datasets
    >>> digits = datasets.load("digits")
    >>> clf = SimplexBoostClassifier(random_state=0).fit(digits.X_train, digits.y_train)
    >>> clf.score(digits.X_test, digits.y_test) > 0.96
    True
    >>> len(clf.model_.trees) == clf.choice_.n_estimators
    True
    """

    n_estimators: Any = "auto"
    learning_rate: Any = "auto"
    max_features: Any = "auto"
    max_bins: Any = "auto"
    max_leaf_nodes: Any = "auto"
    max_depth: int | None = None
    min_samples_leaf: Any = "auto"
    growth: str = "auto"
    gain_noise: Any = "auto"
    l2_regularization: Any = "auto"
    codewords: Any = "auto"
    loss: Any = "logistic"
    optimizer: Any = "auto"
    calibration: Any = "auto"
    thresholds: Any = 0.5
    monotonic_cst: Any = None
    interaction_cst: Any = None

    _may_be_auto: ClassVar[tuple[str, ...]] = ("n_estimators", "learning_rate")
    _all_cores: ClassVar[bool] = True
    _multilabel: ClassVar[bool] = True
    _multitarget: ClassVar[bool] = True

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        eval_metric: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        groups: Any = None,
        init_score: Any = None,
        init_score_val: Any = None,
    ) -> Self:
        """Boost: choose the parameters that are "auto", then fit the model to labelled rows.

        Parameters
        ----------
        y : array of shape (n,), (n, K) or (n, T)
            The labels; an indicator matrix of zeros and ones, if rows may have several labels; or a class of each of T
            targets.
        groups : array of shape (n,) or None, default=None
            The group of every row: a speaker, a patient, a day. Rows of the same group are never on both sides of a
            split of the classifier's own choice. Give them if predictions are for new groups, because otherwise the
            choice is made for rows of known groups.
        """
        sets = read_eval_sets(X_val, y_val, sample_weight_val, init_score_val)
        return self._fit(X, y, sample_weight, sets, eval_metric, groups=groups, init_score=init_score)

    def _plan_for_new_classes(self, data: TrainingSet, n_rounds: int, rate: float, l2: float) -> Plan:
        """Return the plan for learning new classes; parameters that held-out risk has chosen keep the chosen values.

        Monotonic constraints and ``candidates`` are dropped, since they belong to the old classes.
        """
        chosen: dict[str, Any] = {} if self.choice_ is None else self.choice_.params
        open_params = {name: value for name, value in chosen.items() if self._is_open(name)}
        given = {"n_estimators": n_rounds, "learning_rate": rate, "l2_regularization": l2}
        fixed = {"codewords": Canonical(), "monotonic_cst": None, "candidates": None, "init": "zero"}
        return self._by_rules(self.parts(), data).with_params(**open_params | given | fixed)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_structure(self.classes)
        check_choice("growth", self.growth, ("auto", *ORDERS))
        check_number("gain_noise", self.gain_noise, float, 0.0, auto=True)
        if not is_auto(self.optimizer):
            self._optimizer().check_parameters()
        if not isinstance(self.calibration, bool):
            check_number("calibration", self.calibration, float, 0.0, HOTTEST, auto=True, open_low=True)
        check_thresholds(self.thresholds)
        if self.calibration is True and self.early_stopping:
            raise ValueError(
                "calibration=True chooses the temperature of a number of rounds, which early_stopping leaves "
                "open; take one of them, or give a temperature."
            )

    @property
    def _declared(self) -> Any:
        return declared_labels(self.classes)

    def _check_rows(self, X: Any, y: Any, *others: Any) -> Checked:
        return replace(super()._check_rows(X, y, *others), order=declared_order(y))

    def _deciding(self, loss: Loss, checked: Checked) -> OneLabel:
        return replace(super()._deciding(loss, checked), order=class_order(self.classes, checked))

    # ---- what was left open -----------------------------------------------------------------------------------------

    def _plan(self, parts: Parts, checked: Checked, groups: Any, seed: int) -> Plan:
        """Return the `Plan` of the fit with values in place of "auto": by rules, then by held-out risk if necessary."""
        check_several(self, parts, checked)
        plan = self._by_rules(parts, checked.data)
        constraints = by_class_number(self.monotonic_cst, checked)
        codewords = structured_codewords(plan.parts.codewords, self.codewords, self.classes, checked)
        plan = plan.with_params(codewords=codewords, monotonic_cst=constraints)
        plan.check(checked.data)
        if self._continues and self.choice_ is not None:
            plan = self._with_choice(plan, self.choice_)  # the model goes on with what was chosen for it
            sets = self.set_scores_  # they are for the rounds that were chosen, and no others
            same = sets is not None and sets["n_rounds"] == int(plan.n_estimators)
            return replace(plan, sets=sets if same else None)
        if self._chooses(checked.data):
            plan = self._with_choice(plan, self._choose(plan, checked, groups, seed))
            if plan.sets is not None:  # of a matrix y there are none
                of_model = {"c": np.flatnonzero(checked.present)[plan.sets["c"]], "n_rounds": int(plan.n_estimators)}
                plan = replace(plan, sets=plan.sets | of_model)
        return plan

    def _chooses(self, data: TrainingSet) -> bool:
        """Return whether the number of rounds, the temperature or thresholds are chosen by held-out risk."""
        if self._continues or data.K < 2 or data.n < N_FOLDS or (not data.problem.is_matrix and data.n == data.K):
            return False  # there is no class with a row to hold out and another one to learn from
        if is_auto(self.n_estimators) and not self.early_stopping:
            return True
        return self.calibration is True or (chooses_thresholds(self.thresholds, data) and not self.early_stopping)

    def _by_rules(self, parts: Parts, data: TrainingSet) -> Plan:
        """Return the plan with a value for every parameter that is "auto", by the size of the training set."""
        n = data.n
        rate = self.learning_rate
        if is_auto(rate) and self._continues and self.choice_ is not None:
            rate = self.choice_.learning_rate
        elif is_auto(rate):
            chosen = is_auto(self.n_estimators) and self._chooses(data)
            rate = effort_on(data).rate if chosen else 0.1
        rounds = self.n_estimators
        if is_auto(rounds):
            usual = USUAL / 2 if data.K <= 3 else USUAL
            rounds = max(1, round(pace(data) * (LONGEST if self.early_stopping else usual) / rate))
        codewords, candidates, init = parts.codewords, parts.optimizer.candidates, parts.optimizer.init
        if is_auto(candidates):
            candidates = None if data.problem.is_matrix else self._suited_candidates(parts, data)
        if data.problem.is_matrix:
            codewords = Canonical()  # which `check_several` makes sure of
        elif type(codewords) is Auto and codewords.code_dim is None and candidates is not None:
            codewords = Canonical()  # rows that keep few scores need no code of few dimensions
        elif type(codewords) is Auto and codewords.code_dim is None:
            codewords = Canonical() if data.K <= data.engine.rows.decide(lambda: most_canonical(n)) else MaxMin()
        given = not (is_auto(self.calibration) or isinstance(self.calibration, bool))
        return Plan.of(self, parts).with_params(
            codewords=codewords,
            candidates=candidates,
            init="zero" if is_auto(init) else init,
            learning_rate=rate,
            n_estimators=rounds,
            temperature=float(self.calibration) if given else 1.0,
        )

    def _suited_candidates(self, parts: Parts, data: TrainingSet) -> int | None:
        """Return the value of ``candidates="auto"``: how many other classes a row stores scores for; None means all."""
        few = data.K <= MANY_CLASSES or data.n * data.K <= MANY_SCORES
        other = data.init_score is not None or self.monotonic_cst is not None or parts.loss.cost_matrix is not None
        elsewhere = not data.engine.device.is_host or data.engine.rows.is_spread
        if few or other or elsewhere or isinstance(parts.loss, UserLoss) or not takes_canonical(parts.codewords):
            return None
        return CANDIDATES

    def _choose(self, plan: Plan, checked: Checked, groups: Any, seed: int) -> Choice:
        """Return the `Choice` of rounds, temperature and tree shape by held-out risk, as far as they are "auto"."""
        data = checked.data
        exact = None if is_auto(self.n_estimators) else int(self.n_estimators)
        haste = effort_on(data).haste_at(float(plan.learning_rate)) if exact is None else 1.0
        rate = float(plan.learning_rate) * haste
        competing, shares = self._shapes(data.n), []
        if exact is None and self._is_open("optimizer__init") and may_start_at_shares(plan.parts, data):
            zero, prior = {"optimizer__init": "zero"}, {"optimizer__init": "prior"}
            shares = [prior | {"n_estimators": 1}]
            even = has_even_classes(data)
            competing = [shape | (prior if even else zero) for shape in competing]
            competing += [] if even else [competing[0] | prior]
        rivals, constant = (
            [(params, plan.with_params(**params, learning_rate=rate)) for params in some]
            for some in (competing, shares)
        )
        longest = pace(data) * LONGEST / rate if exact is None else exact
        wanted = Wanted(
            max(1, round(longest)),
            pace(data) * USUAL / rate,
            exact,
            self._calibrates(plan.parts.loss),
            (lambda line: print(line, flush=True)) if self.verbose else (lambda line: None),
            None if self._calibrates(plan.parts.loss) else plan.temperature,
            chooses_thresholds(self.thresholds, data),
            haste,
        )
        choice = choose(rivals, constant, Table(data, checked.present, groups), seed, wanted)
        return replace(choice, learning_rate=float(plan.learning_rate))

    def _shapes(self, n: int) -> list[dict[str, Any]]:
        """Return the tree shapes to compare on n rows: those in `SHAPES` that agree with the parameters of the user.

        If the number of rounds is given, shapes are not compared; the only entry of the list is then empty.
        """
        if not is_auto(self.n_estimators):
            return [{}]
        shapes = SHAPES[:-1] if n <= FEW_ROWS else SHAPES
        given = {name: getattr(self, name) for name in SHAPES[0] if not is_auto(getattr(self, name))}
        left = [{k: v for k, v in shape.items() if k not in given} for shape in shapes]
        fits = [given.get("growth", shape["growth"]) == shape["growth"] for shape in shapes]
        kept = [shape for shape, fit in zip(left, fits, strict=True) if fit]
        return [shape for i, shape in enumerate(kept) if shape not in kept[:i]] or [{}]

    def _is_open(self, name: str) -> bool:
        """Return whether a parameter is "auto"; ``optimizer__init`` is the parameter ``init`` of the optimizer."""
        owner, nested, parameter = name.partition("__")
        return is_auto(getattr(self._optimizer(), parameter) if nested else getattr(self, owner))

    def _calibrates(self, loss: Loss) -> bool:
        """Return whether to choose a temperature: ``calibration`` is True or "auto", and the loss has a soft-max."""
        return (self.calibration is True or is_auto(self.calibration)) and loss.likelihood

    def _with_choice(self, plan: Plan, choice: Choice) -> Plan:
        """Return the plan with the chosen values in place of those that are "auto"; values that the user sets stay."""
        rounds = choice.n_estimators if is_auto(self.n_estimators) else plan.n_estimators
        params = {name: value for name, value in choice.params.items() if self._is_open(name)}
        temperature = choice.temperature if self._calibrates(plan.parts.loss) else plan.temperature
        plan = plan.with_params(**params | {"n_estimators": rounds, "temperature": temperature})
        shown = choice if choice.sets is None else replace(choice, sets=None)
        return replace(plan, choice=shown, sets=choice.sets)

    def _fitted(self, run: Run, *, plan: Plan, checked: Checked, **others: Any) -> dict[str, Any]:
        order, tree = class_order(self.classes, checked), tree_of(self.classes)
        return {
            **super()._fitted(run, plan=plan, checked=checked, **others),
            "class_order_": None if order is None else checked.classes[order],
            "hierarchy_": None if tree is None else clone(tree),
            "thresholds_": thresholds_of(self.thresholds, plan, checked) if checked.problem.yes_or_no else None,
        }

    # ---- the parts --------------------------------------------------------------------------------------------------

    def parts(self) -> Parts:
        growth = "best" if is_auto(self.growth) else self.growth
        tree = SketchTree(
            max_depth=self.max_depth,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
            growth=growth,
            gain_noise=float(growth == "symmetric") if is_auto(self.gain_noise) else self.gain_noise,
            l2_regularization=self.l2_regularization,
            monotonic_cst=self.monotonic_cst,
            interaction_cst=self.interaction_cst,
        )
        return Parts(self._loss(), self._codewords(), tree, self._optimizer(), FixedStep())

    def _loss(self) -> Loss:
        if isinstance(self.loss, Loss):
            return self.loss
        check_choice("loss", self.loss, ROW_LOSSES)
        return ROW_LOSSES[self.loss]()

    def _optimizer(self) -> SketchedNewton:
        if is_auto(self.optimizer):
            return SketchedNewton()
        if not isinstance(self.optimizer, SketchedNewton):
            raise TypeError(f"optimizer={self.optimizer!r} must be 'auto' or a parts.optimizers.SketchedNewton.")
        return self.optimizer

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        takes = takes_matrices(self)
        tags.classifier_tags.multi_label, tags.target_tags.multi_output = takes, takes
        return tags

    def _codewords(self) -> Codewords:
        if is_auto(self.codewords):
            return Ordered() if isinstance(self.classes, Ordinal) else Auto()
        if is_hierarchy_code(self.codewords):
            if tree_of(self.classes) is None:
                raise ValueError("codewords='hierarchy' needs a tree of classes; pass one, classes=Hierarchy(...).")
            return Simplex()  # of as many columns; `_plan`, which knows the classes, takes those of the tree
        return as_codewords(self.codewords)

    # ---- files ------------------------------------------------------------------------------------------------------

    def _pack(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        header, arrays = super()._pack()
        order, hierarchy, choice = self.class_order_, self.hierarchy_, self.choice_
        return {
            **header,
            "class_order": None if order is None else np.searchsorted(self.classes_, order).tolist(),
            "hierarchy": None if hierarchy is None else to_json(hierarchy, "hierarchy_"),
            "choice": None if choice is None else choice_to_json(choice),
        }, arrays

    def _unpack(self, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
        super()._unpack(header, arrays)
        self.class_order_ = read_order(header.get("class_order"), self.classes_)
        self.hierarchy_ = read_hierarchy(header.get("hierarchy"), self.classes_)
        choice = header.get("choice")
        self.choice_ = None if choice is None else read_choice(from_json(choice))


def choice_to_json(choice: Choice) -> Any:
    """Return a `Choice` as JSON, without the scores of held-out rows, which are stored with ``set_scores_``."""
    return to_json({name: value for name, value in vars(choice).items() if name != "sets"}, "choice_")


def pace(data: TrainingSet) -> int:
    """Return the factor that multiplies the usual number of rounds: 2 if y is an indicator matrix, else 1.

    With two classes, one score rises while the other falls, so their difference moves twice as fast as a label's score.
    """
    return 2 if data.problem.yes_or_no else 1


def may_start_at_shares(parts: Parts, data: TrainingSet) -> bool:
    """Return whether these parts can start with a round that gives all rows the class shares as probabilities."""
    code = parts.codewords
    whole = takes_canonical(code) or isinstance(code, Simplex)
    whole = whole or (isinstance(code, Ordered) and code.columns(data.K) == data.K - 1)
    return whole and parts.loss.likelihood and data.init_score is None and parts.optimizer.n_candidates is None


def takes_canonical(codewords: Codewords) -> bool:
    """Return whether codewords are canonical and not centred, or `Auto`, which may choose canonical ones."""
    if isinstance(codewords, Auto):
        return codewords.code_dim is None
    return isinstance(codewords, Canonical) and not codewords.centered


def read_choice(value: Any) -> Choice:
    """Return the `Choice` with the fields ``value`` from a model file; raise if they are damaged."""
    choice = Choice(**value)
    numbers = ("n_estimators", "temperature", "risk", "n_splits", "n_held", "learning_rate", "n_sample")
    fits = isinstance(choice.params, dict) and isinstance(choice.candidates, list) and isinstance(choice.curve, dict)
    several = {name: np.asarray(getattr(choice, name)) for name in ("temperature", "thresholds")}  # arrays may be none
    arrays = {name for name, value in several.items() if value.ndim == 1 and value.dtype == np.float64}
    arrays |= {"thresholds"} if choice.thresholds is None else set()
    if not fits or "thresholds" not in arrays:
        raise damaged("invalid `choice_` record")
    if not all(name in arrays or is_number(getattr(choice, name)) for name in numbers):
        raise damaged("invalid `choice_` record")
    str(choice)
    return choice


# ---- a matrix y ------------------------------------------------------------------------------------------------------


def is_f1(thresholds: Any) -> bool:
    """Return whether ``thresholds`` is "f1": the thresholds that maximise F1 are to be chosen."""
    return isinstance(thresholds, str) and thresholds == "f1"


def chooses_thresholds(thresholds: Any, data: TrainingSet) -> bool:
    """Return whether thresholds are chosen on held-out rows: "f1" is given, and y is an indicator matrix."""
    return data.problem.yes_or_no and is_f1(thresholds)


def check_thresholds(thresholds: Any) -> None:
    """Raise unless ``thresholds`` is "f1", a number between 0 and 1, or an array of such numbers."""
    if is_f1(thresholds):
        return
    if isinstance(thresholds, str):
        raise ValueError(f"thresholds={thresholds!r} is unknown; choose 'f1', a number or a number for each label.")
    for value in thresholds if np.ndim(thresholds) == 1 else [thresholds]:
        check_number("thresholds", value, float, 0.0, 1.0, open_low=True)
        if value == 1:
            raise ValueError(f"thresholds={thresholds!r} is out of range; a threshold must be less than 1.")


def thresholds_of(thresholds: Any, plan: Plan, checked: Checked) -> Array:
    """Return the threshold of each label, (K,): the chosen one or the user's."""
    K = checked.data.K
    if is_f1(thresholds):
        found = None if plan.choice is None else plan.choice.thresholds
        return np.full(K, EVEN) if found is None else found
    given = np.asarray(thresholds, dtype=np.float64)
    if given.ndim == 1 and len(given) != K:
        raise ValueError(f"thresholds has {len(given)} numbers; y has {K} labels.")
    return np.full(K, given)


def find_conflict(estimator: Any, parts: Parts, what: str) -> str | None:
    """Return why a parameter forbids a matrix y, or None; ``what`` is a name for y, such as "several labels"."""
    if isinstance(estimator.classes, Ordinal) or tree_of(estimator.classes) is not None:
        return f"an order or a tree of classes goes with one class per row, not with {what}."
    if parts.optimizer.n_candidates is not None:
        return f"candidates={parts.optimizer.n_candidates!r} goes with one class per row; {what} keep all scores."
    if parts.loss.cost_matrix is not None:
        return f"cost_matrix goes with one class per row, not with {what}."
    if not parts.loss.likelihood:
        return f"loss={estimator.loss!r} goes with one class per row; {what} take loss='logistic'."
    if getattr(parts.codewords, "code_dim", None) is not None:
        return f"code_dim={parts.codewords.code_dim!r} goes with one class per row; {what} take canonical codewords."
    if not isinstance(parts.codewords, Auto | Canonical):
        return f"codewords={estimator.codewords!r} go with one class per row; {what} take 'canonical'."
    if estimator.monotonic_cst is not None:
        return f"monotonic_cst goes with one class per row, not with {what}."
    if estimator.device != "cpu":
        return f"device={estimator.device!r} fits one class per row; {what} take device='cpu'."
    return None


def takes_matrices(estimator: Any) -> bool:
    """Return whether the parameters are valid and allow an indicator matrix or several class targets as y."""
    try:
        return find_conflict(estimator, estimator.parts(), "") is None
    except (TypeError, ValueError):
        return False


def check_several(estimator: Any, parts: Parts, checked: Checked) -> None:
    """Raise if y is a matrix and a parameter allows only one class per row."""
    if not checked.problem.is_matrix:
        return
    if chooses_thresholds(estimator.thresholds, checked.data) and estimator.early_stopping:
        raise ValueError(
            "thresholds='f1' chooses the thresholds of a number of rounds, which early_stopping=True leaves open; take "
            "one of them, or give thresholds."
        )
    reason = find_conflict(estimator, parts, "several labels" if checked.problem.yes_or_no else "several class targets")
    if reason is not None:
        raise ValueError(reason)
