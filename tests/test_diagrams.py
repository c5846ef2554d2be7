"""The book's diagrams: the files are what the script draws, and can be read by everyone."""

from xml.etree import ElementTree

import draw

from bookbinder.language.catalog import Language
from bookbinder.pictures import diagram_text, figure_messages
from tests.pseudo import pseudo
from tests.this_book import BOOK

FIGURES = BOOK.root / "notebooks/figures"
SVG = "{http://www.w3.org/2000/svg}"
TEXTS = {name: drawn() for name, drawn in draw.DIAGRAMS.items()}
DRAWN = {name: ElementTree.fromstring(text) for name, text in TEXTS.items()}
CARDS = [name for name in TEXTS if name.startswith("card_")]
WORDS = dict(figure_messages(BOOK.source))


def test_the_files_are_what_the_script_draws_light_and_described_for_those_who_do_not_see_it():
    files = {path.stem: path.read_text(encoding="utf-8") for path in FIGURES.glob("*.svg")}
    assert files == TEXTS
    assert [f"card_{number}" for number, _ in enumerate(BOOK.parts, start=1)] == CARDS
    for name, svg in DRAWN.items():
        assert svg.find(SVG + "title").text, name
        assert len(svg.find(SVG + "desc").text) > 80, name
        assert int(svg.get("width")) <= 720, name  # it fits a page
        if name in CARDS:
            assert (svg.get("width"), svg.get("height")) == ("320", "176"), name
            sizes = [float(x.get("font-size")) for x in svg.iter() if x.get("font-size")]
            assert min(sizes, default=15) >= 13.5, name  # 12 px on a card of 284
        if name.startswith(("card_", "machine", "strip_")):
            assert len(TEXTS[name]) <= 12_000, name


def test_words_are_drawn_in_a_language_and_formulas_as_they_are():
    for formula in ("**W**_{q}", "tanh(2) = 0.96", "(b, n, d)", "True", "<pad>", "d2l_attention"):
        assert formula not in WORDS
    other = Language("id", lambda _: {text: pseudo(text) for text in WORDS})
    made = ElementTree.fromstring(diagram_text(BOOK, "card_2.svg", other))
    for before, after in zip(DRAWN["card_2"].iter(), made.iter(), strict=True):
        words = before.text or ""  # the home page has the title and the description, too
        assert (after.text or "") == (pseudo(words) if words in WORDS else words)
