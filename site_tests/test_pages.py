"""Every page: nothing missing, nothing asked of a network, nothing raw, no link into the void."""

import functools
import json
import re
from html import unescape
from urllib.parse import unquote, urldefrag

from conftest import ROOT, SITE

from bookbinder.outputs import SVG
from bookbinder.site.svg import slim
from bookbinder.solutions import KEYS

RAW = re.compile(r"\$|\\\(|\\\[|\\(?:eqref|ref|tag|label)\b|<!--|\[\[\d+\]\]|\{raw\}")


def test_no_request_leaves_the_machine(visited, addresses, name, way):
    outside = [u for u in visited(name, way).requests if not u.startswith((addresses[way], "data"))]
    assert not outside


def test_nothing_is_missing(visited, name, way):
    assert not visited(name, way).failed


def test_the_console_stays_empty(visited, name, way):
    assert not visited(name, way).complaints


def test_every_equation_is_typeset_and_no_script_did_it(visited, name, way):
    visit = visited(name, way)
    assert not visit.facts["unset"]
    assert not visit.facts["guessed"], "letters that MathJax's fonts lack have boxes of any width"
    assert not [url for url in visit.requests if re.search(r"mathjax.*\.js", url, re.IGNORECASE)]


def test_no_markup_is_left_raw(visited, name, way):
    text = visited(name, way).facts["text"]
    assert not [text[max(m.start() - 40, 0) : m.end() + 40] for m in RAW.finditer(text)]


def test_every_image_loads_and_has_alt_text(visited, name, way):
    images = visited(name, way).facts["images"]
    assert not [image for image in images if not image["width"] or not image["alt"].strip()]


@functools.cache
def ids_of(file):
    return set(map(unescape, re.findall(r'\sid="([^"]+)"', (SITE / file).read_text("utf-8"))))


def test_every_internal_link_and_anchor_resolves(visited, addresses, name):
    base = addresses["file"]
    lost = []
    for link in visited(name, "file").facts["links"]:
        target, anchor = urldefrag(link)
        if not target.startswith(base):
            continue
        file = unquote(target.removeprefix(base)).lstrip("/")
        if not (SITE / file).is_file():
            lost.append(link)
        elif anchor and file.endswith(".html"):
            known = anchor == "top" or unquote(anchor) in ids_of(file)
            lost += [] if known else [link]
    assert not lost


def test_no_page_links_to_a_web_page_without_encryption(visited, name):
    links = visited(name, "file").facts["links"]
    assert not [link for link in links if link.startswith("http://")]


def test_chapters_have_equations_and_a_notebook(visited):
    facts = visited("04_masked_softmax.html", "file").facts
    assert facts["math"] > 20
    assert any(link.endswith("/04_masked_softmax.ipynb") for link in facts["links"])


def slimmed(notebook):
    """Return a notebook with pictures as light as those of the site, without what tests unfold."""
    for cell in notebook["cells"]:
        for key in KEYS:
            cell["metadata"].pop(key, None)
    for output in (output for cell in notebook["cells"] for output in cell.get("outputs", [])):
        if SVG in output.get("data", {}):
            output["data"][SVG] = slim("".join(output["data"][SVG]))
    return notebook


def test_downloaded_notebooks_are_those_of_the_book(site):
    copies = {  # of all editions: each stands in a folder "notebooks" of its own
        f"notebooks/{path.parent.name}/{path.name}": json.loads(path.read_bytes())
        for path in site.rglob("notebooks/*/*.ipynb")
    }
    assert copies == {
        path.relative_to(ROOT).as_posix(): slimmed(json.loads(path.read_bytes()))
        for path in (ROOT / "notebooks").rglob("*.ipynb")
    }
