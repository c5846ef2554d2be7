"""Catalogs, what they must keep, and what goes to a reader of another language."""

import re
from dataclasses import replace
from io import BytesIO
from itertools import product

import nbformat
import pytest
from babel.messages.mofile import read_mo
from matplotlib import pyplot as plt
from nbformat.v4 import new_code_cell, new_notebook, new_output

from bookbinder.binding import bind_translation, notebook_path
from bookbinder.catalogs import (
    BESIDE,
    PAGES,
    PRACTICE,
    as_po,
    catalog_file,
    disagreement,
    parsed,
    read_catalog,
    sentences_of,
    spoken,
    template,
    translations,
    updated,
)
from bookbinder.chapters import tags_of
from bookbinder.colab import INSTALL, open_alone
from bookbinder.config import read_book
from bookbinder.files import BookError
from bookbinder.language import Language, in_language, language_of, literals
from bookbinder.messages import compiled, compiled_file, page_file, translated_page
from bookbinder.notation import PAGE
from bookbinder.outputs import SVG
from bookbinder.page import slug
from bookbinder.publish import published
from bookbinder.screen import said_on_screen
from bookbinder.solutions import folded
from bookbinder.worksheets import bind_worksheets, checks_in, invitation, students
from tests.conftest import TINY, bind_without_running, write_files
from tests.pseudo import LANGUAGE, PSEUDO, messages, pseudo
from tests.this_book import BOOK, chapters, pages

EDITION = BOOK.editions[0]
STALE = "sentences of this chapter are in English still"


def prose_of(notebook):
    return "\n\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")


def speaking(said, tag="zh"):
    """Return a language in which every catalog has these translations."""
    return Language(tag, lambda _: said)


def test_long_texts_in_code_are_broken_where_their_language_can_be_and_links_stay():
    assert literals("one two three", 8) == ['"one two "', '"three"']
    assert literals("一二三四五", 6) == ['"一二三"', '"四五"']
    assert speaking({"A": "甲"}).said("| [A](a.ipynb) | |", "04") == "| [甲](a.ipynb) | |"


WORDS = {"norms": "有归一化层", "loss {1}, of": "损失 {1}，共", "none": "无", "bread": "面包"}


def test_what_cells_print_and_pictures_show_is_said_with_its_numbers_in_its_places():
    text = "norms 0.5 7\nnone  0.25 8\nloss 3, of 5\nx = none\nnone [inf nan]\nbread\n"
    english = new_notebook(cells=[new_code_cell(outputs=[new_output("stream", text=text)])])
    said = "有归一化层 0.5 7\n无         0.25 8\n损失 3，共 5\nx = none\n无 [inf nan]\nbread\n"
    assert in_language(english, speaking(WORDS), "02").cells[0].outputs[0].text == said
    plt.subplots(figsize=(2, 1))[1].set(title="none\nnone", xlabel="$x$ none", ylabel="bread")
    plt.savefig(drawn := BytesIO(), format="svg")
    output = new_output("display_data", {SVG: drawn.getvalue().decode()})
    said_on_screen(output, lambda text: WORDS.get(text, text))
    places = re.findall('x="(\\d+)" style="font:100px [^>]*:(\\w+)">([^<]*)<', output.data[SVG])
    assert sorted(places) == [("124", "middle", "无")] * 2 + [("143", "middle", "面包")]


LONG = "key wins, since its score is larger by two than each of the scores of all the others."


def test_a_changed_sentence_is_fuzzy_and_a_lost_one_obsolete():
    old = template([[(text, "f") for text in ("It stays.", f"The third {LONG}", "Gone.")]])
    for message in old:
        message.string = message.id.upper()
    new = template([[(text, "f") for text in ("It stays.", f"The fourth {LONG}")]])
    made = updated(old, new)
    assert translations(made) == {"It stays.": "IT STAYS."}
    text = as_po(made, "zh")
    assert f'#, fuzzy\nmsgid "The fourth {LONG}"' in text
    assert '#~ msgid "Gone."' in text
    assert as_po(updated(parsed(text.encode(), "a file"), new), "zh") == text  # not a byte changes


ORIGINAL = "The **mask** of [chapter 4](04_m.ipynb#A) has `n, m` entries, $x_1$, and *128* (4.2)."
ORIGINAL += " {a} <kbd>x</kbd>"
SLIPS = {  # of a translator, and what is told
    ("`n, m`", "n, m"): "lacks `n,m",
    ("$x_1$", "$x_2$"): "lacks $x_1; adds $x_2",
    ("$x_1$", "x_1$"): "lacks $x_1",
    ("#A", "#B"): "lacks 04_m.ipynb#A; adds 04_m.ipynb#B",
    ("**mask** ", "**마스크(mask)**는 "): "lacks **",
    ("*128*", "128"): "lacks *",
    ("128", "129"): "lacks 128; adds 129",
    ("has", "has\n"): "one line",
    ("The", "- The"): "adds item",
    ("{a}", "{b}"): "lacks {a}; adds {b}",
    ("<kbd>x</kbd>", "x"): "lacks </kbd>, <kbd>",
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_of_a_translator_is_named(slip):
    assert SLIPS[slip] in disagreement(ORIGINAL, ORIGINAL.replace(*slip, 1))


def test_a_row_keeps_its_cells_and_small_numbers_may_stand_for_words():
    assert disagreement("| a | b |", "| a, b |") == "lacks |"
    assert disagreement("two zeros", "2 个 0") == disagreement(ORIGINAL, ORIGINAL) == ""


@pytest.mark.slow
def test_catalogs_are_those_of_the_book_keep_what_they_must_and_are_compiled():
    for language in BOOK.languages[1:]:
        names = {path.stem for path in catalog_file(BOOK, language, "").parent.glob("*.po")}
        assert names == {*BOOK.chapters, *BESIDE}, language
        for name in names:
            language_of(BOOK, language).read(name)  # says which translation has lost something
        stored, said = compiled_file(BOOK, language).read_bytes(), compiled(BOOK, language)
        assert [translations(read_mo(BytesIO(file))) for file in (stored, said)] == [
            translations(read_catalog(BOOK, language, PRACTICE))
        ] * 2
        assert all(page_file(BOOK, language, page).exists() for page in PAGES)
    there = {path.name for path in (BOOK.source / "locale").iterdir() if path.is_dir()}
    assert there == set(BOOK.languages[1:])


def test_pages_beside_the_book_lead_from_their_folder_to_its_files():
    for language, page in product(BOOK.languages[1:], PAGES):
        text = translated_page(BOOK, language, page)
        links = [link for link in re.findall(r"\]\(([^)#]+)[)#]", text) if ":" not in link]
        folder = page_file(BOOK, language, page).parent
        assert [link for link in links if not (folder / link).exists()] == []
        assert page != "readme" or "[English](../../../README.md)" in text
        shown = {slug(title) for title in re.findall(r"^#+ (.*)", text, re.MULTILINE)}
        assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= shown


@pytest.mark.slow
@pytest.mark.parametrize("edition", BOOK.editions, ids=lambda edition: edition.framework)
def test_every_sentence_of_an_edition_is_translated_also_what_the_binder_composes(edition):
    for chapter in chapters(edition):
        made = in_language(chapter.notebook, PSEUDO, chapter.name)
        prose = prose_of(made)
        assert pseudo(STALE) not in prose, chapter.name
        for line, text in sentences_of(chapter):
            if "](" not in text and text in messages()[chapter.name]:
                assert line.text.replace(text, pseudo(text), 1) in prose
        if chapter.name != PAGE:
            assert pseudo(" minutes to read") in prose
        for new, old in zip(made.cells, chapter.notebook.cells, strict=True):
            assert (new.id, new.cell_type) == (old.id, old.cell_type)
            if old.cell_type == "code" and not spoken(old):
                assert new.source == old.source


@pytest.mark.parametrize("name", BOOK.chapters)
def test_sheets_in_another_language_have_the_checks_and_places_for_answers_of_the_english(name):
    page = next(page for page in pages(EDITION) if page.name == name)
    whole = published(page.chapter, page.executed)
    for english in (whole, students(page.chapter, page.executed)):
        made = in_language(english, PSEUDO, page.name)
        assert checks_in(made) == checks_in(english)
        assert prose_of(made).count(pseudo(invitation())) == prose_of(english).count(invitation())
        assert pseudo(STALE) not in prose_of(made)
        assert prose_of(made).count("](") == prose_of(english).count("](")
        for new, old in zip(made.cells, english.cells, strict=True):
            assert new.source.startswith("# Ďŕáw: ") == old.source.startswith("# Draw: ")
    solved = folded(in_language(whole, PSEUDO, page.name), pseudo("Solution"))
    assert "<summary>Solution</summary>" not in prose_of(solved)


def test_a_translated_notebook_opened_alone_speaks_its_language():
    book = replace(BOOK, repository="https://github.com/someone/book")
    chapter = chapters(EDITION)[0]
    cells = [cell for cell in chapter.notebook.cells if INSTALL not in tags_of(cell)]
    bare = replace(chapter, notebook=nbformat.v4.new_notebook(cells=cells))
    english = open_alone(bare, book, EDITION)
    assert "D2L_LANGUAGE" not in english.notebook.cells[0].source
    install = in_language(english.notebook, PSEUDO, chapter.name).cells[0].source
    assert install.endswith(f'os.environ["D2L_LANGUAGE"] = "{LANGUAGE}"')
    compile(install, "install", "exec")


IN_CHINESE = TINY | {"book.toml": TINY["book.toml"].replace('["en"]', '["en", "zh"]')}


def test_a_changed_sentence_falls_back_and_is_counted(tmp_path):
    write_files(tmp_path, IN_CHINESE)
    book = bind_without_running(tmp_path)
    edition = book.editions_in("zh")[0]
    path = catalog_file(book, "zh", "00_first")

    def title_and_words():
        bind_translation(book, edition)
        first = nbformat.read(notebook_path(edition, "00_first"), as_version=4).cells[0].source
        return first.partition("-->\n")[2]

    path.parent.mkdir(parents=True)
    path.write_text(
        'msgid "First"\nmsgstr "第一"\n\nmsgid "Some words."\nmsgstr "几句话。"\n\n'
        'msgid "Results"\nmsgstr "结果"\n'
    )
    assert title_and_words() == "# 0. 第一\n\n几句话。"
    bind_worksheets(book, edition)
    sheet = nbformat.read(tmp_path / "_build/worksheets/pytorch-zh/00_first.ipynb", 4)
    assert "\n# 0. 第一\n\n几句话。" in sheet.cells[0].source
    source = book.chapter_file("00_first")
    source.write_text(source.read_text().replace("Some words.", "Some new words."))
    note = "*1 of the 3 sentences of this chapter are in English still.*"
    assert title_and_words() == f"# 0. 第一\n\n{note}\n\nSome new words."


BROKEN = {
    "no PO file": ("00_first.po", b'msgid "a"\nmsgstr "b"\nhm\n', r"00_first\.po:3: "),
    "no UTF-8": ("00_first.po", b"\xff", r"book/locale/zh/00_first\.po: .*utf-8"),
    "a code lost": (
        "01_second.po",
        'msgid "Look at `x`."\nmsgstr "看 x。"\n'.encode(),
        r"01_second\.po: 'Look at `x`\.': lacks `x",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_wrong_with_a_catalog_is_told_in_a_line(tmp_path, what):
    name, data, told = BROKEN[what]
    write_files(tmp_path, IN_CHINESE)
    book, folder = read_book(tmp_path), tmp_path / "book/locale/zh"
    folder.mkdir(parents=True)
    (folder / name).write_bytes(data)
    with pytest.raises(BookError, match=told) as caught:
        bind_translation(book, book.edition("pytorch", "zh"))
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.rglob("*.ipynb"))
