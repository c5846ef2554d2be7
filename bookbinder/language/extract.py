"""Bring the catalogs of a language to the book as it is, and say what is missing in them."""

import importlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from os.path import relpath
from pathlib import Path

import nbformat
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from bookbinder.book import FILE, PACKAGE, Book, BookError, read_notebook, write_whole
from bookbinder.chapters import Chapter
from bookbinder.compose import english_chapters, in_words_of, laid_over, written
from bookbinder.language.catalog import (
    FIGURES,
    INTERFACE,
    PAGES,
    PRACTICE,
    SCREEN,
    Message,
    as_po,
    catalog_file,
    disagreements,
    is_prose,
    messages_of,
    read_catalog,
    template,
    translations,
    updated,
)
from bookbinder.language.say import language_of, translated
from bookbinder.language.screen import said_on_screen
from bookbinder.notation import PAGE, read_notation
from bookbinder.pictures import figure_messages
from bookbinder.worksheets import code_cells
from d2l_attention.practice import words
from d2l_attention.practice.exercises import exercises_in
from d2l_attention.practice.recurring_mistakes import RECURRING

PRACTICE_CODE = Path(PACKAGE, "practice")
TOOL = Path(__file__).parents[1]
SCRIPTS = {".py": "python", ".js": "javascript"}
ON_DISK = re.compile(  # pages stand translated beside each other, but for the English one
    r'(\[English\]\(|(?:\]\(|(?:src|srcset|href)=")(?!\w+:|#|(?:README|TEACHING|EXERCISES)\.md))'
)


def templates(book: Book) -> dict[str, Catalog]:
    """Return all messages of the book, by the name of their catalog."""
    editions = [
        english_chapters(book, edition, (written, laid_over, in_words_of))
        for edition in book.editions
    ]
    made = {}
    for name in book.chapters:
        texts = [list(messages_of(c)) for chapters in editions for c in chapters if c.name == name]
        if name == PAGE:
            texts.append(list(meanings(book)))
        made[name] = template(texts)
    beside = {
        INTERFACE: [*words_in(TOOL), *((title, FILE) for title, _ in book.parts)],
        PRACTICE: practice_messages(book.root),
        FIGURES: figure_messages(book.source),
        SCREEN: ((text, "notebooks") for text in screen_words(book)),
    }
    made |= {name: template([texts]) for name, texts in beside.items()}
    return made | {page: template([list(messages_of(page_of(book, page)))]) for page in PAGES}


def words_in(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the texts in calls of `worded`, of `say` in scripts, below a folder, with the file."""
    from babel.messages.extract import extract_from_file  # only translators need it

    for path in sorted(folder.rglob("*")):
        if kind := SCRIPTS.get(path.suffix):
            for _, text, _, _ in extract_from_file(kind, path, {"say": None, "worded": None}):
                yield text, path.relative_to(folder.parent).as_posix()


def practice_messages(root: Path) -> list[tuple[str, str]]:
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


def meanings(book: Book) -> Iterator[Message]:
    """Yield what the table of notation says of its letters, in all frameworks."""
    for edition in book.editions:
        for letter in read_notation(book.source, edition.framework):
            for text in (letter.meaning, letter.shape):
                if is_prose(text):
                    yield text, f"{book.source.name}/notation.toml"


def page_of(book: Book, page: str) -> Chapter:
    """Return a page beside the book as a chapter of one cell."""
    file = f"{page.upper()}.md"
    text = (book.root / file).read_text(encoding="utf-8")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text)])
    places = [[f"{file}:{line}" for line in range(1, text.count("\n") + 2)]]
    return Chapter(page, file, notebook, places)


def screen_words(book: Book) -> dict[str, str]:
    """Return what the outputs of notebooks say, as keys."""
    found: dict[str, str] = {}
    for edition in book.editions:
        for path in sorted(edition.notebooks.glob("*.ipynb")):
            for output in (o for cell in code_cells(read_notebook(path)) for o in cell.outputs):
                said_on_screen(output, lambda text: found.setdefault(text, text))
    return found


def update_messages(book: Book, language: str) -> None:
    """Update the catalogs of a language and what is made of them; print what is missing.

    Raises:
        BookError: A translation has lost what it must keep.
    """
    all_of_it = missing = 0
    wrong: list[str] = []
    for name, new in templates(book).items():
        catalog = updated(read_catalog(book, language, name), new)
        write_whole(path := catalog_file(book, language, name), as_po(catalog, language))
        file = book.named(path)
        texts = [message.id for message in new if message.id]
        if lacking := len({*texts} - translations(catalog).keys()):
            print(f"{file}: {lacking} of {len(texts)} missing")
        all_of_it, missing = all_of_it + len(texts), missing + lacking
        wrong += disagreements(catalog, file)
    print(f"{language}: {all_of_it} messages, {missing} missing")
    write_whole(compiled_file(book, language), compiled(book, language))
    for page in PAGES:
        write_whole(page_file(book, language, page), translated_page(book, language, page))
    if wrong:
        raise BookError("\n".join(wrong))


def compiled_file(book: Book, language: str) -> Path:
    """Return where the package has what its exercises say in a language."""
    return book.root / PACKAGE / "locale" / language / "LC_MESSAGES" / f"{PRACTICE}.mo"


def compiled(book: Book, language: str) -> bytes:
    """Return the catalog of the exercises as gettext reads it."""
    never = datetime(2000, 1, 1, tzinfo=UTC)  # the same bytes on every day
    catalog = Catalog(language, creation_date=never, revision_date=never, fuzzy=False)
    for text, translation in translations(read_catalog(book, language, PRACTICE)).items():
        catalog.add(text, translation)
    file = BytesIO()
    write_mo(file, catalog)
    return file.getvalue()


def page_file(book: Book, language: str, page: str) -> Path:
    return catalog_file(book, language, page).with_name(f"{page.upper()}.md")


def translated_page(book: Book, language: str, page: str) -> str:
    """Return a page beside the book in a language, with links from where it stands."""
    text = translated(page_of(book, page), language_of(book, language)).notebook.cells[0].source
    up = relpath(book.root, page_file(book, language, page).parent)
    return ON_DISK.sub(rf"\1{up}/", text)
