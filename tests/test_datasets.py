"""Data sets: files, embedded sets, OpenML (without a network), and the three Gaussians."""

import os
from pathlib import Path
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pytest
import sklearn.datasets
from scipy.stats import multivariate_normal
from sklearn.datasets import load_digits

from simplexboost import datasets
from simplexboost.datasets import BAYES_ERROR, COVARIANCES, MEANS, available, load, make_three_gaussians
from simplexboost.datasets import three_gaussians_bayes as bayes


@pytest.fixture(scope="session")
def data_folder():
    """The folder of real files; made before `no_data_folder` hides it."""
    folder = os.environ.get(datasets.ENVIRONMENT, "")
    if not folder or not Path(folder).is_dir():
        pytest.skip(f"{datasets.ENVIRONMENT} names no folder")
    return Path(folder)


@pytest.fixture(autouse=True)
def no_data_folder(monkeypatch):
    monkeypatch.delenv(datasets.ENVIRONMENT, raising=False)


def small_set(**changes):
    """The arrays of a valid file: 4 + 2 rows, 3 features, 2 classes."""
    rng = np.random.default_rng(0)
    arrays = {
        "X_train": rng.normal(size=(4, 3)).astype(np.float32),
        "y_train": np.array([0, 1, 1, 0], dtype=np.uint8),
        "X_test": rng.normal(size=(2, 3)).astype(np.float32),
        "y_test": np.array([1, 0], dtype=np.uint8),
        "feature_names": np.array(["a", "b", "c"]),
        "categorical": np.array([False, True, False]),
        "class_names": np.array(["no", "yes"]),
    }
    return {**arrays, **changes}


def write(folder, name="tiny", **changes):
    np.savez_compressed(folder / f"{name}.npz", **small_set(**changes))
    return folder / f"{name}.npz"


# ---- files ----------------------------------------------------------------------------------------------------------


def test_file_round_trip(tmp_path):
    write(tmp_path)
    data = load("tiny", data_home=tmp_path)
    expected = small_set()
    for key in datasets.KEYS:
        np.testing.assert_array_equal(getattr(data, key), expected[key])
    assert data.y_train.dtype == np.intp
    assert repr(data) == "Dataset('tiny': 4 + 2 rows, 3 features, 2 classes)"


def test_argument_goes_before_environment_before_embedded(tmp_path, monkeypatch):
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir(), second.mkdir()
    write(second, "iris")
    monkeypatch.setenv(datasets.ENVIRONMENT, str(second))
    assert load("iris").X_train.shape == (4, 3)
    write(first, "iris", feature_names=np.array(["x", "y", "z"]))
    assert load("iris", data_home=first).feature_names.tolist() == ["x", "y", "z"]
    assert "iris" in available(first)


def test_available_lists_files(tmp_path):
    write(tmp_path, "my_own")
    assert "my_own" in available(tmp_path) and "my_own" not in available()
    assert available() == sorted({*datasets.EMBEDDED, *datasets.OPENML})


@pytest.mark.parametrize("keep", [0, 10, 200, 900])
def test_damaged_file(tmp_path, keep):
    path = write(tmp_path)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ValueError, match=r"tiny\.npz is no data set file, or it is damaged"):
        load("tiny", tmp_path)


def test_flipped_bytes_are_noticed(tmp_path):
    path = write(tmp_path)
    content = bytearray(path.read_bytes())
    content[150:160] = bytes(255 - b for b in content[150:160])
    path.write_bytes(bytes(content))
    with pytest.raises(ValueError, match="damaged"):
        load("tiny", tmp_path)


def test_missing_array(tmp_path):
    arrays = small_set()
    del arrays["class_names"]
    np.savez(tmp_path / "tiny.npz", **arrays)
    with pytest.raises(ValueError, match="class_names"):
        load("tiny", tmp_path)


def test_pickles_are_refused(tmp_path):
    write(tmp_path, class_names=np.array(["no", "yes"], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        load("tiny", tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X_test": np.zeros((2, 2))}, "must have 3 columns"),
        ({"y_train": np.zeros(3, dtype=int)}, "a label per row"),
        ({"y_test": np.array([0, 2])}, r"codes 0 \.\. 1"),
        ({"y_test": np.array([0.0, 1.0])}, r"codes 0 \.\. 1"),
        ({"X_train": np.full((4, 3), "a")}, "must hold numbers"),
        ({"categorical": np.array([0, 1, 0])}, "3 booleans"),
    ],
)
def test_arrays_that_do_not_fit(tmp_path, changes, message):
    write(tmp_path, **changes)
    with pytest.raises(ValueError, match=message):
        load("tiny", tmp_path)


def test_unknown_name_lists_the_known():
    with pytest.raises(ValueError, match=r"name='leter' is unknown; choose one of .*'letter'"):
        load("leter")


def test_missing_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"data_home=.*is no folder"):
        load("iris", tmp_path / "nowhere")


# ---- embedded sets --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(datasets.EMBEDDED))
def test_embedded(name):
    data, whole = load(name), datasets.EMBEDDED[name]()
    assert len(data.X_train) + len(data.X_test) == len(whole.data)
    np.testing.assert_array_equal(np.unique(data.y_train), np.arange(len(data.class_names)))
    train, test = np.bincount(data.y_train), np.bincount(data.y_test)
    np.testing.assert_allclose(test / (train + test), 0.25, atol=0.03)  # stratified
    np.testing.assert_array_equal(load(name).X_train, data.X_train)  # the same split every time


def test_embedded_rows_keep_their_labels():
    data = load("digits")
    X, y = load_digits(return_X_y=True)
    label_of = {row.tobytes(): label for row, label in zip(X, y, strict=True)}
    assert all(label_of[row.tobytes()] == label for row, label in zip(data.X_train, data.y_train, strict=True))


# ---- OpenML ---------------------------------------------------------------------------------------------------------


def answer(n_train_counts, n_rest, p=2, categories=None):
    """What OpenML would send: official training rows first; the first column says where a row stood."""
    labels = np.concatenate([np.repeat(np.arange(len(n_train_counts)), n_train_counts), np.arange(n_rest) % 3])
    X = np.zeros((len(labels), p))
    X[:, 0] = np.arange(len(labels))
    names = [f"f{j}" for j in range(p)]
    return SimpleNamespace(data=X, target=labels.astype(str).astype(object), feature_names=names, categories=categories)


@pytest.fixture
def openml(monkeypatch):
    """A table of one set, and a fetch_openml that sends what the test puts in ``reply``."""
    server = SimpleNamespace(reply=None, asked=[])

    def fetch(**arguments):
        server.asked.append(arguments)
        if isinstance(server.reply, Exception):
            raise server.reply
        return server.reply

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    monkeypatch.setitem(datasets.OPENML, "small", datasets.OpenMLSet(7, (20, 2), 3, 12, (3, 4, 5)))
    return server


def test_openml_official_split(openml):
    openml.reply = answer([5, 3, 4], 8, categories={"f1": ["u", "v"]})
    data = load("small")
    assert openml.asked[0]["data_id"] == 7
    assert data.X_train[:, 0].tolist() == list(range(12)) and data.X_test[:, 0].tolist() == list(range(12, 20))
    assert data.class_names.tolist() == ["0", "1", "2"] and data.categorical.tolist() == [False, True]


def test_openml_without_official_split(openml, monkeypatch):
    monkeypatch.setitem(datasets.OPENML, "small", datasets.OpenMLSet(7, (20, 2), 3))
    openml.reply = answer([5, 3, 4], 8)
    data = load("small")
    assert (len(data.X_train), len(data.X_test)) == (15, 5)
    assert (np.diff(data.X_train[:, 0]) > 0).all()  # file order is kept


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (answer([5, 3, 4], 9), r"should have \(20, 2, 3\)"),
        (answer([5, 3, 4], 8, p=3), r"should have \(20, 2, 3\)"),
        (answer([5, 7], 8), "not in the official order"),
    ],
)
def test_openml_sends_something_else(openml, reply, message):
    openml.reply = reply
    with pytest.raises(ValueError, match=message):
        load("small")


def test_openml_without_network(openml):
    openml.reply = URLError("no network")
    with pytest.raises(OSError, match=r"'small' could not be fetched from OpenML .*put small\.npz"):
        load("small")


def test_openml_table_is_consistent():
    for known in datasets.OPENML.values():
        assert sum(known.train_counts) == known.n_train < known.shape[0]
        assert len(known.train_counts) in (0, known.n_classes)


# ---- three Gaussians ------------------------------------------------------------------------------------------------


def check_bayes_error(n):
    data = make_three_gaussians(1, n, random_state=1)
    error = np.mean(bayes(data.X_test) != data.y_test)
    assert abs(error - BAYES_ERROR) < 4 * np.sqrt(BAYES_ERROR * (1 - BAYES_ERROR) / n)


def test_bayes_error():
    check_bayes_error(200_000)


@pytest.mark.slow
def test_bayes_error_to_four_digits():
    check_bayes_error(10_000_000)


def test_moments():
    data = make_three_gaussians(150_000, 1, random_state=0)
    for k in range(3):
        rows = data.X_train[data.y_train == k]
        assert abs(len(rows) / len(data.X_train) - 1 / 3) < 0.006
        deviation = np.sqrt(np.diag(COVARIANCES[k]) / len(rows))
        assert (np.abs(rows.mean(axis=0) - MEANS[k]) < 5 * deviation).all()
        np.testing.assert_allclose(np.cov(rows.T), COVARIANCES[k], atol=0.05)


def test_bayes_rule_is_the_largest_density():
    X = make_three_gaussians(500, 1, random_state=3).X_train
    densities = [multivariate_normal(m, c).pdf(X) for m, c in zip(MEANS, COVARIANCES, strict=True)]
    np.testing.assert_array_equal(bayes(X), np.argmax(densities, axis=0))


def test_seeds():
    a, b, c = (make_three_gaussians(10, 10, random_state=s) for s in (0, 0, 1))
    np.testing.assert_array_equal(a.X_train, b.X_train)
    assert not np.array_equal(a.X_train, c.X_train)


def test_sizes_must_be_positive():
    with pytest.raises(ValueError, match="n_test=0 is out of range"):
        make_three_gaussians(5, 0)


# ---- the real files, where they are ---------------------------------------------------------------------------------


@pytest.mark.data
def test_real_files(data_folder):
    names = [path.stem for path in data_folder.glob("*.npz")]
    for name in names:
        data = load(name, data_folder)
        assert set(np.unique(data.y_train)) == set(range(len(data.class_names)))
        known = datasets.OPENML.get(name)
        if known is not None and known.n_train:
            assert tuple(sorted(np.bincount(data.y_train).tolist())) == known.train_counts
