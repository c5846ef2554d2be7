"""book.toml: what is right in it is read, what is wrong is said in one line."""

import pytest

from bookbinder.config import read_book
from bookbinder.errors import BookError
from tests.conftest import TINY, write_files

TWO = TINY["book.toml"] + '[frameworks.jax]\n        without = ["01_second"]\n'


def test_a_framework_that_is_not_in_the_book_is_named(tiny):
    with pytest.raises(BookError, match=r"no framework 'pytorh' in book.toml \(did you mean 'pyt"):
        read_book(tiny).edition("pytorh")


KEY, TABLE = 'title = "Tiny"', "[frameworks.pytorch]"
MISTAKES = [
    (KEY, "", "missing key 'title'"),
    ("title", "titel", r"unknown key 'titel' \(did you mean 'title'\?\)"),
    ("seconds_per_cell = 20", "seconds_per_cell = '20'", "must be of type int, got '20'"),
    ("seconds_per_cell = 20", "seconds_per_cell = 0", "must be positive, got 0"),
    (KEY, f'{KEY}\nrepository = "me/book"', "repository must be .*/owner/name', got 'me/book'"),
    ("00_first", "00_frist", r"'00_frist' has no file book/00_frist.md \(did you mean"),
    ('"01_second"]', '"01_second", "01_second"]', "'01_second' is listed twice"),
    (', "01_second"]', "]", "book/01_second.md: not listed under chapters in book.toml"),
    ('"01_second"]', "7]", "named like '04_masked_softmax', got '7'"),
    ('["en"]', '["en", "xx"]', "unknown language 'xx'; known: en, zh, ko, vi, id"),
    ('["en"]', '["zh"]', r"languages must begin with 'en', each once, got \['zh'\]"),
    (TABLE, "[frameworks.torch]", "torch.: not in d2l_attention/frameworks/ .did you mean 'pyto"),
    (TABLE, "frameworks = {}", "frameworks must have at least one entry"),
    (TABLE, "frameworks.jax = 1", r"\[frameworks.jax\] must be a table"),
    (TABLE, "[frameworks.jax]\nwithuot = []", "jax.: unknown key 'withuot'"),
    (KEY, 'title = "Tiny', "book.toml: .*line 1"),
    (TABLE, f'{TABLE}\nwithout = ["00_frist"]', "no chapter: '00_frist' .did you mean '00_first'"),
]


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_a_mistake_in_book_toml_is_named(tiny, old, new, message):
    assert old in TINY["book.toml"]
    write_files(tiny, {"book.toml": TINY["book.toml"].replace(old, new)})
    with pytest.raises(BookError, match=message) as caught:
        read_book(tiny)
    assert "\n" not in str(caught.value)


def test_a_folder_without_book_toml_is_named(tmp_path):
    with pytest.raises(BookError, match="run this from the root of the book"):
        read_book(tmp_path)


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("book/jax/00_frist.md", r"book/jax/00_frist.md: .* no chapter '00_frist' \(did you mean"),
        ("book/jax/01_second.md", "book/jax/01_second.md: the edition has no chapter '01_second'"),
        ("book/pytorch/00_first.md", "of the first framework stand in book/"),
    ],
)
def test_an_overlay_of_no_chapter_is_named(tiny, file, message):
    write_files(tiny, {"book.toml": TWO, file: ""})
    with pytest.raises(BookError, match=message):
        read_book(tiny)
