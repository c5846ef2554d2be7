"""What is known of a framework stands in one file, and each command knows which is meant."""

import inspect
import os
import re
import subprocess
import sys

import pytest

from bookbinder.__main__ import main
from bookbinder.book import read_notebook
from d2l_attention import frameworks
from tests.conftest import ROOT, TINY, write_files
from tests.this_book import BOOK


@pytest.mark.parametrize("edition", BOOK.editions, ids=lambda edition: edition.framework)
def test_a_framework_says_all_that_others_ask(edition):
    framework = frameworks.load(edition.framework)
    listed = re.findall(r"^(\w+)(\(.*?\))?  ", frameworks.__doc__, re.MULTILINE)
    assert len(listed) > 10
    for wanted, arguments in listed:
        there = getattr(framework, wanted)
        if arguments:
            assert f"({', '.join(inspect.signature(there).parameters)})" == arguments, wanted
    for path in edition.notebooks.glob("*.ipynb") if framework.EXACT else ():
        code = [cell.source for cell in read_notebook(path).cells if cell.cell_type == "code"][:2]
        assert framework.EXACT in "\n".join(code), path  # the first may install the book
    with pytest.raises(ValueError, match=f"no framework 'theano'; known: .*{edition.framework}"):
        frameworks.load("theano")


def test_a_framework_that_is_missing_says_what_installs_it(tiny, monkeypatch, capsys):
    torch, name = frameworks.load("pytorch"), "pytorch"  # of the tiny book
    hidden = f"import sys; sys.modules.update(dict.fromkeys({torch.PACKAGES}))"
    first = TINY["book/00_first.md"].replace("def double", "import torch  #@save\ndef double")
    write_files(tiny, {"sitecustomize.py": hidden, "book/00_first.md": first})
    monkeypatch.setenv("PYTHONPATH", f"{tiny}{os.pathsep}{ROOT}")
    monkeypatch.setenv("D2L_FRAMEWORK", name)
    assert main(["bind"]) == 1
    assert not (tiny / "notebooks").exists()
    check = "from d2l_attention.practice import check; check('0.1', abs)"
    checked = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True)
    for error in (capsys.readouterr().err, checked.stderr):
        assert f"in {torch.NAME} needs {' and '.join(torch.PACKAGES)}: " in error
        assert f'`pip install "d2l-attention[{name}]"`, or in the folder of the book' in error
        assert error.strip().endswith(f"`make setup FRAMEWORK={name}`")
