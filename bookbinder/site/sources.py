"""Compose everything that Sphinx reads for one edition, as texts; nothing is written here.

Pages are composed in English, and said in the language of the edition line by line, at the end.
"""

import difflib
import re
from collections.abc import Container, Iterator
from dataclasses import replace
from html import escape

import nbformat
from nbformat import NotebookNode

from bookbinder.binding import notebook_path, read_or_empty, stale_files
from bookbinder.catalogs import BESIDE, INTERFACE, worded
from bookbinder.chapters import Chapter, fold_of, tags_of, title_cell, title_of
from bookbinder.colab import INSTALL
from bookbinder.config import ENGLISH, Book, Edition
from bookbinder.files import BookError, as_text
from bookbinder.language import Language, language_of, with_links
from bookbinder.outputs import SVG
from bookbinder.page import (
    CITATION,
    REFERENCE,
    TAG,
    TERM,
    Page,
    headings_of,
    jupyter_anchor,
    lines_of,
    link_problems,
    shown_words,
    singular,
)
from bookbinder.publish import ANSI
from bookbinder.site.home import home_page, home_pictures
from bookbinder.site.lookup import functions_page, references_page
from bookbinder.site.settings import (
    address_of,
    as_conf,
    edition_values,
    folder_of,
    neighbors,
    own_words,
    sphinx_settings,
)
from bookbinder.solutions import SOLUTION, is_solution, read_bound, with_folds
from bookbinder.steps import english_chapters, title_in_contents, with_pages

ORIGIN = "<!-- Made from "
FRAME = ("Cell In", "In [", "In[", "File ")  # how a call begins in a traceback
GLOSS = re.compile(r"\s*[(（][^)）]*[)）]")  # what a translation adds to a term: its English
MARKS = re.compile(r"^((?:>|\s|#+ |- |\d+\. |<summary>)*)(.*?)((?:</summary>)?)$")  # around a line
MARKUP = re.compile(r"(<[^>]*>|^:\w+: |\]\([^)]*\)|\[|\||\*\*|\*)")  # between words of a page
CODE = (worded("Show the code"), worded("Hide the code"))
IMPORTS = (worded("Show the imports"), worded("Hide the imports"))
FOLDED = {"imports": IMPORTS, "drawing": CODE, "validation": CODE}  # texts on the fold, if open
ONE_CALL, CALLS = worded("The call that led here"), worded("The calls that led here")
FOLD_OF_CALLS = '<details class="calls"><summary>{summary}</summary>\n<pre>{calls}</pre></details>'


def edition_sources(
    book: Book, edition: Edition, read: dict[Edition, list[Chapter]]
) -> dict[str, str]:
    """Return file name -> text for one edition; `read` has the chapters of all in the site.

    Raises BookError where a notebook is missing or stale, or a link or picture leads nowhere.
    """
    chapters, language = read[edition], language_of(book, edition.language)
    pages, english = pages_of(book, edition, chapters), in_english(book, edition, read)
    files, others = {}, book.editions_in(edition.language)  # be they built or not
    folders = {e.notebooks.name: address_of(e, edition, book.editions) for e in others}
    for page in pages:
        listed = {line.text for line in page.lines if line.in_references}
        notebook = site_notebook(page.executed, listed, folders, language)
        files[f"{page.name}.ipynb"] = as_text(notebook)
    pictures = home_pictures(book, chapters, language_of(book, ENGLISH))
    outputs = [page.executed for page in pages]
    pairs = [*zip(english, chapters, strict=True)]
    for name, text in composed_pages(book, edition, english, outputs, pictures).items():
        files[name] = page_in_language(text, book, pairs, language)
    pictures = home_pictures(book, chapters, language)
    terms = {old.name: shown_terms(old, new) for old, new in pairs}
    here = {
        "chapters": [chapter.name for chapter in chapters],
        "words": own_words(language),
        "equations": equations(chapters),
        "terms": term_places(terms, book.unlinked),
        "index": terms,
        "anchors": anchors(book, edition, read),
        "roles": shown_words(chapters),
    }
    here |= edition_values(book, edition, tuple(read))
    settings = sphinx_settings(book, edition, language) | {"book": here}
    return files | pictures | {"conf.py": as_conf(settings)}


def in_english(book: Book, edition: Edition, read: dict[Edition, list[Chapter]]) -> list[Chapter]:
    """Return the English chapters of an edition."""
    english = replace(edition, language=ENGLISH)
    return read.get(english) or english_chapters(book, english)


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
    notebook: NotebookNode,
    listed: Container[str],
    folders: dict[str, str],
    language: Language,
) -> NotebookNode:
    """Return a copy without origin comment, with folds, alt texts and links to references.

    Its lines are those of the book, so that messages name them. `listed` are the lines of the list
    of references; `folders` says where the pages of other editions are.
    """
    page = with_folds(notebook, language.said(SOLUTION))
    title = title_cell(page)
    if title.source.startswith(ORIGIN):
        title.source = "\n" + title.source.partition("\n")[2]
    for cell in page.cells:
        if cell.cell_type == "markdown":
            cell.metadata = NotebookNode()
            cell.source = with_pages(site_markdown(cell.source, listed), folders)
        elif cell.cell_type == "code":
            cell.metadata = site_metadata(cell, language)
            cell.outputs = [p for out in cell.outputs for p in with_calls_folded(out, language)]
    return page


def with_calls_folded(output: NotebookNode, language: Language) -> list[NotebookNode]:
    """Return an error as the line that raised it and its message, below a fold of earlier calls."""
    if output.output_type != "error":
        return [output]
    plain = [ANSI.sub("", part) for part in output.traceback]
    frames = [at for at, part in enumerate(plain) if part.startswith(FRAME)]
    kept = [
        part
        for at, part in enumerate(output.traceback)
        if at not in frames[:-1] and set(plain[at].strip()) != {"-"}
    ]
    shown = [NotebookNode({**output, "traceback": kept})]
    if calls := [plain[at] for at in frames[:-1]]:
        summary = language.said(ONE_CALL if len(calls) == 1 else CALLS)
        html = FOLD_OF_CALLS.format(summary=summary, calls=escape("\n\n".join(calls)))
        shown.insert(0, nbformat.v4.new_output("display_data", {"text/html": html}))
    return shown


def site_metadata(cell: NotebookNode, language: Language) -> NotebookNode:
    """Return the metadata that myst-nb needs: folds, and the alt text of pictures."""
    if INSTALL in tags_of(cell) or is_solution(cell):
        return NotebookNode(tags=["remove-cell"])  # a page installs nothing; folds have solutions
    made = NotebookNode(tags=list(tags_of(cell)), mystnb=NotebookNode())
    if texts := FOLDED.get(fold_of(cell)):
        made.tags.append("hide-input")
        prompts = ("code_prompt_show", "code_prompt_hide")
        made.mystnb.update(zip(prompts, map(language.said, texts), strict=True))
    alts = [o.get("metadata", {}).get(SVG, {}).get("alt") for o in cell.outputs]
    if alts := list(filter(None, alts)):
        made.mystnb.image = NotebookNode(alt=alts[0])
    return made


def site_markdown(source: str, listed: Container[str]) -> str:
    """Return a cell with citations linked to their reference."""
    lines = [
        REFERENCE.sub(r"\1. []{#reference-\1}", line) if line in listed else line
        for line in source.split("\n")
    ]
    return CITATION.sub(r"[[\1]](#reference-\1)", "\n".join(lines))


def source_line(chapter: Chapter, index: int, line: int) -> str:
    """Say where in the book stands what myst-nb calls `line`, which is one too many."""
    cells = chapter.notebook.cells
    before = 1 if cells[index] is title_cell(chapter.notebook) else 0  # the origin comment
    return chapter.where(index, max(line - 2 - before, 0))


def equations(chapters: list[Chapter]) -> dict[str, str]:
    """Return the number of every equation with the name of its chapter."""
    return {
        number: chapter.name
        for chapter in chapters
        for cell in chapter.notebook.cells
        if cell.cell_type == "markdown"
        for number in TAG.findall(cell.source)
    }


def term_places(
    terms: dict[str, dict[str, str]], unlinked: Container[str]
) -> dict[str, tuple[str, str]]:
    """Return, for the words of each term to link to, the chapter that explains it and its id."""
    found, known = {}, set()
    for chapter, explained in terms.items():
        for shown, term in explained.items():
            name = singular(term)
            if name not in known and name not in unlinked:
                found[name if shown == term else GLOSS.sub("", shown)] = chapter, term
            known.add(name)
    return found


def shown_terms(english: Chapter, shown: Chapter) -> dict[str, str]:
    """Return the terms that a chapter explains, as it shows them in bold, with their English."""
    terms: dict[str, str] = {}
    for old, new in zip(lines_of(english), lines_of(shown), strict=True):
        for term, words in zip(old.bold, new.bold, strict=False) if old.kind != "row" else ():
            if TERM.fullmatch(term):
                terms.setdefault(words, term)
    return terms


def anchors(book: Book, edition: Edition, read: dict[Edition, list[Chapter]]) -> dict[str, dict]:
    """Return, for the editions that the menus lead to, which heading there is one here."""
    ours = shown_anchors(book, edition, read)
    pairs: dict[str, dict] = {}
    for other in neighbors(edition, tuple(read)):
        theirs = shown_anchors(book, other, read)
        pairs[folder_of(other, book.editions)] = {
            name: paired(ours[name], theirs[name]) for name in ours if name in theirs
        }
    return pairs


def shown_anchors(
    book: Book, edition: Edition, read: dict[Edition, list[Chapter]]
) -> dict[str, list[tuple[str, str]]]:
    """Return, for each chapter, the anchors of its headings: of the English, and as it is shown."""
    return {
        english.name: [
            (jupyter_anchor(old.title), jupyter_anchor(new.title))
            for old, new in zip(headings_of(english), headings_of(shown), strict=True)
        ]
        for english, shown in zip(in_english(book, edition, read), read[edition], strict=True)
    }


def paired(here: list[tuple[str, str]], there: list[tuple[str, str]]) -> dict[str, str]:
    """Return anchor -> anchor: of headings equal in English, and between, groups of one size."""
    names = [[english for english, _ in headings] for headings in (here, there)]
    a, b = [[shown for _, shown in headings] for headings in (here, there)]
    pairs = {}
    for kind, i, j, k, m in difflib.SequenceMatcher(None, *names, autojunk=False).get_opcodes():
        if kind == "equal" or j - i == m - k:
            pairs |= dict(zip(a[i:j], b[k:m], strict=True))
    return pairs
