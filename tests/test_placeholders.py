"""What the binder writes into the text: minutes, the path of two hours, the notation table."""

import dataclasses
from pathlib import Path

import pytest
from this_book import BOOK, chapters

from bookbinder.chapters import read_chapter
from bookbinder.config import Book, Edition
from bookbinder.diagrams import bring_diagrams, stale_diagrams
from bookbinder.errors import BookError
from bookbinder.notation import Letter, in_code, letter_problems, letters_in, read_notation, table
from bookbinder.placeholders import filled_in, path_minutes, path_sections
from bookbinder.reading_time import minutes, sections
from bookbinder.terms import early_uses
from bookbinder.text import Page

FIRST = f"""\
# 1. First

**Time** {{{{minutes}}}}

## Look

{"word " * 1500}

```python
# a comment is no heading
{"x = 1" + chr(10) + "y = 2"}
```

```python tags=["drawing"]
{"plot()" + chr(10) * 2}
```

```python
explore(f)
```

## Exercises

### Exercise 1.1

{"task " * 150}

```python tags=["solution"]
{chr(10).join(f"a{i} = {i}" for i in range(20))}
```

<details class="hint">
<summary>Hint 1</summary>

{"step " * 500}

</details>

<details>
<summary>Solution</summary>

{"why " * 98}

</details>

## References

{"1. much text " * 300}
"""
SECOND = (
    "# 2. Second\n\nTake $m$ and $r$.\n\n{{path}}\n\n{{notation}}\n\n![A box.](figures/box.svg)\n"
)
LETTERS = """
[[letter]]
symbol = '$m$, $\\mathbf Q$'
meaning = "keys"
shape = "scalar"
code = "m, …"

[[letter]]
symbol = '$r$'
meaning = "radius"
shape = "scalar"
code = "r"
chapter = 2
"""


@pytest.fixture
def book(tmp_path):
    (tmp_path / "book/figures").mkdir(parents=True)
    (tmp_path / "book/notation.toml").write_text(LETTERS)
    (tmp_path / "book/figures/box.svg").write_text("<svg/>")
    edition = Edition(tmp_path, "pytorch")
    names = ("01_first", "02_second")
    for name, text in zip(names, (FIRST, SECOND), strict=True):
        (tmp_path / f"book/{name}.md").write_text(text)
    return Book(tmp_path, "T", 9, names, (edition,), two_hours=("01_first#Look",))


def read(book):
    return [read_chapter(book.chapter_file(n), f"book/{n}.md") for n in book.chapters]


def prose(chapter):
    return "\n".join(c.source for c in chapter.notebook.cells if c.cell_type == "markdown")


def test_minutes_follow_from_words_and_lines(book):
    first = read(book)[0]
    look, exercises = sections(first)[1:]
    assert look.words == 1501
    assert look.code_lines == 3
    assert look.minutes == pytest.approx(1501 / 150 + 3 / 6)
    assert (exercises.solution_words, exercises.solution_lines) == (99, 20)
    assert minutes(first) == (10, 15)


def test_the_time_and_the_path_are_written_into_the_chapters(book):
    first, second = filled_in(book, book.editions[0], read(book))
    assert "**Time** about 10 minutes to read, 15 for the exercises\n" in prose(first)
    assert "**Two-hour path** [Look](#Look) (about 10 minutes)" in prose(first)
    assert "| [1. First](01_first.ipynb) | [Look](01_first.ipynb#Look) | 10 |" in prose(second)
    assert "| **Together** | | 0 h 10 min |" in prose(second)
    assert "{{" not in prose(first) + prose(second)


def test_the_path_leaves_out_what_the_edition_does(book):
    assert path_sections(book, read(book)[1:]) == {}


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("03_none", "two_hours: no chapter '03_none'"),
        ("01_first#Lok", "01_first has no section 'Lok' .did you mean 'Look'"),
    ],
)
def test_a_path_that_leads_nowhere_is_named(book, entry, message):
    wrong = dataclasses.replace(book, two_hours=(entry,))
    with pytest.raises(BookError, match=message):
        path_sections(wrong, read(book))


def test_the_path_of_this_book_takes_two_hours():
    path = path_sections(BOOK, chapters(BOOK.editions[0]))
    assert 105 <= sum(map(path_minutes, path.values())) <= 125


def test_a_comma_inside_brackets_separates_no_names():
    letter = Letter("$x$", "meaning", "scalar", "Q[e, i], weights, …")
    assert in_code(letter.names) == "`Q[e, i]`, `weights`, …"


def test_the_notation_table_has_common_letters_first(book):
    text = table(read_notation(book.source, "pytorch"), read(book))
    assert text.index("**In every chapter**") < text.index("**Only in chapter 2**")
    assert "| $m$, $\\mathbf Q$ | keys | scalar | `m`, … |" in text


def test_the_notation_table_leaves_out_what_the_edition_does_not_use(book):
    book.chapter_file("02_second").write_text("# 2. Second\n\nTake $m$.\n")
    assert "Only in chapter" not in table(read_notation(book.source, "pytorch"), read(book))


def test_a_letter_has_the_name_of_the_framework(book):
    path = book.source / "notation.toml"
    path.write_text(LETTERS.replace('"r"', '{ pytorch = "r", jax = "radii" }'))
    assert [letter.code for letter in read_notation(book.source, "jax")] == ["m, …", "radii"]
    with pytest.raises(BookError, match=r"\$r\$: code has no name for tensorflow"):
        read_notation(book.source, "tensorflow")


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        (r"$\mathbf W_q\mathbf q$ and `$x$`", {"bold W", "bold q"}),
        (r"$\sum_{j=1}^m \exp(a_j) \tag{4.2}$", {"j", "a"}),
        (r"$\boldsymbol\alpha \in \mathbb R^{n \times m}$", {"bold alpha", "n", "m"}),
        (r"$\mathrm{softmax}(\mathbf Q\mathbf K^\top)$", {"bold Q", "bold K"}),
        ("no $ here", set()),
    ],
)
def test_letters_are_found_in_equations(text, letters):
    assert letters_in(text) == letters


def problems_of(book, text):
    path = book.chapter_file("02_second")
    path.write_text(f"# 2. Second\n\n{text}\n")
    chapter = read_chapter(path, "book/02_second.md")
    return letter_problems(read_notation(book.source, "pytorch"), [Page(chapter, chapter.notebook)])


def test_a_letter_is_declared_and_used(book):
    assert problems_of(book, "Take $m$ and $r$.") == []
    (undeclared, unused) = problems_of(book, "Take $m$ and $s$.")
    assert undeclared == (
        "book/02_second.md:3: the letter s is not in notation.toml, for this chapter or for all"
    )
    assert unused == "notation.toml: chapter 2 does not use $r$"


def test_a_letter_of_a_chapter_that_does_not_exist_is_named(book):
    path = book.source / "notation.toml"
    path.write_text(LETTERS.replace("chapter = 2", "chapter = 3"))
    assert problems_of(book, "Take $m$.") == ["notation.toml: no chapter 3"]


def test_a_common_letter_has_no_second_meaning(book):
    path = book.source / "notation.toml"
    path.write_text(LETTERS.replace("'$r$'", "'$m$'"))
    (found,) = problems_of(book, "Take $m$.")
    assert found.startswith("notation.toml: m has two meanings (chapter 2): 'keys' and 'radius'")


@pytest.mark.parametrize(
    ("text", "message"),
    [("[[letter]\n", "notation.toml: "), ("[[letter]]\nsymbol = 'x'", "meaning must be a string")],
)
def test_a_broken_notation_is_named(book, text, message):
    (book.source / "notation.toml").write_text(text)
    with pytest.raises(BookError, match=message):
        read_notation(book.source, "pytorch")


def test_diagrams_come_to_the_notebooks_that_show_them(book):
    folder = book.editions[0].notebooks
    assert stale_diagrams(book.source, read(book), folder) == [
        "figures/box.svg beside the notebooks differs from book/figures/box.svg"
    ]
    bring_diagrams(book.source, read(book), folder)
    assert Path(folder, "figures/box.svg").read_text() == "<svg/>"
    assert stale_diagrams(book.source, read(book), folder) == []
    Path(folder, "figures/old.svg").write_text("<svg/>")
    assert stale_diagrams(book.source, read(book), folder) == [
        "figures/old.svg beside the notebooks is shown by no chapter"
    ]
    (book.source / "figures/box.svg").unlink()
    with pytest.raises(BookError, match=r"book/figures/box\.svg: cannot be read"):
        bring_diagrams(book.source, read(book), folder)


def pages_of(tmp_path, *texts):
    made = []
    for number, text in enumerate(texts):
        path = tmp_path / f"0{number}_page.md"
        path.write_text(f"# {number}. T\n\nA lid.\n\n## Begin\n\n{text}\n")
        chapter = read_chapter(path, path.name)
        made.append(Page(chapter, chapter.notebook))
    return made


def test_a_term_is_not_used_before_it_is_explained(tmp_path):
    used = "Two lids."
    (found,) = early_uses(pages_of(tmp_path, used, "A **lid** closes."))
    assert found == "00_page.md:7: 'lid' is explained only later, in 01_page"
    assert early_uses(pages_of(tmp_path, "A **lid** closes.", used)) == []
    linked = "A [cover](01_page.ipynb), which is a lid, and `lid`."
    assert early_uses(pages_of(tmp_path, linked, "A **lid** closes.")) == []
