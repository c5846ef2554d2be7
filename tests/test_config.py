"""book.toml: what is right in it is read, what is wrong is said in one line."""

import pytest

from bookbinder.config import chapter_named, read_book
from bookbinder.files import BookError
from tests.conftest import TINY, write_files

TWO = TINY["book.toml"] + "[frameworks.jax]\n"


KEY, TABLE = 'title = "Tiny"', "[frameworks.pytorch]"
MISTAKES = [
    (KEY, "", "missing key 'title'"),
    ("title", "titel", r"unknown key 'titel' \(did you mean 'title'\?\)"),
    ("00_first", "00_frist", r"book/00_first.md: book.toml has no .* \(did you mean '00_frist'"),
    (', "01_second"]', "]", "book/01_second.md: book.toml has no chapter for it"),
    ('["en"]', '["en", "xx"]', "languages must .* be of: en, zh, ko, vi, id"),
    ('["en"]', '["zh"]', "languages must begin with 'en'"),
    (TABLE, "[frameworks.torch]", "torch.: not in d2l_attention/frameworks/ .did you mean 'pyto"),
    (TABLE, "", "missing key 'frameworks'"),
    (TABLE, "[frameworks.jax]\nwithuot = []", "jax.: unknown key 'withuot'"),
    (TABLE, f"{TABLE}\nwords = {{x = 'a'}}\n[frameworks.jax]", "jax.: words must be those of"),
    (KEY, 'title = "Tiny', "book.toml: .*line 1"),
    (TABLE, f'[parts]\nOne = "00_frist"\n{TABLE}', "'One' begins with no chapter: '00_frist' .did"),
]


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_a_mistake_in_book_toml_is_named(tiny, old, new, message):
    assert old in TINY["book.toml"]
    write_files(tiny, {"book.toml": TINY["book.toml"].replace(old, new)})
    with pytest.raises(BookError, match=message) as caught:
        read_book(tiny)
    assert "\n" not in str(caught.value)


def test_a_framework_and_a_folder_that_are_not_the_books_are_named(tiny, tmp_path):
    with pytest.raises(BookError, match=r"no framework 'pytorh' in book.toml \(did you mean 'pyt"):
        read_book(tiny).edition("pytorh")
    with pytest.raises(BookError, match="run this from the root of the book"):
        read_book(tmp_path)


@pytest.mark.parametrize("file", ["jax/00_frist", "pytorch/00_first"])
def test_an_overlay_of_no_chapter_is_named(tiny, file):
    write_files(tiny, {"book.toml": TWO, f"book/{file}.md": ""})
    with pytest.raises(BookError, match=f"^book/{file}.md: book.toml has no chapter for it"):
        read_book(tiny)


def test_a_chapter_is_named_by_its_name_its_number_or_a_part():
    known = ["00_first", "01_second"]
    for name in ("00_first.ipynb", "00_first", "0", "00", "00_f", "first"):
        assert chapter_named(name, known) == "00_first"
    for name, message in {
        "00_frist": r"no chapter '00_frist' in this edition \(did you mean '00_first'\?\)",
        "_": r"no chapter '_' in this edition: 00_first or 01_second\?",
    }.items():
        with pytest.raises(BookError, match=message):
            chapter_named(name, known)
