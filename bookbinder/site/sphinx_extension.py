"""What the pages need beyond Sphinx: numbered equations, boxes, index terms, header tools."""

import re
import unicodedata
from collections.abc import Iterator
from gettext import NullTranslations

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.locale import translators
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform

from bookbinder.page import EQUATION, TAG
from bookbinder.site.settings import ELSEWHERE

UNTOUCHED = (nodes.literal, nodes.literal_block, nodes.reference, nodes.math, nodes.math_block)

BEGINS, ENDS = r"(?<![\w-])", r"(?![\w-])"  # a word
BETWEEN_GAPS = (BEGINS, ENDS)
AROUND_TERM = {  # of the languages in which a term may stand otherwise
    "en": (BEGINS, rf"(?:s|es)?{ENDS}"),
    "ko": (BEGINS, ""),  # particles follow
    "zh_CN": ("", ""),
}
NOT_SLANTED = ("zh_CN", "ko")
CONSONANTS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
VOWELS_AND_ENDINGS = 21 * 28  # of which each consonant has a syllable, in Unicode's order
HAN_OR_HANGUL = re.compile("[一-鿿가-힣]")
NO_TERMS = (*UNTOUCHED, nodes.title, nodes.entry, nodes.strong, nodes.enumerated_list)


def equation_id(number: str) -> str:
    return f"equation-{number.replace('.', '-')}"


def term_id(term: str) -> str:
    return nodes.make_id(f"term-{term}")


class Equations(SphinxTransform):
    """Give numbered equations an anchor."""

    default_priority = 700

    def apply(self, **_) -> None:
        for node in self.document.findall(nodes.math_block):
            if number := TAG.search(node.astext()):
                node["ids"].append(equation_id(number[1]))


class Elsewhere(SphinxTransform):
    """Let links to other editions lead to their pages, which Sphinx does not know."""

    default_priority = 700

    def apply(self, **_) -> None:
        for link in self.document.findall(nodes.reference):
            scheme, _, address = link.get("refuri", "").partition(":")
            if scheme == ELSEWHERE:
                link["refuri"] = address
                link["internal"] = True


class Roles(SphinxTransform):
    """Mark sections that have a role, and as boxes, quotations whose label has one."""

    default_priority = 701

    def apply(self, **_) -> None:
        for quote in self.document.findall(nodes.block_quote):
            label = next(iter(quote.findall(nodes.strong)), None)
            if label is not None and (role := self.config.book["roles"].get(label.astext())):
                quote["classes"] += ["box", f"box-{role}"]
        for section in self.document.findall(nodes.section):
            if role := self.config.book["roles"].get(section[0].astext()):
                section["classes"] += [f"role-{role}"]


class Terms(SphinxTransform):
    """Put each term that a chapter sets in bold where it is explained into the index.

    Its anchor is made of its English, as not all languages have letters for one.
    """

    default_priority = 702

    def apply(self, **_) -> None:
        seen = set()
        terms = self.config.book["index"].get(self.env.docname, {})
        for node in list(self.document.findall(nodes.strong)):
            term = node.astext()
            inside_table = any(isinstance(a, nodes.entry) for a in ancestors(node))
            if term not in terms or term in seen or inside_table:
                continue
            seen.add(term)
            anchor = term_id(terms[term])
            node["ids"].append(anchor)
            letter = index_letter(term, self.config.language)
            index = addnodes.index(entries=[("single", term, anchor, "", letter)])
            node.parent.insert(node.parent.index(node), index)


def index_letter(term: str, language: str) -> str | None:
    """Return the letter below which an index has a term; None: the first one.

    Han go by their sound in Latin letters, Hangul by the consonant with which it begins.
    """
    if not HAN_OR_HANGUL.match(term):
        return None
    if language == "ko":
        return CONSONANTS[(ord(term[0]) - ord("가")) // VOWELS_AND_ENDINGS]
    from pypinyin import lazy_pinyin

    return lazy_pinyin(term)[0][0].upper()


class Unspaced(SphinxTransform):
    """Let no gap show where a line of Chinese ends: its sentences follow each other.

    What stands there instead keeps the sentences apart for the previews.
    """

    default_priority = 703

    def apply(self, **_) -> None:
        if self.config.language != "zh_CN":
            return
        for text in list(self.document.findall(nodes.Text)):
            if text != "\n":
                continue
            siblings, at = text.parent.children, text.parent.index(text)
            before = "".join(node.astext() for node in siblings[:at])
            after = "".join(node.astext() for node in siblings[at + 1 :])
            if is_wide(before[-1:]) or is_wide(after[:1]):
                text.parent.replace(text, nodes.raw("", "<wbr>", format="html"))


def is_wide(letter: str) -> bool:
    """Say whether a letter is Chinese, or a punctuation mark as wide as one."""
    return bool(letter) and unicodedata.east_asian_width(letter) in "WF"


class Slanted(SphinxTransform):
    """Mark emphasis without Han and Hangul: Latin is slanted, those have dots."""

    default_priority = 704

    def apply(self, **_) -> None:
        for node in self.document.findall(nodes.emphasis):
            if self.config.language in NOT_SLANTED and not HAN_OR_HANGUL.search(node.astext()):
                node["classes"].append("latin")


class EquationLinks(SphinxPostTransform):
    """Turn (4.2) in prose into a link to equation (4.2), in whatever chapter it stands."""

    default_priority = 300
    formats = ("html",)

    def run(self, **_) -> None:
        for link in self.document.findall(nodes.reference):
            if (match := EQUATION.fullmatch(link.astext())) and (goal := self.address(match[1])):
                link["refuri"] = goal
                link["internal"] = True
        for text in list(self.document.findall(nodes.Text)):
            above = list(ancestors(text))
            if not any(isinstance(node, (*UNTOUCHED, nodes.title)) for node in above):
                found = [(m, self.address(m[1])) for m in EQUATION.finditer(str(text))]
                put_links(text, "equation", [(match, goal) for match, goal in found if goal])

    def address(self, number: str) -> str | None:
        chapter = self.config.book["equations"].get(number)
        if chapter is None:
            return None
        if chapter == self.env.docname:
            return f"#{equation_id(number)}"
        page = self.app.builder.get_relative_uri(self.env.docname, chapter)
        return f"{page}#{equation_id(number)}"


class TermLinks(SphinxPostTransform):
    """Link a chapter's first use of a term that an earlier chapter explains to its explanation.

    What stands above the first section only tells what will come.
    """

    default_priority = 301
    formats = ("html",)

    def run(self, **_) -> None:
        order = self.config.book["chapters"]
        if self.env.docname not in order:
            return
        earlier = set(order[: order.index(self.env.docname)])
        goals = {t: goal for t, goal in self.config.book["terms"].items() if goal[0] in earlier}
        for text in list(self.document.findall(nodes.Text)):
            above = list(ancestors(text))
            if not goals or any(isinstance(node, NO_TERMS) for node in above):
                continue
            sections = sum(isinstance(node, nodes.section) for node in above)
            if sections > 1 and any(isinstance(node, nodes.paragraph) for node in above):
                self.link_terms(text, goals)

    def link_terms(self, text: nodes.Text, goals: dict[str, tuple[str, str]]) -> None:
        words = "|".join(map(re.escape, sorted(goals, key=len, reverse=True)))
        before, after = AROUND_TERM.get(self.config.language, BETWEEN_GAPS)
        found = []
        for match in re.finditer(f"{before}({words}){after}", str(text)):
            if goal := goals.pop(match[1], None):  # else linked already, a word before
                page = self.app.builder.get_relative_uri(self.env.docname, goal[0])
                found.append((match, f"{page}#{term_id(goal[1])}"))
        put_links(text, "term", found)


def put_links(text: nodes.Text, kind: str, found: list[tuple[re.Match, str]]) -> None:
    """Turn the matches in a text into links to their addresses."""
    parts, position = [], 0
    for match, goal in found:
        parts.append(nodes.Text(text[position : match.start()]))
        parts.append(nodes.reference("", match[0], refuri=goal, internal=True, classes=[kind]))
        position = match.end()
    if parts:
        text.parent.replace(text, [*parts, nodes.Text(text[position:])])


def ancestors(node: nodes.Node) -> Iterator[nodes.Node]:
    while (node := node.parent) is not None:
        yield node


def write_math(writer: nodes.NodeVisitor, node: nodes.math | nodes.math_block) -> None:
    """Write the TeX of an equation, which equations.py typesets on all pages at once."""
    tag = "div" if isinstance(node, nodes.math_block) else "span"
    anchor = "".join(f' id="{name}"' for name in node["ids"][:1])
    text = writer.encode(node.astext())
    writer.body.append(f'<{tag} class="math"{anchor}>{text}</{tag}>')
    raise nodes.SkipNode


def header_tools(
    app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None
) -> None:
    """Tell the header which notebook belongs to a page, and where the page is in other editions."""
    chapters = set(app.config.book["chapters"])
    if pagename in chapters:
        context["book_changed"] = app.config.book["changes"].get(pagename)
        context["book_services"] = app.config.book["services"].get(pagename)
        context["book_notebook"] = f"{app.config.book['notebooks']}/{pagename}.ipynb"
    for menu in ("editions", "languages"):
        if len(entries := app.config.book[menu]) > 1:
            context[f"book_{menu}"] = menu_of(entries, pagename, app.config.book["anchors"])
    if pagename == "search":
        for script in ("sections.js", "search.js"):
            app.add_js_file(script)


def menu_of(editions: list[dict], pagename: str, anchors: dict[str, dict]) -> list[dict]:
    """Return the entries of a menu that leads from a page to the same one in other editions."""
    here = next(edition for edition in editions if edition["here"])
    root = "../" * pagename.count("/") + ("../" if here["folder"] else "")
    return [
        {
            **edition,
            "lacks": pagename in edition["without"],
            "url": root + page_in(edition, pagename),
            "anchors": anchors.get(edition["folder"], {}).get(pagename, {}),
        }
        for edition in editions
    ]


def page_in(edition: dict, pagename: str) -> str:
    """Return where a page is in an edition: its home where it leaves the chapter out."""
    folder = f"{edition['folder']}/" if edition["folder"] else ""
    return f"{folder}{'index' if pagename in edition['without'] else pagename}.html"


class OwnWords(NullTranslations):
    """What the edition says itself, before what Sphinx would say."""

    def __init__(self, words: dict[str, str], others: NullTranslations | None = None):
        super().__init__()
        self.words = words
        if others:
            self.add_fallback(others)

    def gettext(self, message: str) -> str:
        return self.words.get(message) or super().gettext(message)


def say_own_words(app: Sphinx, config: Config) -> None:
    """Let Sphinx and its theme speak as the edition does."""
    for catalog in ("sphinx", "booktheme"):
        place = ("general", catalog)
        translators[place] = OwnWords(config.book["words"], translators.get(place))
    app.translator = translators["general", "sphinx"]


def setup(app: Sphinx) -> dict:
    app.add_config_value("book", {}, "env")  # what sources.py says of the edition
    for transform in (Equations, Elsewhere, Roles, Terms, Unspaced, Slanted):
        app.add_transform(transform)
    app.add_post_transform(EquationLinks)
    app.add_post_transform(TermLinks)
    app.add_html_math_renderer("typeset", (write_math, None), (write_math, None))
    app.connect("config-inited", say_own_words)
    app.connect("html-page-context", header_tools)
    return {"parallel_read_safe": True, "parallel_write_safe": True, "version": "1"}
