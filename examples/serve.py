"""A model behind HTTP, with nothing but the standard library: ``python examples/serve.py model.sb --port 8000``.

    POST /predict  {"rows": [[5.1, 3.5, 1.4, 0.2], …], "top": 3}
                →  {"labels": ["setosa", …], "top": [[["setosa", 0.99], …], …]}
    GET  /health →  {"classes": 3, "requests": 17, "memory_mb": 92.1}

A row is a list of values in the order of the columns, null where one is missing; models that were fitted on a data
frame take objects with the names of the columns as keys, dates and durations as text. ``top`` may be left out.

Every connection has a thread while it is open, and there are at most ``--connections`` of them; more are answered with
503. Whoever opens that many and sends nothing keeps others out for a minute, so towards the internet this wants a
proxy in front of it, as every small server does.

Why no web framework: a prediction takes some 25 µs and the standard library's HTTP a few hundred. A framework adds
routing and validation, which one route does not need, and a dependency. Behind FastAPI the same class `Predictor` works
as it is: ``app.post("/predict")(predictor.answer)``. Prediction releases the interpreter lock while it is in compiled
code, so threads do for moderate loads; for more, run several of these processes behind a balancer.
"""

import argparse
import json
import os
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

import simplexboost as sb

MOST_BYTES = 2**24  # of a request
MOST_CONNECTIONS = 64  # open at the same time
PARSED = {  # of columns that JSON has no values for: what pandas reads them with, and an example
    "date": ("to_datetime", "2024-05-31T12:00:00"),
    "duration": ("to_timedelta", "3 days 04:00:00"),
}
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class Predictor:
    """A model, and how requests become answers."""

    def __init__(self, path):
        self.clf = sb.load(path)
        self.names = getattr(self.clf, "feature_names_in_", None)
        self.lock, self.requests = threading.Lock(), 0
        row = [None] * self.clf.n_features_in_ if self.names is None else dict.fromkeys(self.names)
        with suppress(ValueError):  # not all classifiers take missing values
            self.clf.predict(self.table([row]))  # packs the trees before the first request

    def answer(self, asked):
        """The answer to a request; ValueError, TypeError and KeyError say what is wrong with it."""
        if not isinstance(asked, dict) or not isinstance(asked.get("rows"), list) or not asked["rows"]:
            raise ValueError('a request is an object like {"rows": [[…], …]} with at least one row.')
        X = self.table(asked["rows"])
        with self.lock:
            self.requests += 1
        if "top" not in asked:
            return {"labels": self.clf.predict(X).tolist()}
        labels, P = sb.decide.top_k(self.clf, X, asked["top"])
        pairs = [list(map(list, zip(*row, strict=True))) for row in zip(labels.tolist(), P.tolist(), strict=True)]
        return {"labels": labels[:, 0].tolist(), "top": pairs}

    def table(self, rows):
        """Rows in the form that the model takes."""
        if self.names is None:  # null becomes NaN, or stays None beside text; both mean missing
            return np.array(rows, dtype=np.float64 if getattr(self.clf, "categories_", None) is None else object)
        for row in rows:
            wrong = set(self.names) ^ set(row) if isinstance(row, dict) else {"a row that is no object"}
            if wrong:  # a misspelt name must not count as a missing value
                raise ValueError(
                    f"rows are objects with the keys {list(self.names)}; wrong or missing: {sorted(wrong)}."
                )
        import pandas as pd

        frame = pd.DataFrame.from_records(rows, columns=list(self.names))
        kinds = getattr(self.clf, "feature_kinds_", None) or []  # older model files do not tell them
        for name, kind in zip(self.names, kinds, strict=False):
            if kind in PARSED:
                frame[name] = parsed(frame[name], kind)
        return frame

    def health(self):
        """How the service is."""
        return {"classes": len(self.clf.classes_), "requests": self.requests, "memory_mb": round(memory(), 1)}


def parsed(values, kind):
    """A column of dates or durations from text; numbers are refused, since nothing says what they would count."""
    import pandas as pd

    function, example = PARSED[kind]
    wrong = next((value for value in values.astype(object) if not isinstance(value, str) and not pd.isna(value)), None)
    if wrong is not None:
        raise ValueError(f"column {values.name!r} holds {kind}s: pass text such as {example!r}, not {wrong!r}.")
    return getattr(pd, function)(values)


def memory():
    """The memory of this process in MB, where the system tells it."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * PAGE / 1e6
    except OSError:
        return float("nan")


class Handler(BaseHTTPRequestHandler):
    """Speaks HTTP; connections stay open for further requests."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # otherwise an answer may wait 40 ms for the next one
    wbufsize = -1  # headers and body leave in one packet
    timeout = 60  # seconds that an idle connection stays open
    predictor: Predictor

    def do_POST(self):
        """``/predict``."""
        size = self.headers.get("Content-Length", "")
        if not size.isdecimal() or len(size) > len(str(MOST_BYTES)) or int(size) > MOST_BYTES:
            self.close_connection = True
            return self.send(413, {"error": f"a request has a Content-Length of at most {MOST_BYTES} bytes."})
        body = self.rfile.read(int(size))
        if self.path != "/predict":
            return self.send(404, {"error": f"there is no {self.path}; POST to /predict."})
        try:
            return self.send(200, self.predictor.answer(json.loads(body)))
        # a number may be too large for a float, and JSON nested too deep
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
            return self.send(400, {"error": " ".join(str(error).split())})

    def do_GET(self):
        """``/health``."""
        if self.path != "/health":
            return self.send(404, {"error": f"there is no {self.path}; GET /health."})
        return self.send(200, self.predictor.health())

    def send(self, status, answer):
        """Send an answer as JSON."""
        body = json.dumps(answer, default=str).encode()
        self.send_response_only(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()


class Server(ThreadingHTTPServer):
    """Answers in threads, one for each of so many connections; more are sent away."""

    daemon_threads = True

    def __init__(self, address, handler, most):
        super().__init__(address, handler)
        self.free, self.most = threading.BoundedSemaphore(most), most

    def process_request(self, request, client_address):
        """Answer in a thread if there is one left."""
        if self.free.acquire(blocking=False):
            return super().process_request(request, client_address)
        error = json.dumps({"error": f"{self.most} connections are open, which is all there are; come back later."})
        request.settimeout(0)  # nobody is waited for here
        with suppress(OSError):
            request.sendall(BUSY % (len(error), error.encode()))
            request.recv(MOST_BYTES)  # what is unread when a connection is closed may take the answer with it
        self.shutdown_request(request)

    def process_request_thread(self, request, client_address):
        """Answer, in a thread."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.free.release()


BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%b"
)


def make_server(path, host="127.0.0.1", port=8000, connections=MOST_CONNECTIONS):
    """A server that answers in threads; port 0 takes any that is free."""
    handler = type("ModelHandler", (Handler,), {"predictor": Predictor(path)})
    return Server((host, port), handler, connections)


def main():
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--connections", type=int, default=MOST_CONNECTIONS, help="open at the same time")
    options = parser.parse_args()
    with make_server(options.model, options.host, options.port, options.connections) as server:
        print(f"serving {options.model} at http://{options.host}:{server.server_port}", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print("stopped")


if __name__ == "__main__":
    main()
