"""Every page: nothing missing, nothing raw, no link into the void, nothing too heavy or wide."""

import functools
import re
from html import unescape
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
from conftest import BOOK, PAGES, SITE

MOST_BYTES = 1_375_000  # of a page on first view; its equations and their faces among them
DESERT = 4000  # CSS pixels without a picture, diagram or explorer
LICENSES = {"https://opensource.org/license/mit", "https://creativecommons.org/licenses/by-sa/4.0/"}
ILLUSTRATED = [name for name in BOOK.chapters if name[0].isdigit() and name not in BOOK.appendices]


@functools.cache
def anchors_of(file):
    """Return what may stand behind the # of a link to a file of the site."""
    path = SITE / file
    ids = re.findall(r'\sid="([^"]+)"', path.read_text("utf-8")) if path.suffix == ".html" else ()
    return {"", "top", *map(unescape, ids)}


def is_lost(link, base):
    """Return whether a link of the site leads to no file of it, or to no place in its page."""
    file, anchor = map(unquote, urldefrag(link.removeprefix(base).lstrip("/")))
    return link.startswith(base) and not ((SITE / file).is_file() and anchor in anchors_of(file))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_all_it_shows_and_nothing_that_stops_a_reader(visited, name):
    visit, base = visited(name), SITE.as_uri()
    links = visit.facts["links"]
    files = {SITE / unquote(urlsplit(u).path) for u in visit.first_view if u.startswith(base)}
    weight = sum(file.stat().st_size for file in files if file.is_file())
    found = visit.facts["problems"] | {
        "asked of a network": [u for u in visit.requests if not u.startswith((base, "data"))],
        "missing": visit.failed,
        "console": visit.complaints,
        "grave": visit.axe,
        "no license": LICENSES - {*links},
        "lost": [link for link in links if is_lost(link, base)],
        "scrolls sideways on a phone": [visit.width] if visit.width > 360 else [],
        "bytes": [weight] if not 100_000 < weight <= MOST_BYTES else [],
    }
    if name.removesuffix(".html").rpartition("/")[2] in ILLUSTRATED:
        found["desert"] = [stretch for stretch in visit.facts["stretches"] if stretch[0] > DESERT]
    assert {kind: things for kind, things in found.items() if things} == {}
