"""Explorers move by keyboard and by mouse, and show what the chapter's own function gives."""

import contextlib
import functools
import re
import warnings

import nbformat
import pytest
import torch
from conftest import ROOT, open_page

import d2l_attention.practice as practice
from d2l_attention.practice import drawing, explorer

NOTEBOOKS = ROOT / "notebooks" / "pytorch"
NOT_SLIDERS = set(explorer.explore.__kwdefaults__) | {"caption", "question"}
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def chapters_with_explorers():
    return [
        path.stem
        for path in sorted(NOTEBOOKS.glob("*.ipynb"))
        if "\nexplore(" in "\n".join(c.source for c in nbformat.read(path, 4).cells)
    ]


class SettingsOfTorch(contextlib.ContextDecorator):
    """Call a function under the settings of torch that hold now; put others back after it."""

    def __init__(self):
        self.inside = torch.get_default_dtype(), torch.get_num_threads()

    def __enter__(self):
        self.outside = torch.get_default_dtype(), torch.get_num_threads()
        self.apply(self.inside)

    def __exit__(self, *_):
        self.apply(self.outside)

    def apply(self, held):
        torch.set_default_dtype(held[0])
        torch.set_num_threads(held[1])


@functools.cache
def explored(chapter):
    """Run a chapter's cells up to its last explorer; return each one's function and sliders.

    A chapter may set the default precision and the number of threads: its functions are called
    under its own settings, and no other chapter is.
    """
    cells = nbformat.read(NOTEBOOKS / f"{chapter}.ipynb", 4).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    last = max(i for i, cell in enumerate(code) if "\nexplore(" in f"\n{cell.source}")
    calls, names = [], {"__name__": "__main__"}

    def record(function, **options):
        sliders = {n: explorer.labelled(v) for n, v in options.items() if n not in NOT_SLIDERS}
        calls.append((SettingsOfTorch()(function), sliders))
        return explorer.explore(function, **options)

    with SettingsOfTorch(), pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the notebooks run without pytest's strictness
        patch.setattr(practice, "explore", record)
        for cell in code[: last + 1]:
            try:
                exec(compile(cell.source, chapter, "exec"), names)
            except Exception:
                if "raises-exception" not in cell.metadata.get("tags", []):
                    raise
    return calls


def shown(root):
    """Return the numbers and words, and the points of the curves, that an explorer shows."""
    return root.evaluate(
        """root => ({
          cells: [...root.querySelectorAll('td.v')].map(c => c.textContent),
          digits: [...root.querySelectorAll('td.v')]
            .map(c => Number(c.closest('[data-digits]').dataset.digits)),
          curves: [...root.querySelectorAll('path.c')].map(c => ({
            d: c.getAttribute('d'), ...c.ownerSVGElement.dataset})),
        })"""
    )


def expected(function, values, page):
    """Return what the page ought to show, from the Python function."""
    numbers = explorer.flat(explorer.frame(function(**values)))
    cells = [
        drawing.number_text(float("nan") if number is None else number, digits)
        for number, digits in zip(numbers, page["digits"], strict=False)
    ]
    at, paths = len(cells), []
    for curve in page["curves"]:
        across, limits = curve["x"].split(), tuple(map(float, curve["y"].split()))
        heights = [float("nan") if n is None else n for n in numbers[at : at + len(across)]]
        paths.append(drawing.path(across, heights, limits))
        at += len(across)
    return cells, paths


def agree(function, choices, root):
    inputs = root.locator("input").all()
    at = [int(slider.input_value()) for slider in inputs]
    values = {
        name: list(labelled.values())[i]
        for (name, labelled), i in zip(choices.items(), at, strict=True)
    }
    page = shown(root)
    cells, paths = expected(function, values, page)
    assert page["cells"] == cells, values
    for curve, path in zip(page["curves"], paths, strict=True):
        got, want = (list(map(float, NUMBER.findall(d))) for d in (curve["d"], path))
        assert got == pytest.approx(want, abs=0.2), values
    return page


@pytest.mark.parametrize("chapter", chapters_with_explorers())
def test_explorers_show_what_the_function_gives(browser, addresses, way, chapter):
    context = browser.new_context(viewport={"width": 1200, "height": 1000})
    page = open_page(context, f"{addresses[way]}/{chapter}.html")
    roots = page.locator(".d2l-explorer").all()
    assert len(roots) == len(explored(chapter))
    for root, (function, choices) in zip(roots, explored(chapter), strict=True):
        before = agree(function, choices, root)
        seen = []
        for slider, labelled in zip(root.locator("input").all(), choices.values(), strict=True):
            slider.focus()
            for key in ("Home", "ArrowRight", "End", "ArrowLeft"):
                page.keyboard.press(key)
                seen.append(agree(function, choices, root))
            assert slider.get_attribute("aria-valuetext") == list(labelled)[-2]
            box = slider.bounding_box()
            page.mouse.click(box["x"] + 2, box["y"] + box["height"] / 2)
            assert slider.input_value() == "0"
            seen.append(agree(function, choices, root))
        assert any(now != before for now in seen)
    context.close()


def test_the_explorer_of_the_home_page_moves(browser, addresses, way):
    function, choices = explored(chapters_with_explorers()[0])[0]
    page = browser.new_page()
    page.goto(f"{addresses[way]}/index.html")
    root = page.locator(".d2l-explorer")
    before = agree(function, choices, root)
    root.locator("input").nth(0).focus()
    page.keyboard.press("End")
    assert agree(function, choices, root) != before
    page.close()
