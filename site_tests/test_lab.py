"""`make lab`: JupyterLab asks nothing, changes nothing and opens where the reader left off.

Lines are as long as in a book, and explorers move where notebooks are trusted.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager

import nbformat
import pytest
from conftest import ROOT, comes_true
from nbformat.sign import NotebookNotary
from test_explorers import Shown, walk

from bookbinder.commands import LEFT_OFF
from bookbinder.publish import DECIDE

OPTIONS = [
    "--ServerApp.port_retries=0",
    "--IdentityProvider.token=",
    "--LabApp.expose_app_in_browser=True",
]
OPENED = "() => window.jupyterapp?.shell.currentWidget?.context?.path"
DIRTY = "() => jupyterapp.shell.currentWidget.context.model.dirty"
# JupyterLab asks for this a second after it has started, if no setting answers it.
NEWS = """async () => {
    const url = "/lab/api/settings/@jupyterlab/apputils-extension:notification";
    return (await (await fetch(url)).json()).schema.properties.fetchNews.default;
}"""
PLACEHOLDER = ".jp-OutputPlaceholder"  # of hidden outputs
IDLE = ".jp-Notebook-ExecutionIndicator[data-status=idle]"
OPEN = "path => jupyterapp.commands.execute('docmanager:open', { path })"
PROSE = ".jp-MarkdownOutput > p:not(:has(img))"
WIDTH = "line => getComputedStyle(line).maxWidth"


@contextmanager
def lab(folder):
    """Start `make lab` with copies in `folder`; yield its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--no-browser", "--allow-root", f"--port={port}", *OPTIONS]
    command = ["make", "--old-file=.venv/ready-pytorch", "lab", f'RUN="{sys.executable}" -m']
    command += [
        f"COPIES={folder / 'my copies'}",
        f"ARGS={' '.join(options)} >>'{folder}/terminal' 2>&1",
    ]
    own = {f"JUPYTER_{name}_DIR": str(folder / name) for name in ("DATA", "CONFIG", "RUNTIME")}
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | own | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_for(f"http://127.0.0.1:{port}")
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:  # a kernel that is just starting can hold it up
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def wait_for(address):
    for _ in range(240):  # on a busy machine it takes a minute
        try:
            urllib.request.urlopen(f"{address}/api", timeout=5).close()
        except OSError:
            time.sleep(0.5)
        else:
            return
    raise TimeoutError(f"JupyterLab does not answer at {address}")


@contextmanager
def opened(browser, address):
    page = browser.new_page(viewport={"width": 1600, "height": 900})
    errors = []
    page.on("console", lambda said: said.type == "error" and errors.append(said.text))
    page.goto(address)
    page.wait_for_function(OPENED, timeout=60_000)
    page.locator(IDLE).first.wait_for(state="attached", timeout=60_000)
    yield page
    assert not [error for error in errors if "TypeError" in error]
    page.close()


def left_off(folder):
    """Return what JupyterLab has written down of the pages that are open."""
    files = (folder / "my copies" / LEFT_OFF).glob("*")
    return "".join(path.read_text(encoding="utf-8") for path in files)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("reader")


def test_make_lab_asks_nothing_and_goes_on_where_the_reader_left_off(browser, folder):
    with lab(folder) as address, opened(browser, address) as page:
        assert page.evaluate(OPENED) == "00_start_here.ipynb"
        assert page.evaluate(NEWS) == "false"
        asked = page.locator(".jp-Dialog, .Toastify__toast").all_inner_texts()
        assert not asked
        settled = comes_true(page, lambda: not page.evaluate(DIRTY))  # while it loads, it is
        assert settled, "a chapter that was only opened looks changed"
        page.locator(PLACEHOLDER).first.wait_for(state="attached")
        assert set(page.locator(PLACEHOLDER).all_text_contents()) == {DECIDE}
        assert page.locator(PROSE).first.evaluate(WIDTH) != "none"
        chapter = "10_masked_softmax.ipynb"
        page.evaluate(OPEN, chapter)
        assert comes_true(page, lambda: chapter in left_off(folder))
        assert not page.evaluate(DIRTY)
    with lab(folder) as address, opened(browser, address) as page:
        page.wait_for_function(f"({OPENED})() === '{chapter}'", timeout=30_000)
    assert not re.search(r"\[[IW] |WARNING", (folder / "terminal").read_text(encoding="utf-8"))


def write_explorer(folder, name, trusted):
    """Write a notebook that has the explorer of chapter 1 alone."""
    notebook = nbformat.read(ROOT / "notebooks/pytorch/01_queries_keys_values.ipynb", 4)
    notebook.cells = [c for c in notebook.cells if "data-sliders=" in str(c.get("outputs"))]
    if trusted:
        notary = NotebookNotary(data_dir=str(folder / "DATA"))
        notary.sign(notebook)
        notary.store.close()
    nbformat.write(notebook, folder / "my copies" / f"{name}.ipynb")


def test_an_explorer_moves_in_a_trusted_notebook_and_stands_still_in_another(browser, folder):
    with lab(folder) as address:
        for trusted, name in enumerate(("untrusted", "trusted")):
            write_explorer(folder, name, trusted)
            with opened(browser, f"{address}/lab/tree/{name}.ipynb?reset") as page:
                explorer = page.locator(".d2l-explorer")
                explorer.wait_for()
                (move if trusted else see_it_stand_still)(page, explorer)


def see_it_stand_still(page, explorer):
    assert explorer.get_by_text("Still picture at").is_visible()
    image = explorer.locator("img").first
    assert image.evaluate("image => image.naturalWidth") > 100
    assert explorer.locator("[style*=background-color]").count() > 0
    assert explorer.locator("input, button").count() == 0


def move(page, explorer):
    page.wait_for_selector(".d2l-explorer[data-live]")
    shown = Shown(explorer)
    for place in walk(page, shown, 0):  # by mouse and by keyboard
        assert shown.at(0) == place
