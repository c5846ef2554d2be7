"""The site as readers meet it: in Chromium, from files and from a local server, without a network.

`make site` builds what is looked at here. Without Chromium or the package playwright, the tests
that need a browser are skipped, and say so.
"""

import functools
import os
import threading
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from bookbinder.site.browser import FLAGS, chromium_path

os.environ.setdefault("D2L_DEVICE", "cpu")
os.environ["MPLBACKEND"] = "agg"
ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "site"
WAYS = ("file", "server")
CHROMIUM = chromium_path()
NO_NETWORK = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
GATHER = (Path(__file__).parent / "gather.js").read_text(encoding="utf-8")


def page_names() -> list[str]:
    return sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))


def pytest_generate_tests(metafunc):
    if "name" in metafunc.fixturenames:
        metafunc.parametrize("name", page_names() or ["index.html"])
    if "way" in metafunc.fixturenames:
        metafunc.parametrize("way", WAYS)


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


def open_page(context, url: str, visit: Visit | None = None):
    """Open a page and wait until its equations stand."""
    page = context.new_page()
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
