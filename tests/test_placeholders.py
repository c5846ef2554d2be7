"""What the binder writes into the text: minutes, the notation table."""

import pytest

from bookbinder import reading_time
from bookbinder.binding import stale_files
from bookbinder.chapters import read_chapter
from bookbinder.config import Book, Edition
from bookbinder.diagrams import bring_diagrams
from bookbinder.files import BookError
from bookbinder.notation import read_notation, table
from bookbinder.reading_time import minutes
from bookbinder.steps import filled_in
from tests.conftest import SAMPLE

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
code = { pytorch = "r" }
chapters = [2]
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


PARTS = {  # what is read or tried, and its minutes
    "word " * 300: 2,
    "$$ a = b $$\n": 1.2,
    "![A box.](figures/box.svg)\n": 0.5,
    '```python tags=["drawing"] alt="A line."\nplot(1)\n```\n': 0.5,
    "```python\nexplore(1)\n```\n": 3.5,
    "```python\n" + "x\n" * 12 + "```\n": 2,
    "<details>\n" + "word " * 300 + "\n</details>\n": 0,
}


def test_minutes_follow_from_words_lines_formulas_pictures_explorers_and_stars(book, monkeypatch):
    monkeypatch.setattr(reading_time, "quarters", lambda minutes: minutes)
    for text, expected in PARTS.items():
        book.chapter_file("02_second").write_text(f"# 2.\n\n{text}")
        assert minutes(read(book)[1]) == pytest.approx((expected, 0), abs=0.03), text
    assert minutes(read(book)[0])[1] == 5 + 15 + 5


def test_minutes_are_printed_in_quarters_of_an_hour(book):
    assert minutes(read(book)[0]) == (15, 30)
    assert [reading_time.quarters(m) for m in (0, 1, 22, 23)] == [0, 15, 15, 30]


def test_the_time_and_the_letters_are_written_into_the_chapters(book):
    first, second = filled_in(book, book.editions[0], read(book))
    assert "**Time** about 15 minutes to read, 30 for the exercises · **You" in prose(first)
    assert "**In every chapter**" in prose(second)
    assert "{{" not in prose(first) + prose(second)


def test_the_notation_table_has_common_letters_first_and_those_of_the_chapters_there(book):
    text = table(read_notation(book.source, "pytorch"), read(book))
    assert text.index("**In every chapter**") < text.index("**Only in chapter 2**")
    assert "| $m$, $\\mathbf Q$ | keys | scalar | `m`, `Q[e, i]`, … |" in text
    assert "| $r$ | radius | scalar | `r` |" in text
    assert "Only in chapter" not in table(read_notation(book.source, "pytorch"), read(book)[:1])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[[letter]]", "[[letter]", "notation.toml: "),
        ('meaning = "keys"', "", "'meaning'"),
        ("shape", "shap", "'shap'"),
        ("2", "2", r"\$r\$: code has no name for jax"),
    ],
)
def test_a_broken_notation_is_named(book, old, new, message):
    assert old in LETTERS
    (book.source / "notation.toml").write_text(LETTERS.replace(old, new))
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
