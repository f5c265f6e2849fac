"""C source: what the compiled functions say is what the classifier predicts."""

import ctypes
import subprocess

import numpy as np
import pandas as pd
import pytest
from export_cases import CASES, COSTLY, case, flagship, mixed, numbers, with_costs
from sklearn.exceptions import NotFittedError

import simplexboost as sb
from simplexboost import datasets

STRICT = ["-std=c99", "-O1", "-Wall", "-Wextra", "-pedantic", "-Werror", "-Wno-type-limits"]


class Compiled:
    """An exported classifier, compiled."""

    def __init__(self, clf, folder, **options):
        sb.export.c(clf, folder / "model.c", **options)
        built = ["cc", *STRICT, "-shared", "-fPIC", "-o", str(folder / "model.so"), str(folder / "model.c"), "-lm"]
        done = subprocess.run(built, capture_output=True, text=True, check=False)
        assert not done.returncode, done.stderr[:2000]
        self.library, self.K = ctypes.CDLL(str(folder / "model.so")), len(clf.classes_)
        self.classes = [t.decode() for t in (ctypes.c_char_p * self.K).in_dll(self.library, "model_classes")]
        self.category = lambda column, text: self.library.model_category(column, ctypes.c_char_p(text.encode()))

    def fill(self, name, X, dtype=np.float64):
        """What a function writes for every row, (n, K)."""
        out = np.full((len(X), self.K), -1, dtype=dtype)
        for x, row in zip(X, out, strict=True):
            getattr(self.library, name)(ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(row.ctypes.data))
        return out

    def labels(self, X):
        """The index of the label of every row."""
        return np.array([self.library.model_predict(ctypes.c_void_p(x.ctypes.data)) for x in X])


def passed(clf, X):
    """X as the C source takes it: text by its number, categories that are numbers as they are."""
    N = np.array(sb.export.numbers(clf, X), dtype=np.float64, order="C")
    columns = [None] * N.shape[1] if clf.categories_ is None else clf.categories_.columns
    for j, categories in enumerate(columns):
        if categories is not None and not isinstance(categories[0], str):
            N[:, j] = np.asarray(X.iloc[:, j] if isinstance(X, pd.DataFrame) else X[:, j], dtype=np.float64)
    return N


def check_same(clf, X, compiled):
    """Scores, probabilities and labels are those of the classifier."""
    N = passed(clf, X)
    U, wanted = clf.class_scores(X), clf.predict(X)
    np.testing.assert_allclose(compiled.fill("model_scores", N), U, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(compiled.fill("model_probabilities", N), clf.predict_proba(X), rtol=0, atol=1e-5)
    if wanted.ndim == 2:
        assert (compiled.fill("model_predict", N, np.int32) == wanted).all()
    else:
        clear = np.ptp(np.sort(U, axis=1)[:, -2:], axis=1) > 1e-5
        assert (clf.classes_[compiled.labels(N)] == wanted)[clear].all()
        assert compiled.classes == [str(label) for label in clf.classes_.tolist()]


@pytest.mark.cc
@pytest.mark.parametrize("name", CASES)
def test_predictions_are_those_of_the_classifier(name, tmp_path):
    found = case(name)
    check_same(found.clf, found.X, Compiled(found.clf, tmp_path))


@pytest.mark.cc
def test_categories_have_numbers(tmp_path):
    found = case("text and holes")
    compiled = Compiled(found.clf, tmp_path)
    told = sb.export.numbers(found.clf, found.X)[:, 1]
    for text, number in zip(found.X["town"], told, strict=True):
        assert pd.isna(text) or compiled.category(1, text) == number
    assert compiled.category(1, "nowhere") == compiled.category(0, "town 1") == compiled.category(99, "town 1") == -1


@pytest.mark.cc
def test_unknown_categories_may_share_a_number(tmp_path):
    compiled = Compiled(case("more text than numbers").clf, tmp_path)
    assert compiled.category(1, "nowhere") == 253
    assert compiled.category(0, "nowhere") == -1


@pytest.mark.cc
def test_texts_of_all_kinds(tmp_path):
    """Labels and categories may hold whatever C gives a meaning to, and the words of the template."""
    frame, _ = mixed()
    odd = np.array(['a "quoted" \\ one', "NAME_TABLES", "über ??/ 3", "line\nbreak"])
    frame["town"] = frame["town"].map(lambda town: odd[int(town[5:]) % 4] if isinstance(town, str) else town)
    y = odd[np.digitize(frame["weight"], [-0.5, 0.0, 0.5])]
    found = flagship(frame, y)
    compiled = Compiled(found.clf, tmp_path)
    check_same(found.clf, frame, compiled)
    assert {compiled.category(1, text) for text in odd} == set(range(4))


@pytest.mark.parametrize("name", COSTLY)
def test_probabilities_under_costs_are_refused_and_labels_are_not(name, tmp_path):
    found = with_costs(name)
    with pytest.raises(ValueError, match=r"cannot hold probabilities under a cost_matrix.*probabilities=False"):
        sb.export.c(found.clf, tmp_path / "model.c")
    assert not list(tmp_path.iterdir())
    sb.export.c(found.clf, tmp_path / "model.c", probabilities=False)
    assert "model_probabilities" not in (tmp_path / "model.h").read_text()


@pytest.mark.cc
def test_labels_without_probabilities(tmp_path):
    found = with_costs("logistic")
    compiled = Compiled(found.clf, tmp_path, probabilities=False)
    assert (found.clf.classes_[compiled.labels(found.X)] == found.clf.predict(found.X)).all()


def test_names_come_from_the_file(tmp_path):
    sb.export.c(case("flagship").clf, tmp_path / "3 trees-v1.c")
    assert "int _3_trees_v1_predict(const double *x);" in (tmp_path / "3 trees-v1.h").read_text()
    assert '#include "3 trees-v1.h"' in (tmp_path / "3 trees-v1.c").read_text()


@pytest.mark.cc
@pytest.mark.parametrize(
    "name", ['a "b"', "a\\b", "a\nb", "what??!", "two words", "größe", b"\xff".decode(errors="surrogateescape")]
)
def test_files_of_any_name_compile(name, tmp_path):
    """C has no way to include a header with a quotation mark in its name, and reads some question marks otherwise."""
    sb.export.c(case("flagship").clf, tmp_path / f"{name}.c")
    subprocess.run(["cc", *STRICT, "-c", f"{name}.c", "-o", "model.o"], cwd=tmp_path, check=True)
    subprocess.run(["cc", *STRICT, "-fsyntax-only", "-x", "c", f"{name}.h"], cwd=tmp_path, check=True)


@pytest.mark.cc
@pytest.mark.parametrize("name", ["my_tables", "TABLES", "UPPER_x", "N_TREES"])
def test_words_of_the_template_may_be_names_and_labels(name, tmp_path):
    X, c = numbers()
    clf = sb.GDMCBoostClassifier(n_estimators=2).fit(X, np.array(["TABLES", "NAME_x", "K", "HEADER"])[c % 4])
    sb.export.c(clf, tmp_path / f"{name}.c")
    subprocess.run(["cc", "-std=c99", "-Werror", "-c", f"{name}.c"], cwd=tmp_path, check=True)
    assert '"TABLES"' in (tmp_path / f"{name}.c").read_text()


def test_what_cannot_be_exported_is_refused(tmp_path):
    X, c = numbers(K=2)
    with pytest.raises(NotFittedError):
        sb.export.c(sb.GDMCBoostClassifier(), tmp_path / "model.c")
    with pytest.raises(TypeError, match="MartiBoostClassifier cannot be exported"):
        sb.export.c(sb.MartiBoostClassifier(n_layers=3).fit(X, c), tmp_path / "model.c")
    with pytest.raises(ValueError, match=r"must end in \.c"):
        sb.export.c(case("flagship").clf, tmp_path / "model.cpp")


@pytest.mark.cc
@pytest.mark.data
@pytest.mark.parametrize("name", ["letter", "aloi27"])
def test_real_sets(name, tmp_path):
    data = datasets.load(name)
    clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(data.X_train, data.y_train)
    check_same(clf, data.X_test[:500], Compiled(clf, tmp_path))
