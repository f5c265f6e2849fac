"""The report's numbers, against scikit-learn and the methods of the classifier, and the file that holds them."""

import io
import json
import re
from functools import partial
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from report_cases import EVIL, Case, case, evil, noisy_blobs, numbers_of
from scipy.sparse import csr_matrix
from sklearn import metrics
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeRegressor

import simplexboost as sb
from simplexboost import decide
from simplexboost.evaluate.html_report.labelled_rows import Cells, evaluate, write_value
from simplexboost.evaluate.html_report.page import percent, render, round_numbers, write_json
from simplexboost.evaluate.html_report.sections import (
    MOST_EXPLAINED_PAIRS,
    bootstrap_interval,
    headline,
    normal_interval,
)
from simplexboost.tables.frames import take_rows

LARGEST = 5_000_000  # bytes of a page


@pytest.fixture(scope="module")
def few():
    """The contents of a report of three classes."""
    return numbers_of(case(3))


# ---- numbers --------------------------------------------------------------------------------------------------------


def test_headline_scores_are_those_of_scikit_learn():
    found = case(26)
    P, predicted = found.clf.predict_proba(found.X), found.clf.predict(found.X)
    told = {entry["name"]: entry for entry in numbers_of(found)["headline"]}
    expected = {
        "accuracy": metrics.accuracy_score(found.y, predicted),
        "balanced_accuracy": metrics.balanced_accuracy_score(found.y, predicted),
        "top_5_accuracy": metrics.top_k_accuracy_score(found.y, P, k=5, labels=found.clf.classes_),
        "log_loss": metrics.log_loss(found.y, P, labels=found.clf.classes_),
    }
    assert list(told) == list(expected)
    for name, value in expected.items():
        assert told[name]["value"] == pytest.approx(value, rel=1e-4)
        assert told[name]["low"] < value < told[name]["high"]
        assert told[name]["high"] - told[name]["low"] < 0.2


def test_intervals_hold_as_often_as_they_say():
    """Of many samples of the same kind, some 95 % have intervals that hold the score of all rows."""
    found = case(3, 20, 12)
    X, c = noisy_blobs(3, 4000, seed=5)
    X, y = pd.DataFrame(X, columns=found.X.columns), np.array([f"class {k}" for k in c])
    P = found.clf.predict_proba(X)
    predicted = found.clf.classes_[P.argmax(axis=1)]
    scores = {
        "log_loss": metrics.log_loss(y, P),
        "accuracy": metrics.accuracy_score(y, predicted),
        "balanced_accuracy": metrics.balanced_accuracy_score(y, predicted),
    }
    held, order = np.zeros(3), np.random.default_rng(0).permutation(len(y))
    for rows in np.split(order, 60):
        entries = {entry["name"]: entry for entry in headline(evaluate(found.clf, X.iloc[rows], y[rows]))}
        for i, (name, truth) in enumerate(scores.items()):
            held[i] += entries[name]["low"] <= truth <= entries[name]["high"]
    assert (held / 60 >= 0.85).all(), held / 60


def test_intervals_of_many_rows_are_those_of_a_bootstrap():
    losses = np.random.default_rng(0).exponential(size=20_000)
    np.testing.assert_allclose(normal_interval(losses), bootstrap_interval(losses), atol=0.002)


def test_table_of_classes(few):
    found, classes = case(3), few["classes"]
    precision, recall, f1, support = metrics.precision_recall_fscore_support(found.y, found.clf.predict(found.X))
    assert classes["support"] == support.tolist()
    for name, values in (("precision", precision), ("recall", recall), ("f1", f1)):
        np.testing.assert_allclose(classes[name], values, rtol=1e-4)
    matrix = metrics.confusion_matrix(found.y, found.clf.predict(found.X))
    np.fill_diagonal(matrix, 0)
    assert classes["takenTimes"] == matrix.max(axis=1).tolist()


@pytest.mark.parametrize("K", [2, 3, 26])
def test_confusions_and_their_examples(K):
    found = case(K)
    told, predicted = numbers_of(found)["confusion"], found.clf.predict(found.X)
    matrix = metrics.confusion_matrix(found.y, predicted, labels=found.clf.classes_)
    np.fill_diagonal(matrix, 0)
    drawn = np.zeros_like(matrix)
    for c, k, times in told["cells"]:
        drawn[c, k] = times
    np.testing.assert_array_equal(drawn, matrix)
    assert sorted(told["order"]) == list(range(K))
    margins = sb.evaluate.margins(found.clf, found.X, found.y)
    for pair in told["pairs"]:
        rows = pair["rows"]
        assert 1 <= len(rows) <= 6
        assert (found.y[rows] == found.clf.classes_[pair["true"]]).all()
        assert (predicted[rows] == found.clf.classes_[pair["predicted"]]).all()
        np.testing.assert_allclose(pair["margins"], margins[rows], rtol=1e-4)
        assert pair["margins"] == sorted(pair["margins"])


def test_features_that_decide_are_those_of_explain_pair():
    found = case(26)
    told = numbers_of(found)
    pair, entry = told["confusion"]["pairs"][0], told["deciding"][0]
    assert (entry["a"], entry["b"]) == (pair["true"], pair["predicted"])
    a, b = found.clf.classes_[[entry["a"], entry["b"]]]
    predicted = found.clf.predict(found.X)
    mistaken = np.flatnonzero((found.y == a) & (predicted == b))  # fewer than 20, so that all are used
    values = sb.explain.explain_pair(found.clf, found.X.iloc[mistaken], a, b).values
    np.testing.assert_allclose(entry["means"]["aForB"], values.mean(axis=0)[entry["features"]], rtol=1e-3, atol=1e-6)
    own = sb.explain.explain_pair(found.clf, found.X.iloc[[pair["rows"][0]]], a, b).values[0]
    j, text, odds = pair["reasons"][0][0]
    assert j == own.argmin()
    assert odds == pytest.approx(-own.min(), rel=1e-3)
    assert text == f"{found.X.iloc[pair['rows'][0], j]:.4g}"
    # Both directions of a pair are explained together.
    pairs = {frozenset((entry["a"], entry["b"])) for entry in told["deciding"]}
    assert len(pairs) == len(told["deciding"]) <= MOST_EXPLAINED_PAIRS


def test_learning_curves_end_where_the_model_is():
    found = case(26)
    told = numbers_of(found)
    curves = {metric["metric"]: {c["name"]: c for c in metric["curves"]} for metric in told["learning"]["metrics"]}
    scores = {entry["name"]: entry["value"] for entry in told["headline"]}
    assert curves["error"]["this report"]["values"][-1] == pytest.approx(1 - scores["accuracy"], rel=1e-3)
    assert curves["risk"]["this report"]["values"][-1] == pytest.approx(scores["log_loss"], rel=1e-3)
    assert curves["risk"]["training"]["rounds"] == list(range(1, 13))


def test_importance_and_calibration(few):
    found = case(3)
    overall = np.zeros(6)
    for j, share in few["importance"]["overall"]:
        overall[j] = share
    np.testing.assert_allclose(overall, found.clf.feature_importances_, atol=1e-4)
    of_class = np.zeros(6)
    for j, share in few["importance"]["classes"][1]:
        of_class[j] = share
    np.testing.assert_allclose(of_class, sb.explain.importances(found.clf, "gain", classes="class 1"), atol=1e-4)
    assert sum(few["calibration"]["count"]) == few["rows"] == 60
    assert few["calibration"]["few"] == [count < 5 for count in few["calibration"]["count"]]


def test_doubtful_labels_by_margin_and_by_folds():
    found = case(3)
    wrong = found.y.copy()
    wrong[7] = "class 2"
    told = numbers_of(Case(found.clf, found.X, wrong))["doubts"]
    assert told["how"] == "margins"
    assert told["rows"][0]["row"] == 7
    margins = [entry["margin"] for entry in told["rows"]]
    assert margins == sorted(margins)
    by_folds = numbers_of(Case(found.clf, found.X, wrong), folds=3)["doubts"]
    expected = sb.explain.doubtful_labels(found.clf, found.X, wrong, cv=3)
    assert by_folds["how"] == "folds"
    assert [entry["row"] for entry in by_folds["rows"]] == expected.rows[expected.margin < 0][:60].tolist()


def test_rows_of_the_fit_are_recognised():
    X, c = noisy_blobs(4, 30)
    clf = sb.SimplexBoostClassifier(random_state=0, calibration=0.8).fit(X, c)  # rounds are chosen
    assert clf.model_.temperature != 1
    fitted, new = Case(clf, X, c), Case(clf, *noisy_blobs(4, 30, seed=2))
    assert numbers_of(fitted)["fitted"]
    assert not numbers_of(new)["fitted"]


def test_sentences_name_what_matters(few):
    text = " ".join(entry["text"] for entry in few["sentences"])
    accuracy = few["headline"][0]["value"]
    assert f"right for {percent(accuracy)} of 60 rows" in text
    c, k, times = few["confusion"]["cells"][0]
    assert f"“class {c}” is taken for “class {k}” {times} time" in text
    assert [percent(share) for share in (0, 0.99999, 1, 0.5)] == [f"{n}\u00a0%" for n in ("0", "99.9", "100", "50.0")]


def test_model_card_tells_what_sets_hold(few):
    assert "Sets of classes" not in [group["title"] for group in few["card"]["groups"]]
    found = case(4)
    clf = decide.calibrate_sets(found.clf, found.X[::2], found.y[::2])
    X, y = found.X[1::2], found.y[1::2]
    told = next(g for g in numbers_of(Case(clf, X, y))["card"]["groups"] if g["title"] == "Sets of classes")
    S = decide.predict_sets(clf, X, 0.9)
    hit = S[np.arange(len(y)), np.searchsorted(clf.classes_, y)].mean()
    words = f"{hit:.1%} of the rows, {S.sum(axis=1).mean():.2f} classes on average"
    assert told["entries"][0] == ["Coverage 0.9", words]
    assert [name for name, _ in told["entries"]] == ["Coverage 0.9", "Coverage 0.95", "Coverage 0.99"]


def test_model_card(few):
    entries = {name: value for group in few["card"]["groups"] for name, value in group["entries"]}
    assert entries["Algorithm"] == "SimplexBoostClassifier"
    assert entries["Rows of the fit"] == "60"
    assert entries["Rounds"] == "12"
    assert entries["Time of the fit"].endswith("s")
    parameters = {name: (value, changed) for name, value, changed in few["card"]["parameters"]}
    assert parameters["max_leaf_nodes"] == ("15", True)
    assert parameters["learning_rate"] == ("'auto'", False)
    stream = io.BytesIO()
    case(3).clf.save(stream)
    assert entries["Size of the file"] == f"{stream.tell() / 1000:.1f} kB"


# ---- tables and classifiers of every kind ---------------------------------------------------------------------------


def kinds_of_tables():
    """The same rows as every kind of table."""
    frame = case(3).X
    return {
        "pandas": frame,
        "polars": pl.DataFrame({name: frame[name].to_numpy() for name in frame}),
        "pyarrow": pa.table({name: frame[name].to_numpy() for name in frame}),
    }


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_tables_of_every_kind_give_the_same_report(kind, few):
    told = numbers_of(Case(case(3).clf, kinds_of_tables()[kind], case(3).y))
    for part in ("headline", "confusion", "deciding", "doubts"):
        assert told[part] == few[part]


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix, np.ndarray.tolist])
def test_tables_without_names(kind):
    X, c = noisy_blobs(3, 20)
    clf = sb.SimplexBoostClassifier(n_estimators=5, random_state=0).fit(X, c)
    new, c = noisy_blobs(3, 20, seed=2)
    told = numbers_of(Case(clf, kind(new), c))
    assert told["features"] == 6
    assert told["featureNames"].items() <= {str(j): f"x{j}" for j in range(6)}.items()
    assert told["labels"] == ["0", "1", "2"]
    assert told["deciding"]


def test_cells_of_mixed_columns():
    frame = pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": ["x", "y", "y"], "c": [True, None, False]})
    cells = Cells(frame)
    assert [cells.text(i, 0) for i in range(3)] == ["1", "missing", "3"]
    assert cells.typical(np.array([0, 2]), 0) == "2"
    assert cells.typical(np.array([0, 1, 2]), 1) == "y"
    assert cells.typical(np.array([1]), 0) == "missing"
    assert cells.typical(np.array([], dtype=int), 0) == ""
    assert cells.text(0, 2) == "True"
    assert write_value("long " * 20).endswith("…") and len(write_value("long " * 20)) == 40
    assert write_value(pd.NA) == write_value(pd.NaT) == write_value(None) == "missing"
    assert take_rows(frame, np.array([2])).iloc[0, 1] == "y"


@pytest.mark.parametrize(
    ("clf", "K"),
    [
        (sb.AdaBoostMMClassifier(n_estimators=5, random_state=0), 4),
        (sb.MartiBoostClassifier(n_layers=3, random_state=0), 2),
        (sb.BoostingClassifier(learner="linear", n_estimators=3, random_state=0), 4),
        (sb.BoostingClassifier(learner=DecisionTreeRegressor(max_depth=2), n_estimators=3, random_state=0), 4),
        (sb.MulticlassSVC(random_state=0), 4),
        (sb.OutputCodeClassifier(LogisticRegression(), "one-vs-all", random_state=0), 4),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_classifier_has_a_report(clf, K):
    """Sections that a classifier has nothing to say about are empty; the page opens without them."""
    X, c = noisy_blobs(K, 25)
    told = numbers_of(Case(clf.fit(X, c), *noisy_blobs(K, 25, seed=2)))
    assert told["headline"][0]["name"] == "accuracy"
    assert (told["calibration"] is None) == (not hasattr(clf, "predict_proba"))
    assert (told["importance"] is None) == (not np.any(getattr(clf, "feature_importances_", 0)))
    explained = isinstance(clf, sb.AdaBoostMMClassifier) or getattr(clf, "learner", None) == "linear"
    assert bool(told["deciding"]) == explained
    assert render(told)


def test_absent_classes():
    """A class without training examples has no scores, and one without rows no recall."""
    X, c = noisy_blobs(3, 20)
    clf = sb.SimplexBoostClassifier(n_estimators=5, classes=[0, 1, 2, 9], random_state=0).fit(X, c)
    told = numbers_of(Case(clf, X[:50], np.append(c[:49], 9)))
    assert told["labels"] == ["0", "1", "2", "9"]
    assert told["classes"]["recall"][3] == 0
    assert told["classes"]["support"][3] == 1
    json.dumps(told, allow_nan=False)


def test_one_row_and_no_error():
    found = case(3)
    right = np.flatnonzero(found.clf.predict(found.X) == found.y)[:1]
    told = numbers_of(Case(found.clf, found.X.iloc[right], found.y[right]))
    accuracy, balanced = ({**entry, "low": round(entry["low"], 3)} for entry in told["headline"][:2])
    assert accuracy["low"] == balanced["low"] == 0.207  # one right row is no proof of anything
    assert told["confusion"]["cells"] == [] == told["deciding"]
    assert told["map"] is None
    assert "no error" in " ".join(entry["text"] for entry in told["sentences"])
    assert render(told)


def test_a_model_without_rounds():
    """No feature tells anything: there is no curve, and equally probable classes are not all among the first five."""
    X, c = np.ones((60, 1)), np.arange(60) % 6
    told = numbers_of(Case(sb.SimplexBoostClassifier(n_estimators=5).fit(X, c), X, c))
    assert told["learning"] is None
    assert told["deciding"] == []
    scores = {entry["name"]: entry["value"] for entry in told["headline"]}
    assert scores["accuracy"] == pytest.approx(1 / 6, rel=1e-4)
    assert scores["top_5_accuracy"] == pytest.approx(5 / 6, rel=1e-4)


def test_labels_are_one_line_of_text():
    X, c = noisy_blobs(3, 20)
    y = np.array(["", "two\nlines", "one"], dtype=object)[c]
    told = numbers_of(Case(sb.SimplexBoostClassifier(n_estimators=3, random_state=0).fit(X, y), X, y))
    assert told["labels"] == ["(empty)", "one", "two lines"]


# ---- the file -------------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Reads a page: its scripts, and what a browser would take for elements and attributes."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.scripts, self.title, self.inside = [], [], [], "", None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts[-1] += data
        elif self.inside == "title":
            self.title += data


def test_text_of_the_user_is_only_ever_text():
    found = evil()
    plain = Page(render(numbers_of(case(3), title="plain")))
    page = Page(render(numbers_of(found, title=EVIL[0])))
    assert page.tags == plain.tags
    assert page.title == f"{EVIL[0]} · model report"
    told = json.loads(next(script for script in page.scripts if script.startswith("{")))
    assert sorted(told["labels"]) == sorted(EVIL)
    assert set(told["featureNames"].values()) <= set(found.X.columns)
    assert "<i>first</i>" in told["featureNames"].values()
    assert len(page.scripts) == 4


def test_half_a_surrogate_pair_is_replaced():
    assert json.loads(write_json({"label": "a\ud800b"})) == {"label": "a?b"}


def test_page_loads_nothing(tmp_path, few):
    text = render(few)
    page = Page(text)
    assert not {"link", "img", "iframe", "object", "embed", "form"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name == "src"]
    assert all(value.startswith("#") for name, value in page.attributes if name == "href")
    policy = next(value for name, value in page.attributes if value and value.startswith("default-src"))
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
    assert not re.search(r"@import|url\(", text.split("</style>")[0])


def test_many_classes_stay_small(tmp_path):
    """700 classes, thousands of pairs of them confused."""
    found = case(700, 6, 3)
    sb.report(found.clf, found.X, found.y, tmp_path / "r.html")
    assert (tmp_path / "r.html").stat().st_size < LARGEST


def test_report_of_a_file_and_of_a_stream(tmp_path):
    found = case(3)
    names = [f"r{i}" for i in range(60)]
    sb.report(found.clf, found.X, found.y, tmp_path / "a.html", title="Here", data="there.csv", rows=names)
    stream = io.BytesIO()
    sb.report(found.clf, found.X, found.y, stream)
    told = json.loads(next(s for s in Page((tmp_path / "a.html").read_text("utf-8")).scripts if s.startswith("{")))
    assert told["title"] == "Here"
    assert told["firstRow"] is None
    assert told["confusion"]["pairs"][0]["rows"][0].startswith("r")
    assert ["Table", "there.csv"] in told["card"]["groups"][1]["entries"]
    assert stream.getvalue().startswith(b"<!doctype html>")


def test_numbers_that_json_does_not_have():
    assert round_numbers({"a": [float("nan"), 1.23456789, float("inf"), 3, None]}) == {
        "a": [None, 1.2346, None, 3, None]
    }


def test_wrong_calls(tmp_path):
    found = case(3)
    report = partial(sb.report, found.clf)
    with pytest.raises(ValueError, match="y holds 'other', which is none of the classes"):
        report(found.X, ["other"] * 60, tmp_path / "r.html")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        report(found.X, found.y, tmp_path / "no" / "r.html")
    with pytest.raises(TypeError, match="path=3 must be"):
        report(found.X, found.y, 3)
    with pytest.raises(ValueError, match="rows has 2 names for 60 rows"):
        report(found.X, found.y, tmp_path / "r.html", rows=["a", "b"])
    with pytest.raises(ValueError, match="several labels per row"):
        X, c = noisy_blobs(3, 20)
        several = sb.AdaBoostMHClassifier(n_estimators=2).fit(X, np.eye(3, dtype=int)[c])
        sb.report(several, X, c, tmp_path / "r.html")


@pytest.mark.parametrize("folds", [1, 21, True])
def test_folds_must_fit_the_classes(folds, tmp_path):
    X, c = noisy_blobs(3, 20)
    clf = sb.SimplexBoostClassifier(n_estimators=2).fit(X, c)
    with pytest.raises(ValueError, match=rf"folds={folds} is out of range; pass 2 to 20, the number of rows of the"):
        sb.report(clf, X, c, tmp_path / "r.html", folds=folds)
    with pytest.raises(ValueError, match="folds=2 needs a class with at least two rows"):
        sb.report(clf, X[[0, 20, 40]], c[[0, 20, 40]], tmp_path / "r.html", folds=2)
    assert list(tmp_path.iterdir()) == []
    assert list(tmp_path.iterdir()) == []
