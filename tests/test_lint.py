"""The checks of the text: each is shown a good page and the same page with one mistake."""

import nbformat
import pytest

from bookbinder.chapters import Chapter
from bookbinder.page import Page
from tests.text_checks import problems

GOOD = """# 4. Title

> **The question.** Why?

**Time** about 5 minutes to read

- to ask.

You need [chapter 3](03_before.ipynb#A-heading) and Python 3.11.

Read on.

## A section

The sum is

$$ a = b \\tag{4.1} $$

and by (4.1) and [(3.1)](03_before.ipynb) the weight is 0.27, or 27%.
Half of $1{,}024$ is 512 [[1]](#References), and `d = 300` stands in the code.
See the [section](#A-section).

![A heat map](cover.svg)

## Summary

- It holds.

## References

1. A. Author, “Work”, 1999. [doi](https://doi.org/10.1/x)
"""
FOLDS = """
<details class="hint">
<summary>Hint 1</summary>
</details>

<details>
<summary>Solution</summary>
</details>

"""
TWICE = FOLDS + FOLDS.replace("Hint 1", "Hint 2")
UNMARKED = "<details>\n<summary>Hint</summary>\n</details>\n\n"
BEFORE = GOOD.replace("4.1", "3.1").replace("# 4.", "# 3.").replace("A section", "A heading")
BEFORE = BEFORE.replace("#A-section", "#A-heading").replace("03_before.ipynb)", "04_title.ipynb)")


def page(name, text):
    code = nbformat.v4.new_code_cell("d = 300")
    shown = nbformat.v4.new_output("stream", text="tensor([0.2689, 1024., 1e-06])\n")
    cells = [code, nbformat.v4.new_markdown_cell(text)]
    executed = nbformat.v4.new_notebook(cells=[{**code, "outputs": [shown]}, cells[1]])
    notebook = nbformat.v4.new_notebook(cells=cells)
    file = f"book/{name}.md"
    places = [f"{file}:{number}" for number in range(1, 99)]
    return Page(Chapter(name, file, notebook, [places, places]), executed)


def found(tmp_path, old="", new=""):
    assert old in GOOD
    (tmp_path / "cover.svg").touch()
    pages = [page("03_before", BEFORE), page("04_title", GOOD.replace(old, new, 1))]
    return [line for line in problems(pages, tmp_path) if line.startswith("book/04_title.md")]


def test_a_good_page_has_no_problems(tmp_path):
    assert found(tmp_path) == []


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        ("# 4. Title", "# Title", 1, "begins with its title"),
        ("> **The question.** Why?", "Why?", 1, "lacks its part 'question'"),
        ("**Time** about 5 minutes to read", "", 1, "lacks its part 'time'"),
        ("1. A. Author", "A. Author", 1, "lacks its part 'summary'"),
        ("by (4.1)", "by (4.2)", 19, "there is no equation (4.2)"),
        ("[(3.1)]", "[(3.2)]", 19, "03_before has no equation (3.2)"),
        ("tag{4.1}", "tag{4.2}", None, "equation 4.1 is numbered 4.2"),
        ("03_before.ipynb#A", "03_befor.ipynb#A", 9, "03_befor.ipynb does not exist"),
        ("#A-heading", "#A-header", 9, "03_before has no heading #A-header"),
        ("(#A-section)", "(#a-section)", 21, "04_title has no heading #a-section"),
        ("[[1]]", "[[2]]", 20, "there is no reference [2]"),
        (" [[1]](#References)", "", None, "reference [1] is not cited"),
        ("1. A. Author", "2. A. Author", None, "references are numbered 2"),
        ("10.1/x)", "10.1/x). It tells.", None, "the note goes on a line of its own"),
        ("0.27", "0.28", 19, "no output above shows 0.28"),
        ("27%", "28%", 19, "no output above shows 28%"),
        ("0.27", "0.2689", 19, None),
        ("0.27", "1e-6", 19, None),
        ("0.27", "2e-6", 19, "no output above shows 2e-6"),
        ("`d = 300`", "`d = 301`", 20, None),
        ("about 5 minutes", "about 105 minutes", 1, None),
        ("See the", "See 301", 21, "no output above shows 301"),
        ("cover.svg", "missing.svg", 23, "missing.svg does not exist"),
        ("![A heat map]", "![]", 23, "has no alt text"),
        ("See the", "It holds. See the", 21, "more than one sentence"),
        ("See the", r"By \eqref{x}, see the", 21, "show this raw"),
        ("See the", "See <b>the</b>", 21, "show this raw"),
        ("$$ a = b", "x $$ a = b", 17, None),
        ("## Summary", f"{TWICE}## Summary", None, None),
        ("## Summary", f"{FOLDS}{UNMARKED}## Summary", 35, "of this name are of class 'hint'"),
    ],
)
def test_a_mistake_is_found_where_it_stands(tmp_path, old, new, line, problem):
    lines = found(tmp_path, old, new)
    if problem is None:
        assert lines == []  # allowed: the line cites its source, or the markup is fine
    else:
        assert any(problem in text for text in lines), lines
        assert any(text.startswith(f"book/04_title.md:{line or ''}") for text in lines)
