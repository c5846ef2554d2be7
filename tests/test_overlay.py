"""Overlays: what a framework has of its own, and every way in which it can be out of date."""

import re
import textwrap

import pytest
from conftest import code_cell

from bookbinder.chapters import read_chapter
from bookbinder.errors import BookError
from bookbinder.overlay import lay_over

BASE = (
    "# 0. Title\n\nThe first line.\nPyTorch has a word for it.\nThe last line.\n"
    + code_cell("import numpy as np")
    + code_cell("x = torch.zeros(3)", 'tags=["solution"]')
    + "\n## Look before you clear\n\nIn place.\n"
    + code_cell("x.zero_()")
    + "\n### A part of it\n\nMore.\n\n## Next\n"
    + code_cell("same = 1") * 2
)


@pytest.fixture
def base(tmp_path):
    path = tmp_path / "00_x.md"
    path.write_text(BASE)
    return read_chapter(path, "book/00_x.md")


@pytest.fixture
def lay(base, tmp_path):
    """Lay a text over the chapter; {name} in it is the id of the first cell with that word."""
    words = {"zeros": "zeros(", "inplace": "zero_", "same": "same"}
    cells = base.notebook.cells
    ids = {name: next(c.id for c in cells if word in c.source) for name, word in words.items()}
    path = tmp_path / "overlay.md"

    def named(text):
        for name, found in ids.items():
            text = text.replace(f"{{{name}}}", found)
        return text

    def laid_over(text):
        path.write_text(textwrap.dedent(named(text)).lstrip("\n"))
        return lay_over(base, path, "book/jax/00_x.md")

    laid_over.named = named
    return laid_over


WHOLE = (
    "<!-- was: PyTorch has a word for it. -->\nJAX has two.\nThis is the other.\n"
    + code_cell("x = jnp.zeros(3)", 'was="{zeros}"')
    + "\n<!-- drop section: Look before you clear -->\n"
)


def sources(chapter):
    return [cell.source for cell in chapter.notebook.cells]


def test_cells_lines_and_sections_are_replaced_and_the_rest_stays(lay):
    chapter = lay(WHOLE)
    prose = "# 0. Title\n\nThe first line.\nJAX has two.\nThis is the other.\nThe last line."
    code = ["import numpy as np", "x = jnp.zeros(3)"]
    assert sources(chapter) == [prose, *code, "## Next", "same = 1", "same = 1"]
    assert chapter.notebook.cells[2].metadata.tags == ["solution"]
    places = [chapter.where(*spot) for spot in [(0, 2), (0, 3), (0, 5), (2,), (3,)]]
    jax = "book/jax/00_x.md"
    assert places == [BOOK + ":3", jax + ":2", BOOK + ":5", jax + ":6", BOOK + ":27"]


def test_an_empty_cell_or_replacement_drops_what_it_names(lay):
    lines = "<!-- was: The first line.\nPyTorch has a word for it. -->\n"
    chapter = lay(lines + DROPPED)
    assert sources(chapter)[0] == "# 0. Title\n\nThe last line."
    assert not [source for source in sources(chapter) if "zero" in source]


def test_cells_and_prose_may_follow_a_replaced_cell_and_one_of_two_equal_ones_is_numbered(lay):
    text = code_cell("key = 0", 'was="{zeros}"') + "\nWords about it.\n" + code_cell("key += 1")
    text += '```python was="{inplace}"\n```\n' + code_cell("other = 1", 'was="{same}-1"')
    assert sources(lay(text))[2:5] == ["key = 0", "Words about it.", "key += 1"]
    assert sources(lay(text))[-2:] == ["other = 1", "same = 1"]


BOOK = "book/00_x.md"
DROPPED = '```python was="{inplace}"\n```\n```python was="{zeros}"\n```\n'


PLACED = """# 0. Title

```python was="{zeros}"
x = jnp.zeros(3)
```

## Look before you clear

```python was="{inplace}"
```

### A part of it

<!-- was: More. -->
Less.

<!-- drop section: Next -->
"""
MISTAKES = {  # text of an overlay -> the message
    '```python was="00000000"\nx = torch.zeros(4)\n```\n': "00_x.md:1: no cell has the id "
    "'00000000'; nearest, at book/00_x.md:12: '",
    '```python was="{same}"\n```\n': "matches the cells at book/00_x.md:30 and "
    "book/00_x.md:34: write '",
    DROPPED + '```python was="{zeros}"\n1\n```\n': "is replaced at book/jax/00_x.md:3 already",
    "<!-- was: PyTorch has the word for it. -->\nJAX.\n": "no place has the line 'PyTorch has the "
    "word for it.'; most like it, at book/00_x.md:4: 'PyTorch has a word for it.'",
    "<!-- drop section: Look before you clear -->\n"
    "<!-- was: More. -->\n": "00_x.md:2: book/00_x.md:25 is replaced or left out already",
    "<!-- drop section: Look before you clear -->\n"
    '```python was="{inplace}"\n1\n```\n': "20 stands in a section that is left out",
    "<!-- drop section: Look after you clear -->\n": "no heading is 'Look after you clear'; "
    "most like it, at book/00_x.md:15: 'Look before you clear'",
    "<!-- drop: Next -->\n": "write <!-- was: … --> or <!-- drop section: … -->, got",
    "<!-- was: The first line.\n": "write <!-- was: … -->",
    "A new line.\n": "00_x.md:1: this line replaces nothing: 'A new line.'",
    "# 0. Title\n\nA new line.\n": "00_x.md:3: this line replaces nothing: 'A new line.'",
    "```python\n1\n```\n": "00_x.md:1: this cell replaces nothing",
    '```python was="{zeros}"\n1\n': "00_x.md:1: this code cell has no end",
    '```python was="{zeros}" tags=["solutoin"]\n1\n```\n': "unknown tag 'solutoin'",
    PLACED.replace("## Look before", "## Look after"): "00_x.md:7: no heading of the chapter is "
    "'## Look after you clear'; most like it, at book/00_x.md:15: '## Look before you clear'; "
    "above a heading of this edition alone, write <!-- new section -->",
    PLACED.replace("### A part", "## A part"): "00_x.md:12: no heading of the chapter is '## A",
    PLACED.replace("## Look before you clear", "## Next"): "00_x.md:9: what this replaces, at "
    "book/00_x.md:20, stands under 'Look before you clear', here under 'Next'",
    PLACED.replace("### A part of it\n", ""): "00_x.md:13: what this replaces, at book/00_x.md:25, "
    "stands under 'A part of it', here under 'Look before you clear'",
    PLACED.replace("# 0. Title\n", ""): "stands under '0. Title', here under no heading",
    PLACED + "\n## Look before you clear\n": "00_x.md:19: '## Look before you clear' stands higher "
    "in the chapter, at book/00_x.md:15",
    PLACED + "\n<!-- was: ### A part of it -->\n### Part\n": "00_x.md:19: 'A part of it' stands "
    "higher in the chapter, at book/00_x.md:23",
    PLACED.replace(
        "{inplace}", "00000000"
    ): "00_x.md:9: under 'Look before you clear', no cell has "
    "the id '00000000'; nearest, at book/00_x.md:20: '{inplace}', 'x.zero_()'",
    "<!-- new section -->\nWords.\n": "00_x.md:1: write <!-- new section --> right above a heading",
}


@pytest.mark.parametrize(("text", "message"), MISTAKES.items())
def test_what_fits_nowhere_is_named_with_file_and_line(lay, text, message):
    with pytest.raises(BookError) as failure:
        lay(text)
    assert lay.named(message) in str(failure.value)


def test_headings_say_where_entries_stand_and_change_nothing(lay):
    chapter = lay(PLACED)
    without = re.sub(r"^#+ .*\n", "", PLACED, flags=re.MULTILINE)
    assert sources(chapter) == sources(lay(without))
    assert sources(chapter)[-1] == "### A part of it\n\nLess."


def test_headings_of_the_edition_alone_are_text(lay):
    text = PLACED.replace("### A part of it", "<!-- was: ### A part of it -->\n### Next\n\nWords.")
    text = text.replace(
        "Less.\n", "Less.\n\n```text\n# no heading\n```\n\n<!-- new section -->\n## New\n"
    )
    prose = sources(lay(text))[-1]
    assert prose == "### Next\n\nWords.\n\nLess.\n\n```text\n# no heading\n```\n\n## New"


def test_a_hash_in_a_fence_is_no_heading(base, lay):
    base.notebook.cells[0].source += "\n\n```text\n## Next\n```"
    base.places[0] += ["book/00_x.md:0"] * 4
    assert "same = 1" not in sources(lay(WHOLE + "\n<!-- drop section: Next -->\n"))
