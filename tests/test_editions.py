"""Two frameworks in one book: each command knows which is meant."""

import os

import nbformat
import pytest

from bookbinder.__main__ import main
from bookbinder.binding import read_edition_chapters, stale_files
from bookbinder.config import read_book
from bookbinder.execution import kernel_environment
from bookbinder.files import BookError
from bookbinder.reader_copies import bring_copies
from tests.conftest import ROOT, TINY, bind_without_running, code_cell, write_files

BOTH = {
    "book.toml": TINY["book.toml"] + "[frameworks.jax]\n",
    "book/00_first.md": """
        # 0. First

        See [chapter 1](01_second.ipynb#Begin-here-(now)).

        ```python
        def double(x):  #@save
            return 2 * x
        ```

        ## Words

        PyTorch has one.
    """,
    "book/01_second.md": "# 1. Second\n\n## Begin here (now)\n",
    "book/jax/00_first.md": code_cell(
        "def double(x):  #@save\n    return x + x", 'was="double @e46d2bb1"'
    )
    + "\n## Words\n\n<!-- was: PyTorch has one. -->\nJAX has one.\n",
}


def text_of(path):
    return "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells)


@pytest.fixture
def both(tiny, monkeypatch):
    """The root of a book in two frameworks, bound."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tiny / "jupyter"))
    write_files(tiny, BOTH)
    bind_without_running(tiny)
    return tiny


@pytest.mark.usefixtures("in_shared_kernel")
def test_each_edition_has_its_notebooks_and_its_module_and_is_bound_alone(tiny):
    write_files(tiny, BOTH)
    assert main(["bind"]) == 0
    assert "return 2 * x" in (tiny / "d2l_attention/torch.py").read_text()
    assert "return x + x" in (tiny / "d2l_attention/jax.py").read_text()
    first, second = (tiny / f"notebooks/{name}/00_first.ipynb" for name in ("pytorch", "jax"))
    assert "PyTorch has one." in text_of(first)
    assert "JAX has one." in text_of(second)
    assert (tiny / "notebooks/jax/01_second.ipynb").exists()
    book = read_book(tiny)
    assert [stale_files(book, edition) for edition in book.editions] == [[], []]
    before = first.read_bytes()
    write_files(tiny, {"book/00_first.md": BOTH["book/00_first.md"].replace("See", "Look at")})
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


def test_copies_and_worksheets_are_of_the_edition_that_is_asked_for(both):
    book = read_book(both)
    for framework in ("jax", "pytorch"):
        assert main(["worksheets", "--framework", framework]) == 0
        bring_copies(book, book.edition(framework), both / framework)
    worksheets = both / "_build/worksheets"
    for folder, words in {
        worksheets / "jax": "JAX has one.",
        both / "jax": "JAX has one.",
        worksheets: "PyTorch has one.",
        both / "pytorch": "PyTorch has one.",
    }.items():
        assert words in text_of(folder / "00_first.ipynb")


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
