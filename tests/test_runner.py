"""The runner of cells: what is finished stays, what fails is recorded, and processes change nothing but the time."""

import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from runner import Cell, Countdown, File, Folder, Outcome, Workers, run

HEADER = {"options": {"threads": 1}}
STORES = {
    "folder": lambda path: Folder(path / "cells"),
    "file": lambda path: File(path / "cells.json", HEADER, resume=True),
}


@dataclass(frozen=True)
class Square(Cell):
    """A cell that computes x², unless ``how`` says otherwise; ``folder`` is where cells leave notes."""

    x: int
    how: str = ""
    folder: str = ""
    cost: float = 1.0

    @property
    def key(self):
        return f"square {self.x}"

    @property
    def name(self):
        return f"square/{self.x}"


def arrive_late(x):
    """A cell that takes long to come out of the pipe, as if much were imported for it."""
    time.sleep(3)
    return Square(x)


@dataclass(frozen=True)
class Late(Square):
    """A square that arrives late."""

    def __reduce__(self):
        return arrive_late, (self.x,)


def square(cell):
    """What workers compute; they find it by its name."""
    if cell.how == "fail":
        raise ValueError("on purpose")
    if cell.how == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if cell.how == "say and exit":
        os.write(2, b"no memory is left")
        os._exit(1)
    if cell.how == "crash":
        ctypes.string_at(0)
    if cell.how == "hang":
        note(cell, "began")
        time.sleep(1000)
    if cell.how == "after the next":
        until(lambda: (Path(cell.folder) / f"{cell.x + 1} ended").exists())
    note(cell, "ended")
    return {"y": cell.x**2, "pid": os.getpid(), "threads": os.environ.get("OMP_NUM_THREADS")}


def note(cell, word):
    if cell.folder:
        (Path(cell.folder) / f"{cell.x} {word}").write_text(str(os.getpid()))


def until(condition):
    """Wait; a minute is enough for whatever should happen at all."""
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("it did not happen within a minute")


class Counting:
    """Computes in this process, counts, and raises what it is told to."""

    def __init__(self, **raising):
        self.calls, self.raising = [], {int(x.strip("x")): error for x, error in raising.items()}

    def __call__(self, cell):
        self.calls.append(cell.x)
        if cell.x in self.raising:
            raise self.raising[cell.x]
        return {"y": cell.x**2}


@pytest.fixture(params=STORES)
def opened(request, tmp_path):
    """Opens the same store again, as a new run does."""
    return lambda: STORES[request.param](tmp_path)


# ---- what is computed, and what is kept -----------------------------------------------------------------------------


def test_finished_cells_are_not_computed_again(opened, capsys):
    compute, cells = Counting(), [Square(x) for x in (1, 2, 3, 2)]  # one of them twice
    assert run(cells[:2], opened(), compute) == []
    assert run(cells, opened(), compute) == []
    assert compute.calls == [1, 2, 3]
    assert opened().get(Square(3)) == {"y": 9}
    assert opened().get(Square(4)) is None
    printed = capsys.readouterr().out
    assert "3 cells, 2 finished before\n[3/3] square/3: " in printed and "to go" in printed


def test_a_failed_cell_is_recorded_and_tried_again(opened, capsys):
    compute, cells = Counting(x1=ValueError("on purpose")), [Square(1), Square(2)]
    assert run(cells, opened(), compute) == [Square(1)]
    assert "[1/2] square/1: FAILED, ValueError: on purpose" in capsys.readouterr().out
    assert opened().get(Square(1)) is None and opened().get(Square(2)) == {"y": 4}
    store = opened()
    recorded = store.error(Square(1)) if isinstance(store, Folder) else store.cells["square 1"]["error"]
    assert recorded == "ValueError: on purpose"
    compute.raising.clear()
    assert run(cells, opened(), compute) == []
    assert compute.calls == [1, 2, 1]
    assert opened().get(Square(1)) == {"y": 1}


def test_a_result_that_cannot_be_json_is_a_failure(opened):
    assert run([Square(1)], opened(), lambda cell: {"y": {1, 2}}) == [Square(1)]
    assert run([Square(2)], opened(), lambda cell: {"y": (1, 2)}) == []
    assert opened().get(Square(2)) == {"y": [1, 2]}


def test_an_interrupted_run_loses_nothing(opened):
    cells = [Square(x) for x in range(4)]
    interrupted = Counting(x2=KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        run(cells, opened(), interrupted)
    again = Counting()
    assert run(cells, opened(), again) == []
    assert (interrupted.calls, again.calls) == ([0, 1, 2], [2, 3])


def test_results_are_saved_at_once(opened):
    """Each cell finds those before it on disk."""
    found = []

    def look(cell):
        found.append(opened().get(Square(cell.x - 1)))
        return {"y": cell.x}

    run([Square(1), Square(2)], opened(), look)
    assert found == [None, {"y": 1}]


def test_there_is_never_half_a_file(opened, tmp_path, monkeypatch):
    store = opened()
    store.put(Square(1), Outcome({"y": 1}))
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        store.put(Square(1), Outcome({"y": 2}))
    assert opened().get(Square(1)) == {"y": 1}


@pytest.mark.parametrize("content", ['{"key": ', "[]", '{"key": "another", "result": {}}'])
def test_a_damaged_or_foreign_file_counts_as_not_finished(content, tmp_path):
    run([Square(5)], Folder(tmp_path), Counting())
    Folder(tmp_path).path(Square(5)).write_text(content)
    assert Folder(tmp_path).get(Square(5)) is None
    compute = Counting()
    run([Square(5)], Folder(tmp_path), compute)
    assert compute.calls == [5] and Folder(tmp_path).get(Square(5)) == {"y": 25}


def test_a_file_is_not_overwritten_nor_mixed(tmp_path):
    path = tmp_path / "out.json"
    File(path, HEADER).put(Square(1), Outcome({"y": 1}))
    with pytest.raises(FileExistsError, match="--resume"):
        File(path, HEADER)
    with pytest.raises(ValueError, match="other options"):
        File(path, {"options": {"threads": 2}}, resume=True)
    path.write_text(json.dumps({"version": 0}))
    with pytest.raises(ValueError, match="version 1"):
        File(path, HEADER, resume=True)


def test_time_to_go_by_the_costs_that_are_left(monkeypatch):
    countdown = Countdown(4, cost=10.0, begin=0.0)
    monkeypatch.setattr(time, "perf_counter", lambda: 6.0)
    countdown.skip(Square(1, cost=4.0))
    assert countdown.finish(Square(2, cost=2.0)) == "12 s"  # six seconds for a cost of 2, and 4 are left
    assert countdown.finish(Square(3, cost=4.0)) == "0 s"
    assert countdown.done == 3


# ---- processes ------------------------------------------------------------------------------------------------------


def test_two_processes_give_the_same_in_whatever_order_they_end(tmp_path, capsys):
    """The first cell ends after the second; failed cells are still named in the order given."""
    cells = [Square(0, "after the next", str(tmp_path)), Square(1, "", str(tmp_path)), Square(2, "fail"), Square(3)]
    together, alone = Folder(tmp_path / "together"), Folder(tmp_path / "alone")
    assert run(cells, together, square, Workers(2)) == [cells[2]]
    printed = capsys.readouterr().out
    assert printed.index("square/1: ") < printed.index("square/0: ") and "[4/4]" in printed
    assert run(cells, alone, square) == [cells[2]]
    assert [together.get(c) and together.get(c)["y"] for c in cells] == [0, 1, None, 9]
    assert [alone.get(c) and alone.get(c)["y"] for c in cells] == [0, 1, None, 9]


def test_failed_cells_are_named_in_the_order_given(tmp_path):
    cells = [Square(0, "hang", str(tmp_path)), Square(1, "die")]
    assert run(cells, Folder(tmp_path), square, Workers(2, limit=5.0)) == cells


def test_a_killed_process_costs_its_own_cell_only(tmp_path):
    cells = [Square(x, "die" if x == 2 else "") for x in range(5)]
    store = Folder(tmp_path)
    assert run(cells, store, square, Workers(2)) == [cells[2]]
    assert [cell.x for cell in cells if store.get(cell)] == [0, 1, 3, 4]
    assert "status -9 (killed; out of memory?)" in store.error(cells[2])


@pytest.mark.parametrize(
    ("how", "status", "words"),
    [("say and exit", "status 1", "It said last:\nno memory is left"), ("crash", "status -11", "in square")],
)
def test_what_a_process_said_before_it_ended_is_told(how, status, words, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ((_, outcome),) = Workers().outcomes(square, [Square(1, how)])
    assert status in outcome.error
    assert words in outcome.trace
    assert outcome.trace.split("\n")[1] in capsys.readouterr().err
    assert not list(tmp_path.iterdir()), "files are left behind"


def test_the_start_of_a_process_does_not_count_as_time_of_its_cell(tmp_path):
    assert run([Late(3)], Folder(tmp_path), square, Workers(limit=2.0)) == []


def test_a_cell_that_takes_too_long_is_given_up_and_its_process_ended(tmp_path):
    cell = Square(1, "hang", str(tmp_path))
    workers = Workers(limit=4.0)
    assert run([cell], Folder(tmp_path), square, workers) == [cell]
    assert Folder(tmp_path).error(cell) == "not done after 4 s"
    began = tmp_path / "1 began"
    assert not began.exists() or not alive(int(began.read_text()))


def test_processes_are_used_again_unless_fresh_ones_are_asked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    cells = [Square(x) for x in range(3)]
    for fresh, count in ((False, 1), (True, 3)):
        store = Folder(tmp_path / str(fresh))
        run(cells, store, square, Workers(threads=2, fresh=fresh))
        found = [store.get(cell) for cell in cells]
        assert len({result["pid"] for result in found} - {os.getpid()}) == count
        assert {result["threads"] for result in found} == {"2"}
    assert os.environ["OMP_NUM_THREADS"] == "7"


def test_a_killed_run_keeps_what_is_finished_and_leaves_no_process(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\n"
        f"sys.path[:0] = {[str(Path(__file__).parent), str(Path(__file__).parents[1])]!r}\n"
        "from runner import Folder, Workers, run\n"
        "from test_runner import Square, square\n"
        "if __name__ == '__main__':\n"
        f"    folder = {str(tmp_path)!r}\n"
        "    run([Square(1), Square(2, 'hang', folder)], Folder(folder), square, Workers())\n"
    )
    began = tmp_path / "2 began"
    killed = subprocess.Popen([sys.executable, script], stdout=subprocess.DEVNULL)
    try:
        until(lambda: began.exists() and began.read_text())
    finally:
        killed.kill()
        killed.wait()
    until(lambda: not alive(int(began.read_text())))
    assert Folder(tmp_path).get(Square(1))["y"] == 1
    compute = Counting()
    run([Square(1), Square(2)], Folder(tmp_path), compute)
    assert compute.calls == [2]


def alive(pid):
    """Whether a process runs; one that nobody has waited for does not."""
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False
