"""What the pages need beyond Sphinx: numbered equations, boxes, index terms, words."""

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

from bookbinder.markdown import EQUATION, TAG

UNTOUCHED = (nodes.literal, nodes.literal_block, nodes.reference, nodes.math, nodes.math_block)
NOT_SLANTED = ("zh_CN", "ko")
CONSONANTS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
VOWELS_AND_ENDINGS = 21 * 28  # of which each consonant has a syllable, in Unicode's order
HAN_OR_HANGUL = re.compile("[一-鿿가-힣]")


def equation_id(number: str) -> str:
    return f"equation-{number.replace('.', '-')}"


class Looks(SphinxTransform):
    """Mark what has a look of its own: sections with a role, boxes, Latin in slanted letters.

    A box is a quotation whose label has a role; emphasis in Han and Hangul has dots.
    """

    default_priority = 701

    def apply(self, **_) -> None:
        for quote in self.document.findall(nodes.block_quote):
            label = next(iter(quote.findall(nodes.strong)), None)
            if label is not None and (role := self.config.book["roles"].get(label.astext())):
                quote["classes"] += ["box", f"box-{role}"]
        for section in self.document.findall(nodes.section):
            if role := self.config.book["roles"].get(section[0].astext()):
                section["classes"] += [f"role-{role}"]
        for node in self.document.findall(nodes.emphasis):
            if self.config.language in NOT_SLANTED and not HAN_OR_HANGUL.search(node.astext()):
                node["classes"].append("latin")


class Terms(SphinxTransform):
    """Put each term that a chapter sets in bold where it is explained into the index.

    Its anchor is made of its English, as not all languages have letters for one.
    """

    default_priority = 702

    def apply(self, **_) -> None:
        terms = dict(self.config.book["terms"].get(self.env.docname, {}))
        for node in list(self.document.findall(nodes.strong)):
            term = node.astext()
            inside_table = any(isinstance(a, nodes.entry) for a in ancestors(node))
            if term not in terms or inside_table:
                continue
            anchor = nodes.make_id(f"term-{terms.pop(term)}")
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


class Links(SphinxPostTransform):
    """Lead (4.2) in prose to equation (4.2), in whatever chapter it stands."""

    default_priority = 300
    formats = ("html",)

    def run(self, **_) -> None:
        for link in self.document.findall(nodes.reference):
            match = EQUATION.fullmatch(link.astext())
            if goal := match and self.equation(match[1]):
                link.update_all_atts({"refuri": goal, "internal": True}, replace=True)
        for text in list(self.document.findall(nodes.Text)):
            above = ancestors(text)
            if not any(isinstance(node, (*UNTOUCHED, nodes.title)) for node in above):
                self.link_equations(text)

    def link_equations(self, text: nodes.Text) -> None:
        parts, position = [], 0
        for match in EQUATION.finditer(text):
            if goal := self.equation(match[1]):
                link = nodes.reference("", match[0], refuri=goal, internal=True)
                link["classes"].append("equation")
                parts += [nodes.Text(text[position : match.start()]), link]
                position = match.end()
        if parts:
            text.parent.replace(text, [*parts, nodes.Text(text[position:])])

    def equation(self, number: str) -> str | None:
        """Return the address of an equation as links of this page have it."""
        chapter = self.config.book["equations"].get(number)
        if chapter is None:
            return None
        here = chapter == self.env.docname
        page = "" if here else self.app.builder.get_relative_uri(self.env.docname, chapter)
        return f"{page}#{equation_id(number)}"


def ancestors(node: nodes.Node) -> Iterator[nodes.Node]:
    while (node := node.parent) is not None:
        yield node


def write_math(writer: nodes.NodeVisitor, node: nodes.math | nodes.math_block) -> None:
    """Write the TeX of an equation, which equations.py typesets on all pages at once."""
    tag, tex = "div" if isinstance(node, nodes.math_block) else "span", node.astext()
    number = TAG.search(tex)
    anchor = f' id="{equation_id(number[1])}"' if number else ""
    writer.body.append(f'<{tag} class="math"{anchor}>{writer.encode(tex)}</{tag}>')
    raise nodes.SkipNode


class OwnWords(NullTranslations):
    """What the edition says itself, before what Sphinx would say."""

    def __init__(self, words: dict[str, str], others: NullTranslations | None):
        super().__init__()
        self.words = words
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
    for transform in (Looks, Terms, Unspaced):
        app.add_transform(transform)
    app.add_post_transform(Links)
    app.add_html_math_renderer("typeset", (write_math, None), (write_math, None))
    app.connect("config-inited", say_own_words)
    return {"parallel_read_safe": True, "parallel_write_safe": True, "version": "1"}
