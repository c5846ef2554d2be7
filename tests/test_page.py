"""A page: what its lines are."""

from bookbinder.chapters import read_chapter
from bookbinder.page import Link, lines_of, markdown_lines

CELL = """\
## A *heading*

> **Note.** A quotation
> in `two` lines.

1. An item ![with](a.svg)
   and $x$.

~~~python
# no heading
~~~

| a | **b** |
|---|---|

$$
x \\tag{4.1}
$$

<details class="hint">
<summary>Hint 1</summary>

Inside.
</details>

[[2]](#References) **bold** and [a](b.ipynb#C-(d)) [`f`](g)
"""
KINDS = """heading - quote quote - item item - fence fence fence - row - - formula formula formula -
html html - paragraph html - paragraph"""


def test_each_line_of_a_cell_is_of_a_kind():
    parts = markdown_lines(CELL)
    assert [part.kind or "-" for part in parts] == KINDS.split()
    assert [part.content for part in parts if part.level] == ["A *heading*"]
    assert [part.content for part in parts if part.fold] == CELL.splitlines()[19:24]
    assert {part.fold for part in parts} == {"", "hint"}
    assert markdown_lines("<details>\n<summary>S</summary>\n</details>")[1].fold == "answer"
    assert (parts[2].content, parts[3].content) == ("**Note.** A quotation", "in `two` lines.")
    assert [part.label for part in parts if part.label] == ["Note."]


def test_a_line_knows_its_links_citations_and_words():
    item, last = markdown_lines(CELL)[5], markdown_lines(CELL)[-1]
    assert item.links == [Link("with", "a.svg", "image")]
    assert last.links == [Link("[2]", "#References"), Link("a", "b.ipynb#C-(d)"), Link("f", "g")]
    assert (last.citations, last.bold) == (["2"], ["bold"])
    assert last.plain.split() == ["bold", "and"]


def test_a_last_section_that_is_no_list_has_no_role(tmp_path):
    def roles(text):
        (tmp_path / "00_x.md").write_text(f"# 0. X\n\n> **Note.** N.\n\n{text}\n")
        lines = lines_of(read_chapter(tmp_path / "00_x.md", "x"))
        return [line.role for line in lines if line.role]

    assert roles("## A\n\nA list:\n\n- i") == ["title", "question"]
    assert roles("## A\n\n1. An author.") == ["title", "question", "references"]
