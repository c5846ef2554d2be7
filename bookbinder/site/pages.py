"""Compose the pages that are no chapters: home, the module's functions, all references."""

import json
import re
from bisect import bisect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import escape, unescape
from pathlib import Path
from xml.etree import ElementTree

from jinja2 import Template

from bookbinder.book import Book, BookError, Edition
from bookbinder.chapters import (
    Chapter,
    headings_of,
    lines_of,
    number_of,
    title_in_contents,
    title_of,
)
from bookbinder.language.catalog import README, worded
from bookbinder.markdown import REFERENCE, jupyter_anchor
from bookbinder.module import MARKED
from bookbinder.overlay import DEFINED
from bookbinder.site.equations import NEEDED

TEMPLATES = Path(__file__).parent / "templates"
PICTURE = "figures/card_{}.svg"  # of a part, in book/, where a book has it
TRAINED = '<div class="d2l-arcs" data-kind="sentence"'  # how the explorer of a layer begins
WRITER = '<div class="d2l-arcs writer"'  # and of a model that writes
HELD = re.compile(r'(?<= data-held=")[^"]*')
CAPTION = re.compile(r'<p class="cap">[^<]*')
SECTIONS = {"parameters": worded("Arguments"), "returns": worded("Returns")}
SECTIONS |= {"raises": worded("Raises"), "yields": worded("Yields")}
SHORT = re.compile(r"^(Args|Raises): (\S.*(?:\n +.*)*)", re.MULTILINE)
NAMES = re.compile(r"^(\w+(?: and \w+)*),? ")
AUTHOR = re.compile(r",| and | et al| “")  # what follows the name
Say = Callable[..., str]


def page(template: str, **values) -> str:
    return Template((TEMPLATES / template).read_text("utf-8"), trim_blocks=True).render(values)


@dataclass
class Part:
    """A part of the book as the home page shows it."""

    title: str
    picture: str = ""
    alt: str = ""
    hours: float = 0  # to read its chapters
    chapters: dict[str, str] = field(default_factory=dict)  # name -> title


def home_page(book: Book, chapters: list[Chapter], pictures: dict, root: str, _: Say) -> str:
    """Return the home page; `pictures` are those of the parts, by their file; `root` has guests."""
    part = Part(_("Chapters"))
    begins = {chapters[0].name: part}  # where no part begins with it
    for number, (title, first) in enumerate(book.parts, 1):
        begins[first] = Part(_(title))
        if svg := pictures.get(PICTURE.format(number)):
            begins[first].picture = PICTURE.format(number)
            begins[first].alt = ElementTree.fromstring(svg).findtext("{*}desc")
    begins |= dict.fromkeys(book.appendices[:1], Part(_("Appendices")))
    for chapter in chapters:
        part = begins.get(chapter.name, part)
        part.chapters[chapter.name] = title_in_contents(book, chapter, _)
        times = (line.plain for line in lines_of(chapter) if line.role == "time")
        part.hours += sum(int(x) for time in times for x in re.findall(r"\d+", time)[:1]) / 60
    paragraphs = (book.root / "README.md").read_text("utf-8").split("\n\n")
    lead = next(text for text in paragraphs[1:] if not text.startswith(("#", "`", "[![")))
    return page(
        "home.md",
        _=_,
        title=_(book.title, README),
        lead="\n".join(_(line, README) for line in lead.strip().split("\n")),
        first=chapters[0].name,
        explorer=explorer(chapters, _),
        writers=[chapter.name for chapter, _html in outputs(chapters, WRITER)],
        parts=list(begins.values()),
        elsewhere=dict.fromkeys(book.guests, root) if root != "." else {},
    )


def explorer(chapters: list[Chapter], _: Say) -> str:
    """Return the explorer of the chapter that trains a layer on sentences, or nothing."""
    for chapter, html in outputs(chapters, TRAINED):
        held, caption = HELD.search(html)[0], CAPTION.search(html)[0]
        state = json.loads(unescape(held))
        state["step"] = (state["step"] + 1) // 2  # while the layer finds where to look
        told = _(
            "{chapter} trains this layer on sentences of such words, "
            "and never shows it a tired animal. The page computes with its three matrices."
        ).format(chapter=f'<a href="{chapter.name}.html">{title_of(chapter)}</a>')
        html = html.replace(held, escape(json.dumps(state)), 1)
        return html.replace(caption, f'<p class="cap">\n{told}\n', 1)
    return ""


def outputs(chapters: list[Chapter], begin: str) -> Iterator[tuple[Chapter, str]]:
    """Yield each chapter with an output that begins so, and that."""
    for chapter in chapters:
        for cell in chapter.notebook.cells:
            texts = (o.get("data", {}).get("text/html", "") for o in cell.get("outputs", ()))
            yield from ((chapter, html) for html in texts if html.startswith(begin))


def functions_page(edition: Edition, pairs: list[tuple[Chapter, Chapter]], _: Say) -> str:
    """Return the page of what a module exports; `pairs` are chapters in English and as shown."""
    try:
        import griffe  # comes with the packages of the site, which binding does without
    except ImportError:
        raise BookError(f"{NEEDED} (no griffelib)") from None
    options = {"try_relative_path": False, "allow_inspection": False}
    package = griffe.load(edition.module.parent.name, search_paths=[edition.root], **options)
    module = package[edition.module.stem]
    places: dict[str, tuple[str, str]] = {}  # definition -> its chapter, and heading as it is shown
    for english, chapter in pairs:
        titles = [line.title for line in headings_of(chapter)]
        above = [line.cell for line in headings_of(english)]
        for at, cell in enumerate(english.notebook.cells):
            if cell.cell_type == "code" and MARKED.search(cell.source):
                title = titles[bisect(above, at) - 1]
                places |= dict.fromkeys(DEFINED.findall(cell.source), (english.name, title))
    items = [module[name] for name in module.exports or ()]
    derived: dict[str, list[str]] = {}  # chapter -> definitions
    for item in sorted((item for item in items if not item.is_alias), key=lambda i: i.lineno):
        name, title = places[item.name]
        link = f"[{title}]({name}.ipynb#{jupyter_anchor(title)})"
        line = _("Derived in {section}.").format(section=link)
        derived.setdefault(name, []).append(definition(item, _, line))
    return page(
        "functions.md",
        _=_,
        module=module,
        chapters=[(title_of(c), derived[c.name]) for _, c in pairs if c.name in derived],
        ready_made=[definition(item.final_target, _) for item in items if item.is_alias],
    )


def definition(item, _: Say, derived: str = "", kind: str = "function") -> str:
    """Return the directive of a function, of a class with its members, or of one of these."""
    parts, fence = [as_markdown(item.docstring, _) if item.docstring else "", derived], "````"
    if item.is_class:
        members = [m for name, m in item.members.items() if not name.startswith("_")]
        parts += [definition(m, _, kind="method") for m in members if m.is_function]
        parts += [definition(m, _, kind="property") for m in members if "property" in m.labels]
        kind, fence = "class", "`````"
    if kind == "property":
        signature = f"{item.name}\n:type: {item.annotation}\n"
    else:
        signature = item.signature() or f"{item.name}()"
    body = "\n\n".join(filter(None, parts))
    return f"{fence}{{py:{kind}}} {signature}\n{body}\n{fence}"


def as_markdown(docstring, _: Say) -> str:
    """Return a docstring of Google's form as Markdown."""
    blocks = []
    docstring.value = SHORT.sub(long_form, docstring.value)
    for section in docstring.parse("google", warnings=False):
        if section.kind.value == "text":
            blocks += [" ".join(block.split()) for block in section.value.split("\n\n")]
        else:
            entries = "\n".join(map(entry, section.value))
            blocks += [f"**{_(SECTIONS[section.kind.value])}**", entries]
    return "\n\n".join(blocks)


def long_form(short: re.Match) -> str:
    """Return `Args: a, the first; b and c in inches.` with a line for each entry."""
    entries = " ".join(short[2].split()).rstrip(".").split("; ")
    return "\n    ".join([f"\n{short[1]}:", *(NAMES.sub(r"\1: ", entry) for entry in entries)])


def entry(item) -> str:
    """Return an argument, or an error, with what is said of it, as an entry of a list."""
    name, words = getattr(item, "name", item.annotation), " ".join(item.description.split())
    names = ", ".join(f"`{part}`" for part in re.split(", | and ", str(name or "")))
    return f"- {names}: {words}" if name else f"- {words}"


def references_page(chapters: list[Chapter], _: Say) -> str:
    """Return the page of all that chapters cite, each once, by author, with who cites it."""
    works: dict[str, list[str]] = {}  # by letters of the title: what is cited, and by whom
    for chapter in chapters:
        name = _("Chapter {number}").format(number=number_of(chapter.name))
        for line in (line for line in lines_of(chapter) if line.in_references):
            if match := REFERENCE.match(line.text):
                quoted = line.text[match.end() :]
                title = quoted.partition("“")[2].partition("”")[0] or quoted
                key = "".join(filter(str.isalnum, title)).lower()
                work = works.setdefault(key, [f"- {quoted}"])
                anchor = f"{chapter.name}.html#reference-{match[1]}"
                work.append(f'  - <a href="{anchor}">{name}</a>')
            elif line.text.startswith(" "):  # a note
                work[-1] += ":" if work[-1].endswith("</a>") else ""
                own = f"]({chapter.name}.ipynb#"
                work.append(f"    {line.text.strip().replace('](#', own)}")
    by_author = sorted(
        works.values(), key=lambda work: AUTHOR.split(work[0][2:])[0].split()[-1].lower()
    )
    lines = [line for work in by_author for line in work]
    title, about = _("References"), _("Everything that the chapters cite, by author.")
    return "\n".join([f"# {title}", "", about, "", *lines, ""])
