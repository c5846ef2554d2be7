"""Execute a notebook in a kernel of its own and say clearly what went wrong."""

import asyncio
import copy
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import matplotlib
from jupyter_core.paths import ENV_JUPYTER_PATH
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError
from nbformat import NotebookNode

from bookbinder.book import BookError, read_book
from bookbinder.chapters import Chapter, tags_of
from d2l_attention.frameworks import load

KERNEL = "python3"
MOST_LETTERS = 79
ROOT = Path(__file__).parents[1]


def kernel_environment(framework: str = "") -> dict[str, str]:
    """Return the environment variables under which outputs are made and compared.

    `framework` is that of the edition; by default D2L_FRAMEWORK names it, or it is the first.
    """
    matplotlib.get_cachedir()  # names a folder in MPLCONFIGDIR where the home cannot be written
    framework = framework or os.environ.get("D2L_FRAMEWORK", "")
    framework = framework or read_book(ROOT).editions[0].framework
    return {
        "D2L_FRAMEWORK": framework,
        "D2L_DEVICE": os.environ.get("D2L_DEVICE") or "cpu",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "PYTHONHASHSEED": "0",
        **own_kernels(),
        **frameworks_own(framework),
    }


def own_kernels() -> dict[str, str]:
    """Return the variable that lets Jupyter start this Python, and no other kernel of its name."""
    paths = [*ENV_JUPYTER_PATH, *os.environ.get("JUPYTER_PATH", "").split(os.pathsep)]
    return {"JUPYTER_PATH": os.pathsep.join(dict.fromkeys(filter(None, paths)))}


def frameworks_own(framework: str) -> dict[str, str]:
    """Return the variables that the framework itself reads."""
    device = os.environ.get("D2L_DEVICE") or "cpu"
    return load(framework).environment(device, ROOT / "_build" / f"{framework}-cache")


def execute(chapter: Chapter, folder: Path, seconds: int, framework: str = "") -> NotebookNode:
    """Return the chapter's notebook with outputs.

    Raises BookError with file, line, cell and source where a cell fails, hangs or kills its kernel.
    """
    notebook = copy.deepcopy(chapter.notebook)
    begun = [0]  # the cells that have begun to run
    client = NotebookClient(
        notebook,
        timeout=seconds,
        kernel_name=KERNEL,
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(folder)}},
        extra_arguments=["--log-level=CRITICAL"],  # the kernel's own log is not the book's
        on_cell_start=lambda cell, cell_index: begun.append(cell_index),
    )
    try:
        run_to_the_end(client, framework)
        return notebook
    except CellExecutionError as error:
        reason = f"{error.ename}: {error.evalue}"
    except (CellTimeoutError, RuntimeError) as error:  # a kernel that dies, or does not start
        reason = str(error).splitlines()[0]
    raise BookError(cell_message(chapter, notebook, begun[-1], reason))


def check_outputs(chapter: Chapter, notebook: NotebookNode) -> None:
    """Raise BookError where an executed notebook has outputs that a book must not have."""
    if problems := output_problems(notebook):
        raise BookError(cell_message(chapter, notebook, *problems[0]))


def run_to_the_end(client: NotebookClient, framework: str = "") -> None:
    """Execute the client's notebook; on Ctrl-C stop its kernel and raise KeyboardInterrupt.

    In a thread, because nbclient's own handler of Ctrl-C, set in the main thread only, turns it
    into an AssertionError.
    """
    environment = os.environ | kernel_environment(framework)
    with asyncio.Runner() as runner, ThreadPoolExecutor(max_workers=1) as pool:
        loop = runner.get_loop()
        running = pool.submit(runner.run, client.async_execute(env=environment))
        try:
            running.result()
        except KeyboardInterrupt:  # cancelled, nbclient stops its kernel; the pool waits for that
            for task in asyncio.all_tasks(loop):
                loop.call_soon_threadsafe(task.cancel)
            raise


def cell_message(chapter: Chapter, notebook: NotebookNode, index: int, reason: str) -> str:
    """Say where a cell stands and what is wrong with it, and show its source."""
    source = "\n".join(f"    {line}" for line in notebook.cells[index].source.splitlines())
    number = sum(cell.cell_type == "code" for cell in notebook.cells[: index + 1])
    return f"{chapter.where(index)}: code cell {number} of {chapter.name}: {reason}\n{source}"


def output_problems(notebook: NotebookNode) -> list[tuple[int, str]]:
    """Return (cell index, what is wrong) for outputs that nbval would let pass or a reader trip on.

    Every code cell was executed, in order; a cell tagged raises-exception raises, and no other
    does; nothing is written to stderr; pictures are SVG (which nbval compares) with a text for
    those who cannot see them; nothing hides behind an output that is not compared without a reason.
    """
    code = [(i, cell) for i, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    return [
        (index, problem)
        for number, (index, cell) in enumerate(code, 1)
        for problem in cell_problems(cell, number)
    ]


def cell_problems(cell: NotebookNode, number: int) -> Iterator[str]:
    tags = tags_of(cell)
    raised = [o for o in cell.outputs if o.output_type == "error"]
    if cell.execution_count != number:
        yield f"its execution count is {cell.execution_count}, not {number}"
    if raised and "raises-exception" not in tags:
        yield f"raises {raised[0].ename} without the tag raises-exception"
    if "raises-exception" in tags and not raised:
        yield "is tagged raises-exception, but raises nothing"
    if any(o.output_type == "stream" and o.name == "stderr" for o in cell.outputs):
        yield "writes to stderr"
    kinds = {kind for o in cell.outputs for kind in o.get("data", {})}
    values = [o.data["text/plain"] for o in cell.outputs if [*o.get("data", {})] == ["text/plain"]]
    if any(len(line) > MOST_LETTERS for value in values for line in value.split("\n")):
        yield f"shows a value in lines of over {MOST_LETTERS} letters, where pages end: print it"
    if kinds & {"image/png", "image/jpeg"}:
        yield "shows a bitmap, which is not compared: call use_svg_display() first"
    if "image/svg+xml" in kinds and not cell.metadata.get("alt"):
        yield 'shows a picture and needs alt="..." in its first line'
    if "nbval-ignore-output" in tags and "#" not in cell.source:
        yield "is tagged nbval-ignore-output without a comment that says why"
