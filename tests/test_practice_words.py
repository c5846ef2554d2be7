"""Practice in other languages: when it runs, and in outputs that were stored in English."""

import ast
import json
import re
import string
import subprocess
import sys
from html import unescape

import numpy as np
import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from this_book import ROOT

from bookbinder.practice_words import practice_messages, with_words
from d2l_attention.frameworks import current
from d2l_attention.practice import Exercise, check, draw_arcs, explore, words
from d2l_attention.practice.audit import as_answer
from d2l_attention.practice.exercises import find

MESSAGES = practice_messages(ROOT)
ENGLISH = {
    "explorer": r"Still picture|Sliders appear|sliders at|>Numbers<|:\"(Back|Play|Pause|Next)\"",
    "arcs": r"Still picture|Where scripts may run|after \d+ training steps|:\"(gap|none|Write)\""
    r"|(>|:\"|(?m:^))(It (sings|writes)|Its output|Your (song|date|sentence)|layer \d, head \d)",
    "check": r"\d\.\d (wrong|not attempted)|Write your answer|Your (rows|code)|target|your answer",
}


def marked(text: str) -> str:
    return f"⟦{text}⟧"


def stored_outputs():
    for path in sorted(ROOT.glob("notebooks/*/*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            for output in cell.get("outputs", []):
                data = output.get("data", {})
                yield from (
                    (f"{path.parent.name} {path.stem} {cell['id']}", kind, "".join(data[kind]))
                    for kind in ("text/html", "text/plain")
                    if kind in data
                )


def kind_of(html: str) -> str:
    names = {"explorer": "d2l-explorer", "arcs": "d2l-arcs", "check": "border-left:4px solid"}
    return next((kind for kind, mark in names.items() if mark in html), "")


@pytest.fixture(scope="module")
def stored():
    return list(stored_outputs())


def left_in_english(text: str, kind: str) -> list[str]:
    """Return what practice says outside of the marks, and of what no catalog has."""
    stored = r'<style>.*?</style>|<script>.*| data-(frames|curves|sliders|weights|held)="[^"]*"'
    text = re.sub(stored, "", text, flags=re.DOTALL)
    text = re.sub(r' src="[^"]*"', "", unescape(text))
    inner = ""
    while inner != text:
        inner, text = text, re.sub(r"⟦[^⟦⟧]*⟧", "", text)
    return [found[0] for found in re.finditer(ENGLISH[kind], text)]


def test_stored_outputs_are_in_other_words(stored):
    kinds = {place: kind_of(text) for place, mime, text in stored if mime == "text/html"}
    assert {"explorer", "arcs", "check"} <= set(kinds.values())
    for place, _, text in stored:
        said = with_words(text, marked, MESSAGES)
        if kind := kinds.get(place):
            assert said != text, place
            assert left_in_english(said, kind) == [], place
            assert left_in_english(text, kind), place
        else:
            assert said == text, place


def test_stored_outputs_in_english_stay_as_they_are(stored):
    for place, _, text in stored:
        assert with_words(text, str, MESSAGES) == text, place


def test_an_explorers_own_words_stay():
    def matrix(Back):
        return {"Numbers": [[Back, 0.5]], "target": "target"}

    shown = explore(matrix, caption="Back", question="Next?", Back={"target": 0.0, "Numbers": 1.0})
    said = with_words(shown.html, marked, MESSAGES)
    assert said.replace("⟦", "").replace("⟧", "") == shown.html
    assert all(t.startswith("Still picture at") for t in re.findall("⟦([^⟦⟧]*)⟧", said))


def test_a_check_of_arrays_keeps_its_columns(capsys):
    exercise = Exercise(
        "0.9", lambda x: x + 1.0, lambda rng: [(rng.random((2, 3)),) for _ in range(2)]
    )
    result = check(exercise, lambda x: x + 3.0)
    text = with_words(result.text(), marked, MESSAGES)
    assert text.splitlines()[0].split("  ")[0] == "⟦target⟧"
    assert text.splitlines()[0].index("⟦your answer⟧") == result.text().index("your answer")
    assert text.splitlines()[1:-1] == result.text().splitlines()[1:-1]
    assert left_in_english(with_words(result.html(), marked, MESSAGES), "check") == []
    assert "⟦All entries differ from the right ones by the same 2.⟧" in text


def test_no_literal_is_said_that_the_catalogs_do_not_have():
    texts = {text for text, _ in MESSAGES}
    for path in words.HERE.glob("*.py"):
        calls = [n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.Call)]
        said = [call.args[0] for call in calls if getattr(call.func, "id", "") in ("say", "worded")]
        assert {text.value for text in said if isinstance(text, ast.Constant)} <= texts, path.name
        assert not [text for text in said if isinstance(text, ast.JoinedStr)], path.name


def test_messages_are_there_once_and_of_all_kinds():
    texts = [text for text, _ in MESSAGES]
    assert len(texts) == len(set(texts))
    for text, file in {
        "Write your answer, then check it again.": "checking.py",
        "Nothing is typed. {takes}": "arcs.js",
        "Your window ends before the query. A query sees its own position, too, i - j = 0.": (
            "chapter_04.py"
        ),
        "The factor 1/2 is missing.": "recurring_mistakes.py",
    }.items():
        assert (text, f"d2l_attention/practice/{file}") in MESSAGES
    assert practice_messages(ROOT) == MESSAGES


@pytest.fixture
def other_language(tmp_path, monkeypatch):
    catalog = Catalog(locale="vi")
    for text, _ in MESSAGES:
        catalog.add(text, marked(text))
    path = tmp_path / "vi" / "LC_MESSAGES" / "practice.mo"
    path.parent.mkdir(parents=True)
    with open(path, "wb") as file:
        write_mo(file, catalog)
    monkeypatch.setattr(words, "CATALOGS", tmp_path)
    monkeypatch.setenv(words.VARIABLE, "vi")
    words.catalog.cache_clear()
    yield
    words.catalog.cache_clear()


@pytest.mark.usefixtures("other_language")
def test_a_check_speaks_the_readers_language(capsys):
    result = check("4.1", lambda n, m, width: None)
    assert (result.status, result.mistake) == ("not attempted", None)
    assert capsys.readouterr().out == (
        "⟦4.1 not attempted.⟧ ⟦Write your answer, then check it again.⟧\n"
    )
    result = check("4.1", lambda n, m, width: 1 / 0)
    assert re.fullmatch(r"⟦Your code raises ZeroDivisionError: .* ⟦\(line .*\)⟧⟧", result.message)
    with pytest.raises(ValueError, match=r"⟦there is no check for exercise '99\.1'; .*: ⟦none⟧⟧"):
        check("99.1", None)
    assert words.say("") == ""  # not the head of the catalog


@pytest.mark.usefixtures("other_language")
def test_a_mistake_is_said_as_in_a_stored_output(monkeypatch):
    def html():
        exercise = find("4.1")
        (mistake,) = (m for m in exercise.mistakes if m.name == "window one step too early")
        assert "'" in mistake.say  # which is escaped
        result = check(exercise, as_answer(mistake.wrong, current()))
        assert (result.status, result.mistake) == ("wrong", mistake.name)
        assert result.message in (mistake.say, marked(mistake.say))
        return result.html()

    live = html()
    monkeypatch.delenv(words.VARIABLE)
    english = html()
    assert live == with_words(english, marked, MESSAGES) != english


@pytest.mark.usefixtures("other_language")
def test_arcs_say_as_much_as_stored_ones(monkeypatch):
    def shown():
        arrays = [np.eye(26, 4), *[np.ones(2)] * 28]
        heads = np.array([[[0.3, 0.7]], [[0.5, 0.5]], [[1.0, 0.0]], [[0.0, 1.0]]])
        return draw_arcs(
            "singer",
            {0: arrays},
            text="ab",
            weights=heads,
            result="c",
            reads=[*string.ascii_lowercase],
            question="Q?",
            caption="C & D.",
        )

    live = shown()
    monkeypatch.delenv(words.VARIABLE)
    english = shown()
    for new, stored in ((live.html, english.html), (live.text, english.text)):
        assert new == with_words(stored, marked, MESSAGES)
    assert left_in_english(live.html, "arcs") == []


@pytest.mark.usefixtures("other_language")
def test_an_explorer_says_as_much_as_a_stored_one(monkeypatch):
    def shown():
        return explore(
            lambda step: [[step, 0.5]], caption="C.", question="Q?", steps="step", step=[0.0, 1.0]
        )

    live = shown()
    monkeypatch.delenv(words.VARIABLE)
    english = shown()
    for new, stored in ((live.html, english.html), (live.text, english.text)):
        assert new == with_words(stored, marked, MESSAGES)
    assert '"Back":"⟦Back⟧"' in unescape(live.html)


def test_a_language_without_a_catalog_is_english(monkeypatch):
    monkeypatch.setenv(words.VARIABLE, "xx")
    assert words.say("Your answer is right.") == "Your answer is right."
    assert words.say("") == ""
    code = "import sys, d2l_attention.practice as p; sys.exit('babel' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0
