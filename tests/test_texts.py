"""The race on texts: the documents that are made on the spot, a small run, and its page."""

import json

import numpy as np
import pytest
from scipy import sparse

from benchmarks import text


def test_documents_have_words_of_their_topics():
    texts, c = text.documents(300, 3)
    assert len(texts) == 300
    assert np.bincount(c).tolist() == [100, 100, 100]
    counts = np.array([len(t.split()) for t in texts])
    assert counts.min() >= 10
    words, often = np.unique([w for t in texts for w in t.split()], return_counts=True)
    assert words[often.argmax()] == "word00000"  # Zipf's law: the first word is the most frequent one
    assert text.documents(300, 3)[0] == texts


def test_tables_are_sparse():
    data = text.made(400, 4, 500)
    assert data.X.shape == (400, 500)
    assert data.X_test.shape == (100, 500)
    assert sparse.issparse(data.X)
    assert data.X.dtype == np.float32


def test_a_race_and_its_page(monkeypatch, tmp_path):
    """In this process: another one would only cost time."""
    monkeypatch.setattr(text, "apart", lambda corpus, name, o: text.run(corpus, name, o.columns, o.threads, o.budget))
    page = tmp_path / "TEXT.md"
    options = ["--documents", "200", "--classes", "3", "--columns", "200", "--contestants", "simplexboost"]
    text.main([*options, "--threads", "1", "--output", str(page), "--note", "Noisy."])
    words = page.read_text()
    assert "made-200-3" in words
    assert "200 × 200" in words
    assert "Noisy." in words


def test_one_fit_prints_what_it_measured(capsys):
    text.main(["--one", "made-200-3", "simplexboost", "--columns", "100", "--threads", "1"])
    result = json.loads(capsys.readouterr().out)
    assert result["K"] == 3
    assert 0 < result["accuracy"] <= 1
    assert 0 < result["cpu_seconds"]
    assert result["trees"] == result["rounds"] > 0


def test_newsgroups_are_not_fetched(monkeypatch, tmp_path):
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    with pytest.raises(OSError, match="not found"):
        text.newsgroups(100)
