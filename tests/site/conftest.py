"""The site of `make site` as readers meet it, in Chromium without a network, or skipped without."""

import os
from importlib import resources
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import sync_playwright

from bookbinder.book import read_book, read_notebook
from bookbinder.site import folder_of
from bookbinder.site.printing import FLAGS, chromium_path

os.environ.setdefault("D2L_DEVICE", "cpu")
os.environ["MPLBACKEND"] = "agg"
ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "_build" / "site"
ADDRESS = SITE.as_uri()
SERVED = "https://book.example"  # the site, as a server would give it
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html")) or ["no site"]
NO_NETWORK = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
GATHER = Path(__file__).with_name("gather.js").read_text(encoding="utf-8").strip()
AXE = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
BOOK = read_book(ROOT)
FURTHER = tuple(f"{folder_of(BOOK, e)}/" for e in BOOK.editions[1:])


@pytest.fixture(scope="session")
def browser():
    if not (path := chromium_path()):
        pytest.skip("there is no Chromium on this machine")
    with sync_playwright() as started:
        yield started.chromium.launch(executable_path=path, args=[*FLAGS, NO_NETWORK])


def open_page(context, url: str):
    """Open a page; what it asks for and complains about is kept in its `seen`."""
    page = context.new_page()
    page.seen = seen = SimpleNamespace(requests=[], failed=[], complaints=[])
    page.on("request", lambda r: seen.requests.append(r.url))
    page.on("requestfailed", lambda r: seen.failed.append(r.url))
    page.on("response", lambda r: r.status >= 400 and seen.failed.append(r.url))
    page.on("pageerror", lambda e: seen.complaints.append(str(e)))
    page.on("console", lambda m: m.type in ("error", "warning") and seen.complaints.append(m.text))
    page.goto(url, wait_until="load")
    return page


def violations(page, where: str = "'html'") -> list[str]:
    """Return what axe-core finds serious or critical on a page, in light and in dark."""
    page.add_style_tag(content="* { transition: none !important }")  # colors change at once
    page.evaluate(AXE)
    return page.evaluate(f"{GATHER}.violations({where})")


def widgets(kind: str, framework: str = "pytorch") -> dict[str, str]:
    """Return the widgets of a kind that notebooks store, by the number of the chapter."""
    paths = sorted((ROOT / "notebooks" / framework).glob("*.ipynb"))
    cells = [(path.name[:2], cell) for path in paths for cell in read_notebook(path).cells]
    shown = [(n, o.get("data", {})) for n, cell in cells for o in cell.get("outputs", [])]
    return {n: o["text/html"] for n, o in shown if f'"{kind}"' in o.get("text/html", "")}


@pytest.fixture
def alone(browser):
    """Return a function that shows a widget alone on a page, which must raise no error."""
    page, problems = browser.new_page(), []
    page.on("pageerror", lambda error: problems.append(error))
    page.clock.install(time="2026-01-01")

    def show(html, width=1280, motion="no-preference"):
        page.set_viewport_size({"width": width, "height": 1000})
        page.emulate_media(reduced_motion=motion)
        page.set_content(f"<!doctype html><meta name=viewport content=width=device-width>{html}")
        return page.locator(".d2l-explorer, .d2l-arcs, .d2l-traced")

    yield show
    page.close()
    assert not problems


@pytest.fixture
def reading(browser):
    """Return a function that opens a page in a window and a theme of its own."""

    def open_at(name, width=1280, theme="light", base=ADDRESS, **options):
        size = {"width": width, "height": 900}
        context = browser.new_context(viewport=size, **options)
        context.add_init_script(f"localStorage.mode = localStorage.theme = '{theme}'")
        context.route(
            f"{SERVED}/**", lambda r: r.fulfill(path=f"{SITE}{urlsplit(r.request.url).path}")
        )
        return open_page(context, f"{base}/{name}")

    yield open_at
    for context in browser.contexts:
        context.close()


@pytest.fixture
def visited(reading):
    """Return a function that visits a page in one way, on a phone and on a laptop."""

    def visit(name: str) -> SimpleNamespace:
        page = reading(name, 360, offline=True)
        found = page.seen
        found.first_view = [*found.requests]  # before pictures are in view
        found.width = page.evaluate("document.documentElement.scrollWidth")
        page.set_viewport_size({"width": 1280, "height": 900})
        found.facts = page.evaluate(f"{GATHER}.facts()")
        found.axe = [] if "/" in name else violations(page)
        return found

    return visit
