"""The pages of benchmarks that are computed in parts: cells of several files, failures, and what the tables say."""

import json

import numpy as np
import pytest

from benchmarks import codes_why, defaults, labels, many, many_page, pictures
from benchmarks.plots import pyplot

pytestmark = pytest.mark.filterwarnings("error")


def cell(method, K, n=200_000, part="large", rounds=6, threads=1):
    """A cell of a made table."""
    return many.Cell(part, method, "made", rounds, n, 50, K, threads)


def result(seconds, megabytes=400.0, accuracy=0.5):
    """What a cell measures."""
    return {"fit": 6 * seconds, "round": seconds, "megabytes": megabytes, "accuracy": accuracy, "machine": "a machine"}


def test_cells_of_several_files_are_merged(tmp_path):
    one, two = cell(many.EXACT, 10), cell(many.EXACT, 100)
    (tmp_path / "a.json").write_text(json.dumps({one.key: result(1.0), two.key: {"limit": 60, "memory": 12}}))
    (tmp_path / "b.json").write_text(json.dumps({one.key: result(2.0), two.key: result(3.0)}))
    found = many.read([tmp_path / "a.json", tmp_path / "b.json"])
    assert found[one.key]["round"] == 1.0  # the first
    assert found[two.key]["round"] == 3.0  # one that was measured


def test_a_failure_is_tried_again_within_wider_limits_only():
    assert not many.is_known(None, 60, 12)
    assert many.is_known({"limit": 60, "memory": 12}, 60, 12)
    assert not many.is_known({"limit": 60, "memory": 12}, 90, 12)
    assert not many.is_known({"limit": 60, "memory": 12}, 60, 16)
    assert many.is_known(result(1.0), 1000, 1000)


def test_larger_tables_of_a_method_that_failed_are_not_tried(monkeypatch):
    tried = []

    def failing(cell, limit, memory):
        tried.append((cell.method, cell.K))
        return {"limit": limit, "memory": memory} if cell.method == many.EXACT and cell.K >= 1000 else result(1.0)

    monkeypatch.setattr(many, "in_process", failing)
    options = many.parser().parse_args(["--parts", "large"])
    options.cells = None
    many.compute(many.wanted(options), {}, options)
    assert (many.EXACT, 1000) in tried
    assert (many.EXACT, 10_000) not in tried
    assert (many.CANDIDATES, 100_000) in tried


def test_options_leave_out_cells():
    options = many.parser().parse_args(
        ["--parts", "large", "real", "--classes", "10", "--sets", "letter", "--threads", "3"]
    )
    cells = many.wanted(options)
    assert {c.K or c.table for c in cells} == {10, "letter"}
    assert all(c.threads == 3 for c in cells)


def test_the_page_has_dashes_where_a_method_failed_with_fewer_classes():
    results = {cell(many.EXACT, 100).key: result(0.2), cell(many.CANDIDATES, 10_000).key: result(0.5, 383.0)}
    results[cell(many.EXACT, 1_000).key] = {"limit": 60, "memory": 12.0}
    page = many_page.page(results)
    assert "| 1 000 | 200 000 | all scores | – | – | – |" in page
    assert "| 10 000 | 200 000 | all scores | – | – | – |" in page  # not tried
    assert "| 10 000 | 200 000 | candidates | 0.500 | 383 | 0.5000 |" in page
    assert "| 10 000 | 200 000 | XGBoost" not in page
    assert "takes 2.5 times one of 100 classes" in page
    assert "60 s or 12 GB" in page


def test_tables_of_more_threads_stand_apart():
    results = {cell(many.EXACT, 100, threads=t).key: result(0.2 / t) for t in (1, 16)}
    page = many_page.page(results)
    assert page.index("0.200") < page.index("## 16 threads") < page.index("0.013")


def test_short_rounds_are_averaged():
    assert many.typical([0.0, 1.0]) is None
    assert many.typical([0.0, 1.0, 2.0, 3.0, 9.0]) == 1.0
    assert many.typical([0.0, 0.0, 0.0, 0.004, 0.004]) == pytest.approx(0.001)


def test_defaults_are_compared_in_per_cent_above_the_best():
    losses = {"0.5": 1.1, "1": 1.05, "1.5": 1.0, "2": 1.0, "3": 1.2}
    cells = {
        f"smoothness | {name} | {label} | 0": {"log-loss": factor * loss, "error": 0.5, "seconds": 1.0}
        for name, factor in (("abalone", 1.0), ("grades", 2.0))
        for label, loss in losses.items()
    }
    lines = defaults.record("smoothness", cells)
    assert (
        next(line for line in lines if line.startswith("| **mean**"))
        == "| **mean** | 10.00 | 5.00 | 0.00 | 0.00 | 20.00 |"
    )
    assert defaults.against(np.array([1.0, 3.0]), np.array([2.0, 2.0])) == "1 of 2; +0.0"
    assert defaults.record("labels", cells) == []


def test_noise_over_signal_of_random_codewords_is_one_over_the_root_of_their_dimension():
    Y = codes_why.code(400, 25)
    y = np.arange(400)
    assert codes_why.noise_over_signal(Y @ Y.T, y) == pytest.approx(1 / 5, rel=0.05)
    assert codes_why.noise_over_signal(np.eye(400), y) == pytest.approx(0.0, abs=1e-9)


def test_classes_of_a_leaf():
    leaf, y = np.array([0, 0, 0, 0, 1, 1]), np.array([0, 1, 2, 3, 5, 5])
    assert codes_why.classes_per_leaf(leaf, y) == pytest.approx((4 * 4 + 2 * 1) / 6)


def test_powers_of_cross_talk_are_found():
    cells = {}
    for leaves, m in ((64, 20.0), (255, 6.0), (800, 3.0)):
        for d in (0, 16, 64):
            control = {t: 0.02 / t for t in (2, 8, 32)}
            noise = {t: (1 / d + 0.5 * m / (d * t) + control[t]) if d else control[t] for t in control}
            rounds = {str(t): {"accuracy": 0.5, "noise": value**0.5} for t, value in noise.items()}
            cells[f"grid-{leaves}-{d}"] = {"m": m, "leaves": leaves, "d": d, "rounds": rounds}
    T, d, m, fit, n = codes_why.exponents(cells)
    assert (T, d, m, fit, n) == pytest.approx((-1, -1, 1, 1, 18))


def test_medians_are_over_draws_that_all_contestants_have_seen():
    values = {"log-loss": 1.0, "accuracy": 0.5, "all right": 0.5, "fit": 1.0, "predict": 1.0, "bytes": 1}
    cells = [{"contestant": "ours", "seed": seed, **values, "log-loss": float(seed)} for seed in (0, 1, 2)]
    cells += [{"contestant": "XGBoost, one each", "seed": seed, **values} for seed in (0, 1)]
    lines = list(labels.table("pendigits", cells, labels.PARTS))
    assert "Draws: 2.\n" in lines
    assert any(line.startswith("| ours | 0.5000 |") for line in lines)


def test_the_picture_of_many_classes_has_all_methods_of_the_page():
    figure = pictures.draw_many(pyplot())
    (legend,) = figure.legends
    assert {text.get_text() for text in legend.get_texts()} == set(pictures.MANY_NAMES.values())
    drawn = [(line.get_color(), line.get_marker(), line.get_linestyle()) for line in figure.axes[0].get_lines()]
    assert len(set(drawn)) == len(drawn)  # no two look alike
