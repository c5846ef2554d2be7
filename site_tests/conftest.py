"""The site as readers meet it: in Chromium, from files and from a local server, without a network.

`make site` builds what is looked at here. On a machine without Chromium, the tests that need a
browser are skipped, and say so.
"""

import functools
import os
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path

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
PAGE = re.compile(r"\d\d_[a-z0-9_]+|\w+(?=\.html)")  # in the parameters of a test
CHROMIUM = chromium_path()
NO_NETWORK = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
GATHER = Path(__file__).with_name("gather.js").read_text(encoding="utf-8")
BOOK = read_book(ROOT)
FURTHER = tuple(f"{folder_of(e, BOOK.editions)}/" for e in BOOK.editions[1:])
ALONE = '<!doctype html><meta name="viewport" content="width=device-width"><body>{}</body>'
GRAVE = ("serious", "critical")
# Thousands of parts that are alike on all pages and take half of the time: looked at on one.
ALIKE = ["mjx-container", ".highlight"]
WHOLE = "10_masked_softmax.html"
OF_ALL_EDITIONS = ("test_pages",)  # others look at what all editions share


def page_names() -> list[str]:
    return sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))


def pytest_generate_tests(metafunc):
    names = page_names() or ["index.html"]
    if metafunc.module.__name__ not in OF_ALL_EDITIONS:
        names = [name for name in names if "/" not in name]
    if "name" in metafunc.fixturenames:
        metafunc.parametrize("name", names)


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


@dataclass
class Visit:
    """What a page asked for, complained about and showed."""

    requests: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    first_view: list[str] = field(default_factory=list)  # the requests before pictures are in view
    width: int = 0  # on a phone
    facts: dict = field(default_factory=dict)  # of gather.js, on a laptop
    axe: list[str] = field(default_factory=list)  # what violates a rule


def open_page(context, url: str, visit: Visit | None = None):
    """Open a page; what it asks for and complains about is kept in `visit`."""
    page = context.new_page()
    if visit is not None:
        page.on("request", lambda r: visit.requests.append(r.url))
        page.on("requestfailed", lambda r: visit.failed.append(r.url))
        page.on("response", lambda r: r.status >= 400 and visit.failed.append(r.url))
        page.on("pageerror", lambda e: visit.complaints.append(str(e)))
        page.on(
            "console", lambda m: m.type in ("error", "warning") and visit.complaints.append(m.text)
        )
    page.goto(url, wait_until="load")
    return page


def comes_true(page, condition: Callable[[], bool], seconds: float = 5) -> bool:
    """Return whether the condition holds within some seconds: a busy machine draws later."""
    until = time.monotonic() + seconds
    while not (holds := condition()) and time.monotonic() < until:
        page.wait_for_timeout(100)
    return holds


def violations(page, axe: str, where: str = "document") -> list[str]:
    """Return what axe-core finds serious or critical on a page, in light and in dark."""
    page.add_style_tag(content="* { transition: none !important }")  # colors change at once
    page.evaluate(axe)
    found, options = [], "resultTypes: ['violations'], preload: false"
    for theme, rules in (("light", ""), ("dark", ", runOnly: ['color-contrast']")):
        page.evaluate("(theme) => { document.documentElement.dataset.theme = theme }", theme)
        result = page.evaluate(f"axe.run({where}, {{{options}{rules}}})")
        found += [
            f"{theme}: {v['id']}: {node['html'][:150]}: {node['failureSummary'][:250]}"
            for v in result["violations"]
            if v["impact"] in GRAVE
            for node in v["nodes"][:3]
        ]
    return found


@pytest.fixture(scope="session")
def axe() -> str:
    files = resources.files("axe_playwright_python")
    return files.joinpath("axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def visited(browser, addresses, axe):
    """Return a function that visits a page in one way, once for all tests."""

    @functools.cache
    def visit(name: str, way: str) -> Visit:
        found = Visit()
        size = {"width": 360, "height": 900}
        context = browser.new_context(offline=way == "file", viewport=size)
        page = open_page(context, f"{addresses[way]}/{name}", found)
        found.first_view = [*found.requests]
        found.width = page.evaluate("document.documentElement.scrollWidth")
        page.set_viewport_size({"width": 1280, "height": 900})
        found.facts = page.evaluate(GATHER)
        if way == "file" and "/" not in name:
            where = "document" if name == WHOLE else f"{{exclude: {ALIKE}}}"
            found.axe = violations(page, axe, where)
        context.close()
        return found

    return visit


def html_outputs(path: Path, kind: str) -> list[str]:
    """Return the outputs of a notebook that hold a widget of this kind."""
    outputs = (o for cell in read_notebook(path).cells for o in cell.get("outputs", []))
    shown = ("".join(output.get("data", {}).get("text/html", "")) for output in outputs)
    return [html for html in shown if f'<div class="{kind}"' in html]


@pytest.fixture
def alone(browser):
    """Return a function that shows widgets alone on a page, which must raise no error."""
    contexts, problems = [], []

    def show(*html, width=1280, **options):
        context = browser.new_context(viewport={"width": width, "height": 1000}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(error))
        page.clock.install(time="2026-01-01")
        page.set_content(ALONE.format("".join(html)))
        return page

    yield show
    for context in contexts:
        context.close()
    assert not problems


@pytest.fixture
def reading(browser, addresses):
    """Return a function that opens a page in a window and a theme of its own."""
    contexts = []

    def open_at(name, width=1280, theme="light", way="file", **options):
        size = {"width": width, "height": 900}
        contexts.append(browser.new_context(viewport=size, **options))
        contexts[-1].add_init_script(
            f"localStorage.setItem('mode', '{theme}'); localStorage.setItem('theme', '{theme}')"
        )
        return open_page(contexts[-1], f"{addresses[way]}/{name}")

    yield open_at
    for context in contexts:
        context.close()
