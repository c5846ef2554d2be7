"""Write what the search looks through: every section of the pages and every function, as text."""

import json
import re
import unicodedata
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import bs4

NOT_TEXT = (  # pictures and outputs; solutions, which a search must not give away
    "script, style, .headerlink, svg, .cell_output, .role-exercises details, .role-references"
)
# A page has thousands of such spans of colored code; it is read far faster without them.
COLORED = re.compile(r'<span class="(\w{1,3})">([^<]*)</span>')
NO_WORDS = ("c1", "sd", "p", "o")  # comments, docstrings, brackets, operators
TEX_LOOK = re.compile(
    r"\\(?:math(?:bf|rm|bb|cal)|boldsymbol|text|left|right|q?quad|[,;!])(?![a-z]) ?"
)
TEX_TAG = re.compile(r"\\tag\{[^}]*\}")
NOT_SEARCHED = ("genindex.html", "search.html", "index.html")


def sections_script(pages: dict[str, str]) -> str:
    """Return a script with [page, anchor, title of the page, title, text] for each section."""
    found = [part for name, page in pages.items() for part in sections(name, page)]
    for before, part in reversed([*pairwise(found)]):  # search.js takes them from the one before
        if part[0] == before[0]:
            part[0] = part[2] = ""
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    return f"const SECTIONS = {text};\n"


def sections(name: str, page: str) -> list[list[str]]:
    """Return the sections of a page and its functions; a section has no text of those inside it."""
    from bs4 import BeautifulSoup  # comes with the packages of the site

    if name in NOT_SEARCHED:
        return []
    page = COLORED.sub(lambda span: " " if span[1] in NO_WORDS else span[2], page)
    article = BeautifulSoup(page, "html.parser").select_one("article.bd-article")
    if article is None:
        return []
    for part in article.select(NOT_TEXT):
        part.decompose()
    heading = article.find("h1")
    page_title = plain(heading) if heading else name
    found = []
    for part in reversed(article.select("section[id], dl.py:has(> dt[id])")):  # inner ones first
        is_code = part.name == "dl"
        label = part.find("dt" if is_code else re.compile("^h[1-6]$"))
        title, anchor = plain(label) if label else "", part.get("id", "")
        if is_code:
            anchor = label["id"]
            title = anchor.rpartition(".")[2]
        elif label:
            label.extract()
        found.insert(0, [name, anchor, page_title, title, plain(part)])
        part.extract()
    return found


def plain(part: "bs4.Tag") -> str:
    """Return the text of a part of a page in one line, formulas as TeX without fonts and gaps."""
    text = " ".join(TEX_LOOK.sub("", TEX_TAG.sub(" ", part.get_text())).split())
    return unicodedata.normalize("NFC", text)  # as search.js does with what it looks for
