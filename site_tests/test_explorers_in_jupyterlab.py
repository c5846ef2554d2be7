"""Explorers in JupyterLab and on a page of nothing else, by keyboard and by mouse."""

import socket
import subprocess
import sys
import time
import urllib.request

import nbformat
import numpy as np
import pytest
from conftest import ROOT
from nbclient import NotebookClient
from nbformat.sign import NotebookNotary

from tests import explorer_examples as examples

OPTIONS = [
    "--ServerApp.port_retries=0",
    "--IdentityProvider.token=",
    "--LabApp.expose_app_in_browser=True",
]
CAPTION = "Weights of <four> keys & their weighted sum."
PAGE = "<!doctype html><meta charset=utf-8><body>{}</body>"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """JupyterLab with the same notebook twice, one of them trusted; its address."""
    folder = tmp_path_factory.mktemp("lab")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        for name in ("DATA", "CONFIG", "RUNTIME"):
            patch.setenv(f"JUPYTER_{name}_DIR", str(folder / name))
        write_notebooks(folder)
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "jupyterlab",
                "--no-browser",
                "--allow-root",
                f"--port={port}",
                *OPTIONS,
            ],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(address)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=20)


def write_notebooks(folder):
    cells = ["from tests import explorer_examples as e\ne.heat_map()", "e.plots()", "e.heat_map()"]
    cells.append("e.one_row()")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    NotebookClient(notebook, kernel_name="python3", timeout=60).execute()
    notary = NotebookNotary()
    notary.sign(notebook)
    notary.store.close()
    nbformat.write(notebook, folder / "trusted.ipynb")
    notebook.cells.insert(0, nbformat.v4.new_markdown_cell("From a stranger"))
    nbformat.write(notebook, folder / "untrusted.ipynb")


def wait_for(address):
    for _ in range(240):  # on a busy machine it takes a minute
        try:
            urllib.request.urlopen(f"{address}/api", timeout=5).close()
        except OSError:
            time.sleep(0.5)
        else:
            return
    raise TimeoutError(f"JupyterLab does not answer at {address}")


def lab_page(browser, server, name):
    page = browser.new_page(viewport={"width": 1200, "height": 1800})
    page.goto(f"{server}/lab/tree/{name}.ipynb?reset")
    page.wait_for_selector(".d2l-explorer", timeout=60_000)
    return page


def shows(explorer, temperature, valid_len):
    weights = examples.weights(temperature, valid_len).ravel()
    wanted = [f"{w:.2f}" if w else "" for w in weights]  # an exact 0 is an empty cell
    explorer.page.wait_for_function(
        "([root, wanted]) => JSON.stringify([...root.querySelectorAll('td.v')]"
        ".map(c => c.textContent)) === JSON.stringify(wanted)",
        arg=[explorer.element_handle(), wanted],
        timeout=5_000,
    )


def drive(page):
    """Move the sliders of the first explorer and compare what it shows with the function."""
    first = page.locator(".d2l-explorer").nth(0)
    first.locator("input").nth(1).wait_for()
    temperature, length = first.get_by_label("temperature"), first.get_by_label("valid len")
    shows(first, 1.0, 3)
    temperature.focus()
    page.keyboard.press("ArrowRight")
    shows(first, 2.0, 3)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    shows(first, 0.5, 3)
    page.keyboard.press("End")
    shows(first, 5.0, 3)
    assert temperature.get_attribute("aria-valuetext") == "5"
    page.keyboard.press("Home")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowUp")
    shows(first, 0.1, 4)
    box = length.bounding_box()
    page.mouse.click(box["x"] + 2, box["y"] + box["height"] / 2)
    shows(first, 0.1, 1)
    assert "rgb(8, 48, 107)" in first.locator("td.v").nth(0).get_attribute("style")


def move_plot(page):
    second = page.locator(".d2l-explorer").nth(1)
    curve = second.locator("path.curve")
    before = curve.get_attribute("d")
    second.get_by_role("slider", name="sharpness").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "([curve, before]) => curve.getAttribute('d') !== before",
        arg=[curve.element_handle(), before],
    )
    assert second.get_by_role("img", name=CAPTION).count() == 2


def turn_words(page, explorer):
    """Turn words off and on by keyboard and by mouse, and walk through the digits of weights."""
    word, last = (explorer.get_by_role("button", name=n) for n in ("two", "please"))
    word.focus()
    page.keyboard.press("Enter")  # is the button's, not the notebook's
    assert word.get_attribute("aria-pressed") == "false"
    last.click()
    weights = examples.stages((False, True, True), -np.inf)["weights"][0]
    cells = explorer.locator("td[title]")
    assert [cell.text_content() or "0.00" for cell in cells.all()] == [f"{w:.2f}" for w in weights]
    cells.nth(0).focus()
    page.keyboard.press("ArrowRight")
    shown = cells.nth(1).evaluate("c => getComputedStyle(c, '::after').content")
    assert (page.evaluate("document.activeElement.title"), shown) == (
        f"{weights[1]:.4f}",
        f'"{weights[1]:.4f}"',
    )
    assert explorer.get_by_role("button").count() == 3  # still an output, not a cell in edit mode


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_sliders_move_in_a_trusted_notebook(browser, server, theme):
    page = lab_page(browser, server, "trusted")
    page.wait_for_selector(".d2l-explorer input")
    page.evaluate(
        "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", theme
    )
    drive(page)
    move_plot(page)
    third = page.locator(".d2l-explorer").nth(2)
    third.scroll_into_view_if_needed()
    shows(third, 1.0, 3)  # the same explorer twice on a page: each moves alone
    turn_words(page, page.locator(".d2l-explorer").nth(3))
    page.close()


def test_the_picture_stands_still_in_a_notebook_that_is_not_trusted(browser, server):
    page = lab_page(browser, server, "untrusted")
    first = page.locator(".d2l-explorer").nth(0)
    shows(first, 1.0, 3)
    assert page.locator(".d2l-explorer input").count() == 0
    assert "background-color" in first.locator("td.v").nth(0).get_attribute("style")
    assert page.get_by_alt_text(CAPTION).first.evaluate("i => i.naturalWidth") == 460
    page.close()


def test_without_a_script_the_picture_stands_still(browser):
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.set_content(PAGE.format(examples.heat_map().html + examples.plots().html))
    assert page.get_by_text("Still picture at temperature = 1").is_visible()
    assert page.locator("input").count() == 0
    assert page.get_by_alt_text(CAPTION).first.is_visible()
    context.close()
