"""Mistakes in the book or its surroundings: each is one message that says where it is."""

from dataclasses import replace
from functools import partial

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from bookbinder.book import BookError, chapter_named, read_book, read_notebook, write_whole
from bookbinder.chapters import Chapter, read_chapter
from bookbinder.execution import check_outputs, execute
from bookbinder.language.catalog import catalog_file, language_of
from bookbinder.module import compose_module, saved_in
from bookbinder.notation import read_notation
from bookbinder.worksheets import worksheet
from tests.conftest import DATA, TINY, code_cell, write_files
from tests.this_book import BOOK

KEY, TABLE, JAX = 'title = "Tiny"', "[frameworks.pytorch]", "[frameworks.jax]\n"
CHAPTER = "# 0. Title\n" + code_cell("shared = 1") + code_cell("import x", 'tags=["drawing"]')
ERROR = new_output("error", ename="ValueError", evalue="", traceback=[])


def toml(folder, old, new):
    write_files(folder, TINY | {"book.toml": TINY["book.toml"].replace(old, new)})
    write_files(folder, {"book/jax/00_frist.md": "", "book/pytorch/.md": ""})
    read_book(folder)


def chapter(folder, old="", new=""):
    (folder / "x.md").write_text(CHAPTER.replace(old, new, 1))
    found = read_chapter(folder / "x.md", "x.md")
    worksheet(found.notebook, "x")
    return found


def notation(folder, old, new):
    text = (DATA / "sample/book/notation.toml").read_text().replace(old, new, 1)
    write_files(folder, {"notation.toml": text})
    read_notation(folder, "pytorch")


def saved(folder, *cells):
    places = [[f"x.md:{10 * at + n}" for n in range(3)] for at, _ in enumerate(cells, 1)]
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    compose_module(saved_in(Chapter("x", "x.md", notebook, places)), "# Made from x")


def outputs(folder, *shown, count=1, source="x = 1", **metadata):
    cell = new_code_cell(source, execution_count=count, outputs=[*shown], metadata=metadata)
    check_outputs(chapter(folder), new_notebook(cells=[new_markdown_cell("# 0"), cell]))


def executed(folder, source):
    execute(chapter(folder, "import x", source), folder, 2)


def catalog(folder, text):
    book = replace(BOOK, root=folder)
    write_whole(catalog_file(book, "zh", "x"), text)
    language_of(book, "zh").read("x")


def shown(value, kind="text/plain"):
    return new_output("display_data", {kind: value})


MISTAKES = [
    (toml, KEY, "", "missing key 'title'"),
    (toml, "title", "titel", r"unknown key 'titel' \(did you mean 'title'\?\)"),
    (toml, "00_first", "00_frist", "book/00_first.md: book.toml has no .* .did you mean '00_fris"),
    (toml, ', "01_second"]', "]", "book/01_second.md: book.toml has no chapter for it$"),
    (toml, '["en"]', '["en", "xx"]', "languages must .* be of: en, zh, ko, vi, id"),
    (toml, TABLE, "[frameworks.torch]", "torch.: not in d2l_.*/frameworks/ .did you mean 'pytorch"),
    (toml, TABLE, f"{JAX}withuot = []", "jax.: unknown key 'withuot'"),
    (toml, TABLE, f"{TABLE}\nwords.x = 'a'\n{JAX}", "jax.: words must be those of"),
    (toml, TABLE, f"{JAX}{TABLE}", r"book/jax/00_frist.md: .* no chapter for it$"),
    (toml, TABLE, f"{TABLE}\n{JAX}", r"book/pytorch/.md: .* no chapter for it$"),
    (toml, KEY, 'title = "Tiny', "book.toml: .*line 1"),
    (toml, TABLE, f'[parts]\nOne = "00_frist"\n{TABLE}', "'One' begins with no .*'00_frist' .did"),
    (chapter, '"drawing"', '"raise-exception"', "^x.md:8: unknown tag 'raise-.*mean 'raises-ex"),
    (chapter, "shared", "<<<<<<< x\nshared", "^x.md:4: a conflict of a merge .*: '<<<<<<< x'$"),
    (chapter, CHAPTER, "\n", "^x.md: is empty$"),
    (chapter, "Title", "T\n<details>\n<summary>S</summary>", "^x: .*</details> in one cell"),
    (notation, "[[letter]]", "[[letter]", "^notation.toml: "),
    (notation, "shape", "shap", "'shap'"),
    (notation, "{ pytorch", "{ mxnet", r"\$A\$: code has no name for pytorch"),
    (saved, "def f(:  #@save", "^x.md:10: a cell with #@save does not parse"),
    (saved, "x = 1\n#@save\ny = 2", "^x.md:11: cannot place #@save"),
    (saved, "for i in x:  #@save\n    pass", "^x.md:10: .*definitions only, got 'for i in x:'"),
    (saved, "#@save\nx = 1\nprint(x)", r"^x.md:12: .*definitions only, got 'print\(x\)'"),
    (saved, "x = 1  # @save", "^x.md:10: write #@save, #@save private or .*, got '# @save'"),
    (saved, *["def f(): pass  #@save"] * 2, "^x.md:20: 'f' is already saved at x.md:10"),
    (saved, "def f(): return g()  #@save", "^x.md: saved code .*Undefined name `g`"),
    (outputs, ERROR, "^x.md:4: code cell 1 of x: raises ValueError without .*\n    shared = 1$"),
    (partial(outputs, tags=["raises-exception"]), "raises-exception, but raises nothing"),
    (partial(outputs, tags=["nbval-ignore-output"]), "nbval-ignore-output without a comment"),
    (outputs, new_output("stream", name="stderr", text="old"), "writes to stderr"),
    (outputs, shown("aaaa", "image/png"), "shows a bitmap, which is not compared"),
    (outputs, shown("<svg/>", "image/svg+xml"), "shows a picture and needs alt="),
    (outputs, shown("short\n" + "x" * 80), "a value in lines of over 79 letters"),
    (partial(outputs, count=2), "its execution count is 2, not 1"),
    (executed, "import os\nos._exit(1)", "^x.md:8: code cell 2 of x: .*Kernel died.*\n    import"),
    (executed, "import time\ntime.sleep(60)", "cell 2 of x: .*timed out .* after 2 seconds"),
    (executed, "x = 1\nx / 0", "cell 2 of x: ZeroD.*: division by zero\n    x = 1\n    x / 0$"),
    (catalog, 'msgid "a"\nmsgstr "b"\nhm\n', r"^book/locale/zh/x\.po:3: "),
    (catalog, b"\xff", r"^book/locale/zh/x\.po: .*utf-8"),
    (catalog, 'msgid "`x`"\nmsgstr "x。"\n', r"^book/locale/zh/x\.po: '`x`': lacks `x$"),
    (lambda folder: read_notebook(folder / "x"), "x is missing; run `make notebooks` first$"),
    (lambda _: read_notebook(DATA / "copies.txt"), "txt is no notebook .*notebooks` makes it"),
    (read_book, "run this from the root of the book"),
    (lambda folder: read_chapter(folder / "x", "x.md"), "^x.md: cannot be read: .*No such file"),
    (lambda _: chapter_named("_", ["00_first", "01_second"]), "'_' in .*: 00_first or 01_second.$"),
]


ROWS = [
    pytest.param(read, texts, message, marks=[pytest.mark.slow] * (read is executed))
    for read, *texts, message in MISTAKES
]


@pytest.mark.parametrize(("read", "texts", "message"), ROWS)
def test_a_mistake_is_one_message(tmp_path, read, texts, message):
    with pytest.raises(BookError, match=message) as caught:
        read(tmp_path, *texts)
    assert "\n" not in str(caught.value).partition("\n    ")[0]
