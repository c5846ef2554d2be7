"""A notebook where scripts and styles are taken out, as on GitHub: nothing raw, nothing missing."""

import re

import pytest
from bs4 import BeautifulSoup

from tests.this_book import BOOK, pages

TAKEN_OUT = ("script", "style", "link", "input", "button", "form", "iframe")
ATTRIBUTES = re.compile(r"style|class|id|hidden|role|on\w+|(data|aria)-.*")
RAW = re.compile(r"[{}<>]|=>|\bfunction\b")


def problems(html: str) -> list[str]:
    """Say what a reader misses, or is puzzled by, in an output without scripts and styles."""
    page, found = BeautifulSoup(html, "html.parser"), []
    for element in page.find_all(TAKEN_OUT):
        element.decompose()
    for element in page.find_all(True):
        element.attrs = {k: v for k, v in element.attrs.items() if not ATTRIBUTES.fullmatch(k)}
    if raw := RAW.search(page.get_text()):
        found.append(f"raw text around {raw[0]!r}")
    for picture in page.find_all(["svg", "img"]):
        if not (picture.attrs.keys() >= {"width", "height"} or "src" in picture.attrs):
            found.append("a picture without width and height fills the page")
        if picture.name == "img" and not picture.get("alt"):
            found.append("a picture without alt text")
    is_live = 'class="d2l-explorer"' in html or 'class="d2l-arcs"' in html
    if is_live and not re.search(r"Still picture (at \w|of “.+” after \d+)", page.get_text()):
        found.append("what moves elsewhere does not say of what its picture is")
    if is_live and not (page.find("img", src=True) or any(td.get_text() for td in page("td"))):
        found.append("what moves elsewhere shows neither picture nor numbers")
    return found


@pytest.mark.parametrize("edition", BOOK.editions, ids=lambda edition: edition.framework)
def test_without_scripts_and_styles_every_output_is_whole(edition):
    found = [
        f"{page.name}: {problem}: {cell.source[:60]!r}"
        for page in pages(edition)
        for cell in page.executed.cells
        for output in cell.get("outputs", [])
        for problem in problems("".join(output.get("data", {}).get("text/html", "")))
    ]
    assert not found
