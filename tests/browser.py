"""What a page shows in Chromium, without a window."""

import subprocess
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

OPTIONS = [
    "--headless=new",
    "--no-sandbox",  # which a container does not have; the pages are ours
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder and says nothing."""

    def log_message(self, *args):
        """Not to standard error."""


def shown(folder, page):
    """The document of a page in a folder, served on the loop-back address, after its scripts have run."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            with tempfile.TemporaryDirectory() as profile:
                address = f"http://127.0.0.1:{server.server_port}/{page}"
                more = [f"--user-data-dir={profile}", "--virtual-time-budget=20000", "--dump-dom", address]
                done = subprocess.run(
                    ["chromium", *OPTIONS, *more], capture_output=True, text=True, timeout=120, check=True
                )
        finally:
            server.shutdown()
    return done.stdout
