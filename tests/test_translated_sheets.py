"""What readers and students get in another language is what they get in English, but for words."""

import copy
import re
from dataclasses import replace

import pytest
from this_book import BOOK, chapters, pages

from bookbinder.answers import by_exercise, checked_in, invitation
from bookbinder.chapters import name_cells, tags_of
from bookbinder.colab import INSTALL, ready_to_open_alone
from bookbinder.contents_panel import write_contents_panel
from bookbinder.diagrams import bring_diagrams
from bookbinder.publish import DECIDE, covered, published, what_it_draws
from bookbinder.reader_copies import as_opened, bring_copies, bring_fresh
from bookbinder.solutions import folded, unfolded
from bookbinder.words import words_in
from bookbinder.worksheets import students, teachers, worksheets_folder

EDITION = BOOK.editions[0]
OTHER = replace(EDITION, language="xx")
PROSE = re.compile(r"^((?:> |#+ |- |\d+\. |<summary>)*)([^<$|`!\n].*?)((?:</summary>)?)$", re.M)
NAME = "06_scaled_dot_product_attention"


def say(text):
    return f"⟦{text}⟧"


def in_other_words(notebook):
    """Return a notebook with the same cells and lines, all of its prose translated."""
    made = copy.deepcopy(notebook)
    for cell in made.cells:
        if cell.cell_type == "markdown":
            cell.source = PROSE.sub(r"\1⟦\2⟧\3", cell.source)
        elif "alt" in cell.metadata:
            cell.metadata["alt"] = say(cell.metadata["alt"])
    return made


def translated(name=NAME):
    """Return a chapter in English and in other words, each with its executed notebook."""
    (page,) = [page for page in pages(EDITION) if page.name == name]
    executed = copy.deepcopy(page.executed)
    for cell, written in zip(executed.cells, page.chapter.notebook.cells, strict=True):
        cell.source = written.source
    other = in_other_words(page.chapter.notebook)
    english = (page.chapter, executed)
    return english, (
        replace(page.chapter, notebook=other, original=page.chapter),
        in_other_words(executed),
    )


def code(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.parametrize("name", [page.name for page in pages(EDITION) if page.number is not None])
def test_a_translated_worksheet_has_the_same_answers_checks_and_tasks(name):
    english, other = translated(name)
    english, sheet = students(*english), students(*other, say)
    assert code(sheet) == code(english)
    assert checked_in(sheet) == checked_in(english)
    assert [c.source == invitation(say) for c in sheet.cells] == [
        c.source == invitation() for c in english.cells
    ]
    assert list(by_exercise(sheet)) == list(by_exercise(english))


def test_the_number_of_a_task_is_found_behind_any_words():
    _, other = translated()
    sheet = students(*other, say)
    wanted = list(by_exercise(sheet))
    assert len(wanted) > 5
    for words in ("练习 ", "练习", "연습 문제 ", "Bài tập ", "Latihan "):
        made = copy.deepcopy(sheet)
        for cell in made.cells:
            cell.source = re.sub(r"^### ⟦Exercise ", f"### {words}", cell.source, flags=re.M)
        assert list(by_exercise(made)) == wanted


def test_teachers_get_the_same_cells_under_a_title_in_their_language():
    english, other = translated()
    english, sheet = teachers(*english), teachers(*other, say)
    assert [cell.cell_type for cell in sheet.cells] == [cell.cell_type for cell in english.cells]
    assert code(sheet) == code(english)
    assert re.fullmatch("# ⟦6. ⟦.*⟧: tasks and solutions⟧", sheet.cells[0].source)


def test_folded_cells_and_covered_outputs_say_it_in_their_language():
    _, other = translated("00_start_here")
    made = published(*other, say)
    drawn = [c.source for c in made.cells if "drawing" in tags_of(c)]
    assert drawn
    assert all(source.startswith("# ⟦Draw: ") for source in drawn)
    shown = covered(made, say)
    first = [c.outputs[0] for c in shown.cells if "outputs_hidden" in c.metadata.get("jupyter", {})]
    assert [output.data["text/plain"] for output in first] == [say(DECIDE)] * len(first)
    assert first
    assert say(DECIDE) in as_opened(made, say)
    assert DECIDE not in as_opened(made, say).replace(say(DECIDE), "")


@pytest.mark.parametrize(
    ("alt", "line"),
    [
        ("两条曲线。第一条是红色的。", "# ⟦Draw: 两条曲线⟧"),
        ("两条曲线" * 20, None),
        ("Hai đường cong. Một là đỏ.", "# ⟦Draw: Hai đường cong⟧"),
    ],
)
def test_a_line_without_gaps_is_cut_between_letters(alt, line):
    (page,) = [page for page in pages(EDITION) if page.name == NAME]
    cell = copy.deepcopy(page.executed.cells[0])
    cell.metadata = {"alt": alt}
    drawn = what_it_draws(cell, say)
    if line is None:
        assert drawn.endswith(" ...")
        assert 30 < len(drawn) < 40
    else:
        assert drawn == line


def test_a_solution_is_folded_in_every_language_and_comes_back():
    for page in pages(EDITION):
        made = folded(in_other_words(page.executed), say)
        assert unfolded(made) == unfolded(folded(unfolded(made), say))
        assert "<summary>Solution</summary>" not in str([c.source for c in made.cells])


def test_a_translated_notebook_opened_alone_speaks_its_language_and_keeps_the_ids():
    book = replace(BOOK, repository="https://github.com/someone/book")
    (chapter,) = [c for c in chapters(EDITION) if c.name == NAME]
    cells = [cell for cell in chapter.notebook.cells if INSTALL not in tags_of(cell)]
    english = replace(chapter, notebook=copy.deepcopy(chapter.notebook))
    english.notebook.cells = copy.deepcopy(cells)
    name_cells(english.notebook)
    other = replace(english, notebook=in_other_words(english.notebook), original=english)
    made = ready_to_open_alone(other, book, OTHER)
    first, *_ = made.notebook.cells
    assert first.source.endswith('os.environ["D2L_LANGUAGE"] = "xx"')
    compile(first.source, "install", "exec")
    assert (
        "D2L_LANGUAGE" not in ready_to_open_alone(english, book, EDITION).notebook.cells[0].source
    )
    assert [c.id for c in made.notebook.cells] == [c.id for c in made.original.notebook.cells]
    assert len(made.places) == len(made.notebook.cells)


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A book in a folder of its own, with the notebooks of this one."""
    (tmp_path / "notebooks").symlink_to(BOOK.root / "notebooks")
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    return replace(
        BOOK, root=tmp_path, chapters=(NAME,), editions=(replace(EDITION, root=tmp_path),)
    )


def test_the_panel_beside_the_chapters_and_what_a_command_tells(mine, capsys):
    edition = mine.editions[0]
    panel = mine.root / "_build/lab/book_contents/static/contents.js"
    for language, words in ((str, "Contents"), (say, say("Contents"))):
        write_contents_panel(mine, edition, language)
        script = panel.read_text(encoding="utf-8")
        assert f'heading.textContent = "{words}";' in script
        assert "say(" not in script
    assert '"aria-label", "⟦Contents of the book⟧"' in script
    folder = mine.root / "mine"
    bring_copies(mine, edition, folder, say=say)
    copied = folder / f"{NAME}.ipynb"
    copied.write_text("mine")
    (folder / ".brought.json").unlink()
    bring_copies(mine, edition, folder, say=say)
    new = f"{NAME}.new.ipynb"
    assert f"⟦{NAME}.ipynb is yours and stays; the new version is {new}⟧" in capsys.readouterr().out
    bring_fresh(edition, folder, NAME, say)
    told = f"⟦{NAME}.ipynb is as the book has it; yours is kept as {NAME}.old.ipynb⟧"
    assert told in capsys.readouterr().out
    bring_fresh(edition, folder, NAME, say)
    assert f"⟦{NAME}.ipynb is as the book has it⟧" in capsys.readouterr().out


def test_diagrams_beside_translated_notebooks_have_translated_words(tmp_path):
    bring_diagrams(BOOK.source, chapters(EDITION), tmp_path, say)
    texts = [path.read_text(encoding="utf-8") for path in (tmp_path / "figures").glob("*.svg")]
    assert texts
    assert all('<title id="title">⟦' in text for text in texts)


def test_translated_worksheets_have_a_folder_of_their_own():
    folder = worksheets_folder(BOOK, OTHER, solutions_only=False)
    assert folder == BOOK.root / "_build/worksheets" / f"{EDITION.framework}-xx"


def test_all_words_of_worksheets_and_copies_are_found_for_the_catalogs():
    found = {text for text, _ in words_in(BOOK.root / "bookbinder")}
    assert found >= {
        "Your answer:",
        "{title}: tasks and solutions",
        "Solution",
        "Draw: {picture}",
        "Draw: what stands below",
        DECIDE,
        "Contents",
        "{yours} is as the book has it",
    }
