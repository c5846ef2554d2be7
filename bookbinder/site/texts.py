"""Write the texts that pages show of each other, as scripts.

The search finds sections and functions; a preview is an equation, the sentence that explains a
term, or a source.
"""

import json
import re
import unicodedata
from collections.abc import Callable

from bs4 import BeautifulSoup, Tag

NOT_TEXT = (  # pictures, code and outputs; solutions, which a search must not give away
    "script, style, .headerlink, svg, .above-input, .cell_input, .cell_output, pre, "
    ".role-exercises details, .role-references"
)
TEX_LOOK = re.compile(
    r"\\tag\{[^}]*\}|\\(?:math(?:bf|rm|bb|cal)|boldsymbol|text|left|right|q?quad|[,;!])(?![a-z]) ?"
)
NOT_SEARCHED = ("genindex.html", "search.html", "index.html")
EXPLAINED = "div.math[id], strong[id^=term-], li > p > span[id^=reference-]"
BLOCKS = ["p", "li", "ul", "ol", "dd", "dt", "dl", "blockquote", "section", "details"]


def page_scripts(pages: dict[str, str], typeset: Callable[[str], str]) -> dict[str, str]:
    """Return file name -> script with what is searched, and with the previews, of all pages."""
    searched, previews = {}, {}
    for name, page in pages.items():
        if article := BeautifulSoup(page, "html.parser").select_one("article.bd-article"):
            for part in article.select(EXPLAINED):
                previews[f"{name}#{part['id']}"] = typeset(preview(part))
            if name not in NOT_SEARCHED:
                searched[name] = sections(article)
    texts = {"sections.js": ("PAGES", searched), "preview-texts.js": ("PREVIEWS", previews)}
    return {
        file: f"const {name} = {json.dumps(value, ensure_ascii=False, separators=(',', ':'))};\n"
        for file, (name, value) in texts.items()
    }


def sections(article: Tag) -> list[list[str]]:
    """Return anchor, title, text and words in bold of each section and function of a page.

    A section has no text of those inside it: they are taken out of the article.
    """
    for part in article.select(NOT_TEXT):
        part.decompose()
    entries = []
    for part in reversed(article.select("section[id], dl.py:has(> dt[id])")):  # inner ones first
        anchor = part["id"] if part.name == "section" else part.dt["id"]
        title = anchor.rpartition(".")[2]
        if part.name == "section":
            title = plain(part.find(re.compile("h[1-6]")).extract())
        entries.append([anchor, title, plain(part.extract()), list(map(plain, part("strong")))])
    return entries[::-1]


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
    html, mark = str(part.find_parent(BLOCKS)), f'id="{part["id"]}"'
    lines = html.replace("<wbr/>", "\n").split("\n") if part.name == "strong" else [html]
    line = BeautifulSoup(next(line for line in lines if mark in line), "html.parser")
    for tag in line.find_all(["a", *BLOCKS]):
        tag.unwrap()
    for tag in line.find_all(id=True):
        del tag["id"]
    return str(line).strip()
