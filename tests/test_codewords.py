"""Codewords: the matrices, how far apart they are, the packing solver, and the parts an estimator takes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.spatial.distance import pdist
from sklearn.base import clone

from simplexboost.parts import codewords as cw
from simplexboost.parts.codewords import packing
from simplexboost.parts.codewords.base import check_codewords
from simplexboost.theory.capacity import max_capacity

GOLDEN = json.loads((Path(__file__).parent / "golden" / "codewords.json").read_text())


def unit_code(K: int, d: int, seed: int) -> np.ndarray:
    """K random unit rows (K, d)."""
    Y = np.random.default_rng(seed).standard_normal((K, d))
    return Y / np.linalg.norm(Y, axis=1, keepdims=True)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


# -- matrices ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3, 4, 5, 8, 17, 100, 700])
def test_simplex_properties(K: int) -> None:
    Y = cw.Simplex().matrix(K)
    gram = np.full((K, K), -1 / (K - 1))
    np.fill_diagonal(gram, 1.0)
    assert Y.shape == (K, K - 1)
    assert_allclose(Y @ Y.T, gram, atol=1e-13)
    assert_allclose(Y.sum(axis=0), 0, atol=1e-12)
    assert cw.min_distance(Y) == pytest.approx(2 * K / (K - 1), abs=1e-12)


@pytest.mark.parametrize("K", [3, 4, 7, 30])
def test_simplex_follows_the_papers_recursion(K: int) -> None:
    Y, smaller = cw.Simplex().matrix(K), cw.Simplex().matrix(K - 1)
    assert_array_equal(Y[0], np.eye(K - 1)[0])
    assert_allclose(Y[1:, 0], -1 / (K - 1), rtol=1e-14)
    assert_allclose(Y[1:, 1:], np.sqrt(K * (K - 2)) / (K - 1) * smaller, atol=1e-14)


@pytest.mark.parametrize("K", GOLDEN["simplex"])
def test_simplex_golden(K: str) -> None:
    golden = GOLDEN["simplex"][K]
    Y = cw.Simplex().matrix(int(K))
    assert_allclose(Y, golden["Y"], atol=1e-14)
    assert cw.min_distance(Y) == pytest.approx(golden["dmin_sq"], abs=1e-13)
    assert cw.margin_capacity(Y) == pytest.approx(golden["capacity"], abs=1e-12)
    assert cw.capacity_bound(int(K)) == pytest.approx(golden["capacity"], abs=1e-15)


def test_simplex_pads_with_zero_columns() -> None:
    Y = cw.Simplex(6).matrix(4)
    assert_array_equal(Y[:, :3], cw.Simplex().matrix(4))
    assert_array_equal(Y[:, 3:], np.zeros((4, 3)))


def test_samme_is_a_scaled_simplex() -> None:
    K = 5
    ours, simplex = cw.SAMMECode().matrix(K), cw.Simplex().matrix(K)
    assert_allclose(ours @ ours.T, K / (K - 1) * simplex @ simplex.T, atol=1e-14)


def test_one_vs_all_and_all_pairs() -> None:
    assert_array_equal(cw.OneVsAllCode().matrix(4).sum(axis=0), [-2, -2, -2, -2])
    assert_array_equal(np.diag(cw.OneVsAllCode().matrix(4)), np.ones(4))
    pairs = cw.AllPairs().matrix(5)
    assert pairs.shape == (5, 10)
    assert_array_equal(np.abs(pairs).sum(axis=0), np.full(10, 2))
    assert_array_equal(pairs.sum(axis=0), np.zeros(10))
    assert_array_equal(pairs.argmax(axis=0) < pairs.argmin(axis=0), np.ones(10, bool))
    assert len(np.unique(pairs, axis=1).T) == 10


@pytest.mark.parametrize("K", [2, 3, 4, 7])
def test_exhaustive_has_every_split_once(K: int) -> None:
    Y = cw.Exhaustive().matrix(K)
    assert Y.shape == (K, 2 ** (K - 1) - 1)
    assert_array_equal(np.abs(Y), np.ones_like(Y))
    assert (np.abs(Y.sum(axis=0)) < K).all()
    both_signs = np.unique(np.hstack([Y, -Y]), axis=1)
    assert both_signs.shape[1] == 2 * Y.shape[1]


def hamming(Y: np.ndarray) -> float:
    """Smallest generalised Hamming distance, by the definition."""
    K = len(Y)
    return min(float((1 - Y[k] * Y[j]).sum() / 2) for k in range(K) for j in range(k))


@pytest.mark.parametrize(
    ("code", "letters", "factor"), [(cw.RandomDense, [-1, 1], 10), (cw.RandomSparse, [-1, 0, 1], 15)]
)
@pytest.mark.parametrize("K", [2, 3, 10, 60])
def test_random_codes_are_valid(code, letters, factor, K: int) -> None:
    Y = code().matrix(K, 1)
    assert Y.shape == (K, int(np.ceil(factor * np.log2(K))))
    assert set(np.unique(Y)) <= set(letters)
    assert (Y.max(axis=0) == 1).all() and (Y.min(axis=0) == -1).all()
    assert len(np.unique(Y, axis=0)) == K and Y.any(axis=1).all()
    assert_array_equal(Y, code().matrix(K, 1))
    assert (code().matrix(K, 2) != Y).any()


@pytest.mark.parametrize(("code", "letters"), [(cw.RandomDense, [-1, 1]), (cw.RandomSparse, [-1, 0, 0, 1])])
def test_random_codes_are_the_best_of_many(code, letters) -> None:
    Y = code(24).matrix(12, 0)
    single = [hamming(rng.choice(letters, (12, 24))) for rng in map(np.random.default_rng, range(100))]
    assert hamming(Y) >= max(single)


def test_random_sparse_letters_have_allweins_probabilities() -> None:
    assert np.mean(cw.RandomSparse(200).matrix(200) == 0) == pytest.approx(0.5, abs=0.01)


# -- measures ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3, 50, 3000])  # 3000 takes several blocks
def test_min_distance_is_squared_and_exact(K: int) -> None:
    Y = np.random.default_rng(K).standard_normal((K, 3))
    assert cw.min_distance(Y) == pytest.approx(pdist(Y).min() ** 2, rel=1e-12)
    Y[-1] = Y[0]
    assert cw.min_distance(Y) == 0.0


@pytest.mark.parametrize("case", GOLDEN["capacity"], ids=lambda case: case["name"])
def test_capacity_golden(case: dict) -> None:
    assert cw.margin_capacity(case["Y"]) == pytest.approx(case["capacity"], abs=1e-10)
    assert cw.min_distance(case["Y"]) == pytest.approx(case["dmin_sq"], abs=1e-12)


@pytest.mark.parametrize("case", GOLDEN["max_capacity_numeric"], ids=lambda case: f"{case['K']}-{case['d']}")
def test_capacity_of_the_best_known_sets(case: dict) -> None:
    assert cw.margin_capacity(case["Y"]) == pytest.approx(case["capacity"], abs=1e-10)


def test_largest_distance_is_not_largest_capacity() -> None:
    case = next(case for case in GOLDEN["max_capacity_numeric"] if (case["K"], case["d"]) == (7, 3))
    far = cw.MaxMin(3, centered=True).matrix(7)
    assert cw.min_distance(far) > cw.min_distance(case["Y"]) + 0.1
    assert cw.margin_capacity(far) < cw.margin_capacity(case["Y"]) - 0.004


@pytest.mark.parametrize("K", [2, 3, 6, 20])
def test_capacity_closed_forms(K: int) -> None:
    angle = 2 * np.pi * np.arange(K) / K
    polygon = np.column_stack([np.cos(angle), np.sin(angle)])
    assert cw.margin_capacity(polygon) == pytest.approx(np.sin(np.pi / K) ** 2, abs=1e-10)
    assert cw.margin_capacity(cw.Canonical().matrix(K)) == pytest.approx(0.5 * np.sqrt(K / (K - 1)), abs=1e-10)
    of_samme = cw.capacity_bound(K) * np.sqrt(K / (K - 1))
    assert cw.margin_capacity(cw.SAMMECode().matrix(K)) == pytest.approx(of_samme, abs=1e-10)


def capacity_program(Y: np.ndarray) -> float:
    """The definition: min_k max_{‖v‖<=1} min_{l≠k} ½ <y_k - y_l, v>, a convex program per class."""
    values = []
    for k in range(len(Y)):
        half = 0.5 * (Y[k] - np.delete(Y, k, axis=0))
        constraints = [
            {"type": "ineq", "fun": lambda x, half=half: half @ x[:-1] - x[-1]},
            {"type": "ineq", "fun": lambda x: 1 - x[:-1] @ x[:-1]},
        ]
        start = np.append(Y[k] / np.linalg.norm(Y[k]), 0.0)
        start[-1] = (half @ start[:-1]).min()
        best = minimize(lambda x: -x[-1], start, constraints=constraints, method="SLSQP", options={"ftol": 1e-14})
        values.append(best.x[-1])
    return min(values)


@pytest.mark.parametrize(("K", "d"), [(2, 1), (4, 2), (5, 3), (8, 3), (9, 5), (6, 8)])
@pytest.mark.parametrize("seed", range(3))
def test_capacity_equals_its_program(K: int, d: int, seed: int) -> None:
    Y = unit_code(K, d, seed) if d > 1 else np.array([[1.0], [-0.5]])
    assert cw.margin_capacity(Y) == pytest.approx(capacity_program(Y), abs=1e-7)


@given(K=st.integers(2, 10), d=st.integers(2, 6), seed=st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_capacity_bounds(K: int, d: int, seed: int) -> None:
    Y = unit_code(K, d, seed)
    distance, capacity = cw.min_distance(Y), cw.margin_capacity(Y)
    assert distance / 4 <= capacity + 1e-10
    assert capacity <= np.sqrt(distance) / 2 + 1e-10
    assert capacity <= cw.capacity_bound(K) + 1e-10


def test_printed_upper_bound_is_false() -> None:
    case = GOLDEN["lemma2_counterexample"]
    capacity, distance = cw.margin_capacity(case["Y"]), cw.min_distance(case["Y"])
    assert capacity == pytest.approx(case["capacity"], abs=1e-10)
    assert distance / 2 < capacity <= np.sqrt(distance) / 2


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_capacity_is_zero_in_the_hull_and_scales(scale: float) -> None:
    corners = cw.Simplex().matrix(5)
    inside = np.array([0.1, 0.2, 0.3, 0.15, 0.25]) @ corners
    on_a_face = np.array([0.5, 0.3, 0.2, 0.0, 0.0]) @ corners
    assert cw.margin_capacity(scale * np.vstack([corners, inside])) == 0.0
    assert cw.margin_capacity(scale * np.vstack([corners, on_a_face])) == 0.0
    assert cw.margin_capacity(scale * np.vstack([corners, corners[2]])) == 0.0
    assert cw.margin_capacity(scale * corners) == pytest.approx(0.625 * scale, rel=1e-9)


# -- max-min codes ----------------------------------------------------------------------------------------------------

SQUARED_DISTANCE = {  # (K, d): the known optimum
    **{(K, 2): 4 * np.sin(np.pi / K) ** 2 for K in (5, 6, 7, 10, 40)},
    (7, 3): 1.5797233745,
    (8, 3): 2 - 2 * (np.sqrt(8) - 1) / 7,
    (9, 3): 4 / 3,
    (10, 3): 1.1912113496,
    (11, 3): 2 - 2 / np.sqrt(5),
    (12, 3): 2 - 2 / np.sqrt(5),
    (10, 4): 5 / 3,
    (16, 5): 1.6,  # the half cube
    (27, 6): 1.5,  # the 27 lines
    **{(K, d): 2 * K / (K - 1) for K, d in ((2, 1), (2, 3), (4, 3), (5, 4), (30, 29), (3, 7))},
    **{(K, d): 2.0 for K, d in ((4, 2), (5, 3), (6, 3), (6, 4), (7, 4), (8, 4), (26, 16), (100, 64))},
}
CENTERED = {(7, 3): 1.5034880877, (10, 3): 4 - 2 * np.sqrt(2), (11, 3): 1.0415168315}


def assert_unit_rows(Y: np.ndarray, K: int, d: int) -> None:
    assert Y.shape == (K, d) and Y.dtype == np.float64
    assert_allclose((Y**2).sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize(("K", "d"), SQUARED_DISTANCE)
def test_max_min_reaches_the_known_optimum(K: int, d: int) -> None:
    Y = cw.MaxMin(d).matrix(K)
    assert_unit_rows(Y, K, d)
    assert cw.min_distance(Y) == pytest.approx(SQUARED_DISTANCE[K, d], abs=1e-6)


@pytest.mark.parametrize(("K", "d"), CENTERED)
def test_centered_max_min_reaches_the_best_known(K: int, d: int) -> None:
    Y = cw.MaxMin(d, centered=True).matrix(K)
    assert_unit_rows(Y, K, d)
    assert_allclose(Y.sum(axis=0), 0, atol=1e-12)
    assert cw.min_distance(Y) == pytest.approx(CENTERED[K, d], abs=1e-6)


@pytest.mark.parametrize("case", GOLDEN["packings"], ids=lambda case: f"{case['K']}-{case['d']}")
def test_max_min_golden(case: dict) -> None:
    K, d = case["K"], case["d"]
    free, centered = cw.MaxMin(d).matrix(K), cw.MaxMin(d, centered=True).matrix(K)
    assert cw.min_distance(free) > case["numeric_uncentred"] - 1e-6
    assert cw.min_distance(centered) > case["numeric_centred"] - 1e-6
    assert_allclose(centered.sum(axis=0), 0, atol=1e-12)


@pytest.mark.parametrize(("K", "d"), [(2, 3), (6, 4), (9, 2), (200, 16)])
def test_centered_holds_in_closed_forms_and_large_codes(K: int, d: int) -> None:
    Y = cw.MaxMin(d, centered=True).matrix(K)
    assert_unit_rows(Y, K, d)
    assert_allclose(Y.sum(axis=0), 0, atol=1e-12)


def test_max_min_depends_on_its_seed_only() -> None:
    first = cw.MaxMin(10).matrix(60, 3)
    assert_array_equal(first, cw.MaxMin(10).matrix(60, np.random.default_rng(3)))
    assert np.abs(first - cw.MaxMin(10).matrix(60, 4)).max() > 1e-3


def test_large_code_beats_gaussian_codes() -> None:
    K, d = 1000, 32
    gaussian = max(2 - 2 * packing.max_cosine(unit_code(K, d, seed).astype(np.float32)) for seed in range(100))
    Y = cw.MaxMin(d).matrix(K)
    assert_unit_rows(Y, K, d)
    assert cw.min_distance(Y) > 1.44  # 1.465 measured
    assert cw.min_distance(Y) > 2 * gaussian


def test_gradient_by_blocks_equals_the_energy_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = np.stack([unit_code(13, 4, seed) for seed in range(2)])
    beta, ceiling = np.full((2, 1, 1), 7.0), np.full((2, 1, 1), 0.9)
    expected = np.empty_like(codes)
    for s, Y in enumerate(codes):
        for k in range(13):
            expected[s, k] = sum(np.exp(7 * (Y[k] @ Y[j] - 0.9)) * Y[j] for j in range(13) if j != k)
    off_diagonal = [[max(Y[k] @ Y[j] for j in range(13) if j != k) for k in range(13)] for Y in codes]
    for entries in (2**20, 2 * 13 * 5, 1):
        monkeypatch.setattr(packing, "GRAM_ENTRIES", entries)
        gradient, top, gap = packing.attraction(codes, beta, ceiling)
        # the own codeword enters with e^{β(-1 - ceiling)}: radial, removed by the projection, and tiny
        assert_allclose(gradient, expected, atol=3e-6)
        assert_allclose(top.ravel(), np.max(off_diagonal, axis=1))
        assert_allclose(1 - gap.ravel(), np.mean(off_diagonal, axis=1))


def test_polish_takes_a_rough_icosahedron_to_all_digits() -> None:
    icosahedron = next(case["Y"] for case in GOLDEN["capacity"] if case["name"] == "icosahedron")
    rough = np.array(icosahedron) + 0.05 * rng().standard_normal((12, 3))
    rough /= np.linalg.norm(rough, axis=1, keepdims=True)
    assert packing.max_cosine(rough) > 1 / np.sqrt(5) + 0.01
    assert packing.max_cosine(packing.polish(rough, centered=False)) == pytest.approx(1 / np.sqrt(5), abs=1e-12)


def test_retract_gives_the_nearby_centered_code() -> None:
    rough = cw.Simplex().matrix(6)[None] + 0.02 * rng().standard_normal((3, 6, 5))
    Y = packing.retract(rough, centered=True)
    assert_allclose((Y**2).sum(axis=-1), 1, atol=1e-14)
    assert_allclose(Y.sum(axis=-2), 0, atol=1e-14)
    assert np.abs(Y - rough).max() < 0.1


# -- checks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("Y", "K", "message"),
    [
        ([1.0, 2.0], None, r"codewords has shape \(2,\); accepted is a \(K, d\) array"),
        ([[1.0, 2.0]], None, r"codewords has shape \(1, 2\); .* K >= 2"),
        (np.empty((3, 0)), None, r"codewords has shape \(3, 0\); .* d >= 1"),
        ([[1.0], [np.nan]], None, "codewords contains NaN or infinity"),
        ([[1.0], [np.inf]], None, "codewords contains NaN or infinity"),
        ([["a"], ["b"]], None, "codewords is no array of numbers"),
        ([[1.0, 2.0], [3.0]], None, "codewords is no array of numbers"),
        ([[1, 0], [0, 1], [2, 2], [0, 1]], None, "codewords has equal rows 1 and 3"),
        ([[1.0], [-1.0]], 3, r"codewords has shape \(2, 1\) but there are K=3 classes; pass one row per class"),
    ],
)
def test_check_codewords_says_what_is_wrong(Y, K: int | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_codewords(Y, K)


def test_check_codewords_returns_a_copy() -> None:
    given_code = np.array([[1.0, 0.0], [0.0, 0.0]])
    Y = check_codewords(given_code, K=2)
    assert_array_equal(Y, given_code)
    Y[0, 0] = 5.0
    assert given_code[0, 0] == 1.0
    assert check_codewords([[1, 2], [3, 4]]).dtype == np.float64


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cw.Simplex().matrix(1), r"K=1 is out of range; it must be an integer in \[2, inf"),
        (lambda: cw.Canonical().matrix(2.0), "K=2.0 must be an integer in"),
        (lambda: cw.capacity_bound(True), "K=True must be an integer in"),
        (lambda: cw.Simplex(3).matrix(5), "code_dim=3 is too small for a simplex of K=5 classes, at least 4"),
        (lambda: cw.MaxMin(1).matrix(3), "code_dim=1 holds two unit codewords, not K=3; choose at least 2"),
        (lambda: cw.MaxMin(0).matrix(3), "code_dim=0 is out of range; it must be an integer in"),
        (lambda: cw.MaxMin(2.5).matrix(3), "code_dim=2.5 must be an integer in"),
        (lambda: cw.Exhaustive().matrix(16), r"K=16 classes have 2\*\*15 - 1 splits, too many .*K <= 15.*RandomDense"),
        (lambda: cw.RandomDense(2).matrix(5), "code_dim=2 columns are too few for K=5 classes: no valid code"),
        (lambda: cw.RandomSparse(2).matrix(9), "code_dim=2 columns are too few for K=9 classes: no valid code"),
    ],
)
def test_arguments_are_checked(call, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        call()


# -- parts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", cw.CODEWORDS)
@pytest.mark.parametrize("K", range(2, 9))
def test_every_part_gives_a_valid_code(name: str, K: int) -> None:
    part = cw.as_codewords(name)
    Y = part.matrix(K, rng())
    assert_array_equal(check_codewords(Y, K), Y)
    assert Y.dtype == np.float64
    assert_array_equal(part.matrix(K, rng()), Y)


def test_every_name_gives_its_own_code() -> None:
    """Where two have the same code of seven classes, it is as their definitions say."""
    codes = {name: cw.as_codewords(name).matrix(7, rng()) for name in cw.CODEWORDS}
    assert_array_equal(codes["auto"], codes["canonical"])
    assert_array_equal(codes["max-min"], codes["simplex"])
    different = {Y.tobytes() for name, Y in codes.items() if name not in ("auto", "max-min")}
    assert len(different) == len(codes) - 2
    for name, kind in cw.CODEWORDS.items():
        assert_array_equal(kind().matrix(7), codes[name])


@pytest.mark.parametrize(
    ("part", "shape"),
    [
        (cw.Simplex(code_dim=9), (5, 9)),
        (cw.RandomDense(code_dim=11), (5, 11)),
        (cw.RandomSparse(code_dim=13), (5, 13)),
        (cw.MaxHamming(code_dim=12), (5, 12)),
        (cw.MaxMin(code_dim=3), (5, 3)),
        (cw.MaxMin(code_dim=8, centered=True), (5, 8)),
    ],
)
def test_parameters_reach_the_code_and_survive_cloning(part: cw.Codewords, shape: tuple[int, int]) -> None:
    assert part.matrix(5, rng()).shape == shape
    copy = clone(part)
    assert copy is not part and copy.get_params() == part.get_params()
    assert copy.get_params()["code_dim"] == shape[1]
    assert clone(part).set_params(code_dim=shape[1] + 1).matrix(5, rng()).shape == (5, shape[1] + 1)


def test_centered_reaches_the_solver() -> None:
    assert_allclose(cw.MaxMin(3, centered=True).matrix(7, rng()).sum(axis=0), 0, atol=1e-12)
    assert np.abs(cw.MaxMin(3).matrix(7, rng()).sum(axis=0)).max() > 0.01


@pytest.mark.parametrize(("K", "d"), [(2, 1), (5, 4), (10, 9), (26, 16), (100, 30), (500, 64)])
def test_max_min_default_dimension(K: int, d: int) -> None:
    assert cw.MaxMin().matrix(K, rng()).shape == (K, d)


def test_custom_code() -> None:
    Y = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    part = clone(cw.as_codewords(Y))
    assert isinstance(part, cw.Custom)
    assert_array_equal(part.matrix(3, rng()), Y)
    assert_array_equal(part.for_classes(3, np.array([True, False, True]), rng()), Y[[0, 2]])
    with pytest.raises(ValueError, match=r"shape \(3, 2\) but there are K=4 classes"):
        part.matrix(4, rng())
    with pytest.raises(ValueError, match="equal rows 0 and 1"):
        cw.as_codewords([[1.0], [1.0]])
    with pytest.raises(ValueError, match="equal rows 0 and 1"):
        cw.Custom([[1.0], [1.0]]).matrix(2, rng())


def test_absent_classes_get_a_smaller_code() -> None:
    present = np.array([True, False, True, True, False])
    assert_array_equal(cw.Simplex().for_classes(5, present, rng()), cw.Simplex().matrix(3))
    with pytest.raises(ValueError, match=r"present has shape \(5,\) .* mask of K=4 booleans"):
        cw.Simplex().for_classes(4, present, rng())
    with pytest.raises(ValueError, match=r"type int64; accepted is a mask"):
        cw.Simplex().for_classes(5, np.array([0, 1, 1, 1, 0]), rng())


def test_as_codewords_accepts_and_refuses() -> None:
    part = cw.MaxMin(code_dim=4)
    assert cw.as_codewords(part) is part
    with pytest.raises(ValueError, match=r"codewords='hadamrd' is unknown; choose one of 'canonical', 'simplex', "):
        cw.as_codewords("hadamrd")
    with pytest.raises(TypeError, match=r"codewords=Simplex is a class; pass an instance, Simplex\(\)"):
        cw.as_codewords(cw.Simplex)
    with pytest.raises(TypeError, match="codewords=None must be one of"):
        cw.as_codewords(None)
    with pytest.raises(TypeError, match="abstract"):
        cw.Codewords()  # type: ignore[abstract]


@pytest.mark.parametrize(
    "case", [c for c in GOLDEN["max_capacity_numeric"] if c["d"] == 2], ids=lambda c: f"{c['K']}-{c['d']}"
)
def test_max_capacity_reaches_the_best_known(case: dict) -> None:
    Y = max_capacity(case["K"], case["d"])
    assert_allclose((Y**2).sum(axis=1), 1)
    assert_allclose(Y.sum(axis=0), 0, atol=1e-9)
    assert cw.margin_capacity(Y) == pytest.approx(case["capacity"], abs=1e-6)


@pytest.mark.slow
def test_max_capacity_is_not_max_min() -> None:
    Y = max_capacity(7, 3)
    assert cw.margin_capacity(Y) == pytest.approx(0.380019, abs=1e-5)  # golden
    assert cw.margin_capacity(Y) > cw.margin_capacity(cw.MaxMin(3, centered=True).matrix(7)) + 0.004


def test_max_capacity_is_the_simplex_where_that_fits_and_refuses_large_codes() -> None:
    assert_array_equal(max_capacity(4, 3), cw.Simplex().matrix(4))
    for ask, message in (((3, 1), "d=1 holds two"), ((60, 10), "K=60 codewords of d=10 dimensions are too many")):
        with pytest.raises(ValueError, match=message):
            max_capacity(*ask)
