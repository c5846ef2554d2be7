"""Write what a reference shows when one points at it: an equation, a definition, a source."""

import json
import re
from urllib.parse import unquote

EQUATION = re.compile(r'<div class="math" id="(equation-[\d-]+)"([^>]*>.*?</div>)')
ASSISTIVE = re.compile(r"<mjx-assistive-mml.*?</mjx-assistive-mml>")  # the preview reads its TeX
TERM = re.compile(r'<strong id="(term-[^"]+)">')
LINE_END = re.compile(r"\n|<wbr>")  # a tag where a line of Chinese shows no gap
SOURCE = re.compile(r'<li><p><span id="(reference-\d+)"></span>(.*?)</p></li>', re.DOTALL)
REFERENCE = re.compile(r'href="([\w.]*)#((?:equation|term|reference)-[^"]*)"')
BLOCKS = re.compile(r"</?(?:p|li|ul|ol|div|dd|dt|dl|blockquote|section|details)\b[^>]*>")
INNER = re.compile(r' id="[^"]*"|</?a\b[^>]*>')  # a preview has no anchors and no links


def previews_script(pages: dict[str, str]) -> str:
    """Return a script with the HTML to show for each "page.html#anchor" that a link leads to."""
    wanted = {
        f"{page or name}#{unquote(anchor)}"
        for name, text in pages.items()
        for page, anchor in REFERENCE.findall(text)
    }
    found = {
        f"{name}#{anchor}": html
        for name, page in pages.items()
        for anchor, html in previews(page).items()
        if f"{name}#{anchor}" in wanted
    }
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    return f"const PREVIEWS = {text};\n"


def previews(page: str) -> dict[str, str]:
    """Return the HTML to show for each anchor of a page that has one.

    The text has one sentence a line, so a term is explained by the line that it stands in.
    """
    found = {
        anchor: f'<div class="math"{ASSISTIVE.sub("", rest)}'
        for anchor, rest in EQUATION.findall(page)
    }
    for line in LINE_END.split(page):
        found |= {anchor: inline(line) for anchor in TERM.findall(line)}
    found |= {anchor: inline(text) for anchor, text in SOURCE.findall(page)}
    return found


def inline(html: str) -> str:
    """Return a line of HTML without blocks, anchors and links."""
    return INNER.sub("", BLOCKS.sub("", html)).strip()
