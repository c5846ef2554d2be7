"""Type, dark pictures, previews, copying, and outputs that wait until the reader has decided."""

import io

import numpy as np
import pytest
from conftest import SITE, comes_true, open_page, violations
from matplotlib.image import imread

PREVIEWS = {
    "equation": ("06_scaled_dot_product_attention.html", "a.equation", "softmax"),
    "term": ("06_scaled_dot_product_attention.html", "a.term", ""),
    "source": ("06_scaled_dot_product_attention.html", "a[href='#reference-1']", "Vaswani"),
}
DECIDE = "00_start_here.html"
LETTERS = """() => [...document.querySelectorAll("article section > p")].flatMap((p) => {
    if (p.querySelector(".math, code")) return [];
    const range = document.createRange();
    const text = document.createTreeWalker(p, NodeFilter.SHOW_TEXT);
    const lines = new Map();
    while (text.nextNode())
        for (let i = 0; i < text.currentNode.length; i++) {
            range.setStart(text.currentNode, i);
            range.setEnd(text.currentNode, i + 1);
            const { bottom, width } = range.getBoundingClientRect();
            const line = Math.round(bottom / 8);
            if (width) lines.set(line, (lines.get(line) ?? 0) + 1);
        }
    return [...lines.values()].slice(0, -1); // the last line is as long as it happens to be
})"""


@pytest.fixture
def reading(browser, addresses):
    """Return a function that opens a page."""
    contexts = []

    def open_at(name, width=1280, theme="light", way="file", **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        context.add_init_script(
            f"localStorage.setItem('mode', '{theme}'); localStorage.setItem('theme', '{theme}')"
        )
        return open_page(context, f"{addresses[way]}/{name}")

    yield open_at
    for context in contexts:
        context.close()


def test_the_faces_are_the_books_own_and_their_license_is_there(reading):
    page = reading("04_masked_softmax.html")
    page.evaluate("document.fonts.ready")
    loaded = "[...document.fonts].filter(f => f.status === 'loaded').map(f => f.family)"
    faces = {face.strip('"') for face in page.evaluate(loaded)}
    assert {f for f in faces if not f.startswith("MJX")} == {"Source Serif 4", "Source Code Pro"}
    assert "SIL Open Font License" in (SITE / "_static/fonts/OFL.txt").read_text(encoding="utf-8")


def test_a_line_of_text_has_60_to_75_letters(reading):
    lines = sorted(reading("04_masked_softmax.html").evaluate(LETTERS))
    assert len(lines) > 20
    assert 60 <= lines[len(lines) // 2] <= 75
    assert lines[int(0.95 * len(lines))] <= 80


def test_79_letters_of_code_fit_beside_the_contents(reading):
    page = reading("04_masked_softmax.html")
    over = page.locator("div.cell_input pre").first.evaluate(
        "pre => { pre.textContent = 'x'.repeat(79); return pre.scrollWidth - pre.clientWidth; }"
    )
    assert over <= 0


@pytest.mark.parametrize(
    "box", ["div.cell_input pre >> visible=true", ".cell_output:has(img[data-wide])"]
)
def test_on_a_phone_code_and_wide_pictures_are_moved_and_a_shadow_says_so(reading, box):
    page = reading("06_scaled_dot_product_attention.html", 390)
    moved = page.locator(box).evaluate_all("all => all.map(b => b.scrollWidth > b.clientWidth)")
    assert any(moved)
    first = page.locator(box).nth(moved.index(True))
    first.evaluate("b => b.scrollIntoView({block: 'center'})")

    def right_edge():
        size = first.bounding_box()
        clip = {"x": size["x"] + size["width"] - 4, "y": size["y"] + 1, "width": 4, "height": 8}
        return imread(io.BytesIO(page.screenshot(clip=clip)))[..., :3].min()

    shadow = right_edge()
    first.evaluate("b => { b.scrollLeft = b.scrollWidth }")
    assert shadow < right_edge() - 0.1


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("system", ["light", "dark"])
def test_a_picture_is_as_dark_as_the_page_whatever_the_system_is(reading, theme, system):
    page = reading("00_start_here.html", theme=theme, color_scheme=system)
    page.evaluate("document.querySelectorAll('.tag_decide').forEach(c => c.className = 'cell')")
    for which in ("article section > p > img", ".cell_output img"):  # a diagram, a heat map
        picture = page.locator(which).first
        assert picture.evaluate("e => getComputedStyle(e).colorScheme") == theme
    picture = page.locator("article section > p > img").first
    picture.scroll_into_view_if_needed()

    def right():  # most of a diagram is its background
        middle = np.median(imread(io.BytesIO(picture.screenshot()))[..., :3])
        return middle < 0.1 if theme == "dark" else middle > 0.95

    assert comes_true(page, right)


@pytest.mark.parametrize("kind", PREVIEWS)
def test_a_reference_shows_what_it_leads_to(reading, kind):
    name, selector, words = PREVIEWS[kind]
    page = reading(name)
    page.clock.install()
    link = page.locator(f"article {selector}").first
    box = page.locator("[role=tooltip]")
    link.hover()
    box.wait_for()
    assert words in (box.get_attribute("aria-label") or box.text_content())
    assert box.locator("div.math > mjx-container").count() == (kind == "equation")
    assert link.get_attribute("aria-describedby") == box.get_attribute("id")
    assert comes_true(page, lambda: box.evaluate("b => b.scrollWidth <= b.clientWidth"))
    box.hover()  # it stays while the pointer is on it
    page.clock.run_for(400)
    assert box.count() == 1
    page.keyboard.press("Escape")
    assert box.count() == 0
    assert link.get_attribute("aria-describedby") is None


def test_a_preview_opens_by_keyboard_and_closes_when_the_focus_goes_on(reading):
    page = reading("06_scaled_dot_product_attention.html")
    page.keyboard.press("Tab")  # from now on, focus is shown
    page.locator("article a.equation").first.focus()
    box = page.locator("[role=tooltip]")
    box.wait_for()
    page.keyboard.press("Tab")
    box.wait_for(state="detached")


def test_every_reference_has_a_preview(reading):
    page = reading("06_scaled_dot_product_attention.html")
    page.locator("article a.equation").first.hover()
    page.locator("[role=tooltip]").wait_for()
    missing = page.evaluate(
        """() => [...document.querySelectorAll("article a")]
            .filter((a) => /#(equation|term|reference)-/.test(a.hash))
            .map((a) => a.pathname.split("/").pop() + a.hash)
            .filter((key) => !(key in PREVIEWS))"""
    )
    assert not missing


def test_a_preview_has_no_serious_violation_in_light_and_dark(reading, axe):
    page = reading("06_scaled_dot_product_attention.html")
    page.locator("article a.equation").first.hover()
    page.locator("[role=tooltip]").wait_for()
    assert not violations(page, axe, "'.book-preview'")


def test_code_is_copied_as_it_stands(reading):
    permissions = ["clipboard-read", "clipboard-write"]
    page = reading("04_masked_softmax.html", way="server", permissions=permissions)
    assert page.locator("button.copy").evaluate_all("all => all.every(b => b.tabIndex < 0)")
    cell = page.locator("div.cell_input >> visible=true").first
    code = cell.locator("pre").text_content()
    cell.hover()
    cell.get_by_role("button", name="Copy the code").click()
    page.get_by_text("Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == code.rstrip() + "\n"


def test_an_output_is_covered_until_the_reader_has_decided(reading):
    page = reading(DECIDE)
    cell = page.locator(".tag_decide").first
    output = cell.locator(".cell_output")
    look = "e => [getComputedStyle(e).filter.includes('blur'), e.inert]"
    assert output.evaluate(look) == [True, True]
    cell.get_by_role("button", name="Decide first").focus()
    page.keyboard.press("Enter")
    assert output.evaluate(look) == [False, False]
    assert cell.get_by_role("button", name="Decide first").count() == 0
    assert page.locator(".tag_decide").nth(1).locator(".cell_output").evaluate(look) == [True, True]


def test_without_a_script_no_output_is_covered(browser, addresses):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{addresses['file']}/{DECIDE}")
    blur = page.locator(".tag_decide .cell_output").first.evaluate(
        "e => getComputedStyle(e).filter"
    )
    context.close()
    assert blur == "none"


def test_chapters_say_when_they_last_changed(reading):
    page = reading("04_masked_softmax.html")
    assert page.locator(".last-changed time").get_attribute("datetime").startswith("20")


def test_the_closed_folds_of_an_exercise_stand_in_one_row(reading):
    page = reading("03_kernels_to_dot_products.html")
    task = page.locator(".role-exercises > section").first.locator("> details")
    assert task.count() == 4
    assert task.last.inner_text() == "Solution"
    assert len({round(box["y"]) for box in map(lambda f: f.bounding_box(), task.all())}) == 1
    task.last.locator("summary").click()
    assert task.last.locator("pre").first.is_visible()


def test_the_copy_button_of_a_phone_covers_no_code(reading):
    page = reading("04_masked_softmax.html", 390, has_touch=True, is_mobile=True)
    over = page.locator("div.highlight:has(> button.copy)").evaluate_all(
        """all => all.map((code) => {
            const button = code.querySelector("button.copy").getBoundingClientRect();
            const range = document.createRange();
            range.selectNodeContents(code.querySelector("pre"));
            return [...range.getClientRects()].some((line) =>
                line.right > button.left && line.left < button.right
                && line.bottom > button.top + 1 && line.top < button.bottom - 1);
        })"""
    )
    assert len(over) > 10
    assert not any(over)


def test_a_page_prints_with_its_title_its_colors_and_closed_solutions(reading):
    page = reading("01_queries_keys_values.html")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.get_by_role("heading", name="1. Queries, keys and values").is_visible()
    assert "exact" in page.locator("td.v").first.evaluate(
        "cell => getComputedStyle(cell).printColorAdjust"
    )
    closed = page.locator(".role-exercises details:not(.hint)")
    assert closed.count() > 3
    assert not any(closed.evaluate_all("all => all.map((fold) => fold.open)"))
    assert page.locator(".role-exercises details.hint").first.evaluate("fold => fold.open")


def test_the_smallest_phone_shows_every_button_of_the_head(browser, addresses):
    context = browser.new_context(viewport={"width": 320, "height": 640})
    page = context.new_page()
    page.goto(f"{addresses['file']}/06_scaled_dot_product_attention.html")
    shown = page.locator(".bd-header-article button:visible, .bd-header-article a:visible")
    boxes = [shown.nth(at).bounding_box() for at in range(shown.count())]
    assert len(boxes) >= 7
    assert max(box["x"] + box["width"] for box in boxes) <= 320
    context.close()
