"""Maps the parameter names of LightGBM, XGBoost, CatBoost and scikit-learn to those of this library.

A keyword that a class or a method does not have is looked up here, so that the error names what to write instead.
docs/migration.md shows the same names side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

LIGHTGBM, XGBOOST, CATBOOST, SKLEARN = "LightGBM", "XGBoost", "CatBoost", "scikit-learn"


@dataclass(frozen=True)
class Entry:
    """Words of other libraries for one thing.

    Attributes
    ----------
    ours : our name for it; empty if it is not one parameter of ours, then ``say`` says what to do
    say : a sentence that follows the answer
    words : by library, the names separated by spaces
    """

    ours: str
    say: str
    words: dict[str, str] = field(default_factory=dict)

    def libraries(self, word: str) -> list[str]:
        """The libraries that have the word."""
        return [library for library, words in self.words.items() if word in words.split()]

    def whose(self, word: str) -> str:
        """Whose word it is, such as "LightGBM's and XGBoost's word"."""
        *first, last = (f"{library}'s" for library in self.libraries(word))
        return f"{', '.join(first)} and {last} word" if first else f"{last} word"


@dataclass(frozen=True)
class Where:
    """A place that takes keywords, such as a constructor: its name and the keywords."""

    name: str
    known: Sequence[str]


NOWHERE = Where("", ())


def entry(ours: str, say: str = "", *, lgb: str = "", xgb: str = "", cat: str = "", skl: str = "") -> Entry:
    """An entry of the tables below."""
    return Entry(ours, say, {LIGHTGBM: lgb, XGBOOST: xgb, CATBOOST: cat, SKLEARN: skl})


STOPPING = "set early_stopping=True and n_iter_no_change; the rows to watch go to fit, as eval_set or X_val and y_val."

# Keywords of constructors.
PARAMETERS = [
    entry(
        "n_estimators",
        lgb="num_iterations num_iteration num_boost_round num_round num_rounds num_trees num_tree n_iter nrounds",
        xgb="num_boost_round num_round",
        cat="iterations num_boost_round num_trees",
        skl="max_iter",
    ),
    entry("learning_rate", lgb="shrinkage_rate eta", xgb="eta", cat="eta"),
    entry("max_leaf_nodes", lgb="num_leaves max_leaves max_leaf num_leaf", xgb="max_leaves", cat="max_leaves"),
    entry("max_depth", cat="depth"),
    entry(
        "min_samples_leaf",
        lgb="min_child_samples min_data_in_leaf min_data min_data_per_leaf",
        cat="min_data_in_leaf min_child_samples",
    ),
    entry(
        "l2_regularization", lgb="reg_lambda lambda_l2 lambda", xgb="reg_lambda lambda", cat="l2_leaf_reg reg_lambda"
    ),
    entry(
        "max_features",
        "It is the part of the features that each tree sees.",
        lgb="colsample_bytree feature_fraction sub_feature feature_fraction_bynode colsample_bynode",
        xgb="colsample_bytree colsample_bylevel colsample_bynode",
        cat="rsm colsample_bylevel",
    ),
    entry("subsample", lgb="bagging_fraction bagging sub_row", skl="max_samples"),
    entry("max_step", lgb="max_delta_step", xgb="max_delta_step"),
    entry("max_bins", lgb="max_bin", xgb="max_bin", cat="border_count max_bin"),
    entry(
        "growth",
        "It takes 'best', 'level' and 'symmetric'.",
        xgb="grow_policy",
        cat="grow_policy",
    ),
    entry("gain_noise", cat="random_strength"),
    entry(
        "loss",
        "The number of classes is found in y: there is no 'multiclass' or 'softprob' to ask for.",
        lgb="objective application",
        xgb="objective",
        cat="loss_function objective",
    ),
    entry("class_weight", cat="class_weights auto_class_weights"),
    entry("classes", cat="class_names"),
    entry(
        "categorical_features",
        lgb="categorical_feature cat_feature categorical_column",
        xgb="enable_categorical feature_types",
        cat="cat_features",
    ),
    entry("monotonic_cst", lgb="monotone_constraints mc", xgb="monotone_constraints", cat="monotone_constraints"),
    entry("interaction_cst", lgb="interaction_constraints", xgb="interaction_constraints"),
    entry("n_iter_no_change", "It needs early_stopping=True.", cat="od_wait"),
    entry("tol", lgb="early_stopping_min_delta"),
    entry("random_state", lgb="seed random_seed", xgb="seed", cat="random_seed"),
    entry("n_jobs", lgb="num_threads num_thread nthread nthreads", xgb="nthread", cat="thread_count"),
    entry("verbose", lgb="verbosity", xgb="verbosity", cat="logging_level silent verbose_eval metric_period"),
    entry(
        "",
        STOPPING,
        lgb="early_stopping_rounds early_stopping_round",
        xgb="early_stopping_rounds",
        cat="early_stopping_rounds od_type",
    ),
    entry(
        "",
        "metrics go to fit, as eval_metric, beside the rows to evaluate.",
        lgb="metric metrics",
        cat="custom_metric",
        skl="scoring",
    ),
    entry(
        "",
        "leaves are shrunk by l2_regularization and max_step; there is no penalty of their absolute values.",
        lgb="reg_alpha lambda_l1",
        xgb="reg_alpha alpha",
    ),
    entry(
        "",
        "trees are limited by max_leaf_nodes, max_depth and min_samples_leaf; no gain or curvature is too small.",
        lgb="min_split_gain min_gain_to_split min_child_weight min_sum_hessian_in_leaf",
        xgb="min_child_weight gamma min_split_loss",
        skl="min_samples_split min_impurity_decrease min_weight_fraction_leaf ccp_alpha",
    ),
    entry(
        "",
        "the weights of classes go to class_weight, a dict or 'balanced'.",
        lgb="is_unbalance unbalance scale_pos_weight",
        xgb="scale_pos_weight",
        cat="scale_pos_weight",
    ),
    entry("device", "It takes 'cpu' and 'cuda'.", lgb="device_type", cat="task_type"),
    entry("", "device='cuda' takes the current GPU of CuPy.", cat="devices"),
    entry(
        "",
        "there is one way of boosting in each class; `python -m simplexboost list` shows all of them.",
        lgb="boosting_type boosting",
        xgb="booster tree_method multi_strategy num_parallel_tree",
        cat="boosting_type leaf_estimation_method score_function",
        skl="algorithm criterion",
    ),
    entry(
        "",
        "subsample draws rows anew in every round.",
        lgb="subsample_freq bagging_freq data_sample_strategy",
        xgb="sampling_method",
        cat="bootstrap_type bagging_temperature",
        skl="bootstrap",
    ),
    entry(
        "", "the number of classes is found in y.", lgb="num_class num_classes", xgb="num_class", cat="classes_count"
    ),
    entry("", "NaN is missing, and nothing else is.", lgb="use_missing zero_as_missing", xgb="missing", cat="nan_mode"),
    entry(
        "",
        "feature_importances_ are gains; importances(kind=...) has others.",
        lgb="importance_type",
        xgb="importance_type",
    ),
    entry("", "the rounds up to the best one are kept if early_stopping=True.", cat="use_best_model"),
    entry("", "pass callbacks=[Checkpoint(path)].", cat="save_snapshot snapshot_file snapshot_interval"),
    entry("learner", skl="estimator base_estimator"),
]

# Keywords of `fit`.
FITTING = [
    entry("", STOPPING, lgb="early_stopping_rounds", xgb="early_stopping_rounds", cat="early_stopping_rounds"),
    entry("eval_set", "It takes pairs (X, y); one pair also goes to X_val and y_val.", lgb="eval_X eval_y"),
    entry("", "entries of eval_set are numbered; evals_result_ is a list.", lgb="eval_names"),
    entry(
        "",
        "the weights of evaluated rows are the third entry of a tuple in eval_set, or sample_weight_val.",
        lgb="eval_sample_weight eval_class_weight",
        xgb="sample_weight_eval_set",
    ),
    entry(
        "", "it is a parameter of the constructor: verbose=1.", cat="verbose_eval logging_level silent metric_period"
    ),
    entry(
        "",
        "it is a parameter of the constructor: categorical_features, which takes names, positions or a mask.",
        lgb="categorical_feature",
        cat="cat_features",
    ),
    entry(
        "",
        "set warm_start=True and fit again with more n_estimators.",
        lgb="init_model",
        xgb="xgb_model",
        cat="init_model",
    ),
    entry("", "names of features come from the columns of a data frame.", lgb="feature_name"),
    entry(
        "groups",
        "It keeps rows of one group together in the choice of rounds.",
        lgb="group",
        xgb="group qid",
        cat="group_id",
    ),
    entry("", "features are drawn with equal weights.", xgb="feature_weights"),
    entry("init_score", "It holds log-odds, a column per class.", xgb="base_margin", cat="baseline"),
    entry(
        "",
        "the scores that evaluated rows start from are the fourth entry of a tuple in eval_set, or init_score_val.",
        lgb="eval_init_score",
        xgb="base_margin_eval_set",
    ),
    entry("", "the rounds up to the best one are kept if early_stopping=True.", cat="use_best_model"),
    entry(
        "", "pass callbacks=[Checkpoint(path)] to the constructor.", cat="save_snapshot snapshot_file snapshot_interval"
    ),
]

# Keywords of `predict`, `predict_proba` and `decision_function`.
PREDICTING = [
    entry(
        "n_rounds",
        "It predicts with the first rounds only.",
        lgb="num_iteration",
        xgb="iteration_range ntree_limit",
        cat="ntree_end",
    ),
    entry(
        "",
        "all predictions begin with the first round; take n_rounds for the last.",
        lgb="start_iteration",
        cat="ntree_start",
    ),
    entry("init_score", "It holds log-odds, a column per class.", xgb="base_margin"),
    entry("", "ask decision_function for scores.", lgb="raw_score", xgb="output_margin", cat="prediction_type"),
    entry("", "ask shap_values.", lgb="pred_contrib", xgb="pred_contribs approx_contribs"),
    entry("", "ask shap_interaction_values.", xgb="pred_interactions"),
    entry("", "ask apply for the leaves.", lgb="pred_leaf", xgb="pred_leaf"),
    entry("", "the number of threads is the estimator's n_jobs.", cat="thread_count"),
]

# Values of parameters, which are words too: by parameter, what a value is called elsewhere.
VALUES = {
    "loss": [
        entry(
            "logistic",
            lgb="multiclass softmax binary cross_entropy",
            xgb="multi:softprob multi:softmax binary:logistic",
            cat="MultiClass Logloss CrossEntropy",
            skl="log_loss",
        ),
    ],
    "growth": [
        entry("best", xgb="lossguide", cat="Lossguide"),
        entry("level", xgb="depthwise", cat="Depthwise"),
        entry("symmetric", cat="SymmetricTree"),
    ],
    "device": [entry("cuda", lgb="gpu", xgb="gpu", cat="GPU"), entry("cpu", cat="CPU")],
    "eval_metric": [
        entry(
            "log_loss",
            lgb="multiclass softmax binary_logloss binary cross_entropy",
            xgb="logloss",
            cat="MultiClass Logloss CrossEntropy",
        ),
        entry("auc_ovr", lgb="auc", xgb="auc", cat="AUC"),
        entry("error", lgb="binary_error", cat="ZeroOneLoss"),
        entry("accuracy", cat="Accuracy"),
    ],
}

METHODS = {"fit": FITTING, "predict": PREDICTING, "predict_proba": PREDICTING, "decision_function": PREDICTING}

# Words for what is part of another parameter: the parameter that takes it, and what to write there.
PLACES = {
    "ordinal": ("classes", "pass classes=Ordinal() or classes=Ordinal([labels from the lowest to the highest])."),
    "hierarchy": ("classes", "pass classes=Hierarchy(...) or a dict of its nodes."),
}

# Parameters of tree learners: a booster that is made of parts has them as ``learner__max_depth``.
OF_LEARNERS = ("max_depth", "max_leaf_nodes", "min_samples_leaf", "growth", "gain_noise", "l2_regularization")


def answer(who: str, what: str, word: str, known: Sequence[str], table: Iterable[Entry], other: Where = NOWHERE) -> str:
    """The message for a keyword that is unknown.

    Parameters
    ----------
    who : the class or method that was called
    what : "parameter" or "argument"
    word : the unknown keyword
    known : the keywords that there are
    table : the words of others
    other : keywords of another place that are mistaken for those of this one

    Examples
    --------
    >>> answer("SimplexBoostClassifier", "parameter", "num_leaves", ["max_leaf_nodes"], PARAMETERS)
    "SimplexBoostClassifier has no parameter 'num_leaves' (LightGBM's word); did you mean max_leaf_nodes?"
    """
    begin = f"{who} has no {what} {word!r}"
    if word in other.known:
        return f"{begin}; it is {other.name}."
    theirs = next((e for e in table if e.libraries(word)), None)
    if theirs is not None:
        return f"{begin} ({theirs.whose(word)}); {advice(theirs, known)}"
    if word in OF_LEARNERS and "learner" in known:
        return f"{begin}; {of_the_learner(word)}"
    if word in PLACES and PLACES[word][0] in known:
        return f"{begin}; {PLACES[word][1]}"
    close = get_close_matches(word, known, n=1)
    if close:
        return f"{begin}; did you mean {close[0]}?"
    return f"{begin}; it has {', '.join(known)}."


def unknown_value(parameter: str, value: Any, choices: Iterable[str], rest: str = "") -> str:
    """The message for a value that a parameter does not take; another library's word is answered with ours.

    Parameters
    ----------
    parameter : its name
    value : what it was given
    choices : the values that it takes
    rest : what it takes besides

    Examples
    --------
    >>> unknown_value("growth", "lossguide", ["level", "best"])
    "growth='lossguide' is unknown (XGBoost's word); did you mean 'best'? Choose one of 'level', 'best'."
    >>> unknown_value("growth", "Best", ["level", "best"])
    "growth='Best' is unknown; did you mean 'best'? Choose one of 'level', 'best'."
    >>> unknown_value("loss", "hinge", ["logistic"], ", or pass a Loss")
    "loss='hinge' is unknown; choose one of 'logistic', or pass a Loss."
    """
    choices = list(choices)
    begin, listed = f"{parameter}={value!r} is unknown", f"{', '.join(map(repr, choices))}{rest}."
    if isinstance(value, str):
        theirs = next((e for e in VALUES.get(parameter, ()) if e.ours in choices and e.libraries(value)), None)
        if theirs is not None:
            return f"{begin} ({theirs.whose(value)}); did you mean {theirs.ours!r}? Choose one of {listed}"
        alike = next((choice for choice in choices if choice.lower() == value.lower()), None)
        if alike is not None:
            return f"{begin}; did you mean {alike!r}? Choose one of {listed}"
    return f"{begin}; choose one of {listed}"


def advice(found: Entry, known: Sequence[str]) -> str:
    """What to write in place of another library's word."""
    if not found.ours:
        return found.say
    if found.ours in known:
        return f"did you mean {found.ours}? {found.say}".rstrip()
    if found.ours in OF_LEARNERS and "learner" in known:
        return of_the_learner(found.ours)
    return f"it would be {found.ours}, which this class does not have."


def of_the_learner(word: str) -> str:
    """Where a booster made of parts has a parameter of its trees."""
    return f"did you mean {word} of the learner? set_params(learner__{word}=...) sets it."
