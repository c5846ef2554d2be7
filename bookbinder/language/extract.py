"""Bring the catalogs of a language to the book as it is, and say what is missing in them."""

import copy
import importlib
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from io import BytesIO
from os.path import relpath
from pathlib import Path

import nbformat
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import write_po

from bookbinder.book import FILE, PACKAGE, Book, BookError, write_whole
from bookbinder.chapters import Chapter
from bookbinder.compose import WRITTEN, chapters_of
from bookbinder.language import catalog as po
from bookbinder.language.say import said_on_screen, translated
from bookbinder.notation import PAGE, read_notation
from bookbinder.notebook import read_bound
from bookbinder.pictures import figure_messages
from d2l_attention.practice import words
from d2l_attention.practice.exercises import exercises_in
from d2l_attention.practice.recurring_mistakes import RECURRING

HEAD = (
    'msgid ""\nmsgstr ""\n"Language: {language}\\n"\n"MIME-Version: 1.0\\n"\n'
    '"Content-Type: text/plain; charset=utf-8\\n"\n"Content-Transfer-Encoding: 8bit\\n"\n\n'
)
PRACTICE_CODE = Path(PACKAGE, "practice")
CALLS = {"_": None, "worded": None, "say": None}
SCRIPTS = {".py": "python", ".js": "javascript", ".html": "jinja2", ".md": "jinja2"}
ON_DISK = re.compile(  # pages stand translated beside each other, but for the English one
    r'(\[English\]\(|(?:\]\(|(?:src|srcset|href)=")(?!\w+:|#|(?:README|TEACHING|EXERCISES)\.md))'
)


def templates(book: Book) -> dict[str, Catalog]:
    editions = [chapters_of(book, edition, WRITTEN) for edition in book.editions]
    in_all = zip(*editions, strict=True)
    texts = {chapters[0].name: [*map(po.messages_of, chapters)] for chapters in in_all}
    letters = (x for e in book.editions for x in read_notation(book.source, e.framework))
    said = (text for x in letters for text in (x.meaning, x.shape) if po.is_prose(text))
    texts.setdefault(PAGE, []).append([(text, "book/notation.toml") for text in said])
    texts[po.INTERFACE] = [
        [*words_in(Path(__file__).parents[1]), *((title, FILE) for title, _ in book.parts)]
    ]
    texts[po.PRACTICE] = [practice_messages(book.root)]
    texts[po.FIGURES] = [figure_messages(book.source)]
    texts[po.SCREEN] = [[(text, "notebooks") for text in screen_words(book)]]
    texts |= {page: [po.messages_of(page_of(book, page))] for page in po.PAGES}
    return {name: template(of_editions) for name, of_editions in texts.items()}


def template(editions: Iterable[Iterable[po.Message]]) -> Catalog:
    """Return the messages of all editions as one catalog, each new one behind its neighbor."""
    order, files = [], {}
    for messages in editions:
        at = -1
        for text, file in messages:
            if text not in files:
                order.insert(at + 1, text)
                files[text] = file
            at = order.index(text)
    catalog = Catalog(fuzzy=False)
    for text in order:
        catalog.add(text, locations=[(files[text], None)])
    return catalog


def words_in(folder: Path) -> Iterator[po.Message]:
    """Yield the texts in calls of `_`, `worded` and `say` below a folder, with the file."""
    from babel.messages.extract import extract_from_file  # only translators need it

    for path in sorted(folder.rglob("*")):
        if kind := SCRIPTS.get(path.suffix):
            for _, text, *_ in extract_from_file(kind, path, CALLS):
                yield text, path.relative_to(folder.parent).as_posix()


def practice_messages(root: Path) -> list[po.Message]:
    """Return all that practice says, each text once, with the first file that says it."""
    folder = root / PRACTICE_CODE
    found = [(text, file) for text, file in words_in(folder) if file.endswith(".py")]
    texts = {path.name: words.script_words(path.name) for path in sorted(folder.glob("*.js"))}
    texts["recurring_mistakes.py"] = RECURRING.values()
    for path in sorted(folder.glob("chapter_*.py")):
        module = importlib.import_module(".".join([*PRACTICE_CODE.parts, path.stem]))
        texts[path.name] = [m.say for exercise in exercises_in(module) for m in exercise.mistakes]
    found += [(text, f"{folder.name}/{file}") for file, said in texts.items() for text in said]
    first: dict[str, str] = {}
    for text, file in found:
        first.setdefault(text, f"{PACKAGE}/{file}")
    return list(first.items())


def page_of(book: Book, page: str) -> Chapter:
    file = f"{page.upper()}.md"
    text = (book.root / file).read_text(encoding="utf-8")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text)])
    places = [[f"{file}:{line}" for line in range(1, text.count("\n") + 2)]]
    return Chapter(page, file, notebook, places)


def screen_words(book: Book) -> dict[str, str]:
    found: dict[str, str] = {}
    folders = (edition.notebooks for edition in book.editions)
    for path in (path for folder in folders for path in sorted(folder.glob("*.ipynb"))):
        for cell in read_bound(path).cells:  # those of folded solutions, too
            for output in cell.get("outputs", ()):
                said_on_screen(output, lambda text: found.setdefault(text, text))
    return found


def as_po(catalog: Catalog, language: str) -> str:
    """Return a catalog as text, which depends on its messages alone."""
    file = BytesIO()
    write_po(file, catalog, width=0, omit_header=True, include_lineno=False)
    return HEAD.format(language=language) + file.getvalue().decode("utf-8")


def update_messages(book: Book, language: str) -> None:
    """Update the catalogs of a language and what is made of them; print what is missing."""
    all_of_it, missing, wrong = 0, 0, []
    for name, new in templates(book).items():
        catalog = copy.deepcopy(po.read_catalog(book, language, name))
        catalog.update(new, update_creation_date=False)  # those of changed sentences are fuzzy
        write_whole(path := po.catalog_file(book, language, name), as_po(catalog, language))
        file = book.named(path)
        texts = [message.id for message in new if message.id]
        if lacking := len({*texts} - po.translations(catalog).keys()):
            print(f"{file}: {lacking} of {len(texts)} missing")
        all_of_it, missing = all_of_it + len(texts), missing + lacking
        wrong += po.disagreements(catalog, file)
    print(f"{language}: {all_of_it} messages, {missing} missing")
    practice, compiled = copy.copy(po.read_catalog(book, language, po.PRACTICE)), BytesIO()
    practice.creation_date = practice.revision_date = datetime(2000, 1, 1, tzinfo=UTC)
    write_mo(compiled, practice)  # the same bytes on every day
    write_whole(compiled_file(book, language), compiled.getvalue())
    for page in po.PAGES:
        write_whole(page_file(book, language, page), translated_page(book, language, page))
    if wrong:
        raise BookError("\n".join(wrong))


def compiled_file(book: Book, language: str) -> Path:
    return book.root / PACKAGE / "locale" / language / "LC_MESSAGES" / f"{po.PRACTICE}.mo"


def page_file(book: Book, language: str, page: str) -> Path:
    return po.catalog_file(book, language, page).with_name(f"{page.upper()}.md")


def translated_page(book: Book, language: str, page: str) -> str:
    """Return a page beside the book in a language, with links from where it stands."""
    text = translated(page_of(book, page), po.language_of(book, language)).notebook.cells[0].source
    text = text.partition("-->\n")[2] if text.startswith("<!--") else text
    command = f"make notebooks LANGUAGE={language}"
    made = f"<!-- Made from {page.upper()}.md and {page}.po by `{command}`: "
    up = relpath(book.root, page_file(book, language, page).parent)
    return f"{made}change these, not this file. -->\n" + ON_DISK.sub(rf"\1{up}/", text)
