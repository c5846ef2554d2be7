"""book.toml: what is right in it is read, what is wrong is said in one line."""

import pytest
from conftest import TINY, write_files

from bookbinder.config import read_book
from bookbinder.errors import BookError

JAX = '[frameworks.jax]\n        name = "JAX"\n        module = "tiny/jax.py"\n        '
TWO = TINY["book.toml"] + JAX + 'without = ["01_second"]\n'


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
        ('"en"', '"xx"', "unknown language 'xx'; known: en"),
        ('["en"]', "[]", "languages must have at least one entry"),
        (
            "[frameworks.pytorch]",
            "[frameworks.PyTorch]",
            "not in d2l_attention/frameworks/; known: jax, pytorch",
        ),
        ("name =", "nane =", r"\[frameworks.pytorch\]: unknown key 'nane' \(did you mean 'name'"),
        ("[frameworks.pytorch]", "frameworks = []\n[x]", "unknown key 'x'|must be of type dict"),
        ('title = "Tiny"', 'title = "Tiny', "book.toml: .*line 1"),
        ('"tiny/', '"../tiny/', r"\.\./tiny/torch\.py is outside the folder of the book"),
        (
            "[frameworks.pytorch]",
            '[frameworks.jax]\nname = "JAX"\nmodule = "tiny/torch.py"\n[frameworks.pytorch]',
            "two frameworks write to tiny/torch.py",
        ),
        (
            'module = "tiny/torch.py"',
            'module = "tiny/torch.py"\nwithout = ["00_frist"]',
            r"without names no chapter: '00_frist' \(did you mean '00_first'\?\)",
        ),
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


def test_a_framework_leaves_out_chapters_and_has_overlays_for_the_others(tiny):
    write_files(tiny, {"book.toml": TWO, "book/jax/00_first.md": ""})
    book = read_book(tiny)
    torch, jax = book.editions
    assert book.chapters_of(jax) == ["00_first"]
    assert book.overlay_file(jax, "00_first") == tiny / "book/jax/00_first.md"
    assert book.overlay_file(torch, "00_first") is None
    assert book.edition("jax") == jax
    with pytest.raises(BookError, match=r"no framework 'jaxx' in book.toml \(did you mean 'jax'"):
        book.edition("jaxx")


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("book/jax/00_frist.md", r"book/jax/00_frist.md: .* no chapter '00_frist' \(did you mean"),
        ("book/jax/01_second.md", "book/jax/01_second.md: the edition has no chapter '01_second'"),
        ("book/pytorch/00_first.md", "the first framework, stand in book/ itself"),
    ],
)
def test_an_overlay_of_no_chapter_is_named(tiny, file, message):
    write_files(tiny, {"book.toml": TWO, file: ""})
    with pytest.raises(BookError, match=message):
        read_book(tiny)
