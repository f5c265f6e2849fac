"""Which of scikit-learn's HistGradientBoosting tests are run, and which are expected to fail, each with its reason."""

from __future__ import annotations

from typing import Any

FOLDER = "sklearn.ensemble._hist_gradient_boosting.tests"
MODULES = ("test_gradient_boosting", "test_warm_start", "test_monotonic_constraints")

# Tests are left out by what they mention: the regressor alone, or private parts of HGB that have no counterpart here.
PRIVATE = (
    "_get_small_trainset",  # HGB's scorer sees a sample of the training rows
    "_bin_mapper",
    "_random_seed",
    "_check_interaction_cst",
    "TreePredictor",
    "reduce_predictor_with_different_bitness",
    "TreeGrower",
    "Splitter",
    "hgb_module",
)


def is_for_us(source: str) -> bool:
    """Whether the source of a test speaks of classifiers, and of no private part of HGB."""
    only_regressor = "HistGradientBoostingRegressor" in source and "HistGradientBoostingClassifier" not in source
    return not only_regressor and not any(name in source for name in PRIVATE)


def makes_sense(params: dict[str, Any]) -> bool:
    """Whether the parameters of a test are about classification."""
    names = {value.__name__ for value in params.values() if isinstance(value, type)}
    return "HistGradientBoostingRegressor" not in names and params.get("problem") != "regression"


CARDINALITY = "more categories than max_bins are no error: the rarest share a number"
NUMERIC_TEXT = "a column of numbers written as text is refused, not converted"
EXPECTED_FAILURES: dict[str, str] = {
    "test_infinite_values_missing_values": "infinite values are refused, because they are mostly mistakes",
    "test_single_node_trees": "y of a single class is refused, unless `classes` names others",
    "test_unknown_categories_nan[-1-True-HistGradientBoostingClassifier-True]": "-1 is a category like any other",
    "test_unknown_categories_nan[-1-False-HistGradientBoostingClassifier-True]": "-1 is a category like any other",
    "test_categorical_encoding_strategies": "the categories that HGB sends to the left go to the right here",
    "test_categorical_bad_encoding_errors": CARDINALITY,
    "test_dataframe_categorical_errors": CARDINALITY,
    "test_dataframe_categorical_results_same_as_ndarray": NUMERIC_TEXT,
    "test_warm_start_early_stopping": (
        "a second fit goes on from the best round, not from the last one, and stops where the first one did"
    ),
}
