"""No desert: on a laptop, a picture that the text uses is never far away."""

import pytest
from conftest import BOOK, FURTHER, open_page

MOST = 4000  # CSS pixels without a picture, diagram or explorer
LEAST = 40  # what is lower is no picture
STRETCHES = """(least) => {
    const article = document.querySelector("article");
    const top = article.getBoundingClientRect().top;
    const place = (element) => {
        const box = element.getBoundingClientRect();
        return [box.top - top, box.bottom - top];
    };
    const seen = [...article.querySelectorAll("img, .d2l-explorer, .attention-widget")]
        .filter((picture) => picture.checkVisibility() && picture.offsetHeight >= least)
        .map(place)
        .sort((a, b) => a[0] - b[0]);
    const heads = article.querySelectorAll("h2, h3");
    const headings = [...heads].map((h) => [place(h)[0], h.textContent]);
    const end = article.getBoundingClientRect().height;
    let at = 0;
    return [...seen, [end, end]].map(([begin, after]) => {
        const length = Math.round(begin - at);
        const heading = headings.findLast(([y]) => y <= at)?.[1] ?? "the top";
        at = Math.max(at, after);
        return [length, heading];
    });
}"""
PAGES = [
    f"{folder}{chapter}"
    for folder, edition in zip(("", *FURTHER), BOOK.editions, strict=True)
    for chapter in BOOK.chapters_of(edition)
    if chapter[0].isdigit() and chapter not in BOOK.appendices
]


@pytest.mark.parametrize("chapter", PAGES)
def test_a_picture_is_never_far_away(browser, addresses, chapter):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = open_page(context, f"{addresses['file']}/{chapter}.html")
    stretches = page.evaluate(STRETCHES, LEAST)
    context.close()
    assert len(stretches) > 4
    assert not [f"{px} px from {heading!r}" for px, heading in stretches if px > MOST]
