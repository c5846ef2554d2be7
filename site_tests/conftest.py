"""The site of `make site` as readers meet it, in Chromium without a network, or skipped without."""

import functools
import os
import threading
import time
from collections.abc import Callable
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path
from types import SimpleNamespace

import pytest
from playwright.sync_api import sync_playwright

from bookbinder.config import read_book
from bookbinder.files import read_notebook
from bookbinder.site.printing import FLAGS, chromium_path
from bookbinder.site.settings import folder_of

os.environ.setdefault("D2L_DEVICE", "cpu")
os.environ["MPLBACKEND"] = "agg"
ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "site"
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html")) or ["no site"]
CHROMIUM = chromium_path()
NO_NETWORK = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
GATHER = Path(__file__).with_name("gather.js").read_text(encoding="utf-8").strip()
AXE = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
BOOK = read_book(ROOT)
ALONE = '<!doctype html><meta name="viewport" content="width=device-width">'
FURTHER = tuple(f"{folder_of(e, BOOK.editions)}/" for e in BOOK.editions[1:])


@pytest.fixture(scope="session")
def site() -> Path:
    if not (SITE / "index.html").exists():
        pytest.fail("there is no site: run `make site` first", pytrace=False)
    return SITE


@pytest.fixture(scope="session")
def browser():
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    with sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, NO_NETWORK])
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def addresses(site) -> dict[str, str]:
    """Where the site starts, for each way to read it."""
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield {"file": site.as_uri(), "server": f"http://127.0.0.1:{server.server_port}"}
        server.shutdown()


def nothing_yet() -> SimpleNamespace:
    return SimpleNamespace(requests=[], failed=[], complaints=[])


def open_page(context, url: str, seen: SimpleNamespace):
    """Open a page; what it asks for and complains about is kept in `seen`."""
    page = context.new_page()
    page.on("request", lambda r: seen.requests.append(r.url))
    page.on("requestfailed", lambda r: seen.failed.append(r.url))
    page.on("response", lambda r: r.status >= 400 and seen.failed.append(r.url))
    page.on("pageerror", lambda e: seen.complaints.append(str(e)))
    page.on("console", lambda m: m.type in ("error", "warning") and seen.complaints.append(m.text))
    page.goto(url, wait_until="load")
    return page


def comes_true(page, condition: Callable[[], bool], seconds: float = 5) -> bool:
    """Return whether the condition holds within some seconds: a busy machine draws later."""
    until = time.monotonic() + seconds
    while not (holds := condition()) and time.monotonic() < until:
        page.wait_for_timeout(100)
    return holds


def violations(page, where: str = "'html'") -> list[str]:
    """Return what axe-core finds serious or critical on a page, in light and in dark."""
    page.add_style_tag(content="* { transition: none !important }")  # colors change at once
    page.evaluate(AXE)
    return page.evaluate(f"{GATHER}.violations({where})")


def widgets(kind: str, framework: str = "pytorch") -> dict[str, str]:
    """Return the widgets of a kind that notebooks store, by the number of the chapter."""
    paths = sorted((ROOT / "notebooks" / framework).glob("*.ipynb"))
    cells = ((path.name[:2], cell) for path in paths for cell in read_notebook(path).cells)
    outputs = ((n, output.get("data", {})) for n, c in cells for output in c.get("outputs", []))
    shown = ((number, data.get("text/html", "")) for number, data in outputs)
    return {number: html for number, html in shown if f'<div class="{kind}"' in html}


@pytest.fixture
def alone(browser):
    """Return a function that shows a widget alone on a page, which must raise no error."""
    page, problems = browser.new_page(), []
    page.on("pageerror", lambda error: problems.append(error))
    page.clock.install(time="2026-01-01")

    def show(html, width=1280, motion="no-preference"):
        page.set_viewport_size({"width": width, "height": 1000})
        page.emulate_media(reduced_motion=motion)
        page.set_content(f"{ALONE}{html}")
        return page.locator(".d2l-explorer, .d2l-arcs")

    yield show
    page.close()
    assert not problems


@pytest.fixture
def reading(browser, addresses):
    """Return a function that opens a page in a window and a theme of its own."""
    contexts = []

    def open_at(name, width=1280, theme="light", way="file", seen=None, **options):
        size = {"width": width, "height": 900}
        contexts.append(browser.new_context(viewport=size, **options))
        contexts[-1].add_init_script(f"localStorage.mode = localStorage.theme = '{theme}'")
        return open_page(contexts[-1], f"{addresses[way]}/{name}", seen or nothing_yet())

    yield open_at
    for context in contexts:
        context.close()


@pytest.fixture
def visited(reading):
    """Return a function that visits a page in one way, on a phone and on a laptop."""

    def visit(name: str, way: str) -> SimpleNamespace:
        found = nothing_yet()
        page = reading(name, 360, way=way, seen=found, offline=way == "file")
        found.first_view = [*found.requests]  # before pictures are in view
        found.width = page.evaluate("document.documentElement.scrollWidth")
        page.set_viewport_size({"width": 1280, "height": 900})
        found.facts = page.evaluate(f"{GATHER}.facts()")
        found.axe = violations(page) if way == "file" and "/" not in name else []
        return found

    return visit
