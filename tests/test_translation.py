"""Other languages: catalogs and what they must keep, a sample, and all of this book in the pseudo.

Practice speaks a language when it runs, and in outputs that were stored in English.
"""

import ast
import copy
import re
from dataclasses import replace
from html import unescape

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from bookbinder.catalogs import (
    as_po,
    catalog_file,
    disagreement,
    parsed,
    template,
    translations,
    updated,
)
from bookbinder.files import BookError, write_whole
from bookbinder.language import in_language, language_of
from bookbinder.messages import practice_messages
from bookbinder.outputs import SVG
from bookbinder.publish import published
from bookbinder.screen import said_on_screen
from bookbinder.worksheets import checks_in, invitation, students
from d2l_attention.frameworks import current
from d2l_attention.practice import check, explore, words
from d2l_attention.practice.audit import as_answer
from d2l_attention.practice.exercises import find
from tests.conftest import ROOT
from tests.pseudo import LANGUAGE, PSEUDO, STORED, mistakes, pseudo, sample_book, told
from tests.this_book import BOOK, pages

MESSAGES = {text for text, _ in practice_messages(ROOT)}
# What of the messages would be seen if it stayed: their longer parts without fields.
PLAIN = {p for text in MESSAGES for p in re.split(r"\{\w+\}", text) if len(p.strip()) > 8}


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    return sample_book(tmp_path_factory.mktemp("sample"))


def test_a_chapter_that_has_everything_is_read_and_said_as_stored(sample):
    assert told(sample) == STORED.read_text("utf-8"), "if it should: python -m tests.pseudo"


LONG = "key wins, since its score is larger by two than each of the scores of all the others."


def test_a_changed_sentence_is_fuzzy_and_a_lost_one_obsolete():
    texts = [
        ["It stays.", f"The third {LONG}", "Gone."],
        ["It stays.", f"The third {LONG}", "Of another edition."],
    ]
    old = template([[(text, "f") for text in edition] for edition in texts])
    for message in old:
        message.string = message.id.upper()
    new = template([[(text, "f") for text in ("It stays.", f"The fourth {LONG}")]])
    made = updated(old, new)
    assert translations(made) == {"It stays.": "IT STAYS."}
    text = as_po(made, "zh")
    assert [message.id for message in old][-2:] == ["Of another edition.", "Gone."]
    assert f'#, fuzzy\nmsgid "The fourth {LONG}"' in text
    assert '#~ msgid "Gone."' in text
    assert as_po(updated(parsed(text.encode(), "a file"), new), "zh") == text  # not a byte changes


ORIGINAL = "The **mask** of [chapter 4](04_m.ipynb#A) has `n, m` entries, $x_1$, and *128* (4.2)."
ORIGINAL += " {a} <kbd>x</kbd>"


@pytest.mark.parametrize(("old", "new", "told"), mistakes("translator"))
def test_a_slip_of_a_translator_is_named(old, new, told):
    assert disagreement(ORIGINAL, ORIGINAL.replace(old, new.replace("\\n", "\n"), 1)) == told
    assert disagreement("| a | b |", "| a, b |") == "lacks |"


BROKEN = {  # a catalog, and what is told
    b'msgid "a"\nmsgstr "b"\nhm\n': r"^book/locale/zh/x\.po:3: .*",
    b"\xff": r"^book/locale/zh/x\.po: .*utf-8.*",
    'msgid "`x`"\nmsgstr "x。"\n'.encode(): r"^book/locale/zh/x\.po: '`x`': lacks `x$",
}


@pytest.mark.parametrize("data", BROKEN)
def test_what_is_wrong_with_a_catalog_is_told_in_a_line(tmp_path, data):
    book = replace(BOOK, root=tmp_path)
    write_whole(catalog_file(book, "zh", "x"), data)
    with pytest.raises(BookError) as caught:
        language_of(book, "zh").read("x")
    assert re.fullmatch(BROKEN[data], str(caught.value))


def left_in_english(text: str) -> list[str]:
    stored = r'<style>.*?</style>|<script>.*| (data-(?!words)\w+|src)="[^"]*"'
    stored += r'|<div class="out">.*?</div>'  # what a model has written
    text = re.sub(r'"[^"]*":', "", unescape(re.sub(stored, "", text, flags=re.DOTALL)))
    return [part for part in PLAIN if part in text]


@pytest.mark.slow
@pytest.mark.parametrize("edition", BOOK.editions, ids=lambda edition: edition.framework)
def test_this_book_says_every_sentence_also_in_outputs_and_sheets_and_keeps_their_parts(edition):
    kinds = dict.fromkeys(("d2l-explorer", "d2l-arcs", "border-left:4px solid", SVG), 0)
    for page in pages(edition):
        whole = published(page.chapter, page.executed)
        for english in (whole, students(page.chapter, page.executed)):
            made = in_language(english, PSEUDO, page.name)
            new, old = (as_prose(notebook) for notebook in (made, english))
            assert pseudo("sentences of this chapter are in English still") not in new, page.name
            assert [new.count(part) for part in ("](", "<details", pseudo(invitation()))] == [
                old.count(part) for part in ("](", "<details", invitation())
            ]
            assert checks_in(made) == checks_in(english)
        made = in_language(page.executed, PSEUDO, page.name)
        for cell, english in zip(made.cells, page.executed.cells, strict=True):
            for new, old in zip(cell.get("outputs", ()), english.get("outputs", ()), strict=True):
                html = old.get("data", {}).get("text/html", "")
                kinds[SVG] += new.get("data", {}).get(SVG, "").count("</text>")
                for kind in filter(html.count, kinds):
                    kinds[kind] += 1
                    for mime in ("text/html", "text/plain"):
                        assert left_in_english(old.data[mime]), (page.name, cell.id)
                        assert left_in_english(new.data[mime]) == [], (page.name, cell.id)
                again = copy.deepcopy(old)
                said_on_screen(again, str)  # in the same words
                assert again == old
    assert all(kinds.values())


def as_prose(notebook):
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def test_all_that_practice_says_is_in_its_catalog():
    for path in words.HERE.glob("*.py"):
        source = path.read_text("utf-8")
        assert "babel" not in source  # readers need not have it
        calls = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Call)]
        said = [call.args[0] for call in calls if getattr(call.func, "id", "") in ("say", "worded")]
        assert {text.value for text in said if isinstance(text, ast.Constant)} <= MESSAGES, (
            path.name
        )
        assert not [text for text in said if isinstance(text, ast.JoinedStr)], path.name


@pytest.fixture
def spoken(sample, monkeypatch):
    """Let practice speak the pseudo-language; what is given is what a stored output says in it."""
    monkeypatch.setattr(words, "CATALOGS", sample.root / "d2l_attention/locale")
    monkeypatch.setenv(words.VARIABLE, LANGUAGE)
    words.catalog.cache_clear()
    language = language_of(sample, LANGUAGE)

    def stored(html, text):
        output = new_output("display_data", {"text/html": html, "text/plain": text})
        cell = in_language(
            new_notebook(cells=[new_code_cell(outputs=[output])]), language, ""
        ).cells[0]
        return tuple(cell.outputs[0].data.values())

    yield stored
    words.catalog.cache_clear()


def one_mistake():
    exercise = find("3.1")
    (mistake,) = (m for m in exercise.mistakes if m.name == "window one step too early")
    result = check(exercise, as_answer(mistake.wrong, current()))
    return result.html(), result.text()


def explorer():
    asked = {"caption": "C & D.", "question": "Q?", "steps": "lap", "lap": [0.0, 1.0]}
    shown = explore(lambda lap: [[lap, 0.5]], **asked)
    return shown.html, shown.text


@pytest.mark.parametrize("shown", [one_mistake, explorer])
def test_what_runs_says_as_much_as_a_stored_output_and_so_does_an_error(monkeypatch, spoken, shown):
    with pytest.raises(ValueError, match=pseudo("there is no check for exercise")):
        check("99.1", None)
    assert words.say("") == ""  # not the head of the catalog
    live = shown()
    monkeypatch.setenv(words.VARIABLE, "xx")  # a language without a catalog
    english = shown()
    assert live == spoken(*english) != english
    assert left_in_english("".join(live)) == []
