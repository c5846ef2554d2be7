"""Two frameworks in one book: each command knows which is meant."""

import os

import nbformat
import pytest

from bookbinder.__main__ import main
from bookbinder.binding import stale_files
from bookbinder.config import read_book
from bookbinder.execution import kernel_environment
from bookbinder.reader_copies import bring_copies
from tests.conftest import ROOT, TINY, code_cell, write_files

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


@pytest.mark.usefixtures("in_shared_kernel")
def test_each_edition_has_its_notebooks_module_worksheets_and_copies_and_is_bound_alone(
    tiny, monkeypatch
):
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tiny / "jupyter"))
    write_files(tiny, BOTH)
    assert main(["bind"]) == 0
    book = read_book(tiny)
    assert [stale_files(book, edition) for edition in book.editions] == [[], []]
    assert "return 2 * x" in (tiny / "d2l_attention/torch.py").read_text()
    assert "return x + x" in (tiny / "d2l_attention/jax.py").read_text()
    assert (tiny / "notebooks/jax/01_second.ipynb").exists()
    for framework in ("jax", "pytorch"):
        assert main(["worksheets", "--framework", framework]) == 0
        bring_copies(book, book.edition(framework), tiny / framework)
    for folder, words in {
        "notebooks/jax": "JAX has one.",
        "notebooks/pytorch": "PyTorch has one.",
        "_build/worksheets/jax": "JAX has one.",
        "_build/worksheets": "PyTorch has one.",
        "jax": "JAX has one.",
        "pytorch": "PyTorch has one.",
    }.items():
        assert words in text_of(tiny / folder / "00_first.ipynb")
    first, second = (tiny / f"notebooks/{name}/00_first.ipynb" for name in ("pytorch", "jax"))
    before = first.read_bytes()
    write_files(tiny, {"book/00_first.md": BOTH["book/00_first.md"].replace("See", "Look at")})
    assert main(["bind", "--framework", "jax", "00_first"]) == 0
    assert "Look at [chapter 1" in text_of(second)
    assert first.read_bytes() == before


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
    assert (jax["JAX_PLATFORMS"], tensorflow["CUDA_VISIBLE_DEVICES"]) == ("cpu", "-1")
    assert not [name for name in kernel_environment("pytorch") if name.startswith("JAX")]
    monkeypatch.setitem(os.environ, "D2L_DEVICE", "cuda")
    assert kernel_environment("jax")["JAX_PLATFORMS"] == ""
    assert "CUDA_VISIBLE_DEVICES" not in (on_gpu := kernel_environment("tensorflow"))
    assert (on_gpu["NVIDIA_TF32_OVERRIDE"], on_gpu["TF_FORCE_GPU_ALLOW_GROWTH"]) == ("0", "true")
    monkeypatch.setenv("JUPYTER_PATH", jax["JUPYTER_PATH"])
    assert kernel_environment("jax")["JUPYTER_PATH"] == jax["JUPYTER_PATH"]  # asked twice, as once
