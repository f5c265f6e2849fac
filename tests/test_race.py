"""The race harness: time ratios by hand, the best peer, resuming, and a small race from end to end."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from benchmarks import cell, curves, machine, pictures, prediction, race, readme, report, results, sections
from benchmarks.adapter import Clock
from benchmarks.contestants import CONTESTANTS, OURS
from benchmarks.curves import METRICS, Curve, compare, time_ratio
from runner import File

ACCURACY, LOG_LOSS = METRICS["accuracy"], METRICS["log_loss"]


def curve(seconds, accuracy, log_loss=None):
    return Curve(list(range(1, len(seconds) + 1)), seconds, accuracy, log_loss or [1 - a for a in accuracy])


# ---- curves ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_rounds", [0, 1, 5, 20, 21, 137, 2000])
def test_grid_is_ascending_and_ends_with_the_last_round(n_rounds):
    rounds = curves.grid(n_rounds)
    assert rounds == sorted(set(rounds))
    assert rounds[-1:] == ([n_rounds] if n_rounds else [])
    assert rounds[: min(n_rounds, 20)] == list(range(1, min(n_rounds, 20) + 1))
    assert len(rounds) < 130


def test_grids_of_two_lengths_share_their_rounds():
    assert set(curves.grid(300)[:-1]) <= set(curves.grid(900))


def test_score():
    P = np.array([[0.5, 0.25, 0.25], [0.1, 0.2, 0.7], [np.nan, np.nan, np.nan]])
    accuracy, log_loss = curves.score(P, np.array([0, 1, 2]))
    assert accuracy == pytest.approx(1 / 3)
    assert log_loss == pytest.approx(-(np.log(0.5) + np.log(0.2) + np.log(1e-15)) / 3)


# ---- the time ratio -------------------------------------------------------------------------------------------------


def test_ratio_is_the_smallest_over_peers_that_count():
    ours = [curve([1, 2, 3], [0.90, 0.955, 0.97])]
    peers = {
        "best": [curve([10, 20, 30], [0.90, 0.959, 0.960])],  # target 0.959: reached after 20 s; ours after 3 s
        "close": [curve([4, 8, 12], [0.90, 0.95, 0.956])],  # target 0.955: 12 s against 2 s
        "poor": [curve([1, 2, 3], [0.90, 0.90, 0.90])],  # would give 1.0, but is 6 points behind
    }
    compared = {c.peer: c for c in compare(ours, peers, ACCURACY)}
    assert compared["best"].ratio == pytest.approx(20 / 3)
    assert compared["close"].ratio == pytest.approx(6)
    assert not compared["poor"].counts
    assert time_ratio(list(compared.values())) == pytest.approx(6)


def test_ratio_is_zero_where_we_never_get_there():
    ours = [curve([1, 2], [0.90, 0.95])]
    (compared,) = compare(ours, {"peer": [curve([1, 2], [0.9, 0.96])]}, ACCURACY)
    assert math.isinf(compared.our_seconds)
    assert compared.ratio == 0
    assert compared.our_best == 0.95
    assert "never (best 0.9500)" in sections.ratios([compared])


def test_half_a_point_behind_still_counts():
    peers = {"best": [curve([1], [0.960])], "edge": [curve([1], [0.955])], "behind": [curve([1], [0.9549])]}
    assert [c.counts for c in compare([curve([1], [0.97])], peers, ACCURACY)] == [True, True, False]


def test_log_loss_is_compared_in_parts_of_itself():
    ours = [curve([1, 2], [0.5, 0.5], [0.3, 0.1])]
    peers = {
        "best": [curve([5, 10, 15], [0.5] * 3, [0.4, 0.201, 0.2])],  # target 0.202: 10 s against 2 s
        "near": [curve([5, 10, 15], [0.5] * 3, [0.4, 0.3, 0.209])],
        "far": [curve([5, 10, 15], [0.5] * 3, [0.4, 0.3, 0.22])],
    }
    compared = compare(ours, peers, LOG_LOSS)
    assert [c.counts for c in compared] == [True, True, False]
    assert compared[0].ratio == pytest.approx(5)
    assert time_ratio(compared) == pytest.approx(5)


def test_times_are_medians_over_repeats():
    ours = [curve([1], [0.9]), curve([3], [0.9]), curve([2], [0.9])]
    peer = [curve([10], [0.9]), curve([60], [0.9]), curve([20], [0.9])]
    assert time_ratio(compare(ours, {"peer": peer}, ACCURACY)) == pytest.approx(20 / 2)


def test_without_peers_there_is_no_ratio():
    assert time_ratio(compare([curve([1], [0.9])], {}, ACCURACY)) is None


# ---- what is kept ---------------------------------------------------------------------------------------------------


def made_up(accuracy, log_loss, **more):
    points = {"rounds": [1, 2, 3], "seconds": [1.0, 2.0, 3.0], "accuracy": accuracy, "log_loss": log_loss}
    return {"curve": points, "fit_seconds": 3.0, **more}


def test_validation_chooses_setting_and_rounds():
    cells = {
        "toy/histgb/defaults/validate/0": made_up([0.5, 0.6, 0.7], [0.3, 0.2, 0.1]),
        "toy/histgb/slow/validate/0": made_up([0.7, 0.8, 0.8], [0.3, 0.4, 0.35]),
        "toy/histgb/light/validate/0": {"error": "out of memory"},
    }
    choice = results.choose(cells, "toy", "histgb")
    assert choice.setting == "slow"
    assert choice.rounds == {"accuracy": 3, "log_loss": 1}  # of two equal accuracies, the one with the lower log-loss
    assert choice.max_rounds == 2 * 3 + results.MORE_ROUNDS
    assert results.choose(cells, "toy", "lightgbm") is None


def test_validation_split_leaves_a_row_of_every_class():
    y = np.repeat(np.arange(30), np.arange(1, 31))
    held_out = cell.validation_rows(y)
    assert set(y[~held_out]) == set(range(30))
    assert 0.15 < held_out.mean() < 0.25


def finished(accuracy, log_loss, **more):
    """A made-up cell that was fitted on all training rows."""
    sizes = {"kept_rounds": 3, "n_trees": 3, "model_bytes": 1, "predict_rows_per_second": 1.0, "memory_mb": 1.0}
    about = {"stopped": False, "data": {"n_train": 90, "n_test": 10, "p": 2, "K": 2}}
    bins = {"reliability": {"count": [5, 5], "confidence": [0.5, 0.9], "accuracy": [0.6, 0.7]}}
    return made_up(accuracy, log_loss, **sizes, **about, **bins) | more


def test_the_best_peer_is_the_best_of_defaults_and_tuned():
    cells = {
        f"toy/{OURS}/defaults/plain/0": finished([0.5, 0.7, 0.8990], [0.5, 0.4, 0.35]),
        "toy/histgb/slow/validate/0": made_up([0.5, 0.6, 0.6], [0.3, 0.1, 0.2]),
        "toy/histgb/defaults/plain/0": finished([0.5, 0.6, 0.8], [0.3, 0.3, 0.3], stopped=True),
        "toy/histgb/slow/final/0": finished([0.5, 0.9, 0.7], [0.5, 0.36, 0.6]),
    }
    summaries = results.summarise(cells, "toy")
    assert list(summaries) == [OURS, "histgb", "histgb, tuned"]
    assert summaries["histgb, tuned"].accuracy == 0.9  # after the two rounds that validation chose
    assert summaries["histgb"].accuracy == 0.8
    assert summaries["histgb"].stopped
    by_accuracy, by_loss = (results.verdict(summaries, "toy", metric) for metric in ("accuracy", "log_loss"))
    assert (by_accuracy.peer, by_accuracy.holds) == ("histgb, tuned", True)  # 0.1 point behind is not behind
    assert (by_loss.peer, by_loss.holds) == ("histgb", False)
    rows = list(sections.ahead({"toy": summaries}))
    assert [row[:3] for row in rows] == [
        ["toy", "log-loss", "histgb"],
        ["toy", "accuracy", "histgb, tuned"],
        ["toy", "time to accuracy 0.8990", "histgb, tuned"],
    ]
    assert rows[0][-1] == "16.7%"
    assert rows[1][-1] == "0.10 point(s) (counts as equal)"
    assert rows[2][-1] == "1.50 times as fast"  # two seconds against three


# ---- the clock ------------------------------------------------------------------------------------------------------


class Trying:
    """An estimator that tries something for three rounds before it fits its model of two; what it tells may be less."""

    n_iter_ = 2

    def __init__(self, tells):
        self.tells = tells

    def set_params(self, callbacks):
        self.callbacks = callbacks
        return self

    def fit(self, X, y):
        self.run = run = type("Run", (), {"stop_reason": None})
        for rounds in self.tells:
            self.callbacks[0].start(run)
            for _ in range(rounds):
                self.callbacks[0].after_round(run)


@pytest.mark.parametrize(("tells", "later_than"), [((3, 2), 3), ((3, 0), 3), ((), 0)])
def test_what_we_try_before_the_model_counts(monkeypatch, tells, later_than):
    """The clock starts at the beginning of fit, and its times are those of the model's rounds."""
    time = iter(range(100))
    monkeypatch.setattr("benchmarks.adapter.time.perf_counter", lambda: next(time))
    ours = CONTESTANTS[OURS]("defaults", threads=1, seed=0, categorical=np.zeros(2, dtype=bool))
    ours.model = Trying(tells)
    clock = Clock(0.0)
    ours.fit(None, None, clock)
    assert ours.model.run.stop_reason is None  # no budget ends it
    assert len(clock.seconds) == 2
    assert clock.seconds[0] > later_than


@pytest.mark.parametrize("name", [name for name in CONTESTANTS if name != OURS])
def test_defaults_are_those_of_the_library(name):
    """Nothing is set but threads, seeds and what is printed; tuned, a library trains for as long as the clock says."""
    if not CONTESTANTS[name].is_installed():
        pytest.skip(f"{name} is not installed")
    same = {"threads": 1, "seed": 0, "categorical": np.zeros(2, dtype=bool)}
    plain = CONTESTANTS[name]("defaults", **same, own_rounds=True).model.get_params()
    long = CONTESTANTS[name]("defaults", **same).model.get_params()
    rounds = {"lightgbm": "n_estimators", "catboost": "iterations", "histgb": "max_iter"}.get(name, "n_estimators")
    assert plain.get(rounds) in (None, 100)  # None: the library decides
    assert long.get(rounds) in (None, 2000)
    assert plain.get("early_stopping", "auto") == "auto"
    assert not long.get("early_stopping", False)


def test_versions_name_ours_even_where_it_is_not_installed(monkeypatch):
    def nothing(package):
        raise machine.PackageNotFoundError(package)

    monkeypatch.setattr(machine, "version", nothing)
    assert list(machine.versions()) == ["simplexboost"]


# ---- resuming -------------------------------------------------------------------------------------------------------


def test_a_killed_race_goes_on_where_it_was(tmp_path):
    header = {"machine": {}, "options": {"threads": 1}}
    options = race.arguments(["--sets", "wine", "--peers", "histgb", "--repeats", "2", "--settings", "2"])
    ran, limit = [], 3

    def compute(spec):
        if len(ran) == limit:
            raise KeyboardInterrupt
        ran.append((spec.contestant, spec.setting, spec.phase, spec.repeat))
        return made_up([0.5, 0.6, 0.7 if spec.setting == "slow" else 0.6], [0.3, 0.2, 0.1])

    def go_on(resume):
        race.race(["simplexboost", "histgb"], File(tmp_path / "out.json", header, resume), options, None, compute)

    with pytest.raises(KeyboardInterrupt):
        go_on(resume=False)
    limit = 99
    go_on(resume=True)
    assert ran == [
        ("simplexboost", "defaults", "plain", 0),
        ("histgb", "defaults", "validate", 0),
        ("histgb", "slow", "validate", 0),
        ("histgb", "defaults", "plain", 0),
        ("histgb", "slow", "final", 0),
        ("histgb", "slow", "final", 1),
        ("histgb", "defaults", "plain", 1),
        ("simplexboost", "defaults", "plain", 1),
    ]


def test_peers_have_the_time_that_ours_took():
    options = race.arguments(["--sets", "wine", "--peers", "histgb", "--budget", "5"])
    cells = {f"wine/{OURS}/defaults/plain/{repeat}": {"fit_seconds": seconds} for repeat, seconds in enumerate((8, 9))}
    assert race.budget("wine", cells, options) == 8
    assert race.budget("digits", cells, options) == 5
    assert {spec.budget for spec in race.validations("wine", ["histgb"], options, 8.0)} == {8.0}


def test_what_took_too_long_is_not_tried_again(tmp_path):
    results_file = File(tmp_path / "out.json", {"machine": {}, "options": {}})
    specs = [cell.Spec("wine", name, "defaults", "plain", 0, threads=1, budget=1.0) for name in ("histgb", "xgboost")]
    results_file.cells[specs[0].key] = {"error": "not done after 9 s"}
    results_file.cells[specs[1].key] = {"error": "ValueError: no"}
    assert race.hopeful(specs, results_file) == specs[1:]


def test_problems_made_on_the_spot_run_once_with_defaults():
    options = race.arguments(["--sets", "noise5", "--peers", "histgb", "--repeats", "3"])
    assert race.validations("noise5", ["histgb"], options) == []
    specs = race.finals("noise5", [OURS, "histgb"], {}, options)
    assert [(spec.contestant, spec.phase, spec.repeat) for spec in specs] == [
        (OURS, "plain", 0),
        ("histgb", "plain", 0),
    ]


def test_a_cell_is_named_as_reports_look_for_it():
    spec = cell.Spec("wine", "histgb", "slow", "final", 1, threads=2, budget=5.0)
    cells = {spec.key: made_up([0.5, 0.6, 0.7], [0.3, 0.2, 0.1])}
    assert list(cells) == ["wine/histgb/slow/final/1"]
    assert [setting for setting, _ in results.found(cells, "wine", "histgb", "final")] == ["slow"]


# ---- from end to end ------------------------------------------------------------------------------------------------


def test_a_small_race(tmp_path, capsys):
    out = tmp_path / "out.json"
    arguments = ["--sets", "wine,noise5", "--threads", "1", "--jobs", "2", "--repeats", "1", "--settings", "2"]
    arguments += ["--budget", "2", "--scale", "0.001", "--peers", "histgb", "--json", str(out)]
    race.main(arguments)
    printed = capsys.readouterr().out
    assert "[7/7] " in printed
    assert "Time ratio, accuracy" in printed

    content = json.loads(out.read_text())
    assert not [entry for entry in content["cells"].values() if "error" in entry]
    summaries = results.summarise(content["cells"], "wine")
    assert set(summaries) == {"simplexboost", "histgb", "histgb, tuned"}
    for summary in summaries.values():
        (curve,) = summary.curves
        assert 0 < curve.seconds[0] <= curve.seconds[-1]
        assert summary.best_accuracy > 0.9
        assert summary.model_bytes > 0
        assert summary.rows_per_second > 0
        assert summary.memory_mb > 20
        assert sum(summary.reliability.count) == 45
    assert summaries["histgb"].n_trees == 3 * summaries["histgb"].rounds
    assert summaries["histgb"].rounds <= 100 or summaries["histgb"].stopped

    report.main([str(out), "--output", str(tmp_path / "RESULTS.md")])
    page = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    for part in ("## Summary", "## Where a peer is ahead", "## Problems made on the spot", "### wine"):
        assert part in page
    assert page.index("## Rules") < page.index("## All sets")
    assert "133 + 45 rows, 13 features, 3 classes" in page
    assert "Log-loss at or below the best peer's on **" in page
    assert str(tmp_path) not in page


def test_prediction_at_equal_accuracy(capsys, monkeypatch):
    """Our rounds beside a peer are the first that are as accurate, and cutting a model is what its stages are."""
    kinds = {name: prediction.CONTESTANTS[name] for name in (prediction.OURS, "histgb")}
    monkeypatch.setattr(prediction, "CONTESTANTS", kinds)
    rounds = iter([60, 2, 60])  # ours, the peer's, ours again; no budget, because the machine may be busy
    monkeypatch.setattr(prediction, "Clock", lambda budget: cell.Clock(600.0, next(rounds)))
    prediction.main(["--sets", "wine", "--threads", "1"])
    lines = [line.strip("|").split("|") for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    assert [line[0].strip() for line in lines] == ["peer", "histgb", "simplexboost"]
    n, accuracy = int(lines[1][4]), float(lines[1][1])
    data = prediction.load("wine")
    ours = prediction.fitted(prediction.Shortened, data, threads=1, budget=0.0)
    stages = list(ours.staged(data.X_test.astype(np.float32), range(1, 61)))
    right = [float(np.mean(P.argmax(axis=1) == data.y_test)) for P in stages]
    assert n == 1 + next(i for i, a in enumerate(right) if round(a, 4) >= accuracy)
    for cut in (60, n):  # cut again
        ours.keep(cut)
    np.testing.assert_allclose(ours.predict_proba(data.X_test.astype(np.float32)), stages[n - 1], rtol=1e-6)


# ---- the picture of the start page ----------------------------------------------------------------------------------


def test_the_picture_shows_what_the_page_says():
    for dataset, classes in (("letter", 26), ("aloi27", 438)):
        found = pictures.read_race(dataset)
        assert found.classes == classes
        times, accuracies = zip(*found.ours, strict=True)
        assert list(times) == sorted(times) and accuracies[-1] == max(accuracies)
        assert {"lightgbm", "xgboost", "xgboost-multi", "catboost", "histgb"} <= set(found.peers)
    axes = pictures.draw_race(pictures.pyplot()).axes
    for ax, dataset in zip(axes, ("letter", "aloi27"), strict=True):
        found = pictures.read_race(dataset)
        drawn = {tuple(map(float, line.get_xydata()[0])) for line in ax.lines if len(line.get_xdata()) == 1}
        assert drawn == {*found.peers.values(), found.ours[-1]}


def test_sets_where_we_never_get_there_can_be_read():
    found = pictures.read_race("magic04")
    assert found.peers["catboost"] == (5.95, 0.9022) and found.ours[-1] == (3.75, 0.8962)


def test_the_table_of_the_readme_is_that_of_the_page():
    assert readme.peers_table() in (Path(readme.RESULTS).parents[1] / "README.md").read_text(encoding="utf-8")


def test_every_picture_is_there():
    assert {path.stem for path in pictures.FOLDER.glob("*.png")} == set(pictures.PICTURES)
