"""Two frameworks in one book: every command knows which edition is meant."""

import os
import re
import subprocess
import sys
import tomllib
from fnmatch import fnmatch

import nbformat
import pytest
from conftest import ROOT, TINY, code_cell, write_files

from bookbinder.__main__ import main
from bookbinder.binding import read_edition_chapters, stale_files
from bookbinder.config import read_book
from bookbinder.execution import kernel_environment
from bookbinder.files import BookError
from bookbinder.worksheets import worksheets_folder

JAX = """
    [frameworks.jax]
    without = ["01_second"]
"""
OVERLAY = "<!-- was: Some words. -->\nSome words on JAX.\n"


def text_of(path):
    return "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells)


@pytest.fixture
def two(tiny, in_shared_kernel, monkeypatch):
    """A bound book with a second edition, which replaces a line and a saved cell."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tiny / "jupyter"))
    first = read_book(tiny)
    cells = read_edition_chapters(first, first.editions[0])[0].notebook.cells
    (saved,) = (cell.id for cell in cells if "#@save" in cell.source)
    overlay = OVERLAY + code_cell(
        "def double(x):  #@save\n    return x + x", f'was="double @{saved}"'
    )
    write_files(tiny, {"book.toml": TINY["book.toml"] + JAX, "book/jax/00_first.md": overlay})
    assert main(["bind"]) == 0
    return tiny


def test_each_edition_has_its_notebooks_and_its_module_and_is_bound_alone(two):
    assert "return 2 * x" in (two / "d2l_attention/torch.py").read_text()
    assert "return x + x" in (two / "d2l_attention/jax.py").read_text()
    assert "Some words on JAX." in text_of(two / "notebooks/jax/00_first.ipynb")
    assert "on JAX" not in text_of(two / "notebooks/pytorch/00_first.ipynb")
    assert not (two / "notebooks/jax/01_second.ipynb").exists()
    book = read_book(two)
    assert [stale_files(book, edition) for edition in book.editions] == [[], []]
    before = (two / "notebooks/pytorch/00_first.ipynb").read_bytes()
    write_files(two, {"book/00_first.md": TINY["book/00_first.md"].replace("21", "22")})
    assert main(["bind", "--framework", "jax", "00_first"]) == 0
    assert "double(22)" in text_of(two / "notebooks/jax/00_first.ipynb")
    assert (two / "notebooks/pytorch/00_first.ipynb").read_bytes() == before


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


def test_placeholders_of_the_book_are_known():
    book = read_book(ROOT)
    known_ones = {"minutes", "notation", *book.routes, *dict(book.editions[0].words)}
    texts = [path.read_text(encoding="utf-8") for path in book.source.rglob("*.md")]
    assert {name for text in texts for name in re.findall(r"\{\{(\w+)\}\}", text)} <= known_ones


def test_copies_and_fresh_bring_the_edition_that_is_asked_for(two, capsys):
    assert main(["copies", "--framework", "jax", "mine"]) == 0
    assert [p.name for p in sorted((two / "mine").glob("*.ipynb"))] == ["00_first.ipynb"]
    assert "Some words on JAX." in text_of(two / "mine/00_first.ipynb")
    panel = (two / "_build/lab/book_contents/static/contents.js").read_text()
    assert "00_first.ipynb" in panel
    assert "01_second.ipynb" not in panel
    assert main(["fresh", "--framework", "jax", "mine", "01_second"]) == 1
    assert main(["fresh", "mine", "00_first"]) == 0
    assert "on JAX" not in text_of(two / "mine/00_first.ipynb")


def test_worksheets_of_further_editions_have_a_folder_of_their_own(two):
    assert main(["worksheets"]) == 0
    assert main(["worksheets", "--framework", "jax"]) == 0
    book = read_book(two)
    first, other = (worksheets_folder(book, edition, False) for edition in book.editions)
    assert other == first / "jax"
    assert "on JAX" not in text_of(first / "00_first.ipynb")
    assert "on JAX" in text_of(other / "00_first.ipynb")


def test_a_framework_that_is_missing_is_named_before_anything_is_bound(tiny, capsys, monkeypatch):
    first = TINY["book/00_first.md"]
    changed = first.replace("def double", "import torch  #@save\n        def double")
    write_files(tiny, {"book/00_first.md": changed})
    monkeypatch.setitem(sys.modules, "torch", None)
    assert main(["bind"]) == 1
    (told,) = capsys.readouterr().err.splitlines()
    assert told.startswith("error: the edition in PyTorch needs torch: ")
    assert not (tiny / "notebooks").exists()


def test_make_names_the_frameworks_that_there_are():
    command = ["make", "--no-print-directory", "setup", "FRAMEWORK=jx"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode
    known = " ".join(e.framework for e in read_book(ROOT).editions)
    assert f"no framework 'jx' in book.toml; known: {known}" in done.stderr


def test_no_readers_copies_are_seen_by_git_or_the_linter():
    for edition in read_book(ROOT).editions:
        command = ["make", "--no-print-directory", "-n", "lab", f"FRAMEWORK={edition.framework}"]
        shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
        (folder,) = re.findall(r'bookbinder lab .*"(.*)"', shown)
        ignored = (ROOT / ".gitignore").read_text().splitlines()
        assert any(fnmatch(f"{folder}/", pattern) for pattern in ignored), folder
        settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["ruff"]
        assert any(fnmatch(folder, pattern) for pattern in settings["extend-exclude"]), folder


def test_kernels_of_jax_keep_what_they_compile_and_stay_on_the_cpu(monkeypatch):
    monkeypatch.delenv("D2L_DEVICE", raising=False)
    assert kernel_environment("jax")["JAX_PLATFORMS"] == "cpu"
    assert kernel_environment("jax")["JAX_COMPILATION_CACHE_DIR"].endswith("jax-cache")
    assert not [name for name in kernel_environment("pytorch") if name.startswith("JAX")]
    monkeypatch.setitem(os.environ, "D2L_DEVICE", "cuda")
    assert kernel_environment("jax")["JAX_PLATFORMS"] == ""


def test_kernels_of_tensorflow_are_silent_and_see_a_gpu_only_when_asked(monkeypatch):
    monkeypatch.delenv("D2L_DEVICE", raising=False)
    assert kernel_environment("tensorflow")["TF_CPP_MIN_LOG_LEVEL"] == "3"
    assert kernel_environment("tensorflow")["CUDA_VISIBLE_DEVICES"] == "-1"
    monkeypatch.setitem(os.environ, "D2L_DEVICE", "cuda")
    assert "CUDA_VISIBLE_DEVICES" not in kernel_environment("tensorflow")
