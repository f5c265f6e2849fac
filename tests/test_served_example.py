"""The example that serves a model over HTTP answers like the classifier, and says what is wrong with a request."""

import http.client
import importlib.util
import json
import re
import socket
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from export_cases import case

import simplexboost as sb

spec = importlib.util.spec_from_file_location("serve", Path(__file__).parents[1] / "examples" / "serve.py")
serve = importlib.util.module_from_spec(spec)
spec.loader.exec_module(serve)


@pytest.fixture
def ask(tmp_path, request):
    """A function that sends a request to a served model and returns status and answer."""
    case(request.param).clf.save(tmp_path / "model.sb")
    with serve.make_server(tmp_path / "model.sb", port=0) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)

        def send(method, path, body=None):
            connection.request(method, path, body if body is None or isinstance(body, str) else json.dumps(body))
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())

        send.port = server.server_port
        yield send
        connection.close()
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("ask", ["flagship"], indirect=True)
def test_rows_get_labels_and_probabilities(ask):
    found = case("flagship")
    rows = [[None if np.isnan(v) else v for v in row] for row in found.X[:5].tolist()]
    assert ask("POST", "/predict", {"rows": rows}) == (200, {"labels": found.clf.predict(found.X[:5]).tolist()})
    status, answer = ask("POST", "/predict", {"rows": rows, "top": 2})
    labels, P = sb.decide.top_k(found.clf, found.X[:5], 2)
    assert (status, answer["labels"]) == (200, labels[:, 0].tolist())
    assert answer["top"][3] == [[labels[3, 0], P[3, 0]], [labels[3, 1], P[3, 1]]]
    status, health = ask("GET", "/health")
    assert (status, health["classes"], health["requests"]) == (200, 4, 2)


@pytest.mark.parametrize("ask", ["text and holes"], indirect=True)
def test_rows_with_names(ask):
    found = case("text and holes")
    rows = json.loads(found.X[:5].to_json(orient="records"))
    assert ask("POST", "/predict", {"rows": rows}) == (200, {"labels": found.clf.predict(found.X[:5]).tolist()})


def test_dates_and_texts_in_arrays(tmp_path):
    X = pd.DataFrame({"when": pd.date_range("2020-01-01", periods=60), "wait": pd.to_timedelta(range(60), unit="h")})
    clf = sb.GDMCBoostClassifier(n_estimators=3).fit(X, np.arange(60) // 20)
    clf.save(tmp_path / "dates.sb")
    rows = [{"when": "2020-01-05", "wait": "3 hours"}, {"when": None, "wait": "50:00:00"}]
    asked = pd.DataFrame({"when": pd.to_datetime(["2020-01-05", None]), "wait": pd.to_timedelta([3, 50], unit="h")})
    assert serve.Predictor(tmp_path / "dates.sb").answer({"rows": rows})["labels"] == clf.predict(asked).tolist()
    texts = np.array([["a", 1.0], ["b", None]] * 30, dtype=object)
    clf = sb.GDMCBoostClassifier(n_estimators=3, categorical_features=[0]).fit(texts, [0, 1] * 30)
    clf.save(tmp_path / "texts.sb")
    assert serve.Predictor(tmp_path / "texts.sb").answer({"rows": [["b", None], ["a", 2]]})["labels"] == [1, 0]


@pytest.mark.parametrize("ask", ["text and holes"], indirect=True)
def test_misspelt_names_are_refused(ask):
    row = json.loads(case("text and holes").X[:1].to_json(orient="records"))[0]
    for rows in ([row | {"tawn": "x"}], [{k: v for k, v in row.items() if k != "town"}], [list(row.values())]):
        status, answer = ask("POST", "/predict", {"rows": rows})
        assert status == 400 and "wrong or missing" in answer["error"], answer


@pytest.mark.parametrize("ask", ["flagship"], indirect=True)
def test_wrong_requests(ask):
    for body, words in [
        ("no json", "Expecting value"),
        ("[" * 100_000, "recursion"),
        ({"rows": []}, "at least one row"),
        ([1, 2], "a request is an object"),
        ({"rows": [[1, 2, 3]]}, "X has 3 features"),
        ({"rows": [[1, 2, 3, "x"]]}, "could not convert string to float"),
        ({"rows": [[1, 2, 3, 4]], "top": 9}, "k=9"),
        ({"rows": [[1, 2, 3, 10**400]]}, "too large"),
        ('{"rows": [[1, 2, 3, ' + "9" * 5000 + "]]}", "digits"),
    ]:
        status, answer = ask("POST", "/predict", body)
        assert (status, words in answer["error"]) == (400, True), answer
    assert ask("POST", "/elsewhere", {})[0] == ask("GET", "/elsewhere")[0] == 404


@pytest.mark.parametrize("size", ["9" * 5000, "16777217", "-1", "1e3", "²", ""])
@pytest.mark.parametrize("ask", ["flagship"], indirect=True)
def test_requests_of_no_size_or_too_large_a_one_are_refused(ask, size):
    with socket.create_connection(("127.0.0.1", ask.port), timeout=30) as raw:
        raw.sendall(f"POST /predict HTTP/1.1\r\nContent-Length: {size}\r\n\r\n".encode("latin-1"))
        assert raw.recv(100).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("ask", ["flagship"], indirect=True)
def test_connections_beyond_the_limit_are_sent_away(ask):
    """Half a request keeps a thread; when its connection is closed, there is room again."""
    assert serve.MOST_CONNECTIONS < 200
    before, half = threading.active_count(), []
    for _ in range(serve.MOST_CONNECTIONS + 20):
        half.append(socket.create_connection(("127.0.0.1", ask.port), timeout=30))
        half[-1].sendall(b"POST /predict HTTP/1.1\r\n")
    late = half[-1].recv(1000)
    assert late.startswith(b"HTTP/1.1 503 ") and b"connections are open" in late
    assert threading.active_count() <= before + serve.MOST_CONNECTIONS
    for connection in half:
        connection.close()
    begin = time.monotonic()
    while ask("GET", "/health")[0] == 503 and time.monotonic() - begin < 30:
        time.sleep(0.05)
    assert ask("GET", "/health")[0] == 200


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"when": 1e300, "wait": None}, "'when' holds dates: pass text such as '2024-05-31T12:00:00', not 1e+300"),
        ({"when": 19_000, "wait": None}, "not 19000"),
        ({"when": None, "wait": 3}, "column 'wait' holds durations: pass text such as '3 days 04:00:00', not 3"),
        ({"when": "soon", "wait": None}, "soon"),
    ],
)
def test_numbers_are_no_dates(row, words, tmp_path):
    X = pd.DataFrame({"when": pd.date_range("2020-01-01", periods=60), "wait": pd.to_timedelta(range(60), unit="h")})
    sb.GDMCBoostClassifier(n_estimators=3).fit(X, np.arange(60) // 20).save(tmp_path / "dates.sb")
    with pytest.raises(ValueError, match=re.escape(words)):
        serve.Predictor(tmp_path / "dates.sb").answer({"rows": [{"when": "2020-01-05", "wait": None}, row]})


@pytest.mark.parametrize("path", sorted((Path(__file__).parent / "files").glob("*.sb")), ids=lambda path: path.stem)
def test_model_files_of_all_versions_are_served(path):
    """Some classifiers have no probabilities."""
    told = json.loads(path.with_suffix(".json").read_text())
    predictor = serve.Predictor(path)
    rows = told["rows"]
    if predictor.names is not None:
        rows = [dict(zip(predictor.names, row, strict=True)) for row in rows]
    assert len(predictor.answer({"rows": rows})["labels"]) == len(rows)
