"""What is known of a framework stands in one file, and nothing loads more than it needs."""

import inspect
import os
import re
import subprocess
import sys

import pytest

from d2l_attention import frameworks
from tests.conftest import ROOT
from tests.this_book import BOOK, chapters

MATHJAX = r"(?<!math)(?<!put)jax(?!=\")"  # has a `jax` in its own names
NAMED = re.compile(
    rf"torch|{MATHJAX}|flax|\bjnp\b|\bnnx\b|\boptax\b|\bXLA\b|tensorflow|keras|\btf\.",
    re.IGNORECASE,
)
FOLDERS = ("book", "bookbinder", "d2l_attention", "tools")
NEEDS_A_LINE = [e for e in BOOK.editions if frameworks.load(e.framework).EXACT]
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


@pytest.mark.parametrize("name", frameworks.known())
def test_a_framework_says_all_that_others_ask(name):
    listed = re.findall(
        r"^(\w+)(\(.*?\))?(?:  |$)", frameworks.__doc__.replace("\n    ", "\n"), re.M
    )
    framework = frameworks.load(name)
    for wanted, arguments in listed:
        there = getattr(framework, wanted)
        if arguments:
            assert f"({', '.join(inspect.signature(there).parameters)})" == arguments, wanted
    assert len(listed) > 10


@pytest.mark.parametrize("edition", NEEDS_A_LINE, ids=lambda edition: edition.framework)
def test_the_first_cell_of_a_notebook_asks_for_products_in_full_precision(edition):
    for chapter in chapters(edition):  # before the first may stand one that installs the book
        code = [cell.source for cell in chapter.notebook.cells if cell.cell_type == "code"][:2]
        assert frameworks.load(edition.framework).EXACT in "\n".join(code), chapter.name


def test_a_framework_of_the_book_is_known_and_an_unknown_one_is_refused():
    assert {edition.framework for edition in BOOK.editions} == set(frameworks.known())
    with pytest.raises(ValueError, match="no framework 'mxnet'; known: "):
        frameworks.load("mxnet")


INSTALLS = (
    'with `pip install "d2l-attention[{0}]"`, or in the folder of the book '
    "with `make setup FRAMEWORK={0}`"
)
USED = {
    "our module": "import d2l_attention.{1}",
    "a check": "from d2l_attention.practice import check; check('0.1', abs)",
}


@pytest.mark.parametrize("code", USED.values(), ids=USED)
@pytest.mark.parametrize("name", frameworks.known())
def test_a_framework_that_is_missing_says_what_installs_it(name, code):
    framework = frameworks.load(name)
    hidden = f"import sys; sys.modules.update(dict.fromkeys({framework.PACKAGES}));"
    command = [sys.executable, "-c", hidden + code.format(name, framework.PACKAGE)]
    environment = os.environ | {"D2L_FRAMEWORK": name}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
    last = done.stderr.strip().splitlines()[-1]
    assert f"in {framework.NAME} needs {' and '.join(framework.PACKAGES)}: " in last
    assert last.endswith(INSTALLS.format(name))


def loaded_by(code: str, after: str) -> set[str]:
    """Return the modules that a fresh Python has loaded by some code, `after` another."""
    code = f"{after}; before = {{*sys.modules}}; {code}; print(*{{*sys.modules}} - before)"
    command = [sys.executable, "-c", f"import sys; {code}"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert not done.returncode, done.stderr
    return set(done.stdout.split())


@pytest.mark.slow
def test_the_module_loads_neither_exercises_nor_another_framework():
    edition = BOOK.edition(frameworks.current())
    own = f"import {', '.join(frameworks.load(edition.framework).PACKAGES)}"  # may load much
    loaded = loaded_by(f"import d2l_attention.{edition.module.stem}", own)
    others = {frameworks.load(name).PACKAGE for name in frameworks.known()}
    assert not loaded & (others - {frameworks.load(edition.framework).PACKAGE})
    assert not [name for name in loaded if name.startswith("d2l_attention.practice")]
    assert "matplotlib" not in loaded
