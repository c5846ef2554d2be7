"""`make lab`: JupyterLab asks nothing, changes nothing and opens where the reader left off."""

import os
import re
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import nbformat
from conftest import ROOT, open_page
from nbformat.sign import NotebookNotary

from bookbinder.notebook import DECIDE

COMMAND = ["timeout", "--kill-after=10", "300"]  # a kernel that is just starting can hold it up
COMMAND += ["make", "--old-file=.venv/ready-pytorch", "lab", f'RUN="{sys.executable}" -m']
OPTIONS = "--no-browser --allow-root --ServerApp.port_retries=0 --IdentityProvider.token="
OPTIONS += " --LabApp.expose_app_in_browser=True"
OPENED = "window.jupyterapp?.shell.currentWidget?.context?.path"
DIRTY = "jupyterapp.shell.currentWidget.context.model.dirty"
OPEN = "path => jupyterapp.commands.execute('docmanager:open', { path })"
IDLE = ".jp-Notebook-ExecutionIndicator[data-status=idle] >> visible=true"
CHECK = 'from d2l_attention.practice import check\n\ncheck("1.4", (1, 0, -1))'


@contextmanager
def lab(browser, folder):
    """Start `make lab` with copies in `folder`; yield what a reader sees."""
    own = {f"JUPYTER_{name}_DIR": str(folder / name) for name in ("DATA", "CONFIG")}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own |= {"JUPYTER_RUNTIME_DIR": str(folder / str(port)), "PYTHONPATH": str(ROOT)}
    command = [*COMMAND, f"COPIES={folder / 'my copies'}"]
    command.append(f"ARGS={OPTIONS} --port={port} >>'{folder}/terminal' 2>&1")
    with subprocess.Popen(command, cwd=ROOT, env=os.environ | own) as process:
        try:
            while process.poll() is None and not [*folder.glob(f"{port}/jpserver-*.json")]:
                time.sleep(0.2)
            page = open_page(browser.new_context(), f"http://127.0.0.1:{port}")
            page.wait_for_function(OPENED, timeout=60_000)
            page.locator(IDLE).wait_for(timeout=60_000)
            yield page
            assert "TypeError" not in str(page.seen.complaints)
            page.close()
        finally:
            process.terminate()


def write_notebook(folder, name):
    """Write a notebook that has a check, and the explorer of chapter 1."""
    notebook = nbformat.read(ROOT / "notebooks/pytorch/01_queries_keys_values.ipynb", 4)
    explorers = [c for c in notebook.cells if "data-sliders=" in str(c.get("outputs"))]
    notebook.cells = [nbformat.v4.new_code_cell(CHECK), *explorers]
    if name == "trusted":
        NotebookNotary(data_dir=str(folder / "DATA")).sign(notebook)
    nbformat.write(notebook, folder / "my copies" / f"{name}.ipynb")


def test_make_lab_asks_nothing_and_goes_on_where_the_reader_left_off(browser, tmp_path):
    last = "10_masked_softmax.ipynb"
    with lab(browser, tmp_path) as page:
        assert page.evaluate(OPENED) == "00_start_here.ipynb"
        page.wait_for_function(f"!{DIRTY}")  # while it loads, it is
        hidden = page.wait_for_selector(".jp-OutputPlaceholder", state="attached")
        assert hidden.text_content() == DECIDE
        prose = page.locator(".jp-MarkdownOutput > p:not(:has(img))").first
        assert prose.evaluate("p => getComputedStyle(p).maxWidth") != "none"

        explorer = page.locator(".d2l-explorer >> visible=true")
        write_notebook(tmp_path, "untrusted")  # here it is a still picture
        page.evaluate(OPEN, "untrusted.ipynb")
        explorer.get_by_text("Still picture at").wait_for()
        assert explorer.locator("img").first.evaluate("image => image.naturalWidth") > 100
        assert explorer.locator("[style*=background-color]").count() > 0
        assert explorer.locator("input, button").count() == 0

        write_notebook(tmp_path, "trusted")
        page.goto(f"{page.url.partition('/lab')[0]}/lab/tree/trusted.ipynb?reset")
        slider = explorer.locator("input").first
        for key, value in (("Home", "1"), ("ArrowRight", "1.5"), ("End", "12")):
            slider.press(key)
            assert slider.get_attribute("aria-valuetext") == value
        page.locator(IDLE).wait_for(timeout=60_000)
        page.evaluate("jupyterapp.commands.execute('notebook:run-all-cells')")
        page.get_by_text("1.4 passed.").wait_for(timeout=60_000)

        assert not page.locator(".jp-Dialog, .Toastify__toast").count()  # nothing is asked
        with page.expect_response(lambda r: f"notebook:{last}" in (r.request.post_data or "")):
            page.evaluate(OPEN, last)
        assert not page.evaluate(DIRTY)
    with lab(browser, tmp_path) as page:
        page.wait_for_function(f"{OPENED} === '{last}'", timeout=30_000)
    assert not re.search(r"\[[IW] |WARNING", (tmp_path / "terminal").read_text(encoding="utf-8"))
