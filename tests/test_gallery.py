"""The scripts of the gallery: each runs without a warning and draws something."""

import runpy
from pathlib import Path

import pytest

matplotlib = pytest.importorskip("matplotlib")

GALLERY = Path(__file__).parent.parent / "docs" / "gallery"
SCRIPTS = sorted(GALLERY.glob("ex*.py"))


def test_there_are_scripts():
    assert len(SCRIPTS) >= 10


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_scripts_run_and_draw(script, monkeypatch, capsys):
    import matplotlib.pyplot as plt

    shown = []

    def show():
        shown.append(plt.get_fignums())
        for number in shown[-1]:
            plt.figure(number).canvas.draw()
        plt.close("all")

    monkeypatch.setattr(plt, "show", show)
    runpy.run_path(str(script))
    assert shown, "nothing is shown"
    assert all(shown), "a figure is shown that does not exist"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_scripts_begin_with_a_title(script):
    docstring = script.read_text(encoding="utf-8").split('"""')[1].strip().splitlines()
    assert set(docstring[1]) == {"="}
    assert len(docstring[1]) == len(docstring[0])
