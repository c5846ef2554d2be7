"""Find and start the browser of the machine, without a network."""

import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from bookbinder.errors import BookError

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]


def chromium_path() -> str | None:
    """Return where this machine has Chromium or Chrome, if it does."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def chromium() -> Iterator:
    """Start Chromium; raise BookError where it or the package that drives it is missing."""
    if (path := chromium_path()) is None:
        raise BookError("there is no Chromium on this machine; install it to print the book")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise BookError("the package playwright is missing; `make pdf` installs it") from None
    logging.getLogger("asyncio").disabled = True  # after Ctrl-C it tells of futures, at length
    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()
