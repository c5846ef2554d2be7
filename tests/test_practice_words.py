"""Practice in other languages: when it runs, and in outputs that were stored in English."""

import ast
import copy
import re
import string
import subprocess
import sys
from html import unescape

import numpy as np
import pytest
from babel.messages.mofile import write_mo
from nbformat.v4 import new_code_cell, new_notebook, new_output

from bookbinder.catalogs import PRACTICE
from bookbinder.language import in_language
from bookbinder.messages import practice_messages
from bookbinder.screen import said_on_screen
from d2l_attention.frameworks import current
from d2l_attention.practice import Exercise, check, draw_arcs, explore, words
from d2l_attention.practice.audit import as_answer
from d2l_attention.practice.exercises import find
from tests.conftest import ROOT
from tests.pseudo import PSEUDO, catalog, pseudo
from tests.this_book import BOOK, pages

MESSAGES = practice_messages(ROOT)
# What of the messages would be seen if it stayed: their longer parts without fields.
PLAIN = {p for text, _ in MESSAGES for p in re.split(r"\{\w+\}", text) if len(p.strip()) > 8}


def said(html: str, text: str, name: str = "") -> tuple[str, str]:
    """Return an output, HTML and text, in the pseudo-language."""
    output = new_output("display_data", {"text/html": html, "text/plain": text})
    notebook = new_notebook(cells=[new_code_cell("f()", outputs=[output])])
    data = in_language(notebook, PSEUDO, name).cells[0].outputs[0].data
    return data["text/html"], data["text/plain"]


def left_in_english(text: str) -> list[str]:
    stored = r'<style>.*?</style>|<script>.*| (data-(?!words)\w+|src)="[^"]*"'
    stored += r'|<div class="out">.*?</div>'  # what a model has written
    text = re.sub(r'"[^"]*":', "", unescape(re.sub(stored, "", text, flags=re.DOTALL)))
    return [part for part in PLAIN if part in text]


@pytest.mark.slow
@pytest.mark.parametrize("edition", BOOK.editions, ids=lambda edition: edition.framework)
def test_stored_outputs_are_in_other_words_or_as_they_are(edition):
    kinds = dict.fromkeys(("d2l-explorer", "d2l-arcs", "border-left:4px solid"), 0)
    for page in pages(edition):
        made = in_language(page.executed, PSEUDO, page.name)
        for cell, english in zip(made.cells, page.executed.cells, strict=True):
            for new, old in zip(cell.get("outputs", ()), english.get("outputs", ()), strict=True):
                html = old.get("data", {}).get("text/html", "")
                if kind := next((kind for kind in kinds if kind in html), ""):
                    kinds[kind] += 1
                    for mime in ("text/html", "text/plain"):
                        assert left_in_english(old.data[mime]), (page.name, cell.id)
                        assert left_in_english(new.data[mime]) == [], (page.name, cell.id)
                again = copy.deepcopy(old)
                said_on_screen(again, str)  # in the same words
                assert again == old
    assert all(kinds.values())


def test_a_check_of_arrays_keeps_its_columns():
    exercise = Exercise(
        "0.9", lambda x: x + 1.0, lambda rng: [(rng.random((2, 3)),) for _ in range(2)]
    )
    result = check(exercise, lambda x: x + 3.0)
    html, text = said(result.html(), result.text())
    assert text.splitlines()[0].split("  ")[0] == pseudo("target")
    assert text.splitlines()[0].index(pseudo("your answer")) == result.text().index("your answer")
    assert text.splitlines()[1:-1] == result.text().splitlines()[1:-1]
    assert pseudo("All entries differ from the right ones by the same 2.") in text
    assert left_in_english(html) == []


def test_no_literal_is_said_that_the_catalogs_do_not_have():
    texts = {text for text, _ in MESSAGES}
    for path in words.HERE.glob("*.py"):
        calls = [n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.Call)]
        said = [call.args[0] for call in calls if getattr(call.func, "id", "") in ("say", "worded")]
        assert {text.value for text in said if isinstance(text, ast.Constant)} <= texts, path.name
        assert not [text for text in said if isinstance(text, ast.JoinedStr)], path.name


@pytest.fixture
def other_language(tmp_path, monkeypatch):
    path = tmp_path / "vi" / "LC_MESSAGES" / "practice.mo"
    path.parent.mkdir(parents=True)
    with open(path, "wb") as file:
        write_mo(file, catalog(PRACTICE))
    monkeypatch.setattr(words, "CATALOGS", tmp_path)
    monkeypatch.setenv(words.VARIABLE, "vi")
    words.catalog.cache_clear()
    yield
    words.catalog.cache_clear()


def wrong_answer():
    exercise = find("3.1")
    (mistake,) = (m for m in exercise.mistakes if m.name == "window one step too early")
    assert "'" in mistake.say  # which is escaped
    result = check(exercise, as_answer(mistake.wrong, current()))
    assert (result.status, result.mistake) == ("wrong", mistake.name)
    return result.html(), result.text()


def arcs():
    arrays = [np.eye(26, 4), *[np.ones(2)] * 28]
    shown = draw_arcs(
        "singer",
        {0: arrays},
        text="ab",
        weights=np.array([[[0.3, 0.7]], [[0.5, 0.5]], [[1.0, 0.0]], [[0.0, 1.0]]]),
        result="c",
        reads=[*string.ascii_lowercase],
        question="Q?",
        caption="C & D.",
    )
    return shown.html, shown.text


def explorer():
    shown = explore(
        lambda lap: [[lap, 0.5]], caption="C.", question="Q?", steps="lap", lap=[0.0, 1.0]
    )
    return shown.html, shown.text


@pytest.mark.usefixtures("other_language")
@pytest.mark.parametrize("shown", [wrong_answer, arcs, explorer])
def test_what_runs_says_as_much_as_a_stored_output_and_so_does_an_error(monkeypatch, shown):
    with pytest.raises(ValueError, match=pseudo("there is no check for exercise")):
        check("99.1", None)
    assert words.say("") == ""  # not the head of the catalog
    live = shown()
    monkeypatch.delenv(words.VARIABLE)
    english = shown()
    assert live == said(*english) != english
    assert left_in_english("".join(live)) == []


def test_a_language_without_a_catalog_is_english(monkeypatch):
    monkeypatch.setenv(words.VARIABLE, "xx")
    assert words.say("Your answer is right.") == "Your answer is right."
    assert words.say("") == ""
    code = "import sys, d2l_attention.practice as p; sys.exit('babel' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0
