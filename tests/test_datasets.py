"""Data sets: files, embedded sets, OpenML (without a network), and the generators."""

import gzip
import hashlib
import itertools
import json
import os
from dataclasses import replace
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
    return Path(os.environ[datasets.ENVIRONMENT])


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
    assert openml.asked == [{"data_id": 7, "as_frame": False, "parser": "liac-arff"}]
    assert data.X_train[:, 0].tolist() == list(range(12)) and data.X_test[:, 0].tolist() == list(range(12, 20))
    assert data.class_names.tolist() == ["0", "1", "2"] and data.categorical.tolist() == [False, True]


def test_openml_without_official_split(openml, monkeypatch):
    monkeypatch.setitem(datasets.OPENML, "small", datasets.OpenMLSet(7, (20, 2), 3))
    openml.reply = answer([5, 3, 4], 8)
    data = load("small")
    assert (len(data.X_train), len(data.X_test)) == (15, 5)
    assert (np.diff(data.X_train[:, 0]) > 0).all()  # file order is kept


def test_openml_keeps_some_columns_and_rows(openml, monkeypatch):
    monkeypatch.setitem(datasets.OPENML, "small", datasets.OpenMLSet(7, (20, 3), 3, 12, (3, 4, 5), columns=2, rows=15))
    openml.reply = answer([5, 3, 4], 8, p=3, categories={"f2": ["u", "v"]})
    data = load("small")
    assert (data.X_train.shape, data.X_test.shape) == ((12, 2), (3, 2))
    assert data.feature_names.tolist() == ["f1", "f2"] and data.categorical.tolist() == [False, True]


def test_openml_counts_classes(openml, monkeypatch):
    openml.reply = answer([5, 3, 4], 8)  # 8, 6, 6 in all
    monkeypatch.setitem(datasets.OPENML, "small", datasets.OpenMLSet(7, (20, 2), 3, counts=(6, 6, 8)))
    assert len(load("small").X_train) == 15
    monkeypatch.setitem(datasets.OPENML, "small", datasets.OpenMLSet(7, (20, 2), 3, counts=(5, 7, 8)))
    with pytest.raises(ValueError, match=r"data set 7 has other class counts than 'small': \[8 6 6\]"):
        load("small")


def test_a_class_with_one_row_is_trained_on(openml, monkeypatch):
    monkeypatch.setitem(datasets.OPENML, "small", datasets.OpenMLSet(7, (13, 2), 4))
    openml.reply = answer([4, 4, 4, 1], 0)
    data = load("small")
    assert np.bincount(data.y_train).tolist() == [3, 3, 3, 1] and len(data.y_test) == 3


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (answer([5, 3, 4], 9), r"data set 7 has .* = \(21, 2, 3\); 'small' should have \(20, 2, 3\)"),
        (answer([5, 3, 4], 8, p=3), r"= \(20, 3, 3\); 'small' should have \(20, 2, 3\)"),
        (answer([5, 3, 3, 1], 8), r"= \(20, 2, 4\); 'small' should have \(20, 2, 3\)"),
        (answer([5, 7], 8), "rows of 'small' are not in the official order"),
    ],
)
def test_openml_sends_something_else(openml, reply, message):
    openml.reply = reply
    with pytest.raises(ValueError, match=message):
        load("small")


@pytest.mark.parametrize("error", [URLError("no network"), TimeoutError("no network")])
def test_openml_without_network(openml, error):
    openml.reply = error
    message = (
        r"'small' could not be fetched from OpenML \(.*no network.*put small\.npz .* data_home or SIMPLEXBOOST_DATA"
    )
    with pytest.raises(OSError, match=message) as caught:
        load("small")
    assert caught.value.__cause__ is error


def test_openml_refuses(openml):
    """What OpenML itself says is passed on."""
    openml.reply = ValueError("Dataset with data_id 7 not found.")
    with pytest.raises(ValueError, match="Dataset with data_id 7 not found"):
        load("small")


def test_openml_is_the_last_resort(openml, tmp_path):
    write(tmp_path, "small")
    assert load("small", tmp_path).X_train.shape == (4, 3) and not openml.asked


def openml_copy(folder, data_id, attributes, rows):
    """What scikit-learn keeps of a set that it fetched once: the ARFF file and three descriptions of it."""
    arff = "@relation small\n" + "".join(f"@attribute {name} {kind}\n" for name, kind in attributes.items())
    arff += "@data\n" + "\n".join(rows) + "\n"
    features = [
        {
            "name": name,
            "index": str(i),
            "data_type": "nominal" if kind.startswith("{") else "numeric",
            "is_target": str(name == "class").lower(),
            "is_row_identifier": str(name == "id").lower(),
            "is_ignore": "false",
            "number_of_missing_values": "0",
        }
        for i, (name, kind) in enumerate(attributes.items())
    ]
    description = {"status": "active", "format": "ARFF", "description": "", "name": "small", "version": "1"}
    description |= {"url": "https://www.openml.org/data/v1/download/1/small.arff", "file_id": "1"}
    description |= {"md5_checksum": hashlib.md5(arff.encode()).hexdigest()}
    api = "api/v1/json/data"
    files = {
        f"{api}/{data_id}": json.dumps({"data_set_description": description}),
        f"{api}/features/{data_id}": json.dumps({"data_features": {"feature": features}}),
        f"{api}/qualities/{data_id}": json.dumps(
            {"data_qualities": {"quality": [{"name": "NumberOfInstances", "value": str(len(rows))}]}}
        ),
        "data/v1/download/1/small.arff": arff,
        "data/v1/download/1": arff,  # where scikit-learn 1.6 keeps it
    }
    for path, content in files.items():
        copy = folder / "openml/openml.org" / f"{path}.gz"
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(gzip.compress(content.encode()))


def test_openml_by_scikit_learn(tmp_path, monkeypatch):
    """No faked fetch here: scikit-learn reads its own copy, with nominal columns, a missing value and row numbers."""
    attributes = {"id": "numeric", "colour": "{red, green}", "size": "numeric", "class": "{yes, no}"}
    rows = ["1,green,0.5,no", "2,red,?,yes", "3,red,1.5,yes", "4,green,2.5,yes", "5,green,3.5,no"]
    openml_copy(tmp_path, 7, attributes, rows)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    monkeypatch.setitem(datasets.OPENML, "small", datasets.OpenMLSet(7, (5, 2), 2, 3, (1, 2), (2, 3)))
    data = load("small")
    assert data.class_names.tolist() == ["no", "yes"] and data.feature_names.tolist() == ["colour", "size"]
    assert data.categorical.tolist() == [True, False]
    np.testing.assert_array_equal(data.X_train, [[1, 0.5], [0, np.nan], [0, 1.5]])  # codes in the file's order
    np.testing.assert_array_equal(data.X_test, [[1, 2.5], [1, 3.5]])
    assert data.y_train.tolist() == [0, 1, 1] and data.y_test.tolist() == [1, 0]


def test_openml_table_is_consistent():
    for known in datasets.OPENML.values():
        assert sum(known.train_counts) == known.n_train < known.shape[0]
        assert len(known.train_counts) in (0, known.n_classes)
        assert sum(known.counts) in (0, known.shape[0]) and len(known.counts) in (0, known.n_classes)


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


# ---- Long and Servedio ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [4000, 10_000, 7])
def test_long_servedio_groups(n):
    """A quarter have 21 bits that agree with the label, a quarter the first 11, half 5 of those and 6 of the others."""
    data = datasets.make_long_servedio(n, n, random_state=0)
    for X, y in ((data.X_train, data.y_train), (data.X_test, data.y_test)):
        assert X.shape == (n, 21) and set(np.unique(X)) <= {0.0, 1.0}
        agrees = y[:, None] == X
        kinds = [tuple(pair) for pair in np.column_stack([agrees[:, :11].sum(axis=1), agrees[:, 11:].sum(axis=1)])]
        counts = [kinds.count(kind) for kind in ((11, 10), (11, 0), (5, 6))]
        assert counts == [n // 4, n // 4, n - 2 * (n // 4)]
        np.testing.assert_array_equal(X.sum(axis=1) > 10, y)  # the majority is always right


def test_long_servedio_penalizers_are_drawn_evenly():
    data = datasets.make_long_servedio(40_000, 1, random_state=0)
    agrees = data.y_train[:, None] == data.X_train
    penalizers = agrees[agrees[:, :11].sum(axis=1) == 5]
    rates = penalizers.mean(axis=0)
    assert np.abs(rates[:11] - 5 / 11).max() < 0.02 and np.abs(rates[11:] - 0.6).max() < 0.02
    assert abs(data.y_train.mean() - 0.5) < 0.01


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.5])
def test_long_servedio_noise_is_in_training_labels_only(noise):
    data = datasets.make_long_servedio(20_000, 2000, label_noise=noise, random_state=1)
    wrong = (data.X_train.sum(axis=1) > 10) != data.y_train
    assert abs(wrong.mean() - noise) < 4 * np.sqrt(noise * (1 - noise) / 20_000) + 1e-12
    np.testing.assert_array_equal(data.X_test.sum(axis=1) > 10, data.y_test)


# ---- Madelon --------------------------------------------------------------------------------------------------------


def test_madelon_parameters_are_those_of_the_paper():
    rng = np.random.default_rng(0)
    draws = [datasets.MadelonParameters.draw(rng) for _ in range(3000)]
    ranges = {"n_informative": (2, 10), "n_redundant": (0, 3), "n_repeated": (0, 3), "n_useless": (0, 3)}
    ranges |= {"n_classes": (2, 5), "n_clusters": (2, 5)}
    for name, (low, high) in ranges.items():
        assert {getattr(draw, name) for draw in draws} == set(range(low, high + 1))
    assert all(0 <= d.label_noise <= 0.25 and 300 <= d.n_train <= 3000 for d in draws)
    assert all(d.n_classes * d.n_clusters <= 2**d.n_informative for d in draws)


def test_madelon_like():
    parameters = datasets.MadelonParameters(5, 2, 1, 3, 4, 3, 0.25, 4000)
    data = datasets.make_madelon_like(parameters, n_test=3000, random_state=0)
    assert data.X_train.shape == (4000, 11) and data.X_test.shape == (3000, 11)
    rank = np.linalg.matrix_rank(data.X_test - data.X_test.mean(axis=0), tol=1e-6)
    assert rank == 8  # informative and useless ones; the redundant and repeated depend on them
    clean = replace(parameters, label_noise=0.0)
    again = datasets.make_madelon_like(clean, n_test=3000, random_state=0)
    np.testing.assert_array_equal(again.X_train, data.X_train)
    np.testing.assert_array_equal(again.y_test, data.y_test)
    changed = np.mean(again.y_train != data.y_train)
    assert abs(changed - 0.25 * 3 / 4) < 0.03  # one new label in K is the old one
    drawn = datasets.make_madelon_like(n_test=10, random_state=3)
    assert 300 <= len(drawn.X_train) <= 3000


# ---- counter-examples -----------------------------------------------------------------------------------------------


def test_ova_example():
    """Golden numbers of the lecture's example: 20 % by independent linear rules, none by joint ones."""
    golden = json.loads((Path(__file__).parent / "golden/datasets.json").read_text())["ova_example"]
    data = datasets.make_ova_suboptimal(100, 50, random_state=0)
    points, rows = np.unique(data.X_train, axis=0, return_inverse=True)
    np.testing.assert_array_equal(points, golden["X"])
    np.testing.assert_allclose(np.bincount(data.y_train) / 100, golden["freq"])
    np.testing.assert_array_equal(rows, data.y_train)
    scores = data.X_train @ np.array(golden["W"]).T
    np.testing.assert_allclose(scores, np.array(golden["scores"])[rows])
    assert np.mean(scores.argmax(axis=1) != data.y_train) == golden["joint_error"]
    angles = np.linspace(0, 2 * np.pi, 721)[:-1]
    rules = np.column_stack([np.cos(angles), np.sin(angles)]) @ data.X_train.T > 1e-9  # homogeneous linear rules
    assert np.mean(rules != (data.y_train == 1), axis=1).min() == golden["ova_error"]
    assert abs(datasets.make_ova_suboptimal(500, 1, spread=0.3, random_state=0).X_train[:, 1].std() - 0.3) < 0.05


def test_samme_counterexample():
    """Whatever the weights, half of them can be right; whatever the rule, half the examples are wrong."""
    data = datasets.make_samme_counterexample(n_classes=4, n_copies=2)
    X, y = data.X_train[:, 0], data.y_train
    assert len(X) == 16 and np.array_equal(np.bincount(y), [4] * 4) and np.array_equal(data.X_test, data.X_train)
    for rule in itertools.product(range(4), repeat=4):
        assert np.mean(np.array(rule)[X.astype(int)] != y) >= 0.5
    loss, error = samme_by_hand(X.astype(int), y, 4, rounds=60)
    assert loss < 1e-3 and error >= 0.5


def samme_by_hand(x, y, K, rounds):
    """SAMME with the best function of x as its learner: the mean loss (240) and the error at the end."""
    votes, w = np.zeros((K, K)), np.full(len(y), 1 / len(y))
    for _ in range(rounds):
        rule = np.array([np.bincount(y[x == v], w[x == v], K).argmax() for v in range(K)])
        error = w[rule[x] != y].sum()
        assert error <= 0.5 + 1e-9 < 1 - 1 / K
        alpha = np.log((1 - error) / error) + np.log(K - 1)
        votes[np.arange(K), rule] += alpha
        w = w * np.exp(alpha * (rule[x] != y))
        w /= w.sum()
    scores = (K * votes - votes.sum(axis=1, keepdims=True)) / (K - 1)  # ⟨ȳ_k, f⟩ up to the step's scale
    return np.exp(-scores[x, y] / K).mean(), np.mean(votes.argmax(axis=1)[x] != y)


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (datasets.make_long_servedio, {"label_noise": 0.6}, r"label_noise=0.6 is out of range"),
        (datasets.make_long_servedio, {"n_train": 0}, "n_train=0 is out of range"),
        (datasets.make_ova_suboptimal, {"spread": -1.0}, "spread=-1.0 is out of range"),
        (datasets.make_samme_counterexample, {"n_classes": 2}, "n_classes=2 is out of range"),
    ],
)
def test_bad_parameters(make, arguments, message):
    with pytest.raises(ValueError, match=message):
        make(**arguments)


def test_generators_repeat_themselves():
    for make in (datasets.make_long_servedio, datasets.make_ova_suboptimal):
        a, b, c = (make(50, 50, random_state=seed) for seed in (0, 0, 1))
        np.testing.assert_array_equal(a.X_train, b.X_train)
        np.testing.assert_array_equal(a.y_test, b.y_test)
        assert not np.array_equal(a.X_train, c.X_train)
    a, b = (datasets.make_madelon_like(n_test=20, random_state=5) for _ in range(2))
    np.testing.assert_array_equal(a.X_train, b.X_train)


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
