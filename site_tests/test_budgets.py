"""What the site may weigh, how wide it may be, and how long a build may take."""

import time

import pytest
from conftest import ROOT, SITE, open_page

from bookbinder.description import read_book
from bookbinder.site.building import build_site

MOST_SECONDS = 30
MOST_BYTES = 15_000_000
MOST_BYTES_OF_A_PAGE = 1_000_000


def test_the_site_weighs_at_most_15_megabytes(site):
    assert sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) <= MOST_BYTES


def test_a_page_weighs_at_most_a_megabyte_on_first_view(visited, name):
    assert visited(name, "server").facts["bytes"] <= MOST_BYTES_OF_A_PAGE


def test_a_warm_build_takes_at_most_30_seconds(site):
    begun = time.monotonic()
    build_site(read_book(ROOT))
    assert time.monotonic() - begun <= MOST_SECONDS


@pytest.mark.parametrize("width", [360, 768])
def test_no_page_scrolls_sideways_on_a_narrow_screen(browser, addresses, name, width):
    context = browser.new_context(viewport={"width": width, "height": 800})
    page = open_page(context, f"{addresses['file']}/{name}")
    widest = page.evaluate("document.documentElement.scrollWidth")
    context.close()
    assert widest <= width, f"{SITE / name} is {widest} wide"
