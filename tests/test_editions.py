"""Two frameworks in one book: each command knows which is meant, and links lead to the other."""

import os
from dataclasses import replace

import nbformat
import pytest

from bookbinder.__main__ import main
from bookbinder.binding import read_edition_chapters, stale_files
from bookbinder.config import read_book
from bookbinder.execution import kernel_environment
from bookbinder.files import BookError
from bookbinder.page import Page, link_problems
from bookbinder.reader_copies import bring_copies
from tests.conftest import ROOT, TINY, bind_without_running, code_cell, write_files

LACKING = {  # a book of two chapters, of which the second edition leaves out one
    "book.toml": TINY["book.toml"] + '[frameworks.jax]\nwithout = ["01_second"]\n',
    "README.md": "# Tiny\n\nWhat the book is.\n",
    "book/00_first.md": """
        # 0. First

        See [chapter 1](01_second.ipynb#Begin-here-(now)), [`f` of it](01_second.ipynb),
        [(1.1)](01_second.ipynb), [this](#Words) and [the title](00_first.ipynb).

        **Time** {{minutes}}

        ```python
        def double(x):  #@save
            return 2 * x
        ```

        ## Words

        PyTorch has one.
    """,
    "book/01_second.md": """
        # 1. Second

        **Time** {{minutes}}

        ## Begin here (now)

        $$ a = b \\tag{1.1} $$
    """,
    "book/jax/00_first.md": code_cell(
        "def double(x):  #@save\n    return x + x", 'was="double @e46d2bb1"'
    )
    + """
## Words

<!-- was: PyTorch has one. -->
As [there](01_second.ipynb#Begin-here-(now)).
""",
}
LED = (
    "See [chapter 1 (in PyTorch)](../pytorch/01_second.ipynb#Begin-here-(now)), "
    "[`f` of it (in PyTorch)](../pytorch/01_second.ipynb),\n"
    "[(1.1) (in PyTorch)](../pytorch/01_second.ipynb), [this](#Words) and "
    "[the title](00_first.ipynb)."
)
NO_EQUATION = "01_second has no equation (1.2)"


def text_of(path):
    return "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells)


@pytest.fixture
def lacking(tiny, monkeypatch):
    """The root of the book, bound."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tiny / "jupyter"))
    write_files(tiny, LACKING)
    bind_without_running(tiny)
    return tiny


@pytest.mark.usefixtures("in_shared_kernel")
def test_each_edition_has_its_notebooks_and_its_module_and_is_bound_alone(tiny):
    write_files(tiny, LACKING)
    assert main(["bind"]) == 0
    assert "return 2 * x" in (tiny / "d2l_attention/torch.py").read_text()
    assert "return x + x" in (tiny / "d2l_attention/jax.py").read_text()
    first, second = (tiny / f"notebooks/{name}/00_first.ipynb" for name in ("pytorch", "jax"))
    assert LED in text_of(second)
    assert "As [there (in PyTorch)](../pytorch/01_second.ipynb#Begin-here" in text_of(second)
    assert "See [chapter 1](01_second.ipynb#Begin-here-(now))" in text_of(first)
    assert "(in PyTorch)" not in text_of(first)
    assert not (tiny / "notebooks/jax/01_second.ipynb").exists()
    book = read_book(tiny)
    assert [stale_files(book, edition) for edition in book.editions] == [[], []]
    before = first.read_bytes()
    write_files(tiny, {"book/00_first.md": LACKING["book/00_first.md"].replace("See", "Look at")})
    assert main(["bind", "--framework", "jax", "00_first"]) == 0
    assert "Look at [chapter 1" in text_of(second)
    assert first.read_bytes() == before


def test_a_chapter_says_the_words_of_each_framework(tiny):
    toml = TINY["book.toml"] + 'words = {x = "tensors"}\n[frameworks.jax]\nwords = {x = "arrays"}\n'
    lines = TINY["book/00_first.md"].replace("Some words.", "Some {{x}}.")
    write_files(tiny, {"book.toml": toml, "book/00_first.md": lines})
    book = read_book(tiny)
    texts = [read_edition_chapters(book, edition)[0].notebook.cells[0] for edition in book.editions]
    assert [cell.source.splitlines()[-1] for cell in texts] == ["Some tensors.", "Some arrays."]
    assert texts[0].id != texts[1].id  # as if each had written its own words
    write_files(tiny, {"book.toml": toml.replace('{x = "arrays"}', "{}")})
    with pytest.raises(BookError, match=r"jax.: words must be those of .frameworks.pytorch"):
        read_book(tiny)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("there", "there", ""),
        ("second.ipynb#Begin", "second.ipynb#begin", "01_second has no heading #begin-here-(now)"),
        ("[there](01_second.ipynb#Begin-here-(now))", "[(1.2)](01_second.ipynb)", NO_EQUATION),
    ],
)
def test_what_a_link_into_a_chapter_that_is_left_out_leads_to_exists(lacking, old, new, problem):
    overlay = LACKING["book/jax/00_first.md"]
    assert old in overlay
    write_files(lacking, {"book/jax/00_first.md": overlay.replace(old, new)})
    book = read_book(lacking)
    (chapter,) = read_edition_chapters(book, book.editions[1])
    page = Page(chapter, chapter.notebook)
    problems = link_problems(page, {page.name: page}, book.editions[1].notebooks)
    assert problems == [f"book/jax/00_first.md:9: {problem}"] * bool(problem)


def test_a_translated_link_leads_to_the_heading_of_the_other_edition_in_its_language(lacking):
    said = 'msgid "Begin here (now)"\nmsgstr "从这里（现在）开始"\n'
    write_files(lacking, {"book/locale/zh/01_second.po": said})
    book = replace(read_book(lacking), languages=("en", "zh"))
    (first,) = read_edition_chapters(book, book.edition("jax", "zh"))
    assert "](../pytorch-zh/01_second.ipynb#从这里（现在）开始)" in first.notebook.cells[0].source


def test_copies_and_worksheets_are_of_the_edition_that_is_asked_for_and_lead_nowhere_else(lacking):
    book = read_book(lacking)
    for framework in ("jax", "pytorch"):
        assert main(["worksheets", "--framework", framework]) == 0
        bring_copies(book, book.edition(framework), lacking / framework)
    worksheets = lacking / "_build/worksheets"
    for folder in (lacking / "jax", worksheets / "jax"):
        text = text_of(folder / "00_first.ipynb")
        assert "See chapter 1 (in PyTorch), `f` of it (in PyTorch),\n(1.1) (in PyTorch)," in text
        assert "[this](#Words) and [the title](00_first.ipynb)" in text
        assert "As there (in PyTorch)." in text
    assert "(in PyTorch)" not in text_of(worksheets / "00_first.ipynb")
    assert not (worksheets / "jax/01_second.ipynb").exists()
    assert not (lacking / "jax/01_second.ipynb").exists()


def test_a_framework_that_is_missing_is_named_before_anything_is_bound(tiny, capsys, monkeypatch):
    first = TINY["book/00_first.md"]
    changed = first.replace("def double", "import torch  #@save\ndef double")
    without = "import sys; sys.modules['torch'] = None"
    write_files(tiny, {"book/00_first.md": changed, "sitecustomize.py": without})
    monkeypatch.setenv("PYTHONPATH", f"{tiny}{os.pathsep}{ROOT}")
    assert main(["bind"]) == 1
    (error,) = capsys.readouterr().err.splitlines()
    assert "ModuleNotFoundError: the edition in PyTorch needs torch: " in error
    assert not (tiny / "notebooks").exists()


def test_kernels_of_a_framework_see_a_gpu_only_when_asked(monkeypatch):
    monkeypatch.delenv("D2L_DEVICE", raising=False)
    jax, tensorflow = kernel_environment("jax"), kernel_environment("tensorflow")
    assert jax["JAX_PLATFORMS"] == "cpu"
    assert jax["JAX_COMPILATION_CACHE_DIR"].endswith("jax-cache")
    assert not [name for name in kernel_environment("pytorch") if name.startswith("JAX")]
    assert tensorflow["TF_CPP_MIN_LOG_LEVEL"] == "3"
    assert tensorflow["CUDA_VISIBLE_DEVICES"] == "-1"
    monkeypatch.setitem(os.environ, "D2L_DEVICE", "cuda")
    assert kernel_environment("jax")["JAX_PLATFORMS"] == ""
    assert "CUDA_VISIBLE_DEVICES" not in kernel_environment("tensorflow")
