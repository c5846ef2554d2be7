"""The checks of the text: each is shown a good page and the same page with one mistake."""

import nbformat
import pytest

from bookbinder.chapters import Chapter
from bookbinder.page import Page
from tests.text_checks import problems

GOOD = """# 4. Title

> **The question.** Why?

**Time** about 105 minutes to read

See [chapter 3](03_before.ipynb#A-section) and the [section](#A-section).
![A heat map](cover.svg)

## A section

$$ a = b \\tag{4.1} $$

By (4.1) and [(3.1)](03_before.ipynb) the weight is 0.27, 0.2689, or 27%, and not 1e-6.
Half of $1{,}024$ is 512 [[1]](#References), and `d = 300` stands in the code of Python 3.11.

<details>
<summary>Solution</summary>
</details>

## Summary

- It holds.

## References

1. A. Author, “Work”, 1999. [doi](https://doi.org/10.1/x)
"""
BEFORE = GOOD.replace("4.1", "3.1").replace("# 4.", "# 3.")
FOLD = '<details class="hint">\n<summary>Solution 2</summary>\n</details>\n\n'
MISTAKES = [  # old, new, line of the chapter if it has one, problem
    ("# 4. Title", "# Title", 1, "begins with its title"),
    ("By (4.1)", "By (4.2)", 14, "there is no equation (4.2)"),
    ("tag{4.1}", "tag{4.2}", None, "equation 4.1 is numbered 4.2"),
    ("(#A-section)", "(#a-section)", 7, "04_title has no heading #a-section"),
    ("[[1]]", "[[2]]", 15, "there is no reference [2]"),
    (" [[1]](#References)", "", None, "reference [1] is not cited"),
    ("10.1/x)", "10.1/x). It tells.", None, "the note goes on a line of its own"),
    ("0.27", "0.28", 14, "no output above shows 0.28"),
    ("By (4.1)", "By (4.1), 301", 14, "no output above shows 301"),
    ("1e-6", "2e-6", 14, "no output above shows 2e-6"),
    ("By (4.1)", "It holds. By (4.1)", 14, "more than one sentence"),
    ("cover.svg", "missing.svg", 8, "missing.svg does not exist"),
    ("![A heat map]", "![]", 8, "has no alt text"),
    ("By (4.1)", r"By \eqref{x}", 14, "show this raw"),
    ("## Summary", f"{FOLD}## Summary", None, "of this name are of class 'answer'"),
]


def page(name, text):
    shown = nbformat.v4.new_output("stream", text="tensor([0.2689, 1024., 1e-06])\n")
    code = nbformat.v4.new_code_cell("d = 300", outputs=[shown])
    cells = [code, nbformat.v4.new_markdown_cell(text)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    places = [f"book/{name}.md:{number}" for number in range(1, 99)]
    return Page(Chapter(name, f"book/{name}.md", notebook, [places, places]), notebook)


def found(tmp_path, old="", new=""):
    (tmp_path / "cover.svg").touch()
    pages = [page("03_before", BEFORE), page("04_title", GOOD.replace(old, new, 1))]
    return [line for line in problems(pages, tmp_path) if line.startswith("book/04_title.md")]


@pytest.mark.parametrize(("old", "new", "line", "problem"), MISTAKES)
def test_a_mistake_is_found_where_it_stands_and_a_good_page_has_none(
    tmp_path, old, new, line, problem
):
    assert found(tmp_path) == []
    lines = found(tmp_path, old, new)
    assert any(problem in text for text in lines), lines
    assert any(text.startswith(f"book/04_title.md:{line or ''}") for text in lines)
