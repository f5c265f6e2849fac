"""What a page shows in Chromium, without a window."""

import shutil
import subprocess
import tempfile
import threading
from contextlib import contextmanager
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


@contextmanager
def driven():
    """A browser that a test can drive: a driver of Selenium, with a profile of its own."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:  # the browser may still write to it
        for option in [*OPTIONS, f"--user-data-dir={profile}"]:
            options.add_argument(option)
        driver = webdriver.Chrome(options, Service(shutil.which("chromedriver")))
        try:
            yield driver
        finally:
            driver.quit()


def set_screen(driver, width, height=900):
    """Let the screen have this size in pixels."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def prefer(driver, theme):
    """Let the system prefer a theme, "light" or "dark"."""
    feature = {"name": "prefers-color-scheme", "value": theme}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
