"""Catalogs, what they must keep, and what a chapter is in another language."""

import re
from io import BytesIO

import nbformat
import pytest
from babel.messages.mofile import read_mo
from conftest import TINY, write_files
from pseudo import LANGUAGE, messages, pseudo, pseudo_book
from this_book import BOOK, chapters

from bookbinder import worksheets
from bookbinder.__main__ import main
from bookbinder.agreement import disagreement, disagreements
from bookbinder.binding import bind_translation, notebook_path, read_edition_chapters
from bookbinder.catalogs import (
    as_po,
    catalog_file,
    check_catalogs,
    parsed,
    read_catalog,
    said,
    template,
    updated,
)
from bookbinder.chapters import read_chapter
from bookbinder.config import read_book
from bookbinder.messages import (
    compiled,
    compiled_file,
    readme_file,
    slug,
    translated_readme,
)
from bookbinder.notation import PAGE
from bookbinder.reading_time import minutes
from bookbinder.sentences import messages_of, sentences_of
from bookbinder.solutions import read_bound
from bookbinder.text import Page, headings_of, prose_of
from bookbinder.translation import literals, translated
from bookbinder.worksheets import students, teachers

CHAPTER = """\
# 4. A title

> **Note.** One sentence
> and `code`.

- An item with $x$.
1. A first item.

| a row | $b$ |
|---|---|

$$ x = y $$

$$
x = \\text{words}
$$

<details>
<summary>Hint</summary>

```text
no prose
```
</details>

```python alt="A picture."
explore(f, caption="What is "
        "shown.", question="Why?", label="stays")
```

## References

1. A. Author, “A Title”, 2020. [a](https://a.org).
   A note.
"""
MESSAGES = [
    "A title", "**Note.** One sentence", "and `code`.", "An item with $x$.", "A first item.",
    "| a row | $b$ |", "x = \\text{words}", "Hint", "A picture.", "What is shown.", "Why?",
    "References", "A note.",
]  # fmt: skip


@pytest.fixture
def chapter(tmp_path):
    (tmp_path / "04_a.md").write_text(CHAPTER)
    return read_chapter(tmp_path / "04_a.md", "book/04_a.md")


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    """This book in the pseudo-language, bound in the first framework."""
    book = pseudo_book(tmp_path_factory.mktemp("a book"))
    bind_translation(book, book.editions_in(LANGUAGE)[0])
    return book


def test_a_sentence_is_a_line_without_its_marks(chapter):
    assert [text for text, _, _ in messages_of(chapter)] == MESSAGES
    notes = {text: (file, comment) for text, file, comment in messages_of(chapter)}
    assert notes["A title"] == ("book/04_a.md", "heading")
    assert notes["| a row | $b$ |"] == ("book/04_a.md", "row of a table")
    assert notes["Why?"] == ("book/04_a.md", "an explorer says")


def test_a_translation_has_the_lines_of_its_original(chapter):
    catalog = template([messages_of(chapter)])
    for message in catalog:
        message.string = message.id and pseudo(message.id)
    made = translated(chapter, catalog)
    prose = [
        pair
        for pair in zip(made.notebook.cells, chapter.notebook.cells, strict=True)
        if pair[0].cell_type == "markdown"
    ]
    for new, old in prose:
        assert len(new.source.split("\n")) == len(old.source.split("\n"))
    text = prose_of(made)
    spoken = {"A picture.", "What is shown.", "Why?"}
    assert [m for m in MESSAGES if m not in spoken and pseudo(m) not in text] == []
    assert "A. Author" in text
    assert "no prose" in text
    (code,) = [cell for cell in made.notebook.cells if cell.cell_type == "code"]
    assert code.metadata["alt"] == pseudo("A picture.")
    called = {}
    exec(code.source, {"f": None, "explore": lambda f, **words: called.update(words)})
    assert called == {
        "caption": pseudo("What is shown."), "question": pseudo("Why?"), "label": "stays",
    }  # fmt: skip


def test_long_texts_in_code_are_broken_where_their_language_can_be():
    assert literals("one two three", 8) == ['"one two "', '"three"']
    assert literals("一二三四五", 6) == ['"一二三"', '"四五"']
    assert literals('a "b"', 80) == ['"a \\"b\\""']


def test_messages_of_an_edition_stand_beside_their_neighbors():
    first = [("a", "f", ""), ("b", "f", ""), ("c", "f", "")]
    second = [("a", "f", ""), ("b in JAX", "g", ""), ("c", "f", "")]
    order = [message.id for message in template([first, second]) if message.id]
    assert order == ["a", "b in JAX", "b", "c"]


LONG = "key wins, since its score is larger by two than each of the scores of all the others."


def test_a_changed_sentence_is_fuzzy_and_a_lost_one_obsolete():
    old = template([[(text, "f", "") for text in ("It stays.", f"The third {LONG}", "Gone.")]])
    for message in old:
        message.string = message.id.upper()
    new = template([[(text, "f", "") for text in ("It stays.", f"The fourth {LONG}")]])
    made = updated(old, new)
    assert said(made, "It stays.") == "IT STAYS."
    assert said(made, f"The fourth {LONG}") == f"The fourth {LONG}"
    text = as_po(made, "zh")
    assert f'#, fuzzy\n#| msgid "The third {LONG}"\nmsgid "The fourth {LONG}"' in text
    assert '#~ msgid "Gone."' in text
    again = updated(parsed(text.encode(), "a file"), new)
    assert as_po(again, "zh") == text  # a second update changes no byte


ORIGINAL = "The **mask** of [chapter 4](04_m.ipynb#A) has `n, m` entries, $x_1$, and *128* (4.2)."
SLIPS = {
    "code lost": ("`n, m`", "n, m", "lacks `n,m"),
    "code changed": ("`n, m`", "`n， m`", "lacks `n,m"),
    "formula lost": ("$x_1$, ", "", r"lacks \$x_1"),
    "formula changed": ("$x_1$", "$x_2$", r"lacks \$x_1; adds \$x_2"),
    "dollar lost": ("$x_1$", "x_1$", r"lacks \$x_1"),
    "target changed": ("#A", "#B", "lacks 04_m.ipynb#A; adds 04_m.ipynb#B"),
    "link lost": ("[chapter 4](04_m.ipynb#A)", "chapter 4", "lacks 04_m.ipynb#A"),
    "bold lost": ("**mask**", "mask", r"lacks \*\*"),
    "bold that is none": ("**mask** ", "**마스크(mask)**는 ", r"lacks \*\*"),
    "italic lost": ("*128*", "128", r"lacks \*"),
    "number changed": ("128", "129", "lacks 128; adds 129"),
    "equation changed": ("4.2", "4.3", "lacks 4.2; adds 4.3"),
    "two lines": ("has", "has\n", "one line"),
    "another part of the page": ("The", "- The", "adds - "),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_of_a_translator_is_named(slip):
    old, new, told = SLIPS[slip]
    assert disagreement(ORIGINAL, ORIGINAL) == ""
    assert re.search(told, disagreement(ORIGINAL, ORIGINAL.replace(old, new, 1)))


def test_rows_fields_and_tags_stay():
    assert disagreement("| a | b |", "| a, b |") == "lacks |"
    assert (
        disagreement("about {minutes} min", "{minuten} Minuten")
        == "lacks {minutes}; adds {minuten}"
    )
    assert disagreement("<kbd>x</kbd> y", "x y") == "lacks </kbd>, <kbd>"
    assert disagreement("two zeros", "2 个 0") == ""  # small numbers may stand for words


@pytest.mark.parametrize("language", BOOK.languages[1:])
def test_translations_keep_what_their_originals_have(language):
    wrong = [
        line
        for name in messages()
        for line in disagreements(
            read_catalog(BOOK, language, name), BOOK.named(catalog_file(BOOK, language, name))
        )
    ]
    assert not wrong, "\n".join(["", *wrong])


def test_no_translation_that_says_all_is_refused():
    for name, catalog in messages().items():
        wrong = [
            line
            for message in catalog
            if message.id and (line := disagreement(message.id, pseudo(message.id)))
        ]
        assert not wrong, (name, wrong)


def translations_in(file):
    """Return what a compiled catalog says; its head names the version of the tool."""
    return {message.id: message.string for message in read_mo(file) if message.id}


def test_catalogs_are_those_of_the_book_and_compiled():
    check_catalogs(BOOK)
    for language in BOOK.languages[1:]:
        with compiled_file(BOOK, language).open("rb") as file:
            stored = translations_in(file)
        assert stored == translations_in(BytesIO(compiled(BOOK, language))), language
        assert readme_file(BOOK, language).exists()
    there = {path.name for path in (BOOK.source / "locale").iterdir() if path.is_dir()}
    assert there == set(BOOK.languages[1:])


def test_the_readme_leads_from_its_folder_to_the_files_of_the_book():
    for language in BOOK.languages[1:]:
        text = translated_readme(BOOK, language)
        links = [link for link in re.findall(r"\]\(([^)#]+)[)#]", text) if ":" not in link]
        folder = readme_file(BOOK, language).parent
        assert len(links) > 15
        assert [link for link in links if not (folder / link).exists()] == []
        shown = {slug(title) for title in re.findall(r"^#+ (.*)", text, re.MULTILINE)}
        assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= shown


def test_every_sentence_of_an_edition_is_translated(marked):
    edition = marked.editions_in(LANGUAGE)[0]
    for chapter in read_edition_chapters(marked, edition):
        lines = set(prose_of(chapter).split("\n"))
        texts = {message.id for message in messages()[chapter.name] if "](" not in message.id}
        written = [line for _, line in sentences_of(chapter.english) if line.text in texts]
        assert len(written) > 3 or chapter.name == PAGE
        for line in written:
            assert line.marks + pseudo(line.text) + line.end in lines
        page = read_bound(notebook_path(edition, chapter.name))
        stored = read_bound(notebook_path(BOOK.editions[0], chapter.name))
        assert [cell.id for cell in page.cells] == [cell.id for cell in stored.cells]


def test_code_and_numbers_of_a_translation_are_those_of_the_english(marked):
    edition = marked.editions_in(LANGUAGE)[0]
    for name in BOOK.chapters:
        new, old = (read_bound(notebook_path(e, name)) for e in (edition, BOOK.editions[0]))
        for cell, english in zip(new.cells, old.cells, strict=True):
            if cell.cell_type == "code" and not {"caption=", "question="} & set(
                re.findall(r"\w+=", english.source)
            ):
                drawn = re.compile(r"\A# (?:Draw|Ďŕáw): .*\n")
                assert drawn.sub("", cell.source) == drawn.sub("", english.source)
            if cell.cell_type == "code" and "D2L" not in cell.source:
                kinds = [sorted(o.get("data", {})) for o in cell.outputs]
                assert kinds == [sorted(o.get("data", {})) for o in english.outputs]


def test_what_is_computed_from_the_text_is_that_of_the_english(marked):
    edition = marked.editions_in(LANGUAGE)[0]
    pairs = zip(read_edition_chapters(marked, edition), chapters(BOOK.editions[0]), strict=True)
    for chapter, english in pairs:
        assert minutes(chapter) == minutes(english)
        page, plain = (Page(c, c.notebook) for c in (chapter, english))
        assert page.minutes() == plain.minutes()
        assert page.equations() == plain.equations()
        assert len(page.anchors()) == len(plain.anchors())
        assert [h.role for h in headings_of(chapter)] == [h.role for h in headings_of(english)]
        sheet, whole = (students(c, c.notebook) for c in (chapter, english))
        assert [cell.cell_type for cell in sheet.cells] == [c.cell_type for c in whole.cells]
        assert (teachers(chapter, chapter.notebook) is None) == (
            teachers(english, english.notebook) is None
        )


def test_a_changed_sentence_falls_back_and_is_counted(tmp_path, chapter):
    files = {"book.toml": TINY["book.toml"].replace('["en"]', '["en", "zh"]')}
    write_files(tmp_path, TINY | files)
    book = read_book(tmp_path)
    edition = book.editions_in("zh")[0]
    path = catalog_file(book, "zh", "00_first")

    def title_and_words():
        (first, _) = read_edition_chapters(book, edition)
        return first.notebook.cells[0].source

    path.parent.mkdir(parents=True)
    path.write_text(
        'msgid "First"\nmsgstr "第一"\n\nmsgid "Some words."\nmsgstr "几句话。"\n\n'
        'msgid "Results"\nmsgstr "结果"\n'
    )
    assert title_and_words() == "# 0. 第一\n\n几句话。"
    source = book.chapter_file("00_first")
    source.write_text(source.read_text().replace("Some words.", "Some new words."))
    note = "*1 of the 3 sentences of this chapter are in English still.*"
    assert title_and_words() == f"# 0. 第一\n\n{note}\n\nSome new words."


BROKEN = {
    "no PO file": ("00_first.po", b'msgid "a"\nmsgstr "b"\nhm\n', r"00_first\.po:3: "),
    "no UTF-8": ("00_first.po", b"\xff", r"book/locale/zh/00_first\.po: .*utf-8"),
    "of no chapter": ("00_frist.po", b"", r"00_frist\.po: .*did you mean '00_first'"),
    "a code lost": (
        "01_second.po",
        'msgid "Look at `x`."\nmsgstr "看 x。"\n'.encode(),
        r"01_second\.po: 'Look at `x`\.': lacks `x",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_wrong_with_a_catalog_is_told_in_a_line(tmp_path, monkeypatch, capsys, what):
    name, data, told = BROKEN[what]
    files = {"book.toml": TINY["book.toml"].replace('["en"]', '["en", "zh"]')}
    write_files(tmp_path, TINY | files)
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "book/locale/zh"
    folder.mkdir(parents=True)
    (folder / name).write_bytes(data)
    assert main(["bind", "--language", "zh"]) == 1
    error = capsys.readouterr().err
    assert re.match(f"error: .*{told}", error)
    assert error.count("\n") == 1
    assert (folder / name).read_bytes() == data


def test_a_language_that_is_not_in_the_book_is_named(tmp_path, monkeypatch, capsys):
    write_files(tmp_path, TINY)
    monkeypatch.chdir(tmp_path)
    for command in (
        ["bind", "--language", "zh"],
        ["messages", "zh"],
        ["site", "--languages", "zh"],
    ):
        assert main(command) == 1
        assert capsys.readouterr().err == "error: no language 'zh' in book.toml; known: en\n"
    (tmp_path / "book/locale/zh").mkdir(parents=True)
    assert main(["messages"]) == 1
    told = "error: book/locale/zh: 'zh' is not under languages in book.toml\n"
    assert capsys.readouterr().err == told


def test_worksheets_have_the_diagrams_of_their_language(marked, monkeypatch):
    edition = marked.editions_in(LANGUAGE)[0]
    sheet = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# A sheet")])
    sheets = dict.fromkeys(marked.chapters_of(edition), sheet)
    monkeypatch.setattr(worksheets, "sheets", lambda *_: sheets)
    worksheets.bind_worksheets(marked, edition, solutions_only=False)
    copies = list((marked.root / "_build/worksheets").rglob("figures/*.svg"))
    assert len(copies) > 50
    for copy in copies:
        assert copy.read_text() == (edition.notebooks / "figures" / copy.name).read_text()
