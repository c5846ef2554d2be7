"""Every page: nothing missing, nothing raw, no link into the void, nothing too heavy or wide."""

import functools
import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
from conftest import BOOK, SITE

RAW = re.compile(r"\$|\\\(|\\\[|\\(?:eqref|ref|tag|label)\b|<!--|\[\[\d+\]\]|\{raw\}")
MOST_BYTES = 18_100_000
MOST_BYTES_OF_A_PAGE = 1_375_000  # its equations and their faces among them
DESERT = 4000  # CSS pixels without a picture, diagram or explorer
LICENSES = "https://opensource.org/license/mit", "https://creativecommons.org/licenses/by-sa/4.0/"
SERVED = ("index.html", "10_masked_softmax.html", "search.html")
ILLUSTRATED = [name for name in BOOK.chapters if name[0].isdigit() and name not in BOOK.appendices]


@functools.cache
def ids_of(file):
    return set(map(unescape, re.findall(r'\sid="([^"]+)"', (SITE / file).read_text("utf-8"))))


def problems(visit, base, name):
    """Yield what is wrong with a page, each with its kind."""
    facts = visit.facts
    yield from (
        ("asked of a network", u) for u in visit.requests if not u.startswith((base, "data"))
    )
    yield from (("missing", url) for url in visit.failed)
    yield from (("console", complaint) for complaint in visit.complaints)
    yield from ((kind, text) for kind in ("unset", "guessed", "cut") for text in facts[kind])
    yield from (("grave", text) for text in visit.axe)
    if len(facts["edges"]) > 1:
        yield "text, code, equations and boxes end at different edges", facts["edges"]
    yield from (("no license", license) for license in LICENSES if license not in facts["links"])
    text = facts["text"]
    yield from (("raw", text[max(m.start() - 40, 0) : m.end() + 40]) for m in RAW.finditer(text))
    images = (i for i in facts["images"] if not i["width"] or not i["alt"].strip())
    yield from (("no picture or no alt text", image["src"]) for image in images)
    if abs(facts["growth"]) > 1:
        yield "pictures have no room while they load", facts["growth"]
    if visit.width > 360:
        yield "scrolls sideways on a phone", visit.width
    if name.removesuffix(".html").rpartition("/")[2] in ILLUSTRATED:
        yield from (("desert", stretch) for stretch in facts["stretches"] if stretch[0] > DESERT)
    yield from (
        ("http", link) for link in facts["links"] if link.startswith("http://") and base not in link
    )


def test_a_page_has_all_it_shows_and_nothing_that_stops_a_reader(visited, addresses, name):
    assert [*problems(visited(name, "file"), addresses["file"], name)] == []


@pytest.mark.parametrize("page", SERVED)
def test_a_served_page_has_all_it_shows_too(visited, addresses, page):
    assert [*problems(visited(page, "server"), addresses["server"], page)] == []


def test_every_internal_link_and_anchor_resolves(visited, addresses, name):
    base = addresses["file"]
    lost = []
    for link in visited(name, "file").facts["links"]:
        target, anchor = urldefrag(link)
        if not target.startswith(base):
            continue
        file = unquote(target.removeprefix(base)).lstrip("/")
        known = (SITE / file).is_file()
        if known and anchor and file.endswith(".html"):
            known = anchor == "top" or unquote(anchor) in ids_of(file)
        lost += [] if known else [link]
    assert not lost


def test_a_page_weighs_at_most_so_much_on_first_view(visited, name):
    paths = {unquote(urlsplit(url).path) for url in visited(name, "file").first_view}
    weights = {path: (SITE / path).stat().st_size for path in paths if path.startswith(str(SITE))}
    assert len(weights) > 5
    assert sum(weights.values()) <= MOST_BYTES_OF_A_PAGE, weights


def test_an_edition_of_the_site_weighs_at_most_18_megabytes(site):
    weights: dict[str, int] = {}
    for path in filter(Path.is_file, site.rglob("*")):
        folder = path.relative_to(site).parts[0]
        edition = folder if (site / folder / "index.html").exists() else ""
        weights[edition] = weights.get(edition, 0) + path.stat().st_size
    assert max(weights.values()) <= MOST_BYTES, weights
