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
from d2l_attention.practice import drawing, explorer, explorer_plots

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
    """Run a chapter's cells up to its last explorer; return each one's function, sliders and plots.

    A chapter may set the default precision and the number of threads: its functions are called
    under its own settings, and no other chapter is.
    """
    cells = nbformat.read(NOTEBOOKS / f"{chapter}.ipynb", 4).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    last = max(i for i, cell in enumerate(code) if "\nexplore(" in f"\n{cell.source}")
    calls, names = [], {"__name__": "__main__"}

    def record(function, **options):
        sliders = {n: explorer.labelled(v) for n, v in options.items() if n not in NOT_SLIDERS}
        calls.append((SettingsOfTorch()(function), sliders, options.get("draw", ())))
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


def controls(root):
    return root.locator(":scope > label, :scope > fieldset").all()


def at(control):
    """Return where a slider or a row of buttons stands."""
    return control.evaluate(
        """e => e.localName === 'label' ? Number(e.querySelector('input').value)
          : [...e.querySelectorAll('input')].findIndex(i => i.checked)"""
    )


def shown(root):
    """Return the numbers and words, and the points of the curves, that an explorer shows."""
    return root.evaluate(
        """root => ({
          cells: [...root.querySelectorAll('td.v')].map(c => c.textContent),
          titles: [...root.querySelectorAll('td.v')].map(c => c.title),
          masked: [...root.querySelectorAll('td.v')].map(c => c.classList.contains('masked')),
          digits: [...root.querySelectorAll('td.v')]
            .map(c => Number(c.closest('[data-digits]').dataset.digits)),
          zeros: [...root.querySelectorAll('td.v')]
            .map(c => c.closest('table').dataset.zeros ?? ''),
          curves: [...root.querySelectorAll('path.c')].map(c => ({
            d: c.getAttribute('d'), ...c.ownerSVGElement.dataset})),
          marks: [...root.querySelectorAll('svg.plot path[class]')].map(c => ({
            d: c.getAttribute('d'), plot: [...root.querySelectorAll('svg.plot')]
              .indexOf(c.ownerSVGElement), scale: c.ownerSVGElement.dataset.scale})),
        })"""
    )


def expected(function, values, draw, page):
    """Return what the page ought to show, from the Python function."""
    parts = explorer.with_sliders(explorer.frame(function(**values)), values, draw)
    numbers = [float("nan") if number is None else number for number in explorer.flat(parts)]
    cells, titles = [], []
    for number, digits, zeros in zip(numbers, page["digits"], page["zeros"], strict=False):
        empty = bool(zeros) and number == 0
        cells.append("" if empty else drawing.number_text(number, digits))
        titles.append(drawing.number_text(number) if zeros else "")
    begin, paths = len(cells), []
    for curve in page["curves"]:
        across, limits = curve["x"].split(), tuple(map(float, curve["y"].split()))
        paths.append(drawing.path(across, numbers[begin : begin + len(across)], limits))
        begin += len(across)
    return cells, titles, paths + moved(draw, parts, page)


def moved(draw, parts, page):
    """Return the paths of the marks that move, on the axes of the page."""
    marks = [
        (i, m)
        for i, p in enumerate(draw)
        for m in p.marks
        if explorer_plots.named([explorer_plots.Plot(m)])
    ]
    assert [i for i, _ in marks] == [mark["plot"] for mark in page["marks"]]
    paths = []
    for (i, mark), on_page in zip(marks, page["marks"], strict=True):
        canvas = explorer_plots.Canvas(draw[i], [parts])
        scale = list(map(float, on_page["scale"].split()))
        canvas.x, canvas.y, canvas.edges = scale[:2], scale[2:4], scale[4:]
        paths.append(canvas.path(mark, parts))
    return paths


def agree(explored, root):
    function, choices, draw = explored
    values = {
        name: list(labelled.values())[at(control)]
        for (name, labelled), control in zip(choices.items(), controls(root), strict=True)
    }
    page = shown(root)
    cells, titles, paths = expected(function, values, draw, page)
    assert (page["cells"], page["titles"]) == (cells, titles), values
    for curve, path in zip(page["curves"] + page["marks"], paths, strict=True):
        got, want = (list(map(float, NUMBER.findall(d))) for d in (curve["d"], path))
        assert got == pytest.approx(want, abs=0.2), values
    return page


def boxes(root):
    """Return where controls and plots stand in an explorer, which nothing may move."""
    return root.evaluate(
        """root => [root, ...root.querySelectorAll('label, fieldset, input, svg, .parts')]
          .map(e => [e.getBoundingClientRect(), root.getBoundingClientRect()])
          .map(([b, r]) => [b.x - r.x, b.y - r.y, b.width, b.height].map(Math.round))"""
    )


def keep_still(page, root, control):
    """Go through all values of a control; return how often something moved."""
    before, moves = boxes(root), 0
    control.locator("input").first.focus()
    for _ in range(control.locator("input").count() + 3):
        page.keyboard.press("ArrowRight")
        moves += boxes(root) != before
    return moves


@pytest.mark.parametrize("chapter", chapters_with_explorers())
def test_explorers_show_what_the_function_gives(browser, addresses, way, chapter):
    context = browser.new_context(viewport={"width": 1200, "height": 1000})
    page = open_page(context, f"{addresses[way]}/{chapter}.html")
    roots = page.locator(".d2l-explorer").all()
    assert len(roots) == len(explored(chapter))
    for root, known in zip(roots, explored(chapter), strict=True):
        before = agree(known, root)
        seen = []
        for control, labelled in zip(controls(root), known[1].values(), strict=True):
            inputs = control.locator("input")
            last = len(labelled) - 1
            if inputs.count() > 1:  # names: a row of buttons
                assert control.locator("legend").text_content()
                assert control.locator("span").all_text_contents() == list(labelled)
                for i in (last, 0):
                    inputs.nth(i).click()
                    seen.append(agree(known, root))
                    assert at(control) == i
                page.keyboard.press("ArrowRight")
                assert at(control) == 1
                seen.append(agree(known, root))
                continue
            inputs.focus()
            for key, place in (("Home", 0), ("ArrowRight", 1), ("End", last)):
                page.keyboard.press(key)
                assert at(control) == place
                seen.append(agree(known, root))
            page.keyboard.press("ArrowLeft")
            assert inputs.get_attribute("aria-valuetext") == list(labelled)[-2]
            box = inputs.bounding_box()
            page.mouse.click(box["x"] + 2, box["y"] + box["height"] / 2)
            assert at(control) == 0
            seen.append(agree(known, root))
        assert any(now != before for now in seen)
    context.close()


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("chapter", chapters_with_explorers())
def test_nothing_moves_on_the_page_while_a_control_does(browser, addresses, chapter, width):
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(f"{addresses['file']}/{chapter}.html")
    for root in page.locator(".d2l-explorer").all():
        assert [keep_still(page, root, c) for c in controls(root)] == [0] * len(controls(root))
    page.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_a_drag_sets_the_nearest_value(browser, addresses, way, width):
    chapter = "01_queries_keys_values"
    (known,) = explored(chapter)
    page = browser.new_page(viewport={"width": width, "height": 1000})
    page.goto(f"{addresses[way]}/{chapter}.html")
    root = page.locator(".d2l-explorer")
    hours, temperature = root.locator("input").all()
    start = temperature.input_value()
    for picture in root.locator("svg.plot").all():
        picture.scroll_into_view_if_needed()
        box = picture.bounding_box()
        low, high, *_, left, right, _, _ = map(float, picture.get_attribute("data-scale").split())

        def pixel(value, box=box, low=low, high=high, left=left, right=right):
            inside = left + (value - low) / (high - low) * (right - left)
            return box["x"] + inside / 460 * box["width"], box["y"] + box["height"] / 2

        page.mouse.move(*pixel(3.1))
        page.mouse.down()
        for value, nearest in ((3.1, "3"), (8.2, "8"), (11.6, "11.5"), (12.3, "12"), (6.9, "7")):
            page.mouse.move(*pixel(value))
            assert hours.get_attribute("aria-valuetext") == nearest
            agree(known, root)
        page.mouse.up()
        page.mouse.move(*pixel(2))
        assert hours.get_attribute("aria-valuetext") == "7"  # let go
        page.keyboard.press("ArrowRight")
        assert hours.get_attribute("aria-valuetext") == "7.5"
        agree(known, root)
    assert temperature.input_value() == start
    page.close()


def test_a_step_of_a_drawn_explorer_takes_less_than_a_frame(browser, addresses):
    page = browser.new_page()
    page.goto(f"{addresses['file']}/02_kernels.html")
    milliseconds = page.locator(".d2l-explorer input[type=range]").first.evaluate(
        """input => {
          const begun = performance.now();
          for (let i = 0; i < 50; i++) {
            input.value = i % 2;
            input.dispatchEvent(new Event('input'));
            input.getBoundingClientRect();
          }
          return (performance.now() - begun) / 50;
        }"""
    )
    page.close()
    assert milliseconds < 16


def test_the_explorer_of_the_home_page_moves(browser, addresses, way):
    known = explored(chapters_with_explorers()[0])[0]
    page = browser.new_page()
    page.goto(f"{addresses[way]}/index.html")
    root = page.locator(".d2l-explorer")
    before = agree(known, root)
    root.locator("input").nth(0).focus()
    page.keyboard.press("End")
    assert agree(known, root) != before
    page.close()
