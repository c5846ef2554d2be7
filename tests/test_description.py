"""book.toml: what is right in it is read, what is wrong is said in one line."""

import pytest
from conftest import TINY, write_files

from bookbinder.description import read_book
from bookbinder.errors import BookError

EDITION = TINY["book.toml"][TINY["book.toml"].index("[[") :]


def test_a_book_is_read_in_the_order_of_its_chapters(tiny):
    book = read_book(tiny)
    assert book.chapters == ("00_first", "01_second")
    assert book.editions[0].notebooks == tiny / "notebooks/pytorch"
    assert book.chapter_file("00_first") == tiny / "book/00_first.md"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('title = "Tiny"', "", "missing key 'title'"),
        ("title", "titel", r"unknown key 'titel' \(did you mean 'title'\?\)"),
        ("seconds_per_cell = 20", "seconds_per_cell = '20'", "must be of type int, got '20'"),
        ("seconds_per_cell = 20", "seconds_per_cell = 0", "must be positive, got 0"),
        (
            'title = "Tiny"',
            'title = "Tiny"\nrepository = "someone/book"',
            r"repository must be an address like .*/owner/name', got 'someone/book'",
        ),
        ("00_first", "00_frist", r"'00_frist' has no file book/00_frist.md \(did you mean"),
        ('"01_second"]', '"01_second", "01_second"]', "'01_second' is listed twice"),
        (', "01_second"]', "]", "book/01_second.md: not listed under chapters in book.toml"),
        ('"01_second"]', "7]", "chapters must be names, got 7"),
        ('"01_second"]', '"second"]', "named like '04_masked_softmax', got 'second'"),
        ('"pytorch"', '"pytroch"', r"unknown framework 'pytroch' \(did you mean 'pytorch'\?\)"),
        ('"en"', '"xx"', "unknown language 'xx'; known: en"),
        ("framework =", "frame =", r"\[\[editions\]\]: unknown key 'frame'"),
        ("[[editions]]", "[editions]", "editions must be of type list"),
        ('title = "Tiny"', 'title = "Tiny', "book.toml: .*line 1"),
        ('"notebooks/py', '"/notebooks/py', "/notebooks/pytorch is outside the folder of the book"),
        ('"tiny/', '"../tiny/', r"\.\./tiny/torch\.py is outside the folder of the book"),
        (EDITION, EDITION * 2, "two editions write to notebooks/pytorch"),
    ],
)
def test_a_mistake_in_book_toml_is_named(tiny, old, new, message):
    write_files(tiny, {"book.toml": TINY["book.toml"].replace(old, new)})
    with pytest.raises(BookError, match=message) as caught:
        read_book(tiny)
    assert "\n" not in str(caught.value)


def test_a_folder_without_book_toml_is_named(tmp_path):
    with pytest.raises(BookError, match="run this from the root of the book"):
        read_book(tmp_path)
