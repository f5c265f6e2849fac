"""Requests a second, latencies and memory of `serve.py`: ``python examples/load_test.py --seconds 20 --connections 4``.

Fits a small model of the digits, serves it in a process of its own on the loop-back address, and asks for one row after
the other over a few connections that stay open. Memory is that of the server after a tenth of the time and at the end.
"""

import argparse
import http.client
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from sklearn.datasets import load_digits

import simplexboost as sb


def ask(port, bodies, until, latencies):
    """Ask until the time is over; append the seconds of every request."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    count = 0
    while time.perf_counter() < until:
        begin = time.perf_counter()
        connection.request("POST", "/predict", bodies[count % len(bodies)])
        answer = connection.getresponse()
        data = answer.read()
        latencies.append(time.perf_counter() - begin)
        assert answer.status == 200, data
        count += 1
    connection.close()


def health(port):
    """What the server says of itself."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/health")
    return json.loads(connection.getresponse().read())


def main():
    """Fit, serve, ask, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--connections", type=int, default=4)
    options = parser.parse_args()
    X, y = load_digits(return_X_y=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "digits.sb")
        sb.SimplexBoostClassifier(n_estimators=100, random_state=0, n_jobs=1).fit(X, y).save(path)
        command = [sys.executable, str(Path(__file__).with_name("serve.py")), str(path), "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                port = int(server.stdout.readline().rsplit(":", 1)[1])
                measure(port, [json.dumps({"rows": [row]}) for row in X[:200].tolist()], options)
            finally:
                server.terminate()


def measure(port, bodies, options):
    """Warm up, then load the server and print what it did."""
    latencies = []
    for seconds in (options.seconds / 10, options.seconds):
        before, latencies = health(port), [[] for _ in range(options.connections)]
        until = time.perf_counter() + seconds
        threads = [threading.Thread(target=ask, args=(port, bodies, until, some)) for some in latencies]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    after, found = health(port), sorted(second for some in latencies for second in some)
    cuts = statistics.quantiles(found, n=100)
    print(f"{len(found)} requests over {options.connections} connections: {len(found) / options.seconds:.0f} a second")
    print(f"latency: median {1e3 * cuts[49]:.2f} ms, 90 % {1e3 * cuts[89]:.2f} ms, 99 % {1e3 * cuts[98]:.2f} ms")
    print(f"memory of the server: {before['memory_mb']} MB after warming up, {after['memory_mb']} MB at the end")


if __name__ == "__main__":
    main()
