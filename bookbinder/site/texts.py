"""Write the texts that pages show of each other, as scripts: for the search, and for previews.

The search looks through every section of the pages and every function. A preview is what a
reference shows when one points at it: an equation, the sentence that explains a term, a source.
"""

import json
import re
import unicodedata
from collections.abc import Callable
from urllib.parse import unquote

from bs4 import BeautifulSoup, Tag

NOT_TEXT = (  # pictures, code and outputs; solutions, which a search must not give away
    "script, style, .headerlink, svg, .above-input, .cell_input, .cell_output, pre, "
    ".role-exercises details, .role-references"
)
# A page has thousands of such spans of colored code; it is read far faster without them.
COLORED = re.compile(r'<span class="\w{1,3}">([^<]*)</span>')
TEX_LOOK = re.compile(
    r"\\tag\{[^}]*\}|\\(?:math(?:bf|rm|bb|cal)|boldsymbol|text|left|right|q?quad|[,;!])(?![a-z]) ?"
)
NOT_SEARCHED = ("genindex.html", "search.html", "index.html")
SHOWN = "div.math[id], strong[id^=term-], li > p > span[id^=reference-]"
LEADING = "a[href*='#equation-'], a[href*='#term-'], a[href*='#reference-']"
BLOCKS = ["p", "li", "ul", "ol", "dd", "dt", "dl", "blockquote", "section", "details"]
HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"]
ASSISTIVE = re.compile(r"<mjx-assistive-mml.*?</mjx-assistive-mml>")  # a preview reads its TeX


def page_scripts(pages: dict[str, str], typeset: Callable[[str], str]) -> dict[str, str]:
    """Return file name -> script with what is searched, and with what is shown, of all pages."""
    searched: dict[str, list[list[str]]] = {}
    previews: dict[str, str] = {}
    led_to: set[str] = set()
    for name, page in pages.items():
        article = BeautifulSoup(COLORED.sub(r"\1", page), "html.parser").select_one(
            "article.bd-article"
        )
        if article is None:
            continue
        for link in article.select(LEADING):
            goal, _, anchor = link["href"].partition("#")
            led_to.add(f"{goal or name}#{unquote(anchor)}")
        for part in article.select(SHOWN):
            previews[f"{name}#{part['id']}"] = preview(part)
        if name not in NOT_SEARCHED:
            searched[name] = sections(article)
    shown = {k: ASSISTIVE.sub("", typeset(html)) for k, html in previews.items() if k in led_to}
    return {"sections.js": script("PAGES", searched), "preview-texts.js": script("PREVIEWS", shown)}


def script(name: str, value: object) -> str:
    return f"const {name} = {json.dumps(value, ensure_ascii=False, separators=(',', ':'))};\n"


def sections(article: Tag) -> list[list[str]]:
    """Return anchor, title, text and words in bold of each section and function of a page.

    A section has no text of those inside it: they are taken out of the article.
    """
    for part in article.select(NOT_TEXT):
        part.decompose()
    found = []
    for part in reversed(article.select("section[id], dl.py:has(> dt[id])")):  # inner ones first
        if part.name == "dl":
            anchor = part.dt["id"]
            title = anchor.rpartition(".")[2]
        else:
            anchor, title = part["id"], plain(part.find(HEADINGS).extract())
        found.append([anchor, title, plain(part.extract()), list(map(plain, part("strong")))])
    return found[::-1]


def plain(part: Tag) -> str:
    """Return the text of a part of a page in one line, formulas as TeX without fonts and gaps."""
    text = " ".join(TEX_LOOK.sub("", part.get_text()).split())
    return unicodedata.normalize("NFC", text)  # as search.js does with what it looks for


def preview(part: Tag) -> str:
    """Return the HTML to show for an anchor: without anchors, links and blocks of its own.

    The text has one sentence a line, so a term is explained by the line that it stands in.
    """
    if part.name == "div":
        return f'<div class="math">{part.decode_contents()}</div>'
    block, mark = part.find_parent(BLOCKS), f'id="{part["id"]}"'
    html = str(block)
    lines = html.replace("<wbr/>", "\n").split("\n") if part.name == "strong" else [html]
    line = BeautifulSoup(next(line for line in lines if mark in line), "html.parser")
    for tag in line.find_all(["a", *BLOCKS]):
        tag.unwrap()
    for tag in line.find_all(id=True):
        del tag["id"]
    return str(line).strip()
