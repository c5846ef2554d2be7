"""Other languages: what translations must keep, a sample, and all of this book in the pseudo."""

import copy
import re
from functools import cache
from html import unescape

import pytest
from nbformat.v4 import new_code_cell, new_output

from bookbinder import compose
from bookbinder.book import Goal, read_notebook
from bookbinder.chapters import SVG, read_chapter
from bookbinder.code import checks_in
from bookbinder.compose import TEXT, after
from bookbinder.language.catalog import disagreement, language_of
from bookbinder.language.extract import practice_messages, update_messages
from bookbinder.language.say import in_outputs, said_on_screen
from bookbinder.worksheets import PLACE, worksheet
from d2l_attention.practice import check, explore, words
from d2l_attention.practice.audit import as_answer
from d2l_attention.practice.exercises import find
from tests.conftest import ROOT, assert_stored
from tests.pseudo import LANGUAGE, PSEUDO, mistakes, pseudo, sample_book, told
from tests.this_book import BOOK

KINDS = {"d2l-explorer", "d2l-arcs", "d2l-traced", "border-left:4px solid", SVG}  # with words
SAID = "{}".join(text for text, _ in practice_messages(ROOT))
PLAIN = {part for part in re.split(r"\{\w*\}", SAID) if len(part.strip()) > 8}


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    return sample_book(tmp_path_factory.mktemp("sample"))


def test_a_chapter_that_has_everything_is_read_and_said_as_stored(sample, capsys):
    update_messages(sample, LANGUAGE)  # again: it changes nothing, and says what is missing
    out = capsys.readouterr().out
    assert re.search(r": 2 of 37 missing\n(.*\n)*id: \d{3} messages, 3 missing\n$", out), out
    assert_stored(told(sample), "everything_translated.txt")


ORIGINAL = "The **mask** of [it](04_m.ipynb#A) has `n, m` entries, $x_1$, *128*, {a} <kbd>x</kbd>"


@pytest.mark.parametrize(("old", "new", "told"), mistakes("translator"))
def test_a_slip_of_a_translator_is_named(old, new, told):
    assert disagreement(ORIGINAL, ORIGINAL.replace(old, new.replace("\\n", "\n"), 1)) == told
    assert disagreement("| a | b |", "| a, b |") == "lacks |"


def left_in_english(text: str) -> list[str]:
    stored = r'<style>.*?</style>|<script>.*| (data-(?!words)\w+|src)="[^"]*"'
    stored += r'|<div class="out">.*?</div>'  # what a model has written
    text = re.sub(r'"[^"]*":', "", unescape(re.sub(stored, "", text, flags=re.DOTALL)))
    return [part for part in PLAIN if part in text]


@pytest.mark.slow
@pytest.mark.parametrize("edition", BOOK.editions, ids=lambda edition: edition.framework)
def test_this_book_says_every_sentence_also_in_outputs_and_sheets_and_keeps_their_parts(edition):
    seen, goal = set(), Goal(BOOK, BOOK.edition(edition.framework, LANGUAGE), PSEUDO)
    for name in BOOK.chapters:
        english = read_notebook(edition.notebook(name))
        chapter = read_chapter(BOOK.chapter_file(name), name)
        made = after((*TEXT, *compose.STORED), chapter, goal).notebook
        sheets = worksheet(made, name, _=PSEUDO), worksheet(english, name)
        for notebooks in ((made, english), sheets):
            new, old = ("\n".join(cell.source for cell in x.cells) for x in notebooks)
            assert checks_in(notebooks[0]) == checks_in(notebooks[1])
            assert pseudo("sentences of this chapter are in English still") not in new, name
            for part, same in {"](": "](", "<details": "<details", PLACE: pseudo(PLACE)}.items():
                assert new.count(same) == old.count(part), (name, part)
        for cell, before in zip(made.cells, english.cells, strict=True):
            for new, old in zip(cell.get("outputs", ()), before.get("outputs", ()), strict=True):
                kinds = {kind for kind in KINDS if kind in str(old.get("data"))}
                seen |= kinds
                for mime in ("text/html", "text/plain") if kinds - {SVG} else ():
                    assert left_in_english(old.data[mime]), (name, cell.id)
                    assert left_in_english(new.data[mime]) == [], (name, cell.id)
                said_on_screen(again := copy.deepcopy(old), str)  # in the same words
                assert again == old
    assert seen == KINDS


def test_practice_says_nothing_that_its_catalog_cannot_have_nor_needs_babel_for_it():
    for path in words.HERE.glob("*.py"):
        assert not re.search(r"\b(say|worded)\(\s*f[\"']|babel", path.read_text("utf-8")), path


def practised() -> list[tuple[dict, dict]]:
    exercise = find("3.1")
    result = check(exercise, as_answer(exercise.mistakes[0].wrong))
    asked = {"caption": "C & D.", "question": "Q?", "steps": "lap", "lap": [0.0, 1.0]}
    checked = {"text/html": result.html(), "text/plain": result.text()}
    checked = checked, {"composed": words.composed()}
    return [checked, explore(lambda lap: [[lap, 0.5]], **asked)._repr_mimebundle_()]


def test_what_runs_says_as_much_as_a_stored_output_and_so_does_an_error(sample, monkeypatch):
    monkeypatch.setattr(words, "CATALOGS", sample.root / "d2l_attention/locale")
    monkeypatch.setattr(words, "catalog", cache(words.catalog.__wrapped__))
    monkeypatch.setenv(words.VARIABLE, LANGUAGE)
    with pytest.raises(ValueError, match=pseudo("there is no check for exercise")):
        check("99.1", None)
    assert words.say("") == ""  # not the head of the catalog
    live = practised()
    monkeypatch.setenv(words.VARIABLE, "xx")  # a language without a catalog
    data = practised()
    english = [new_output("display_data", bundle, metadata=more) for bundle, more in data]
    in_outputs(cell := new_code_cell(outputs=english), language_of(sample, LANGUAGE), "")
    assert [output.data for output in cell.outputs] == [bundle for bundle, _ in live]
    assert left_in_english(str(live)) == [] != left_in_english(str(data))
    assert not re.search("[a-z]{4}", live[1][0]["text/plain"])  # not a word that is said unmarked
