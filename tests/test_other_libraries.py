"""What the pages say of LightGBM, XGBoost, CatBoost and scikit-learn, asked of the libraries themselves."""

from __future__ import annotations

import inspect
import re
import warnings
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble as ensemble
from sklearn.datasets import load_digits, load_iris
from test_words import FITTING, PARAMETERS, PREDICTING, VALUES, table_after

from simplexboost.cli.peers import MOST_CATEGORIES

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MIGRATION = (ROOT / "docs" / "migration.md").read_text(encoding="utf-8")
HGB = ensemble.HistGradientBoostingClassifier
LIGHTGBM, XGBOOST, CATBOOST, SKLEARN = "LightGBM", "XGBoost", "CatBoost", "scikit-learn"

EVAL_SET = pytest.mark.filterwarnings(
    "ignore:The argument 'eval_set' is deprecated"
)  # in LightGBM 4.7; older ones need it

# Words that are answered because people still write them: the libraries had them in older versions.
OLD = {
    LIGHTGBM: {"early_stopping_rounds"},  # an argument of `fit` until 4.0
    XGBOOST: {"num_round", "ntree_limit"},
    CATBOOST: set(),
    SKLEARN: {"base_estimator", "algorithm"},
}


@pytest.fixture(scope="module")
def libraries():
    """The three libraries."""
    import catboost
    import lightgbm
    import xgboost

    return SimpleNamespace(lightgbm=lightgbm, xgboost=xgboost, catboost=catboost)


@pytest.fixture(scope="module")
def makers(libraries):
    """Small classifiers of all, by what the columns of the tables are called."""
    return {
        LIGHTGBM: lambda **p: libraries.lightgbm.LGBMClassifier(n_jobs=1, verbose=-1, **{"n_estimators": 3} | p),
        XGBOOST: lambda **p: libraries.xgboost.XGBClassifier(n_jobs=1, **{"n_estimators": 3} | p),
        CATBOOST: lambda **p: libraries.catboost.CatBoostClassifier(
            thread_count=1, bootstrap_type="No", verbose=0, allow_writing_files=False, **{"iterations": 3} | p
        ),
        SKLEARN: lambda **p: HGB(**{"max_iter": 3} | p),
    }


def keywords(*functions):
    return {name for function in functions for name in inspect.signature(function).parameters}


# ---- how many trees -------------------------------------------------------------------------------------------------


def test_no_page_says_that_all_others_grow_a_tree_per_class():
    """CatBoost does not, nor does XGBoost with `multi_output_tree`: the libraries are to be named."""
    wrong = re.compile(r"\b(?:[Oo]ther|[Mm]ost)(?: boosting)? libraries[^.:|]*\b(?:per|for every|for each) class\b")
    for page in PAGES:
        assert not wrong.search(" ".join(page.read_text(encoding="utf-8").split())), page.name
    assert wrong.search("Other libraries grow a tree per class in every round")
    assert "theirs grow one per class" not in MIGRATION


@pytest.mark.peers
def test_who_grows_a_tree_per_class(makers):
    X, y = load_digits(return_X_y=True)
    X, y = X[:300], y[:300]
    assert makers[LIGHTGBM]().fit(X, y).booster_.num_trees() == 30
    assert sum(len(trees) for trees in makers[SKLEARN]().fit(X, y)._predictors) == 30
    assert len(makers[XGBOOST]().fit(X, y).get_booster().get_dump()) == 30
    vectors = makers[XGBOOST](multi_strategy="multi_output_tree", tree_method="hist").fit(X, y)
    assert len(vectors.get_booster().get_dump()) == 3
    cat = makers[CATBOOST](depth=4).fit(X, y)
    assert (cat.tree_count_, len(cat.get_leaf_values())) == (3, 3 * 2**4 * 10)


# ---- words ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def known(libraries):
    """The words of every library: for constructors, for `fit` and for `predict`."""
    lgb, xgb, cat = libraries.lightgbm, libraries.xgboost, libraries.catboost
    aliases = lgb.basic._ConfigAliases._get_all_param_aliases()
    of_lgb = {*aliases, *(word for words in aliases.values() for word in words)} | keywords(
        lgb.LGBMClassifier, lgb.train
    )
    xgb_params = set(xgb.XGBClassifier().get_params()) | keywords(xgb.train)
    sk = (HGB, ensemble.GradientBoostingClassifier, ensemble.AdaBoostClassifier, ensemble.BaggingClassifier)
    return {
        LIGHTGBM: (
            of_lgb,
            keywords(lgb.LGBMClassifier.fit, lgb.LGBMRanker.fit),
            keywords(lgb.LGBMClassifier.predict, lgb.Booster.predict),
        ),
        XGBOOST: (
            xgb_params,
            keywords(xgb.XGBClassifier.fit, xgb.XGBRanker.fit, xgb.train),
            keywords(xgb.XGBClassifier.predict, xgb.Booster.predict),
        ),
        CATBOOST: (
            keywords(cat.CatBoostClassifier, cat.train),
            keywords(cat.CatBoostClassifier.fit, cat.Pool, cat.CatBoostRanker.fit),
            keywords(cat.CatBoostClassifier.predict),
        ),
        SKLEARN: (keywords(*sk), keywords(HGB.fit), keywords(HGB.predict)),
    }


def takes_parameter(xgboost, word):
    """Whether `train` knows a parameter that the constructor does not list, such as ``eta``."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        params = {word: 1, "num_class": 3, "objective": "multi:softprob", "validate_parameters": True}
        xgboost.train(params, xgboost.DMatrix(*load_iris(return_X_y=True)), 1)
    return not any("are not used" in str(warning.message) for warning in caught)


@pytest.mark.peers
@pytest.mark.parametrize("library", [LIGHTGBM, XGBOOST, CATBOOST, SKLEARN])
def test_every_word_is_one_of_the_library(libraries, known, library):
    for place, table in enumerate([PARAMETERS, FITTING, PREDICTING]):
        words = {word for entry in table for word in entry.words.get(library, ())}
        missing = words - known[library][place] - OLD[library]
        if library == XGBOOST and place == 0:
            missing = {word for word in missing if not takes_parameter(libraries.xgboost, word)}
        assert missing == set()


@pytest.mark.peers
def test_a_word_that_xgboost_lacks_is_found(libraries):
    assert not takes_parameter(libraries.xgboost, "gibberish") and takes_parameter(libraries.xgboost, "eta")


@pytest.mark.peers
def test_who_takes_given_scores_in_predict(known):
    assert "base_margin" in known[XGBOOST][2]
    assert "init_score" not in known[LIGHTGBM][2]


@pytest.mark.peers
def test_names_of_the_recipes_exist(libraries):
    short = {"lgb": libraries.lightgbm, "xgb": libraries.xgboost}
    named = re.findall(r"`(lgb|xgb)\.([\w.]+)\(?", MIGRATION)
    assert len(named) > 6
    for library, path in named:
        first, *rest = path.split(".")
        if rest:  # a module, such as xgboost.dask, which needs Dask to be imported
            assert find_spec(f"{short[library].__name__}.{first}"), path
        else:
            assert hasattr(short[library], first), path
    assert {"obj", "custom_metric"} <= keywords(libraries.xgboost.train) and "feval" in keywords(
        libraries.lightgbm.train
    )


# ---- models ---------------------------------------------------------------------------------------------------------


@pytest.mark.peers
@EVAL_SET
def test_methods_and_attributes_exist(libraries, makers):
    """Those of the table, and those that the table says a library does not have."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    stopping = {LIGHTGBM: {}, XGBOOST: {"early_stopping_rounds": 2}, CATBOOST: {}, SKLEARN: {"early_stopping": True}}
    models = {name: make(**stopping[name]) for name, make in makers.items()}
    options = {name: {"eval_set": [(X[::2], y[::2])]} for name in models if name != SKLEARN} | {SKLEARN: {}}
    options[LIGHTGBM]["callbacks"] = [libraries.lightgbm.early_stopping(2, verbose=False)]
    for name, model in models.items():
        model.fit(X, y, **options[name])
    rows = table_after("Methods and attributes")
    assert len(rows) > 12
    for ours, *theirs in rows:
        for library, cell in zip(models, theirs, strict=True):
            names = re.findall(r"`(?:get_booster\(\)\.)?([\w.]+)", ours if cell.startswith("the same") else cell)
            if cell == "–":
                own = [name for name in re.findall(r"`(\w+)", ours) if name not in ("save", "simplexboost")]
                assert not [name for name in own if hasattr(models[library], name)], (library, ours)
            for name in names:
                found = models[library]
                if "get_booster()." in cell:
                    found = found.get_booster()
                for part in name.split("."):
                    assert hasattr(found, part), (library, cell)
                    found = getattr(found, part)
    assert models[LIGHTGBM].best_iteration_ == 3 and models[XGBOOST].best_iteration == 2
    assert models[CATBOOST].best_iteration_ == 2
    assert models[LIGHTGBM].importance_type == "split" and models[CATBOOST].feature_importances_.sum() == pytest.approx(
        100
    )
    gains = models[XGBOOST].get_booster().get_score(importance_type="gain")
    assert max(gains, key=gains.get) == X.columns[models[XGBOOST].feature_importances_.argmax()]


@pytest.mark.peers
def test_defaults_that_the_page_names(makers):
    assert makers[LIGHTGBM]().min_child_samples == 20
    X, y = load_iris(return_X_y=True)
    assert makers[CATBOOST]().fit(X, y).get_all_params()["depth"] == 6
    deep = makers[XGBOOST](min_child_weight=0).fit(np.arange(600)[:, None], np.arange(600) % 2)
    assert max(len(line) - len(line.lstrip("\t")) for line in deep.get_booster().get_dump()[0].splitlines()) == 6


@pytest.mark.peers
def test_where_scores_start(makers):
    """At the shares of the classes in LightGBM and scikit-learn (and newer XGBoost), at zero in CatBoost."""
    X, y = np.arange(100.0)[:, None], np.repeat([0, 1, 2], [80, 15, 5])
    for library in (LIGHTGBM, SKLEARN):
        assert makers[library](learning_rate=1e-6).fit(X, y).predict_proba(X[:1])[0] == pytest.approx(
            [0.8, 0.15, 0.05], abs=1e-3
        )
    assert makers[CATBOOST](learning_rate=1e-4).fit(X, y).predict_proba(X[:1])[0] == pytest.approx(
        [1 / 3] * 3, abs=1e-2
    )


@pytest.mark.peers
def test_second_derivatives_of_a_custom_objective(makers):
    """One for every score in LightGBM and XGBoost, all of them in CatBoost."""
    X, y = load_iris(return_X_y=True)

    def objective(y, scores):
        return np.zeros((150, 3)), np.ones((150, 3))

    class Squares:
        def calc_ders_multi(self, approxes, target, weight):
            return [0.0] * 3, [[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]]

    for library in (LIGHTGBM, XGBOOST):
        assert makers[library](objective=objective).fit(X, y) is not None
    assert makers[CATBOOST](loss_function=Squares(), eval_metric="MultiClass").fit(X, y).tree_count_ == 3


@pytest.mark.peers
def test_missing_values_and_many_categories(makers):
    X, y = load_iris(return_X_y=True)
    holes = np.where(X > 6, np.nan, X)
    for make in makers.values():
        assert make().fit(holes, y).predict(holes).shape[0] == 150
    n = MOST_CATEGORIES + 1
    table = pd.DataFrame({"code": pd.Categorical([str(i % n) for i in range(3 * n)]), "other": np.arange(3.0 * n)})
    labels = np.arange(3 * n) % 3
    for library, words in {
        LIGHTGBM: {},
        XGBOOST: {"enable_categorical": True},
        CATBOOST: {"cat_features": ["code"]},
    }.items():
        makers[library](**words).fit(table, labels)
    with pytest.raises(ValueError, match=f"cardinality <= {MOST_CATEGORIES}"):
        makers[SKLEARN]().fit(table, labels)


@pytest.mark.peers
def test_who_refuses_monotone_constraints_of_three_classes(libraries, makers):
    X, y = load_iris(return_X_y=True)
    for library in (LIGHTGBM, XGBOOST):
        makers[library](monotone_constraints=(1, 0, 0, 0)).fit(X, y)
    with pytest.raises(libraries.catboost.CatBoostError, match="unsupported for multiclass"):
        makers[CATBOOST](monotone_constraints=[1, 0, 0, 0]).fit(X, y)
    with pytest.raises(ValueError, match="not supported for multiclass"):
        makers[SKLEARN](monotonic_cst=[1, 0, 0, 0]).fit(X, y)


@pytest.mark.peers
@EVAL_SET
def test_the_fits_side_by_side_run(libraries, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # CatBoost writes its logs where it is
    code = MIGRATION.split("## Side by side")[1].split("```python\n")[1].split("```")[0]
    X, y = load_iris(return_X_y=True)
    names = {
        "lightgbm": libraries.lightgbm,
        "LGBMClassifier": libraries.lightgbm.LGBMClassifier,
        "XGBClassifier": libraries.xgboost.XGBClassifier,
        "CatBoostClassifier": libraries.catboost.CatBoostClassifier,
        "HistGradientBoostingClassifier": HGB,
    }
    exec(code.replace("1000", "10"), names | {"X": X[::2], "y": y[::2], "X_val": X[1::2], "y_val": y[1::2]})


@pytest.mark.peers
@EVAL_SET
@pytest.mark.parametrize(
    ("parameter", "library", "word"),
    [
        (parameter, library, word)
        for parameter in ("loss", "growth", "eval_metric")
        for entry in VALUES[parameter]
        for library, words in entry.words.items()
        for word in words
    ],
)
def test_every_value_is_one_of_the_library(makers, parameter, library, word):
    """Its own parameter takes the value, and not another one in its place."""
    called = {
        LIGHTGBM: {"loss": "objective", "eval_metric": "metric"},
        XGBOOST: {"loss": "objective", "growth": "grow_policy", "eval_metric": "eval_metric"},
        CATBOOST: {"loss": "loss_function", "growth": "grow_policy", "eval_metric": "eval_metric"},
        SKLEARN: {"loss": "loss"},
    }[library][parameter]
    X, y = load_iris(return_X_y=True)
    two = word.startswith("binary") or word in ("logloss", "Logloss", "CrossEntropy", "cross_entropy", "auc", "AUC")
    options = {called: word, **({"tree_method": "hist"} if library == XGBOOST else {})}
    if library == CATBOOST and parameter == "eval_metric" and not two:
        options["loss_function"] = "MultiClass"
    if library == LIGHTGBM and parameter == "eval_metric" and two:
        options["objective"] = "binary"
    if two:
        X, y = X[:100], y[:100]
    evaluated = {} if library == SKLEARN or parameter != "eval_metric" else {"eval_set": [(X, y)]}
    if library == XGBOOST and evaluated:
        evaluated["verbose"] = False
    model = makers[library](**options).fit(X, y, **evaluated)
    assert model.predict(X).shape[0] == len(X)
    if library == LIGHTGBM and evaluated:
        assert model.best_score_["training"]
    if (library == LIGHTGBM and evaluated) or (library == XGBOOST and word.startswith("multi:")):
        return  # LightGBM passes over metrics that it does not know; XGBoost finds the loss of several classes itself
    with pytest.raises(Exception):  # noqa: B017, each library has its own
        makers[library](**options | {called: "gibberish"}).fit(X, y, **evaluated)
