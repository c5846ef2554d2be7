"""A language that no one speaks: letters have marks, so that one sees what stays English."""

import copy
import json
import re
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path

import nbformat
from babel.messages.catalog import Catalog
from nbformat import NotebookNode
from nbformat.v4 import new_output

from bookbinder.book import FILE, Book, as_text, read_book, write_whole
from bookbinder.chapters import lines_of, shown_words
from bookbinder.compose import after, bind, chapters_of, goal_of
from bookbinder.language import catalog as po
from bookbinder.language.catalog import PAGES, WORDS_IN_FORMULA, catalog_file, read_catalog
from bookbinder.language.extract import as_po, page_file, templates, update_messages
from bookbinder.notebook import fold_solutions, publish
from bookbinder.worksheets import bind_worksheets
from tests.conftest import DATA, ROOT, write_files
from tests.this_book import BOOK

LANGUAGE = "id"  # in whose place it stands
PLAIN, MARKED = "aeiouycnsztlrgkdAEIOUYCNSZTLRGKDW", "áéíóúýčñšžťĺŕğķďÁÉÍÓÚÝČÑŠŽŤĹŔĞĶĎＷ"
MARKS = str.maketrans(PLAIN, MARKED)
AS_WRITTEN = re.compile(
    r"(\$\$.*?\$\$|\$[^$]+\$|`[^`]*`|<[^>]*>|\{\{?\w+\}\}?|\]\((?:[^()]|\([^()]*\))*\)|https?://\S+)"
)
# What of the book a copy shares; the catalogs and all that is built are its own.
SHARED = ("bookbinder", "d2l_attention", "notebooks", "README.md", "TEACHING.md", "EXERCISES.md")

SAMPLE = "02_everything"  # in its source, what a cell puts out stands below it in blocks
FILES = re.findall(
    r"=== (\S+)\n(.*?)(?=^=== |\Z)", (DATA / "everything.md").read_text("utf-8"), re.M | re.S
)
OUTPUT = re.compile(r"\n```(stream|\w+/[\w+]+)\n(.*?\n)```\n", re.DOTALL)
MISTAKES = (DATA / "mistakes.txt").read_text("utf-8").splitlines()
messages = cache(lambda: templates(BOOK))


def pseudo(text: str) -> str:
    if "$" not in text and WORDS_IN_FORMULA.search(text):
        return WORDS_IN_FORMULA.sub(lambda found: f"\\text{{{pseudo(found[1])}}}", text)
    parts = AS_WRITTEN.split(text)  # every second one is kept
    return "".join(p if at % 2 else p.translate(MARKS) for at, p in enumerate(parts))


def in_pseudo(catalog: Catalog, left_out: str = "\n") -> Catalog:
    made = copy.deepcopy(catalog)
    for message in made:
        message.string = pseudo(message.id or "") if left_out not in message.id else ""
    return made


@cache
def said(name: str) -> dict[str, str]:
    """Return what this book's catalog of a name says in the pseudo-language."""
    return po.translations(in_pseudo(messages().get(name, Catalog(fuzzy=False))))


PSEUDO = po.Language(LANGUAGE, said)  # which says this book's messages


def pseudo_book(root: Path) -> Book:
    """Return this book in a folder of its own, with a translation in the pseudo-language."""
    for name in SHARED:
        (root / name).symlink_to(BOOK.root / name)
    (root / "book").mkdir()
    for path in BOOK.source.iterdir():
        if path.name != "locale":
            (root / "book" / path.name).symlink_to(path)
    shutil.copy(BOOK.root / FILE, root / FILE)
    book = replace(read_book(root), languages=("en", LANGUAGE))
    for name, all_of_it in messages().items():
        write_whole(catalog_file(book, LANGUAGE, name), as_po(in_pseudo(all_of_it), LANGUAGE))
    return book


def mistakes(of: str) -> list[list[str]]:  # what is replaced, by what, and what is told
    return [line.split(" → ")[1:] for line in MISTAKES if line.startswith(of)]


def with_outputs_of(text: str, notebook: NotebookNode) -> NotebookNode:
    """Return a notebook that has what stands below its code in the text of the sample."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell, block in zip(code[::-1], text.split("\n```python")[::-1], strict=False):
        data = dict(OUTPUT.findall(block))
        printed = data.pop("stream", "")
        cell.outputs += [new_output("stream", text=printed)] * bool(printed)
        metadata = {"composed": json.loads(data.pop("composed/json", "{}"))}
        cell.outputs += [new_output("display_data", data, metadata=metadata)] * bool(data)
    return notebook


def sample_book(root: Path) -> Book:
    """Return a book with a chapter that has everything, bound in a folder, and its translation."""
    write_files(root, {name: OUTPUT.sub("", text) for name, text in FILES})
    (root / "d2l_attention").mkdir()
    (root / "d2l_attention/practice").symlink_to(ROOT / "d2l_attention/practice")
    book, texts = read_book(root), dict(FILES)
    english = book.editions[0]
    for chapter in chapters_of(book, english):
        with_outputs_of(texts[f"book/{chapter.name}.md"], chapter.notebook)
        chapter = after((publish, fold_solutions), chapter, goal_of(book, english))
        write_whole(english.notebook(chapter.name), as_text(chapter.notebook))
    update_messages(book, LANGUAGE)
    for path in catalog_file(book, LANGUAGE, "").parent.glob("*.po"):
        catalog = in_pseudo(read_catalog(book, LANGUAGE, path.stem), "never translated")
        text = as_po(catalog, LANGUAGE).replace("square, whose", "cube, whose")  # it was another
        path.write_text(text, encoding="utf-8")
    update_messages(book, LANGUAGE)
    bind(book, book.edition("pytorch", LANGUAGE))
    bind_worksheets(book, book.edition("pytorch", LANGUAGE))
    return book


def told(book: Book) -> str:
    """Return as text what the sample says, how its lines are read, and what becomes of them."""
    chapter = chapters_of(book, book.editions[0])[0]
    facts = [chapter.minutes, shown_words([chapter])]
    for name in (SAMPLE, "notation", "screen", *PAGES):
        catalog = read_catalog(book, LANGUAGE, name)
        facts += [f"{m.locations[0][0]}: {m.id}{' (fuzzy)' * m.fuzzy}" for m in catalog if m.id]
    for x in filter(lambda line: line.text, lines_of(chapter, fenced=True)):
        line = [x.where.partition(":")[2], x.kind, x.level, x.is_first and "first", x.fold]
        line += [x.role or (x.section and f"in {x.section}"), x.label, x.bold, x.citations]
        line += [*map(" ".join, x.links), x.plain]
        facts.append("; ".join(str(fact) for fact in line if fact))
    parts = ["\n".join(map(str, facts))]
    for path in sorted((book.root / "_build").rglob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            parts += cell.source.split("\n\n")
            for output in cell.get("outputs", ()):
                data = output.get("data", {"text": output.get("text")})
                parts += [*data.values(), *map(str, output.get("metadata", {}).values())]
    parts += [path.name for path in (book.root / "_build").rglob("*.svg")]
    parts += [page_file(book, LANGUAGE, name).read_text("utf-8") for name in PAGES]
    return "\n".join(dict.fromkeys(parts))  # what repeats stands once
