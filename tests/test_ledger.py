"""The ledger of claims: complete, nothing twice, judged by its rules; every published number is in a count."""

from dataclasses import replace

import numpy as np
import pytest

from experiments import agreement, grids, kept, ledger, rules
from experiments.cells import Results
from experiments.grids import Grid, Numbers, View
from experiments.registry import EXPERIMENTS, Plan
from experiments.rules import Outcome, Sight
from experiments.rules.words import EQUAL, better, tally, together

PLAN = Plan()


def grid(error=False, printed=None, **rows):
    """A grid of single values: ``grid(a={"x": 1.0})``."""
    cells = {
        row: {c: v if isinstance(v, Numbers) else Numbers(() if v is None else (v,)) for c, v in columns.items()}
        for row, columns in rows.items()
    }
    return Grid(cells, error, printed or {})


def judged(name, given, *, error=False, printed=None, **rows):
    """What a rule says of a grid."""
    g = grid(error, printed, **rows)
    return rules.bound(name, given)(Sight(grids.means(g), g, grids.printed(g)))


# ---- the data -------------------------------------------------------------------------------------------------------


def test_the_ledger_is_complete_and_says_nothing_twice():
    entries = ledger.load()
    assert len({e.id for e in entries}) == len(entries) > 140
    assert {e.kind for e in entries} <= set(ledger.KINDS)
    for e in entries:
        assert e.says.endswith(".") and (e.untestable or e.rule.endswith(".")), e.id
        assert set(e.experiments) <= set(EXPERIMENTS), e.id


def test_every_paper_has_claims_and_every_figure_and_table_is_named():
    places = {paper: " ".join([*(e.place for e in ledger.load() if e.paper == paper),
                               *(a for e in ledger.load() for a in e.also)]) for paper in
              ("nips", "jmlr", "mukherjee", "geist", "lecture")}  # fmt: skip
    wanted = {
        "nips": ["Table 1", "Table 2", "Figure 2"],
        "jmlr": [
            "Table 7",
            "Table 8",
            "Table 9",
            *(f"Figure {i}" for i in range(1, 7)),
            *(f"Theorem {i}" for i in (5, 7)),
        ],
        "mukherjee": [f"Figure {i}" for i in (1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12)]
        + ["Lemma 26", "Lemma 28", "Theorem 29"],
        "geist": [
            "Table 2",
            "Table 3",
            *(f"Figure {i}" for i in (5, 6, 7)),
            "Figures 1 and 2",
            "Figures 3 and 4",
            "Theorem 1",
        ],
        "lecture": ["OVA", "OVO", "ECOC"],
    }
    missing = [(paper, word) for paper, words in wanted.items() for word in words if word not in places[paper]]
    assert not missing


def test_what_the_audit_missed_is_in_the_ledger():
    ids = {e.id for e in ledger.load()}
    assert {
        "jmlr-gd-mm", "jmlr-mm-special-case", "jmlr-m1-stuck", "jmlr-saturation-early", "jmlr-cd-wins",
        "nips-samme-next",
        "nips-mh-worst", "geist-gap-shrinks", "geist-parity", "geist-train-curves", "geist-perfect-without-noise",
        "geist-large-range", "mukherjee-lemma26", "mukherjee-lemma28", "mukherjee-theorem29", "mukherjee-convergence",
    } <= ids  # fmt: skip
    text = " ".join(e.says + e.rule for e in ledger.load())
    assert "nine of ten draws" not in text and "ten of thirteen" not in text  # invented once, no paper's words


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "rumour"}, "kind 'rumour'"),
        ({"id": "other-x"}, "id does not begin"),
        ({"judge": "guess"}, "judge 'guess'"),
        ({"experiments": ("jmlr-table77",)}, "experiment 'jmlr-table77' is unknown"),
        ({"judge": "", "untestable": ""}, "either a judge or the reason"),
        ({"untestable": "no time"}, "either a judge or the reason"),
        ({"says": ""}, "sense of the words"),
    ],
)
def test_the_loader_refuses_what_is_not_complete(change, message):
    good = next(e for e in ledger.load() if e.id == "jmlr-gd-best")
    with pytest.raises(ValueError, match=message):
        ledger.check(replace(good, **change))


def test_a_statement_that_stands_twice_is_refused(tmp_path):
    text = (ledger.FOLDER / "lecture.toml").read_text()
    first = text[text.index("[[claim]]") : text.index("[[claim]]", 30 + text.index("[[claim]]"))]
    (tmp_path / "lecture.toml").write_text(first + first.replace('id = "lecture-ova"', 'id = "lecture-again"'))
    with pytest.raises(ValueError, match="stand twice"):
        ledger.load(tmp_path)


def test_without_cells_nothing_is_judged_and_nothing_fails(tmp_path):
    judged_all = ledger.verdicts(PLAN, Results(tmp_path))
    assert {v.grade for _, v in judged_all} == {ledger.WAITING, ledger.UNTESTABLE}
    assert all((v.grade == ledger.UNTESTABLE) == bool(e.untestable) for e, v in judged_all)
    assert all(len(ledger.row_of(e, v)) == len(ledger.HEADER) for e, v in judged_all)
    assert ledger.in_words(ledger.counts(judged_all, "paper", "nips")) == "0 of 0 hold; 11 not yet run"


def test_every_rule_judges_a_claim():
    assert set(rules.RULES) - {e.judge for e in ledger.load()} == {"ahead"}  # which others are made of


# ---- the rules ------------------------------------------------------------------------------------------------------


def test_words_have_fixed_strengths():
    assert [rules.needed(w, 13) for w in ("all", "consistently", "almost always", "most", "usually", "often")] == [
        13, 13, 12, 7, 7, 5,
    ]  # fmt: skip
    assert rules.needed("almost always", 8) == 7 and rules.needed("almost always", 24) == 22
    with pytest.raises(ValueError, match="need='mostly'"):
        rules.needed("mostly", 3)


def test_consistently_is_not_a_majority():
    rows = {"a": {"x": 3.0, "y": 3.0, "z": 1.0}, "b": {"x": 2.0, "y": 2.0, "z": 2.0}}
    assert judged("ahead", {"first": "a", "rivals": ["b"], "need": "most"}, **rows).holds is True
    assert judged("ahead", {"first": "a", "rivals": ["b"], "need": "consistently"}, **rows).holds is False
    assert judged("ahead", {"first": "a", "rivals": ["b"], "need": "all", "slack": 1.0}, **rows).holds is True
    assert judged("ahead", {"first": "b", "rivals": ["a"], "need": "most"}, error=True, **rows).holds is True


def test_missing_runs_count_neither_way():
    given = {"first": "a", "rivals": ["b"], "need": "most"}
    rows = {"a": {"x": 3.0, "y": 3.0, "z": None}, "b": {"x": 2.0, "y": 2.0, "z": 2.0}}
    assert judged("ahead", given, **rows).holds is True  # whatever z will be
    rows["a"]["y"] = None
    assert judged("ahead", given, **rows).holds is None
    rows["a"] = {"x": 1.0, "y": 1.0, "z": None}
    assert judged("ahead", given, **rows).holds is False


def test_a_word_that_the_papers_own_table_misses_is_lowered_to_its_count():
    rows = {"a": {"x": 3.0, "y": 1.0, "z": 1.0}, "b": {"x": 2.0, "y": 2.0, "z": 2.0}}
    printed = {"a": {"x": 9.0, "y": 1.0, "z": 1.0}, "b": {"x": 8.0, "y": 8.0, "z": 8.0}}
    out = judged("ahead", {"first": "a", "rivals": ["b"], "need": "all"}, printed=printed, **rows)
    assert out.holds is True and "short of its word" in out.evidence
    exact = judged("ahead", {"first": "a", "rivals": ["b"], "need": 3}, printed=printed, **rows)
    assert exact.holds is False  # a number that the paper states is asked for as it is


def test_equal_numbers_are_left_out():
    answers = {"x": True, "y": False, "z": EQUAL}
    out = tally(answers, "all")
    assert out.holds is False and out.evidence == "1 of 2 (2 asked for); not y; equal on z, left out"
    assert tally(answers | {"y": True}, "all").holds is True
    assert tally(answers, 3).holds is False  # as many as there are are asked for at most
    nothing = tally({"x": EQUAL, "y": EQUAL}, "most")
    assert nothing.holds is None and nothing.empty
    inf = float("inf")
    assert [better(a, b) for a, b in ((1.0, 2.0), (2.0, 1.0), (1.0, 1.0), (-inf, -inf), (1.0, -inf))] == [
        False, True, EQUAL, EQUAL, True
    ]  # fmt: skip
    some, none = Outcome(True, "all"), Outcome(None, "none", empty=True)
    assert together({"a": some, "b": none}).holds is True and together({"b": none}).empty


def test_boosters_that_could_not_begin_are_last():
    rows = {"a": {"x": 1.0, "y": 1.0}, "b": {"x": np.nan, "y": 5.0}}
    assert judged("ahead", {"first": "a", "rivals": ["b"], "need": 1}, **rows).holds is True
    assert judged("not_begun", {"row": "b", "columns": ["x"]}, **rows).holds is True
    assert judged("not_begun", {"row": "b", "columns": ["y"]}, **rows).holds is False


def test_orders_wins_and_gains():
    rows = {
        "a": {"x": 9.0, "y": 9.0, "z": 3.0},
        "b": {"x": 5.0, "y": 5.0, "z": 5.0},
        "c": {"x": 1.0, "y": 1.0, "z": 2.0},
    }
    assert judged("rank_order", {"rows": ["a", "b", "c"]}, **rows).holds is True
    assert judged("rank_order", {"rows": ["b", "a", "c"]}, **rows).holds is False
    gain = {"first": "a", "rivals": ["b", "c"], "printed": {"x": 8.0}}
    assert judged("gains", gain, **rows).holds is True
    assert judged("gains", gain | {"printed": {"x": 8.1}}, **rows).holds is False
    lead = {"first": "a", "rivals": ["b"], "need": "most", "by": 1.0}
    assert (
        judged("ahead_by", lead, **rows).holds is True and judged("ahead_by", lead | {"by": 2.5}, **rows).holds is False
    )


def test_readings_must_all_be_behind():
    rows = {"mh1": {"x": 1.0}, "mh2": {"x": 7.0}, "ova": {"x": 5.0}}
    given = {"rival": "ova", "need": "all"}
    assert judged("every_reading_behind", given | {"rows": ["mh1"]}, **rows).holds is True
    assert judged("every_reading_behind", given | {"rows": ["mh1", "mh2"]}, **rows).holds is False


def test_saturation_and_steps():
    curve = {"gd": {f"d = {d}": v for d, v in zip(range(2, 8), [50.0, 80.0, 89.5, 90.0, 90.2, 90.2], strict=True)}}
    given = {"rows": ["gd"], "within": 1.0, "need": "all"}
    early = given | {"example": ["gd"], "low": 0.5}
    assert judged("saturates_early", early | {"high": 0.6}, **curve).holds is True  # from d = 4 of 7 on
    assert judged("saturates_early", early | {"high": 0.55}, **curve).holds is False
    assert judged("flat_at_the_end", given, **curve).holds is True
    up = {"groups": {"GD": ["gd"]}, "need": "all"}
    assert judged("steps_up_each", up, **curve).holds is True  # the padded simplex is left out


N = Numbers
BOTH_WAYS = [  # a rule, its arguments, rows for which it holds, rows for which it does not, whether numbers are errors
    (
        "identical_on",
        {"first": "a", "rivals": ["b"], "wins": 1, "ties": 1},
        {"a": {"x": 2.0, "y": 1.0}, "b": {"x": 1.0, "y": 1.0}},
        {"a": {"x": 2.0, "y": 2.0}, "b": {"x": 1.0, "y": 1.0}},
        False,
    ),
    (
        "no_difference",
        {"first": "a", "second": "b", "within": 1.0},
        {"a": dict(zip("uvwxyz", (1.0, 2.0, 3.0, 4.0, 5.0, 6.0), strict=True)),
         "b": dict(zip("uvwxyz", (1.5, 1.5, 3.5, 3.5, 5.5, 5.5), strict=True))},
        {"a": dict.fromkeys("uvwxyz", 3.0), "b": dict(zip("uvwxyz", (1.0, 1.1, 1.2, 1.3, 1.4, 1.5), strict=True))},
        False,
    ),
    (
        "near_value",
        {"row": "a", "column": "x", "value": 11.0, "within": 0.5},
        {"a": {"x": 11.4}},
        {"a": {"x": 11.6}},
        True,
    ),
    ("some_above", {"row": "a", "value": 1.0}, {"a": {"x": 0.0, "y": 1.1}}, {"a": {"x": 0.0, "y": 1.0}}, True),
    ("not_monotonic", {"row": "a"}, {"a": {"x": 1.0, "y": 2.0, "z": 1.5}}, {"a": {"x": 1.0, "y": 2.0, "z": 2.0}}, True),
    (
        "falls_to",
        {"row": "a", "columns": ["x", "y"], "below": 1.0},
        {"a": {"x": 2.0, "y": 0.5}},
        {"a": {"x": 2.0, "y": 1.5}},
        True,
    ),
    (
        "rising_beyond_noise",
        {"row": "a"},
        {"a": {"x": N((1.0, 3.0), 2), "y": N((0.5, 3.0), 2), "z": N((4.0, 6.0), 2)}},
        {"a": {"x": N((5.0, 5.1), 2), "y": N((1.0, 1.1), 2), "z": N((6.0, 6.1), 2)}},
        True,
    ),
    (
        "degrades",
        {"row": "a", "first": "x", "second": "y", "by": 1.0},
        {"a": {"x": N((1.0, 1.1), 2), "y": N((3.0, 3.1), 2)}},
        {"a": {"x": N((1.0, 5.0), 2), "y": N((3.0, 5.4), 2)}},
        True,
    ),
    (
        "parity_beyond",
        {"first": "a", "second": "b", "level": 20.0, "within": 1.0},
        {"a": {"10 %": 1.0, "30 %": 9.0}, "b": {"10 %": 5.0, "30 %": 9.5}},
        {"a": {"10 %": 1.0, "30 %": 9.0}, "b": {"10 %": 5.0, "30 %": 12.0}},
        True,
    ),
    (
        "gap_shrinks",
        {"last": "s", "rivals": ["a"], "sets": ["x"], "begin": "T = 10", "end": "T = 100", "need": "all"},
        {"s": {"x, T = 10": 9.0, "x, T = 100": 4.0}, "a": {"x, T = 10": 5.0, "x, T = 100": 3.0}},
        {"s": {"x, T = 10": 9.0, "x, T = 100": 9.0}, "a": {"x, T = 10": 5.0, "x, T = 100": 3.0}},
        True,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given", "good", "bad", "error"), BOTH_WAYS, ids=[case[0] for case in BOTH_WAYS])
def test_rules_hold_and_fail(name, given, good, bad, error):
    assert judged(name, given, error=error, **good).holds is True
    assert judged(name, given, error=error, **bad).holds is False


def test_numbers_are_compared_with_one_more_run():
    rows = {"a": {"x": Numbers((10.0, 11.0, 12.0), 3)}}
    inside = judged("near", {"places": [{"row": "a", "column": "x", "value": 13.0}]}, **rows)
    outside = judged("near", {"places": [{"row": "a", "column": "x", "value": 30.0}]}, **rows)
    assert inside.holds is True and outside.holds is False
    g = grid(**rows)
    asked = rules.bound("near", {"places": [{"row": "a", "column": "x", "value": 13.0}]})
    assert asked(Sight(View({"a": {"x": 25.0}}, error=False), g)).holds is False  # our mean moved by noise


def test_confidence_falls_with_the_noise():
    given = {"first": "a", "rivals": ["b"], "need": "all"}
    entry = replace(next(e for e in ledger.load() if e.id == "jmlr-cd-ova"), judge="ahead", given=given)
    close = {"a": {"x": 90.2}, "b": {"x": 90.0}}

    def grid_of(rows):
        return Grid({r: {c: Numbers((v,), 1, rows) for c, v in row.items()} for r, row in close.items()})

    assert ledger.judged(entry, grid_of(100)).confidence == "low"
    assert ledger.judged(entry, grid_of(10**7)).confidence == "high"
    assert ledger.judged(entry, grid_of(100)).grade == "qualitative"


# ---- published numbers ----------------------------------------------------------------------------------------------


def test_every_published_number_is_in_a_count(tmp_path):
    compared = agreement.agreement(PLAN, Results(tmp_path))
    everything = agreement.published_numbers()
    assert [c.published for c in compared] == everything and len(everything) == len(set(everything)) == 338
    n = agreement.counted(compared)
    assert n["compared"] + n["waiting"] + n["left out"] == n["published"] == len(everything)
    assert all(len(c.left_out) > 20 for c in compared if not c.ours)  # a reason in words


def test_a_number_without_a_reading_fails(monkeypatch, tmp_path):
    wrong = agreement.Published("jmlr-table9", "AdaBoost.MX", "landsat", 88.0)
    monkeypatch.setattr(agreement, "published_numbers", lambda: [wrong])
    with pytest.raises(KeyError, match=r"AdaBoost\.MX"):
        agreement.agreement(PLAN, Results(tmp_path))


def test_one_run_of_a_random_split_does_not_agree_with_everything():
    one, two = (Numbers(values, 2, 400, drawn=True) for values in ((20.0,), (20.0, 26.0)))
    assert 20.0 in one.run and 60.0 not in one.run
    assert one.run.low == pytest.approx(20 - 1.96 * 2.0, abs=0.01)  # binomial: 20 · 80 / 400 = 2²
    assert two.run.low == 0.0  # two runs say little, but never that an error may be negative
    assert one.standard_error == pytest.approx(2.0) and two.standard_error == pytest.approx(3.0)


def test_no_published_number_is_compared_with_everything_there_is():
    compared = agreement.agreement(PLAN, Results(None, kept.FOLDER))
    known = [c for c in compared if not c.left_out and not c.waits and np.isfinite(c.numbers.mean)]
    assert len(known) > 300 and max(c.interval.high - c.interval.low for c in known) < 90.0


def test_dashes_agree_with_boosters_that_could_not_begin():
    dash = agreement.Published("jmlr-table9", "AdaBoost.M1", "letter", None)
    stuck, running = Numbers((np.nan,), 1, 100), Numbers((50.0,), 1, 100)
    assert agreement.Compared(dash, "M1", stuck).inside and not agreement.Compared(dash, "M1", running).inside
    number = replace(dash, value=50.0)
    assert agreement.Compared(number, "M1", running).inside and not agreement.Compared(number, "M1", stuck).inside


def test_counts_on_a_grid_with_numbers(monkeypatch, tmp_path):
    published = [agreement.Published("jmlr-table9", "SAMME", c, v) for c, v in (("landsat", 82.0), ("letter", 53.3))]
    values = {"landsat": Numbers((82.5,), 1, 2000), "letter": Numbers((70.0,), 1, 4000)}
    monkeypatch.setattr(agreement, "published_numbers", lambda: published)
    monkeypatch.setitem(grids.SOURCES, "jmlr-table9", lambda plan, found: Grid({"SAMME": values}))
    n = agreement.counted(agreement.agreement(PLAN, Results(tmp_path)))
    assert (n["compared"], n["inside"], n["within two points"]) == (2, 1, 1)


def test_a_view_knows_what_is_not_measured():
    view = View({"a": {"x": None}}, error=False)
    assert view["a", "x"] is None and view.score("a", "x") is None and view["b", "x"] is None
