"""A notebook where scripts and styles are taken out, as on GitHub: nothing raw, nothing missing."""

import re

import pytest
from bs4 import BeautifulSoup

from bookbinder.binding import notebook_path
from bookbinder.files import read_notebook
from tests.this_book import BOOK

TAKEN_OUT = ("script", "style", "link", "input", "button", "form", "iframe")
ATTRIBUTES = re.compile(r"style|class|id|hidden|role|on\w+|(data|aria)-.*")
RAW = re.compile(r"[{}<>]|=>|\bfunction\b")
NOTEBOOKS = [notebook_path(edition, name) for edition in BOOK.editions for name in BOOK.chapters]


def stripped(html: str) -> BeautifulSoup:
    """Return HTML as viewers show it that let no scripts and styles pass."""
    page = BeautifulSoup(html, "html.parser")
    for element in page.find_all(TAKEN_OUT):
        element.decompose()
    for element in page.find_all(True):
        element.attrs = {k: v for k, v in element.attrs.items() if not ATTRIBUTES.fullmatch(k)}
    return page


def problems(html: str) -> list[str]:
    """Say what a reader misses, or is puzzled by, in an output without scripts and styles."""
    page, found = stripped(html), []
    if raw := RAW.search(page.get_text()):
        found.append(f"raw text around {raw[0]!r}")
    for picture in page.find_all(["svg", "img"]):
        size = picture.attrs.keys() >= {"width", "height"} or "src" in picture.attrs
        if not size:
            found.append("a picture without width and height fills the page")
        if picture.name == "img" and not picture.get("alt"):
            found.append("a picture without alt text")
    is_live = 'class="d2l-explorer"' in html or 'class="d2l-arcs"' in html
    if is_live and not re.search(r"Still picture (at \w|of “.+” after \d+)", page.get_text()):
        found.append("what moves elsewhere does not say of what its picture is")
    if is_live and not (page.find("img", src=True) or any(td.get_text() for td in page("td"))):
        found.append("what moves elsewhere shows neither picture nor numbers")
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_without_scripts_and_styles_every_output_is_whole(path):
    found = [
        f"{problem}: {cell.source[:60]!r}"
        for cell in read_notebook(path).cells
        for output in cell.get("outputs", [])
        for problem in problems("".join(output.get("data", {}).get("text/html", "")))
    ]
    assert not found
