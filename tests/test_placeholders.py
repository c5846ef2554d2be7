"""What the binder writes into the text: minutes, the notation table."""

import pytest

from bookbinder.binding import stale_files
from bookbinder.chapters import read_chapter
from bookbinder.config import Book, Edition
from bookbinder.diagrams import bring_diagrams
from bookbinder.files import BookError
from bookbinder.notation import read_notation, table
from bookbinder.page import Page
from bookbinder.reading_time import minutes, sections
from bookbinder.steps import filled_in
from tests.conftest import SAMPLE
from tests.text_checks import early_uses

SECOND = "# 2. Second\n\nTake $m$ and $r$.\n\n{{notation}}\n\n![A box.](figures/box.svg)\n"
LETTERS = """
[[letter]]
symbol = '$m$, $\\mathbf Q$'
meaning = "keys"
shape = "scalar"
code = "m, Q[e, i], …"

[[letter]]
symbol = '$r$'
meaning = "radius"
shape = "scalar"
code = "r"
chapter = 2
"""


@pytest.fixture
def book(tmp_path):
    (tmp_path / "book/figures").mkdir(parents=True)
    (tmp_path / "book/notation.toml").write_text(LETTERS)
    (tmp_path / "book/figures/box.svg").write_text("<svg/>")
    edition = Edition(tmp_path, "pytorch")
    names = ("01_first", "02_second")
    for name, text in zip(names, (SAMPLE, SECOND), strict=True):
        (tmp_path / f"book/{name}.md").write_text(text)
    return Book(tmp_path, "T", 9, names, (edition,))


def read(book):
    return [read_chapter(book.chapter_file(n), f"book/{n}.md") for n in book.chapters]


def prose(chapter):
    return "\n".join(c.source for c in chapter.notebook.cells if c.cell_type == "markdown")


def test_minutes_follow_from_words_and_lines(book):
    first = read(book)[0]
    look, exercises = sections(first)[1:3]
    assert (look.words, look.code_lines) == (1502, 4)  # not what draws, nor an explorer
    assert look.minutes == pytest.approx(1502 / 150 + 4 / 6)
    assert (exercises.solution_words, exercises.solution_lines) == (204, 8)
    assert minutes(first) == (10, 10)


def test_the_time_and_the_letters_are_written_into_the_chapters(book):
    first, second = filled_in(book, book.editions[0], read(book))
    assert "**Time** about 10 minutes to read, 10 for the exercises\n" in prose(first)
    assert "**In every chapter**" in prose(second)
    assert "{{" not in prose(first) + prose(second)


def test_the_notation_table_has_common_letters_first_and_those_of_the_chapters_there(book):
    text = table(read_notation(book.source, "pytorch"), read(book))
    assert text.index("**In every chapter**") < text.index("**Only in chapter 2**")
    assert "| $m$, $\\mathbf Q$ | keys | scalar | `m`, `Q[e, i]`, … |" in text
    assert "Only in chapter" not in table(read_notation(book.source, "pytorch"), read(book)[:1])


def change_letters(book, old, new):
    assert old in LETTERS
    (book.source / "notation.toml").write_text(LETTERS.replace(old, new))


def test_a_letter_has_the_name_of_the_framework(book):
    change_letters(book, '"r"', '{ pytorch = "r", jax = "radii" }')
    assert read_notation(book.source, "jax")[1].code == "radii"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[[letter]]", "[[letter]", "notation.toml: "),
        ('meaning = "keys"', "", "'meaning'"),
        ("shape", "shap", "'shap'"),
        ('"r"', '{ pytorch = "r" }', r"\$r\$: code has no name for jax"),
    ],
)
def test_a_broken_notation_is_named(book, old, new, message):
    change_letters(book, old, new)
    with pytest.raises(BookError, match=message):
        read_notation(book.source, "jax")


def test_diagrams_come_to_the_notebooks_that_show_them(book):
    folder = book.editions[0].notebooks

    def stale():
        lines = stale_files(book, book.editions[0], read(book))
        return [line for line in lines if ".svg" in line]

    assert stale() == ["notebooks/pytorch/figures/box.svg is missing"]
    bring_diagrams(book, book.editions[0], read(book), folder)
    assert (folder / "figures/box.svg").read_text() == "<svg/>"
    assert stale() == []
    (folder / "figures/old.svg").touch()
    assert stale() == ["notebooks/pytorch/figures/old.svg belongs to no chapter"]
    (folder / "figures/box.svg").write_text("<svg a=''/>")
    assert "box.svg differs from book/figures/box.svg" in stale()[0]
    (book.source / "figures/box.svg").unlink()
    with pytest.raises(BookError, match=r"book/figures/box\.svg: cannot be read"):
        bring_diagrams(book, book.editions[0], read(book), folder)


def test_a_term_is_not_used_before_it_is_explained(tmp_path):
    def found(*texts):
        pages = []
        for number, text in enumerate(texts):
            path = tmp_path / f"0{number}_page.md"
            path.write_text(f"# {number}. T\n\nA lid.\n\n## Begin\n\n{text}\n")
            chapter = read_chapter(path, path.name)
            pages.append(Page(chapter, chapter.notebook))
        return early_uses(pages)

    used, told = "Two lids.", "A **lid** closes."
    assert found(used, told) == ["00_page.md:7: 'lid' is explained only later, in 01_page"]
    assert found(told, used) == []
    assert found("A [cover](01_page.ipynb), which is a lid, and `lid`.", told) == []
