"""Every page: nothing missing, nothing raw, no link into the void, nothing too heavy or wide."""

import functools
import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
from conftest import BOOK, PAGES, SITE

MOST_BYTES = 18_100_000
MOST_BYTES_OF_A_PAGE = 1_375_000  # on first view; its equations and their faces among them
DESERT = 4000  # CSS pixels without a picture, diagram or explorer
LICENSES = {"https://opensource.org/license/mit", "https://creativecommons.org/licenses/by-sa/4.0/"}
SERVED = ("index.html", "10_masked_softmax.html", "search.html")
ILLUSTRATED = [name for name in BOOK.chapters if name[0].isdigit() and name not in BOOK.appendices]


@functools.cache
def ids_of(file):
    return set(map(unescape, re.findall(r'\sid="([^"]+)"', (SITE / file).read_text("utf-8"))))


def is_lost(link, base):
    """Return whether a link of the site leads to no file of it, or to no place in its page."""
    target, anchor = map(unquote, urldefrag(link.removeprefix(base)))
    if not link.startswith(base) or anchor == "top":
        return False
    file = target.lstrip("/")
    on_page = anchor and file.endswith(".html")
    return not (SITE / file).is_file() or bool(on_page and anchor not in ids_of(file))


def problems(visit, base, name):
    """Yield what is wrong with a page, each with its kind."""
    links = visit.facts["links"]
    found = visit.facts["problems"] | {
        "asked of a network": [u for u in visit.requests if not u.startswith((base, "data"))],
        "missing": visit.failed,
        "console": visit.complaints,
        "grave": visit.axe,
        "no license": LICENSES - {*links},
        "lost": [link for link in links if is_lost(link, base)],
        "scrolls sideways on a phone": [visit.width] if visit.width > 360 else [],
    }
    if name.removesuffix(".html").rpartition("/")[2] in ILLUSTRATED:
        found["desert"] = [stretch for stretch in visit.facts["stretches"] if stretch[0] > DESERT]
    yield from ((kind, thing) for kind, things in found.items() for thing in things)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_all_it_shows_and_nothing_that_stops_a_reader(visited, addresses, name):
    visit = visited(name, "file")
    assert [*problems(visit, addresses["file"], name)] == []
    paths = {Path(unquote(urlsplit(url).path)) for url in visit.first_view}
    weights = {path: path.stat().st_size for path in paths if path.is_relative_to(SITE)}
    assert len(weights) > 5
    assert sum(weights.values()) <= MOST_BYTES_OF_A_PAGE, weights


@pytest.mark.parametrize("page", SERVED)
def test_a_served_page_has_all_it_shows_too(visited, addresses, page):
    assert [*problems(visited(page, "server"), addresses["server"], page)] == []


def test_an_edition_of_the_site_weighs_at_most_18_megabytes_and_names_the_license_of_its_fonts():
    weights: dict[str, int] = {}
    for path in filter(Path.is_file, SITE.rglob("*")):
        folder = path.relative_to(SITE).parts[0]
        edition = folder if (SITE / folder / "index.html").exists() else ""
        weights[edition] = weights.get(edition, 0) + path.stat().st_size
    assert max(weights.values()) <= MOST_BYTES, weights
    assert "SIL Open Font License" in (SITE / "_static/fonts/OFL.txt").read_text(encoding="utf-8")
