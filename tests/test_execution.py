"""Execution: cells that fail, hang or kill their kernel, and outputs that a book must not have."""

import sys

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpecManager

from bookbinder.__main__ import main
from bookbinder.chapters import read_chapter
from bookbinder.execution import check_outputs, execute, output_problems
from bookbinder.files import BookError
from tests.conftest import write_files


def run(folder, *cells, seconds=20):
    text = "# 0. Title\n\n" + "\n\n".join(f"```python {cell}\n```" for cell in cells) + "\n"
    write_files(folder, {"00_x.md": text})
    chapter = read_chapter(folder / "00_x.md", "book/00_x.md")
    check_outputs(chapter, execute(chapter, folder, seconds))


def check_message(folder, cell, reason, **options):
    with pytest.raises(BookError, match=reason) as caught:
        run(folder, "\n'good'", cell, **options)
    message = str(caught.value)
    assert message.startswith("book/00_x.md:8: code cell 2 of 00_x: ")
    assert message.splitlines()[1:] == [f"    {line}" for line in cell.splitlines()[1:]]


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ('tags=["raises-exception"]\n1', "is tagged raises-exception, but raises nothing"),
        ("\nimport warnings\nwarnings.warn('old')", "writes to stderr"),
        ('tags=["nbval-ignore-output"]\n1', "without a comment that says why"),
    ],
)
@pytest.mark.usefixtures("in_shared_kernel")
def test_a_bad_cell_is_named_with_its_source(tmp_path, cell, reason):
    check_message(tmp_path, cell, reason)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("\nimport os\nos._exit(1)", "Kernel died"),
        ("\nimport time\ntime.sleep(60)", "timed out .* after 2 seconds"),
    ],
)
def test_a_cell_that_ends_or_blocks_its_kernel_is_named_with_its_source(tmp_path, cell, reason):
    check_message(tmp_path, cell, reason, seconds=2)


def test_a_command_starts_its_own_python_where_site_and_home_have_others(tiny, monkeypatch):
    write_files(tiny, {"kernels/python3/kernel.json": '{"argv": [], "display_name": "other"}'})
    for variable in ("JUPYTER_PATH", "JUPYTER_DATA_DIR"):
        monkeypatch.setenv(variable, str(tiny))
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "0")
    assert KernelSpecManager().get_kernel_spec("python3").display_name == "other"
    assert not main(["drift", "pytorch"])
    assert KernelSpecManager().get_kernel_spec("python3").resource_dir.startswith(sys.prefix)


def code(count=1, *, data=None, error=None):
    outputs = [nbformat.v4.new_output("display_data", data=data)] if data else []
    if error:
        outputs.append(nbformat.v4.new_output("error", ename=error, evalue="", traceback=[]))
    return nbformat.v4.new_code_cell("x = 1", execution_count=count, outputs=outputs)


@pytest.mark.parametrize(
    ("cells", "index", "problem"),
    [
        ([code(1), code(1)], 1, "its execution count is 1, not 2"),
        ([code(error="ValueError")], 0, "raises ValueError without the tag"),
        ([code(data={"image/png": "aaaa"})], 0, "bitmap"),
        ([code(data={"image/svg+xml": "<svg/>"})], 0, "needs alt="),
        ([code(data={"text/plain": "short\n" + "x" * 80})], 0, "lines of over 79 letters"),
    ],
)
def test_stored_outputs_that_nbval_lets_pass_are_found(cells, index, problem):
    (found,) = output_problems(nbformat.v4.new_notebook(cells=cells))
    assert found[0] == index
    assert problem in found[1]
