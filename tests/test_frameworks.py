"""What is known of a framework stands in one file, and each command knows which is meant."""

import inspect
import os
import re
import subprocess
import sys

import pytest

from bookbinder.__main__ import main
from bookbinder.binding import stale_files
from bookbinder.config import read_book
from bookbinder.execution import kernel_environment
from bookbinder.files import read_notebook
from bookbinder.reader_copies import bring_copies
from d2l_attention import frameworks
from tests.conftest import FRAMEWORK, ROOT, TINY, code_cell, write_files
from tests.this_book import BOOK

MATHJAX = r"(?<!math)(?<!put)jax(?!=\")"  # has a `jax` in its own names
NAMED = re.compile(
    rf"torch|{MATHJAX}|flax|\bjnp\b|\bnnx\b|\boptax\b|\bXLA\b|tensorflow|keras|\btf\.",
    re.IGNORECASE,
)
FOLDERS = ("book", "bookbinder", "d2l_attention", "tools")
MAY = (  # what may name a framework
    "d2l_attention/frameworks/",
    "d2l_attention/memory.py",  # counts what PyTorch holds: its chapters import it from here
    "d2l_attention/network.py",  # machines that exchange messages of PyTorch: likewise
    "d2l_attention/tensors.py",  # what layers of PyTorch withstand: likewise
    "tools/writer.py",  # trains the model that all editions load
    *(BOOK.named(edition.module) for edition in BOOK.editions),  # generated
)


def test_no_other_file_names_a_framework():
    files = [ROOT / "Makefile", ROOT / ".ci/run", ROOT / "postBuild"]
    files += [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.[pj][ys]")]
    named = {path.relative_to(ROOT).as_posix(): path for path in sorted(files)}
    found = [
        f"{name}:{number}: {line}"
        for name, path in named.items()
        if not name.startswith(MAY)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if NAMED.search(line)
    ]
    assert not found, "\n".join(["", *found])


@pytest.mark.parametrize("edition", BOOK.editions, ids=lambda edition: edition.framework)
def test_a_framework_says_all_that_others_ask(edition):
    framework, text = frameworks.load(edition.framework), frameworks.__doc__.replace("\n    ", "\n")
    listed = re.findall(r"^(\w+)(\(.*?\))?(?:  |$)", text, re.MULTILINE)
    assert len(listed) > 10
    for wanted, arguments in listed:
        there = getattr(framework, wanted)
        if arguments:
            assert f"({', '.join(inspect.signature(there).parameters)})" == arguments, wanted
    for path in edition.notebooks.glob("*.ipynb") if framework.EXACT else ():
        code = [cell.source for cell in read_notebook(path).cells if cell.cell_type == "code"][:2]
        assert framework.EXACT in "\n".join(code), path  # the first may install the book


def test_a_framework_of_the_book_is_known_and_an_unknown_one_is_refused():
    assert {edition.framework for edition in BOOK.editions} == set(frameworks.known())
    with pytest.raises(ValueError, match="no framework 'mxnet'; known: "):
        frameworks.load("mxnet")


USED = {
    "our module": f"import d2l_attention.{FRAMEWORK.PACKAGE}",
    "a check": "from d2l_attention.practice import check; check('0.1', abs)",
}
HIDDEN = f"import sys; sys.modules.update(dict.fromkeys({FRAMEWORK.PACKAGES}));"


@pytest.mark.parametrize("code", USED.values(), ids=USED)
def test_a_framework_that_is_missing_says_what_installs_it(code):
    done = subprocess.run([sys.executable, "-c", HIDDEN + code], capture_output=True, text=True)
    last, name = done.stderr.strip().splitlines()[-1], os.environ["D2L_FRAMEWORK"]
    assert f"in {FRAMEWORK.NAME} needs {' and '.join(FRAMEWORK.PACKAGES)}: " in last
    assert f'`pip install "d2l-attention[{name}]"`, or in the folder of the book' in last
    assert last.endswith(f"`make setup FRAMEWORK={name}`")


@pytest.mark.slow
def test_the_module_loads_neither_exercises_nor_another_framework():
    own = f"import {', '.join(FRAMEWORK.PACKAGES)}"  # may load much
    code = f"{own}; import sys; before = {{*sys.modules}}; import d2l_attention.{FRAMEWORK.PACKAGE}"
    command = [sys.executable, "-c", f"{code}; print(*{{*sys.modules}} - before)"]
    loaded = set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    others = {frameworks.load(name).PACKAGE for name in frameworks.known()} - {FRAMEWORK.PACKAGE}
    assert not loaded & (others | {"d2l_attention.practice", "matplotlib"})


def test_kernels_of_a_framework_see_a_gpu_only_when_asked(monkeypatch):
    monkeypatch.delenv("D2L_DEVICE", raising=False)
    jax, tensorflow = kernel_environment("jax"), kernel_environment("tensorflow")
    assert (jax["JAX_PLATFORMS"], tensorflow["CUDA_VISIBLE_DEVICES"]) == ("cpu", "-1")
    assert not [name for name in kernel_environment("pytorch") if name.startswith("JAX")]
    monkeypatch.setitem(os.environ, "D2L_DEVICE", "cuda")
    assert kernel_environment("jax")["JAX_PLATFORMS"] == ""
    assert "CUDA_VISIBLE_DEVICES" not in (on_gpu := kernel_environment("tensorflow"))
    assert (on_gpu["NVIDIA_TF32_OVERRIDE"], on_gpu["TF_FORCE_GPU_ALLOW_GROWTH"]) == ("0", "true")


def test_a_framework_that_is_missing_is_named_before_anything_is_bound(tiny, capsys, monkeypatch):
    changed = TINY["book/00_first.md"].replace("def double", "import torch  #@save\ndef double")
    without = "import sys; sys.modules['torch'] = None"
    write_files(tiny, {"book/00_first.md": changed, "sitecustomize.py": without})
    monkeypatch.setenv("PYTHONPATH", f"{tiny}{os.pathsep}{ROOT}")
    assert main(["bind"]) == 1
    (error,) = capsys.readouterr().err.splitlines()
    assert "ModuleNotFoundError: the edition in PyTorch needs torch: " in error
    assert not (tiny / "notebooks").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("in_shared_kernel")
def test_each_edition_has_its_notebooks_module_worksheets_and_copies_and_is_bound_alone(
    tiny, monkeypatch
):
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tiny / "jupyter"))
    first = "# 0. First\n\nAll have it.\n{}\n## Words\n\n{} has one.\n"
    base = first.format(code_cell("def double(x):  #@save\n    return 2 * x"), "PyTorch")
    port = code_cell("def double(x):  #@save\n    return x + x", 'was="double @e46d2bb1"')
    own = f"{port}\n## Words\n\n<!-- was: PyTorch has one. -->\nJAX has one.\n"
    toml = TINY["book.toml"] + "[frameworks.jax]\n"
    write_files(tiny, {"book.toml": toml, "book/00_first.md": base, "book/jax/00_first.md": own})
    write_files(tiny, {"book/01_second.md": "# 1. Second\n"})
    assert main(["bind"]) == 0
    book = read_book(tiny)
    assert [stale_files(book, edition) for edition in book.editions] == [[], []]
    assert "return 2 * x" in (tiny / "d2l_attention/torch.py").read_text()
    assert "return x + x" in (tiny / "d2l_attention/jax.py").read_text()
    folders = {"PyTorch": ["notebooks/pytorch", "_build/worksheets", "pytorch"]}
    folders |= {"JAX": ["notebooks/jax", "_build/worksheets/jax", "jax"]}
    for name, places in folders.items():
        assert main(["worksheets", "--framework", name.lower()]) == 0
        bring_copies(book, book.edition(name.lower()), tiny / name.lower())
        for place in places:
            assert f"{name} has one." in (tiny / place / "00_first.ipynb").read_text()
    before = (other := tiny / "notebooks/pytorch/00_first.ipynb").read_bytes()
    write_files(tiny, {"book/00_first.md": base.replace("All", "Both")})
    assert main(["bind", "--framework", "jax", "00_first"]) == 0
    assert "Both have it" in (tiny / "notebooks/jax/00_first.ipynb").read_text()
    assert other.read_bytes() == before
