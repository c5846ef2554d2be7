"""Execute a notebook in a kernel of its own and say clearly what went wrong."""

import asyncio
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

LINE = 79  # letters of a value that pages show
ROOT = Path(__file__).parents[1]


def kernel_environment(framework: str = "") -> dict[str, str]:
    """Return the environment variables under which outputs are made and compared."""
    matplotlib.get_cachedir()  # names a folder in MPLCONFIGDIR where the home cannot be written
    framework = framework or os.environ.get("D2L_FRAMEWORK", "")
    framework = framework or read_book(ROOT).editions[0].framework
    device = os.environ.get("D2L_DEVICE") or "cpu"
    # Jupyter starts this Python, and no other kernel of its name.
    paths = [*ENV_JUPYTER_PATH, *os.environ.get("JUPYTER_PATH", "").split(os.pathsep)]
    return {
        "D2L_FRAMEWORK": framework,
        "D2L_DEVICE": device,
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "PYTHONHASHSEED": "0",
        "JUPYTER_PATH": os.pathsep.join(dict.fromkeys(filter(None, paths))),
        **load(framework).environment(device, ROOT / "_build" / f"{framework}-cache"),
    }


def execute(chapter: Chapter, folder: Path, seconds: int, framework: str = "") -> None:
    """Give the chapter's notebook its outputs; BookError shows a cell that fails or hangs."""
    begun = [0]  # the cells that have begun to run
    client = NotebookClient(
        chapter.notebook,
        timeout=seconds,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(folder)}},
        extra_arguments=["--log-level=CRITICAL"],  # the kernel's own log is not the book's
        on_cell_start=lambda cell, cell_index: begun.append(cell_index),
    )
    try:
        run_to_the_end(client, os.environ | kernel_environment(framework))
        return
    except CellExecutionError as error:
        reason = f"{error.ename}: {error.evalue}"
    except (CellTimeoutError, RuntimeError) as error:  # a kernel that dies, or does not start
        reason = str(error).splitlines()[0]
    raise BookError(cell_message(chapter, begun[-1], reason))


def run_to_the_end(client: NotebookClient, environment: dict[str, str]) -> None:
    """Execute the client's notebook; on Ctrl-C stop its kernel and raise KeyboardInterrupt."""
    # In a thread: in the main one, nbclient's own handler of Ctrl-C ends in an AssertionError.
    with asyncio.Runner() as runner, ThreadPoolExecutor(max_workers=1) as pool:
        loop = runner.get_loop()
        running = pool.submit(runner.run, client.async_execute(env=environment))
        try:
            running.result()
        except KeyboardInterrupt:  # cancelled, nbclient stops its kernel; the pool waits for that
            for task in asyncio.all_tasks(loop):
                loop.call_soon_threadsafe(task.cancel)
            raise


def cell_message(chapter: Chapter, index: int, problem: str) -> str:
    cells = chapter.notebook.cells[: index + 1]
    source = "\n".join(f"    {line}" for line in cells[-1].source.splitlines())
    number = sum(cell.cell_type == "code" for cell in cells)
    return f"{chapter.where(index)}: code cell {number} of {chapter.name}: {problem}\n{source}"


def check_outputs(chapter: Chapter, notebook: NotebookNode) -> None:
    """Raise BookError where outputs are such that nbval would let them pass or a reader trip."""
    code = [index for index, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    for number, index in enumerate(code, 1):
        if problem := next(output_problems(notebook.cells[index], number), ""):
            raise BookError(cell_message(chapter, index, problem))


def output_problems(cell: NotebookNode, number: int) -> Iterator[str]:
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
    data = [o.get("data", {}) for o in cell.outputs]
    kinds = set().union(*data)
    lines = [line for d in data if [*d] == ["text/plain"] for line in d["text/plain"].split("\n")]
    if max(map(len, lines), default=0) > LINE:
        yield f"shows a value in lines of over {LINE} letters, where pages end: print it"
    if kinds & {"image/png", "image/jpeg"}:
        yield "shows a bitmap, which is not compared: call use_svg_display() first"
    if "image/svg+xml" in kinds and not cell.metadata.get("alt"):
        yield 'shows a picture and needs alt="..." in its first line'
    if "nbval-ignore-output" in tags and "#" not in cell.source:
        yield "is tagged nbval-ignore-output without a comment that says why"
