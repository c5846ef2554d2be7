"""The site as readers meet it: in Chromium, from files and from a local server, without a network.

`make site` builds what is looked at here. Without Chromium or the package playwright, the tests
that need a browser are skipped, and say so.
"""

import functools
import os
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from bookbinder.config import read_book
from bookbinder.site.browser import FLAGS, chromium_path
from bookbinder.site.settings import folder_of

os.environ.setdefault("D2L_DEVICE", "cpu")
os.environ["MPLBACKEND"] = "agg"
ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "site"
WAYS = ("file", "server")
PAGE = re.compile(r"\d\d_[a-z0-9_]+|\w+(?=\.html)")  # in the parameters of a test
CHROMIUM = chromium_path()
NO_NETWORK = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
GATHER = (Path(__file__).parent / "gather.js").read_text(encoding="utf-8")


BOOK = read_book(ROOT)
FURTHER = tuple(f"{folder_of(e, BOOK.editions)}/" for e in BOOK.editions[1:])
OF_ALL_EDITIONS = ("test_pages", "test_budgets")  # others look at what all editions share


def page_names() -> list[str]:
    return sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))


def pytest_generate_tests(metafunc):
    names, ways = page_names() or ["index.html"], WAYS
    first = [name for name in names if not name.startswith(FURTHER)]
    if metafunc.module.__name__ not in OF_ALL_EDITIONS:
        names = first
    if {"name", "way"} <= set(metafunc.fixturenames):  # further editions are read from a file
        pairs = [(n, way) for n in names for way in (ways if n in first else ways[:1])]
        metafunc.parametrize(("name", "way"), pairs)
    elif "name" in metafunc.fixturenames:
        metafunc.parametrize("name", names)
    elif "way" in metafunc.fixturenames:
        metafunc.parametrize("way", ways)


def pytest_collection_modifyitems(items):
    """Let the tests of one page run in one process: the page is visited once for all of them."""
    for item in items:
        parameters = getattr(item, "callspec", None)
        found = PAGE.search(parameters.id) if parameters else None
        item.add_marker(pytest.mark.xdist_group(found[0] if found else item.module.__name__))


@pytest.fixture(scope="session")
def site() -> Path:
    if not (SITE / "index.html").exists():
        pytest.fail("there is no site: run `make site` first", pytrace=False)
    return SITE


@pytest.fixture(scope="session")
def browser():
    tool = pytest.importorskip(
        "playwright.sync_api", reason="the package playwright is not installed"
    )
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    with tool.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, NO_NETWORK])
        yield chromium
        chromium.close()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def addresses(site) -> dict[str, str]:
    """Where the site starts, for each way to read it."""
    handler = functools.partial(Quiet, directory=str(site))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield {"file": site.as_uri(), "server": f"http://127.0.0.1:{server.server_port}"}
    server.shutdown()
    thread.join()
    server.server_close()


@dataclass
class Visit:
    """What a page asked for, complained about and showed."""

    requests: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    facts: dict = field(default_factory=dict)


def open_page(context, url: str, visit: Visit | None = None, math: bool = True):
    """Open a page and wait until its equations stand; setting them takes most of the time."""
    page = context.new_page()
    if not math:
        page.route("**/tex-chtml.js", lambda route: route.abort())
    if visit is not None:
        page.on("request", lambda r: visit.requests.append(r.url))
        page.on("requestfailed", lambda r: visit.failed.append(r.url))
        page.on("response", lambda r: r.status >= 400 and visit.failed.append(r.url))
        page.on("pageerror", lambda e: visit.complaints.append(str(e)))
        page.on(
            "console",
            lambda m: m.type in ("error", "warning") and visit.complaints.append(m.text),
        )
    page.goto(url, wait_until="load")
    page.evaluate("async () => { await window.MathJax?.startup?.promise }")
    return page


def comes_true(page, condition: Callable[[], bool], seconds: float = 5) -> bool:
    """Return whether the condition holds within some seconds: a busy machine draws later."""
    until = time.monotonic() + seconds
    while not (holds := condition()) and time.monotonic() < until:
        page.wait_for_timeout(100)
    return holds


@pytest.fixture(scope="session")
def visited(browser, addresses):
    """Return a function that visits a page in one way, once for all tests."""

    @functools.cache
    def visit(name: str, way: str) -> Visit:
        found = Visit()
        context = browser.new_context(offline=way == "file")
        page = open_page(context, f"{addresses[way]}/{name}", found)
        found.facts = page.evaluate(GATHER)
        context.close()
        return found

    return visit
