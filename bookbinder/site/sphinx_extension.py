"""What the pages need beyond Sphinx: numbered equations, boxes, index terms, words."""

import re
from gettext import NullTranslations
from unicodedata import east_asian_width

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.locale import translators
from sphinx.transforms import SphinxTransform

from bookbinder.markdown import EQUATION, TAG

LINKS = (nodes.reference, addnodes.pending_xref)
UNTOUCHED = (*LINKS, nodes.title, nodes.literal, nodes.literal_block, nodes.math, nodes.math_block)
CONSONANTS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
VOWELS_AND_ENDINGS = 21 * 28  # of which each consonant has a syllable, in Unicode's order
HAN_OR_HANGUL = re.compile("[一-鿿가-힣]")


class OfTheBook(SphinxTransform):
    """Bring into a page what Markdown lacks: roles, equations, the index, the look of Han."""

    default_priority = 701

    def apply(self, **_) -> None:
        document, book, language = self.document, self.config.book, self.config.language
        mark_roles(document, book["roles"])
        link_equations(document, book["equations"], self.env.docname)
        put_into_index(document, book["terms"].get(self.env.docname, {}), language)
        if language in ("zh_CN", "ko"):
            mark_latin(document)
        if language == "zh_CN":
            close_gaps(document)


def mark_roles(document: nodes.document, roles: dict[str, str]) -> None:
    """Give sections and boxes the class of their role; a box is a quotation with a label."""
    for quote in document.findall(nodes.block_quote):
        label = next(iter(quote.findall(nodes.strong)), None)
        if label is not None and (role := roles.get(label.astext())):
            quote["classes"] += ["box", f"box-{role}"]
    for section in document.findall(nodes.section):
        if role := roles.get(section[0].astext()):
            section["classes"] += [f"role-{role}"]


def put_into_index(document: nodes.document, terms: dict[str, str], language: str) -> None:
    """Put each term that a chapter sets in bold where it is explained into the index.

    Its anchor is made of its English, as not all languages have letters for one.
    """
    terms = dict(terms)
    for node in list(document.findall(nodes.strong)):
        term, in_table = node.astext(), isinstance(node.parent.parent, nodes.entry)
        if term in terms and not in_table:
            anchor = nodes.make_id(f"term-{terms.pop(term)}")
            node["ids"].append(anchor)
            entry = ("single", term, anchor, "", index_letter(term, language))
            node.parent.insert(node.parent.index(node), addnodes.index(entries=[entry]))


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


def mark_latin(document: nodes.document) -> None:
    """Mark emphasis in Latin letters, which is slanted; that in Han and Hangul has dots."""
    for node in document.findall(nodes.emphasis):
        if not HAN_OR_HANGUL.search(node.astext()):
            node["classes"].append("latin")


def close_gaps(document: nodes.document) -> None:
    """Let no gap show where a line of Chinese ends: its sentences follow each other.

    What stands there instead keeps the sentences apart for the previews.
    """
    for text in list(document.findall(lambda node: node == "\n")):
        siblings, at = text.parent.children, text.parent.index(text)
        before = "".join(node.astext() for node in siblings[:at])
        after = "".join(node.astext() for node in siblings[at + 1 :])
        if any(east_asian_width(letter) in "WF" for letter in before[-1:] + after[:1]):
            text.parent.replace(text, nodes.raw("", "<wbr>", format="html"))


def link_equations(document: nodes.document, equations: dict[str, str], here: str) -> None:
    """Lead (4.2) in prose to equation (4.2), in whatever chapter it stands."""

    def linked(number: str) -> nodes.Node:
        if number not in equations:
            return nodes.Text(f"({number})")
        page = f"{equations[number]}.html" if equations[number] != here else ""
        goal = f"{page}#{equation_id(number)}"
        return nodes.reference("", f"({number})", refuri=goal, internal=True, classes=["equation"])

    for link in list(document.findall(lambda node: isinstance(node, LINKS))):
        if match := EQUATION.fullmatch(link.astext()):
            link.replace_self(linked(match[1]))
    for text in list(document.findall(nodes.Text)):
        parts = EQUATION.split(text)  # words, a number, words, ...
        around = text.parent, text.parent.parent
        if len(parts) > 1 and not any(isinstance(node, UNTOUCHED) for node in around):
            pieces = [linked(part) if at % 2 else nodes.Text(part) for at, part in enumerate(parts)]
            text.parent.replace(text, pieces)


def equation_id(number: str) -> str:
    return f"equation-{number.replace('.', '-')}"


def write_math(writer: nodes.NodeVisitor, node: nodes.math | nodes.math_block) -> None:
    """Write the TeX of an equation, which equations.py typesets on all pages at once."""
    tag, tex = "div" if isinstance(node, nodes.math_block) else "span", node.astext()
    number = TAG.search(tex)
    anchor = f' id="{equation_id(number[1])}"' if number else ""
    writer.body.append(f'<{tag} class="math"{anchor}>{writer.encode(tex)}</{tag}>')
    raise nodes.SkipNode


class OwnWords(NullTranslations):
    """What the edition says itself, before what Sphinx or its theme would say."""

    words: dict[str, str]

    def gettext(self, message: str) -> str:
        return self.words.get(message) or super().gettext(message)


def say_own_words(app: Sphinx, config: Config) -> None:
    for place in (("general", "sphinx"), ("general", "booktheme")):
        own = OwnWords()
        own.words = config.book["words"]
        own.add_fallback(translators.get(place))
        translators[place] = own
    app.translator = translators["general", "sphinx"]


def setup(app: Sphinx) -> dict:
    app.add_config_value("book", {}, "env")  # what sources.py says of the edition
    app.add_transform(OfTheBook)
    app.add_html_math_renderer("typeset", (write_math, None), (write_math, None))
    app.connect("config-inited", say_own_words)
    return {"parallel_read_safe": True, "parallel_write_safe": True, "version": "1"}
