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
from d2l_attention.practice import drawing, explorer, explorer_planes, explorer_plots

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
        ahead = options.get("lit", ""), *options.get("folded", ())  # first on the page

        def ordered(**values):
            result = function(**values)
            return explorer.first_of(result, *ahead) if any(ahead) else result

        calls.append((SettingsOfTorch()(ordered), sliders, options.get("draw", ())))
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
    """Return where a slider or a row of buttons stands, or of words that are on or off."""
    return control.evaluate(
        """e => e.localName === 'label' ? Number(e.querySelector('input').value)
          : e.querySelector('input') ? [...e.querySelectorAll('input')].findIndex(i => i.checked)
          : parseInt([...e.querySelectorAll('button')]
            .map(b => Number(b.ariaPressed === 'true')).join(''), 2)"""
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
            .map(c => c.closest('[data-digits]').dataset.zeros ?? ''),
          curves: [...root.querySelectorAll('path.c')].map(c => ({
            d: c.getAttribute('d'), ...c.ownerSVGElement.dataset})),
          marks: [...root.querySelectorAll('svg.plot [class]')].map(c => ({
            d: c.getAttribute(c.localName === 'text' ? 'transform' : 'd'),
            plot: [...root.querySelectorAll('svg.plot')]
              .indexOf(c.ownerSVGElement), scale: c.ownerSVGElement.dataset.scale})),
        })"""
    )


def expected(function, values, draw, page):
    """Return what the page ought to show, from the Python function."""
    parts = explorer.with_sliders(explorer.frame(function(**values)), values, draw)
    planes = explorer_planes.Planes(draw)
    draw, (parts,) = planes.expanded([planes.traced(parts)])
    numbers = [float("nan") if number is None else number for number in explorer.flat(parts)]
    cells, titles = [], []
    for number, digits, zeros in zip(numbers, page["digits"], page["zeros"], strict=False):
        empty = bool(zeros) and number == 0
        cells.append("" if empty else drawing.number_text(number, digits))
        titles.append(drawing.number_text(number) if zeros and digits else "")
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
        """root => [root, ...root.querySelectorAll(
            'label, fieldset, input, button, svg, td, .parts')]
          .map(e => [e.getBoundingClientRect(), root.getBoundingClientRect()])
          .map(([b, r]) => [b.x - r.x, b.y - r.y, b.width, b.height].map(Math.round))"""
    )


def keep_still(page, root, control):
    """Go through all values of a control; return how often something moved."""
    before, moves = boxes(root), 0
    for button in control.locator("button").all():
        button.click()
        moves += boxes(root) != before
    if control.locator("button").count():
        return moves
    control.locator("input").first.focus()
    for _ in range(control.locator("input").count() + 3):
        page.keyboard.press("ArrowRight")
        moves += boxes(root) != before
    return moves


def turn(page, known, root, control):
    """Turn all words of a control off or on, by mouse and by keyboard; return what is seen."""
    seen, place = [], at(control)
    words = control.locator("button").all()
    for i, word in enumerate(words):
        word.click()
        place ^= 1 << (len(words) - 1 - i)
        assert at(control) == place
        seen.append(agree(known, root))
    words[0].focus()
    for i, key in zip(range(len(words)), ["Space", "Enter"] * len(words), strict=False):
        page.keyboard.press(key)
        page.keyboard.press("Tab")
        place ^= 1 << (len(words) - 1 - i)
        assert at(control) == place
        seen.append(agree(known, root))
    return seen


READ = [("file", chapter) for chapter in chapters_with_explorers()]


@pytest.mark.parametrize(("read_as", "chapter"), [*READ, ("server", "04_masked_softmax")])
def test_explorers_show_what_the_function_gives(browser, addresses, read_as, chapter):
    context = browser.new_context(viewport={"width": 1200, "height": 1000})
    page = open_page(context, f"{addresses[read_as]}/{chapter}.html", math=False)
    roots = page.locator(".d2l-explorer").all()
    assert len(roots) == len(explored(chapter))
    for root, known in zip(roots, explored(chapter), strict=True):
        before = agree(known, root)
        seen = []
        for control, labelled in zip(controls(root), known[1].values(), strict=True):
            inputs = control.locator("input")
            last = len(labelled) - 1
            if control.locator("button").count():
                seen += turn(page, known, root, control)
                continue
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
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = open_page(context, f"{addresses['file']}/{chapter}.html", math=False)
    for root in page.locator(".d2l-explorer").all():
        assert [keep_still(page, root, c) for c in controls(root)] == [0] * len(controls(root))
    page.context.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_a_drag_sets_the_nearest_value(browser, addresses, way, width):
    chapter = "01_queries_keys_values"
    (known,) = explored(chapter)
    context = browser.new_context(viewport={"width": width, "height": 1000})
    page = open_page(context, f"{addresses[way]}/{chapter}.html", math=False)
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
    page.context.close()


WITH_STEPS = ["09_what_attention_costs", "10_attention_that_learns_to_align"]


def stepped(browser, addresses, way, chapter, **context):
    """Return a page, its explorer with steps, and what that one ought to show."""
    page = browser.new_context(viewport={"width": 390, "height": 900}, **context).new_page()
    page.clock.install(time="2026-01-01")
    page.goto(f"{addresses[way]}/{chapter}.html")
    page.clock.pause_at("2026-01-02")  # from here on, time goes on by run_for alone
    every = page.locator(".d2l-explorer")
    (at,) = [i for i in range(every.count()) if every.nth(i).get_attribute("data-steps")]
    return page, every.nth(at), explored(chapter)[at]


@pytest.mark.parametrize("chapter", WITH_STEPS)
def test_back_and_next_go_through_the_frames_by_mouse_and_keyboard(
    browser, addresses, way, chapter
):
    page, root, known = stepped(browser, addresses, way, chapter)
    place, last = map(int, root.get_attribute("data-steps").split())
    track = controls(root)[place]
    assert last == len(list(known[1].values())[place]) - 1
    name = track.locator("span").first.text_content()
    assert root.get_by_role("group", name=name).count() == 1
    back, forth = (root.get_by_role("button", name=name) for name in ("Back", "Next"))
    track.locator("input").focus()
    page.keyboard.press("Home")
    still = boxes(root)
    assert (back.get_attribute("aria-disabled"), forth.get_attribute("aria-disabled")) == (
        "true",
        "false",
    )
    for i in range(last):
        forth.click()
        assert at(track) == i + 1
        agree(known, root)
        assert boxes(root) == still
    assert forth.get_attribute("aria-disabled") == "true"
    forth.click(force=True)  # it says that it is disabled, and keeps the focus
    assert at(track) == last
    page.keyboard.press("Shift+Tab")  # Play
    page.keyboard.press("Shift+Tab")
    for key, wanted in (("Enter", last - 1), ("Space", last - 2)):
        page.keyboard.press(key)
        assert at(track) == wanted
        agree(known, root)
    page.context.close()


@pytest.mark.parametrize("chapter", WITH_STEPS)
def test_play_goes_on_by_itself_and_stops_at_the_end(browser, addresses, chapter):
    page, root, known = stepped(browser, addresses, "file", chapter)
    place, last = map(int, root.get_attribute("data-steps").split())
    track = controls(root)[place]
    track.locator("input").focus()
    page.keyboard.press("End")
    play = root.locator(".steps button").nth(1)
    still = boxes(root)
    play.click()
    assert (at(track), play.text_content()) == (0, "Pause")  # from the end, it begins anew
    page.clock.run_for(1500)
    assert at(track) == 2
    agree(known, root)
    assert boxes(root) == still
    play.click()
    page.clock.run_for(3000)
    assert (at(track), play.text_content()) == (2, "Play")
    play.click()
    page.clock.run_for(700 * last)
    assert (at(track), play.text_content()) == (last, "Play")
    play.click()
    page.clock.run_for(800)
    root.get_by_role("button", name="Back").click()  # takes over
    page.clock.run_for(3000)
    assert (at(track), play.text_content()) == (0, "Play")
    play.click()
    track.locator("input").focus()
    page.keyboard.press("ArrowRight")  # so does the slider
    page.clock.run_for(3000)
    assert (at(track), play.text_content()) == (1, "Play")
    page.context.close()


def test_nothing_plays_for_readers_who_want_no_motion(browser, addresses):
    page, root, _ = stepped(browser, addresses, "file", WITH_STEPS[1], reduced_motion="reduce")
    assert root.locator(".steps button").all_text_contents() == ["Back", "Next"]
    page.context.close()


def test_letters_light_up_with_their_weights(browser, addresses):
    page, root, known = stepped(browser, addresses, "file", WITH_STEPS[1])
    colors = """root => [...root.querySelectorAll('table.lit tr')].map(row => [...row.cells]
      .map(c => [c.style.backgroundColor, c.style.color]))"""
    for token in range(3):
        root.locator("input").nth(1).focus()
        page.keyboard.press("ArrowLeft")
        agree(known, root)
        heads, weights = root.evaluate(colors)
        assert heads == weights, token
    assert len({color for color, _ in heads}) > 2
    page.context.close()


def test_arrow_keys_reach_all_digits_of_a_table(browser, addresses):
    context = browser.new_context()
    page = open_page(context, f"{addresses['file']}/04_masked_softmax.html", math=False)
    table = page.locator(".d2l-explorer table[data-zeros]").first
    cells = table.locator("td.v")
    table.page.locator(".d2l-explorer").last.locator("input:checked").focus()
    page.keyboard.press("Tab")  # one stop for the whole table
    before = table.bounding_box()
    for key, at in (("ArrowDown", 4), ("ArrowRight", 5), ("ArrowUp", 1), ("ArrowUp", 1)):
        page.keyboard.press(key)
        assert cells.nth(at).evaluate("c => c === document.activeElement")
        shown = cells.nth(at).evaluate("c => getComputedStyle(c, '::after').content")
        assert shown == f'"{cells.nth(at).get_attribute("title")}"'
        assert table.bounding_box() == before
    assert table.locator('[tabindex="0"]').count() == 1
    page.context.close()


@pytest.mark.parametrize("chapter", chapters_with_explorers())
def test_no_column_is_lost_on_a_phone(browser, addresses, chapter):
    context = browser.new_context(viewport={"width": 390, "height": 900})
    page = open_page(context, f"{addresses['file']}/{chapter}.html", math=False)
    page.wait_for_selector(".d2l-explorer[data-live]")
    over = page.evaluate(
        """() => [...document.querySelectorAll('.d2l-explorer, .d2l-explorer .parts')]
          .map(e => e.scrollWidth - e.clientWidth)"""
    )
    page.context.close()
    assert max(over) <= 0


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize(
    ("chapter", "dragged"),
    [
        ("07_additive_attention", {"y": "query"}),
        ("08_more_scoring_functions", {"x": "lively", "y": "bright"}),
    ],
)
def test_a_query_is_dragged_through_a_plane(browser, addresses, chapter, dragged, width):
    (known,) = explored(chapter)
    context = browser.new_context(viewport={"width": width, "height": 1000})
    page = open_page(context, f"{addresses['file']}/{chapter}.html", math=False)
    root = page.locator(".d2l-explorer")
    sliders = dict(zip(known[1], controls(root), strict=True))

    def told():
        inputs = {
            n: c.locator("input") for n, c in sliders.items() if c.locator("input").count() == 1
        }
        return {n: float(i.get_attribute("aria-valuetext")) for n, i in inputs.items()}

    for picture in root.locator("svg.plot[data-drag]").all():
        picture.scroll_into_view_if_needed()
        box = picture.bounding_box()
        unit = box["width"] / float(picture.get_attribute("viewBox").split()[2])
        x0, x1, y0, y1, left, right, bottom, top = map(
            float, picture.get_attribute("data-scale").split()
        )
        before, down = told(), False
        for x, y in ((0.4, 0.7), (0.9, 0.2), (0.1, 0.55)):  # parts of the axes
            across, up = left + x * (right - left), bottom + y * (top - bottom)
            page.mouse.move(box["x"] + across * unit, box["y"] + up * unit)
            if not down:
                page.mouse.down()
            down, wanted = True, {"x": x0 + x * (x1 - x0), "y": y0 + y * (y1 - y0)}
            nearest = before | {
                name: min(known[1][name].values(), key=lambda v, w=wanted[axis]: abs(v - w))
                for axis, name in dragged.items()
            }
            assert told() == nearest
        agree(known, root)
        page.mouse.up()
        page.mouse.move(box["x"], box["y"])
        assert told() == nearest
        page.keyboard.press("ArrowRight")
        first = next(iter(dragged.values()))
        assert told()[first] > nearest[first]
    page.context.close()
