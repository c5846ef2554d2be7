"""What the binder writes into the text: minutes, the notation table; and the diagrams of chapters.

How the table looks and which minutes chapters state, stale files show.
"""

import pytest

from bookbinder import reading_time
from bookbinder.binding import stale_files
from bookbinder.chapters import read_chapter
from bookbinder.config import Book, Edition
from bookbinder.diagrams import bring_diagrams
from bookbinder.files import BookError
from bookbinder.notation import read_notation
from tests.conftest import SAMPLE

LETTER = """[[letter]]
symbol = '$r$'
meaning = "radius"
shape = "scalar"
code = { pytorch = "r" }
"""
PARTS = {  # what is read or tried, and its minutes
    "word " * 300: 2,
    "$$ a = b $$\n": 1.2,
    "![A box.](figures/box.svg)\n": 0.5,
    '```python tags=["drawing"] alt="A line."\n' + "x\n" * 9 + "```\n": 1 + 0.5,
    "```python\nexplore(1)\n```\n": 3.5,
    "```python\n" + "x\n" * 12 + "```\n": 4,
    "```python\n" + "import x\n" * 9 + "```\n": 1,
    "<details>\n" + "word " * 300 + "\n</details>\n": 0,
}


@pytest.fixture
def read(tmp_path):
    """Return a function from the text of a chapter to the chapter."""

    def chapter(text):
        (tmp_path / "01_first.md").write_text(text)
        return read_chapter(tmp_path / "01_first.md", "book/01_first.md")

    return chapter


def test_minutes_follow_from_words_lines_formulas_pictures_explorers_and_stars(read, monkeypatch):
    assert [reading_time.quarters(m) for m in (0, 1, 22, 23)] == [0, 15, 15, 30]
    monkeypatch.setattr(reading_time, "quarters", lambda minutes: minutes)
    for text, expected in PARTS.items():
        found = reading_time.minutes(read(f"# 2.\n\n{text}"))
        assert found == pytest.approx((expected, 0), abs=0.03), text
    assert reading_time.minutes(read(SAMPLE))[1] == 5 + 15 + 5


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[[letter]]", "[[letter]", "notation.toml: "),
        ('meaning = "radius"', "", "'meaning'"),
        ("shape", "shap", "'shap'"),
        ("{ pytorch", "{ jax", r"\$r\$: code has no name for pytorch"),
    ],
)
def test_a_broken_notation_is_named(tmp_path, old, new, message):
    (tmp_path / "notation.toml").write_text(LETTER.replace(old, new))
    with pytest.raises(BookError, match=message):
        read_notation(tmp_path, "pytorch")


def test_diagrams_come_to_the_notebooks_that_show_them(read, tmp_path):
    edition = Edition(tmp_path, "pytorch")
    book, chapters = Book(tmp_path, "T", 9, ("x",), (edition,)), [read("![A box.](figures/b.svg)")]
    source, brought = (folder / "figures" for folder in (book.source, edition.notebooks))
    source.mkdir(parents=True)
    (source / "b.svg").write_text("<svg/>")

    def stale():
        return [line for line in stale_files(book, edition, chapters) if ".svg" in line]

    assert stale() == ["notebooks/pytorch/figures/b.svg is missing"]
    bring_diagrams(book, edition, chapters, edition.notebooks)
    assert (brought / "b.svg").read_text() == "<svg/>"
    assert stale() == []
    for left in (old := ("figures/old.svg", "old.svg.ipynb")):
        (edition.notebooks / left).touch()
    assert stale() == [f"notebooks/pytorch/{left} belongs to no chapter" for left in old]
    (brought / "b.svg").write_text("<svg a=''/>")
    assert "b.svg differs from book/figures/b.svg" in stale()[0]
    (source / "b.svg").unlink()
    with pytest.raises(BookError, match=r"book/figures/b\.svg: cannot be read"):
        bring_diagrams(book, edition, chapters, edition.notebooks)
