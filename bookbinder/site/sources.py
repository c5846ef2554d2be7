"""Compose everything that Sphinx reads for one edition, as texts; nothing is written here.

Pages are composed in English, and said in the language of the edition line by line, at the end.
"""

import re
from collections.abc import Container, Iterator
from dataclasses import replace

from nbformat import NotebookNode

from bookbinder.book import ENGLISH, Book, BookError, Edition, as_text
from bookbinder.chapters import Chapter, fold_of, tags_of, title_of
from bookbinder.colab import INSTALL
from bookbinder.compose import english_chapters, title_in_contents
from bookbinder.language.catalog import BESIDE, INTERFACE, worded
from bookbinder.language.say import Language, language_of, with_links
from bookbinder.markdown import (
    CITATION,
    REFERENCE,
    TERM,
    Page,
    lines_of,
    link_problems,
    shown_words,
)
from bookbinder.notebook import notebook_path, read_or_empty, stale_files
from bookbinder.publish import ANSI
from bookbinder.site.home import home_page, home_pictures
from bookbinder.site.lookup import functions_page, references_page
from bookbinder.site.settings import own_words, sphinx_settings
from bookbinder.solutions import SOLUTION, is_solution, read_bound, with_folds

MARKS = re.compile(r"^((?:>|\s|#+ |- |\d+\. |<summary>)*)(.*?)((?:</summary>)?)$")  # around a line
MARKUP = re.compile(r"(<[^>]*>|^:\w+: |\]\([^)]*\)|\[|\||\*\*|\*)")  # between words of a page
FILLED = re.compile(r"(?<=.{50})\n(?=\S)")  # where `fill` has broken a line of prose
CODE = (worded("Show the code"), worded("Hide the code"))
IMPORTS = (worded("Show the imports"), worded("Hide the imports"))
FOLDED = {"imports": IMPORTS, "drawing": CODE, "validation": CODE}  # texts on the fold, if open


def edition_sources(
    book: Book, edition: Edition, chapters: list[Chapter], editions: tuple[Edition, ...]
) -> dict[str, str]:
    """Return file name -> text for one edition; `editions` are those of the site.

    Raises BookError where a notebook is missing or stale, or a link or picture leads nowhere.
    """
    language, in_english = language_of(book, edition.language), replace(edition, language=ENGLISH)
    english = chapters if edition == in_english else english_chapters(book, in_english)
    pages, files = pages_of(book, edition, chapters), {}
    for page in pages:
        listed = {line.text for line in page.lines if line.in_references}
        notebook = site_notebook(page.executed, listed, language)
        files[f"{page.name}.ipynb"] = as_text(notebook)
    pictures = home_pictures(book, language_of(book, ENGLISH))
    outputs = [page.executed for page in pages]
    pairs = [*zip(english, chapters, strict=True)]
    for name, text in composed_pages(book, edition, english, outputs, pictures).items():
        files[name] = page_in_language(text, book, pairs, language)
    here = {  # what the extension asks for
        "words": own_words(language),
        "equations": {number: page.name for page in pages for number in page.equations()},
        "terms": {old.name: shown_terms(old, new) for old, new in pairs},
        "roles": shown_words(chapters),
    }
    settings = sphinx_settings(book, edition, editions, language) | {"book": here}
    lines = ["# Written by `make site`: a change here is lost."]
    lines += [f"{name} = {value!r}\n" for name, value in settings.items()]
    return files | home_pictures(book, language) | {"conf.py": "\n".join(lines)}


def pages_of(book: Book, edition: Edition, chapters: list[Chapter]) -> list[Page]:
    """Return the chapters with their notebooks; raise BookError where these are not in order."""
    of_source = edition.language == ENGLISH  # a translation was bound just now
    if stale := of_source and stale_files(book, edition, chapters):
        raise BookError("\n".join([*stale, "run `make notebooks`"]))
    pages = [Page(c, read_bound(notebook_path(edition, c.name))) for c in chapters]
    by_name = {page.name: page for page in pages}
    if wrong := [p for page in pages for p in link_problems(page, by_name, edition.notebooks)]:
        raise BookError("\n".join(wrong))
    return pages


def composed_pages(
    book: Book,
    edition: Edition,
    chapters: list[Chapter],
    outputs: list[NotebookNode],
    pictures: dict[str, str],
) -> dict[str, str]:
    """Return the pages that are no chapters, in English; `outputs` are those of the notebooks."""
    module = book.named(edition.module).removesuffix(".py").replace("/", ".")
    package = module.rpartition(".")[0]
    texts = {f"{package}.{p.stem}": read_or_empty(p) for p in edition.module.parent.glob("*.py")}
    texts |= {module: read_or_empty(edition.module)}
    return {
        "functions.md": functions_page(module, chapters, texts),
        "references.md": references_page(chapters),
        "index.md": home_page(book, chapters, outputs, pictures),
    }


def page_in_language(
    text: str, book: Book, pairs: list[tuple[Chapter, Chapter]], language: Language
) -> str:
    """Return a page with its lines, or what stands in them between markup, in a language.

    `pairs` are the chapters in English and as they are shown.
    """
    if language.tag == ENGLISH:
        return text
    names = (*BESIDE, *(chapter.name for chapter, _ in pairs))
    otherwise = dict(said for pair in pairs for said in otherwise_said(book, *pair, language))

    def said(words: str) -> str:
        bare = words.strip()
        exact = (language.exactly(words, name) for name in names)
        answer = otherwise.get(bare) or next(filter(None, exact), None)
        return answer or words.replace(bare, language.said(bare)) if bare else words

    def line_said(line: str) -> str:
        marks, words, end = MARKS.match(line).groups()
        parts = MARKUP.split(said(words))
        return marks + "".join(p if at % 2 else said(p) for at, p in enumerate(parts)) + end

    return with_links("\n".join(map(line_said, text.split("\n"))), language, INTERFACE)


def otherwise_said(
    book: Book, english: Chapter, chapter: Chapter, language: Language
) -> Iterator[tuple[str, str]]:
    """Yield what a composed page has of a chapter that is no message: title and question."""
    title, shown = (title_in_contents(book, c.name, title_of(c)) for c in (english, chapter))
    said = language.said(shown)
    yield title, said
    yield f"{title} <{chapter.name}>", f"{said} <{chapter.name}>"  # in a table of contents
    asked = [Page(c, c.notebook).passage("question") for c in (english, chapter)]
    yield from zip(*(text.split("\n") for text in asked), strict=True)


def site_notebook(
    notebook: NotebookNode, listed: Container[str], language: Language
) -> NotebookNode:
    """Return a copy with folds, alt texts and links to `listed`, the lines of the references."""
    page = with_folds(notebook, language.said(SOLUTION))
    for cell in page.cells:
        if cell.cell_type == "markdown":
            cell.metadata = NotebookNode()
            cell.source = site_markdown(cell.source, listed)
        elif cell.cell_type == "code":
            cell.metadata = site_metadata(cell, language)
            cell.outputs = list(map(with_last_call, cell.outputs))
            for output in cell.outputs if "prose" in cell.metadata.tags else ():
                output.text = FILLED.sub(" ", output.text)
    return page


def with_last_call(output: NotebookNode) -> NotebookNode:
    """Return an error as the line that raised it and its message; the notebook has all calls."""
    if output.output_type != "error":
        return output
    calls = [part for part in output.traceback if ANSI.sub("", part).startswith("Cell In")]
    return NotebookNode({**output, "traceback": [*calls[-1:], output.traceback[-1]]})


def site_metadata(cell: NotebookNode, language: Language) -> NotebookNode:
    """Return the metadata that myst-nb needs: folds, and the alt text of pictures."""
    if INSTALL in tags_of(cell) or is_solution(cell):
        return NotebookNode(tags=["remove-cell"])  # a page installs nothing; folds have solutions
    made = NotebookNode(tags=list(tags_of(cell)), mystnb=NotebookNode())
    if texts := FOLDED.get(fold_of(cell)):
        made.tags.append("hide-input")
        prompts = ("code_prompt_show", "code_prompt_hide")
        made.mystnb.update(zip(prompts, map(language.said, texts), strict=True))
    if alt := cell.metadata.get("alt"):
        made.mystnb.image = NotebookNode(alt=alt)
    return made


def site_markdown(source: str, listed: Container[str]) -> str:
    """Return a cell with citations linked to their reference."""
    lines = [
        REFERENCE.sub(r"\1. []{#reference-\1}", line) if line in listed else line
        for line in source.split("\n")
    ]
    return CITATION.sub(r"[[\1]](#reference-\1)", "\n".join(lines))


def shown_terms(english: Chapter, shown: Chapter) -> dict[str, str]:
    """Return the terms that a chapter explains, as it shows them in bold, with their English."""
    terms: dict[str, str] = {}
    for old, new in zip(lines_of(english), lines_of(shown), strict=True):
        for term, words in zip(old.bold, new.bold, strict=False) if old.kind != "row" else ():
            if TERM.fullmatch(term):
                terms.setdefault(words, term)
    return terms
