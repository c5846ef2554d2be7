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
NOTEBOOKS = [
    notebook_path(edition, name) for edition in BOOK.editions for name in BOOK.chapters_of(edition)
]


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
    if 'class="d2l-explorer"' in html:
        found += missing_in_explorer(page)
    if 'class="d2l-arcs"' in html:
        found += missing_in_arcs(page)
    return found


def missing_in_arcs(page: BeautifulSoup) -> list[str]:
    found = []
    if not re.search(r"Still picture of “.+” after \d+ training steps", page.get_text()):
        found.append("a trained model does not say of what its picture is")
    if not re.search(r"\d\.\d\d", " ".join(cell.get_text() for cell in page.find_all("td"))):
        found.append("a trained model shows no weights")
    return found


def missing_in_explorer(page: BeautifulSoup) -> list[str]:
    found = []
    if not re.search(r"Still picture at \w", page.get_text()):
        found.append("an explorer does not say at which values it stands still")
    numbers = [cell.get_text() for cell in page.find_all("td") if cell.get_text()]
    if not (numbers or page.find("img", src=True)):
        found.append("an explorer shows neither picture nor numbers")
    if re.search(r"^\s*$", page.p.get_text()):
        found.append("an explorer does not ask its question")
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
