"""#@save: what goes to the module, and what cannot; stale files show it of the real modules."""

import pytest

from bookbinder.export import compose_module, saved_in_cell
from bookbinder.files import BookError

CELLS = [
    "#@save\nimport os\nimport torch\n# how many\nCOUNT = 3\n\ndef area(r):\n    return square(r)",
    "#@save private\ndef square(x): return x * x",
    "import functools  #@save\nunsaved = 1\n# belongs to what follows\n@functools.cache\n"
    "def f(  #@save\n    x,\n):\n    '''Return  x; write #@save to save it.'''\n    return torch",
    "from d2l_attention.figures import show_heatmaps  #@save\nX = 2  #@save private",
    "def volume(r):  #@save\n    return r * X, show_heatmaps",
]
PARTS = [  # in this order
    "# Made from x\n\nimport functools\n\nimport torch\n\nfrom d2l_attention.figures import show_h",
    '\n\n__all__ = ["COUNT", "area", "f", "show_heatmaps", "volume"]  # fmt: skip\n',
    "\n# From book/04_x.md, Heading\n# how many\nCOUNT = 3\n",
    "def square",
    "\n\n# belongs to what follows\n@functools.cache\ndef f(x):\n",
    "Return  x; write #@save to save it.",
    "def volume",
]


def save(cell, first=10):
    return saved_in_cell(cell, lambda n: f"book/04_x.md:{first + n - 1}", "book/04_x.md, Heading")


def test_what_is_marked_is_saved_in_order_with_its_comments_and_the_imports_that_it_uses():
    text = compose_module([save(cell) for cell in CELLS], "# Made from x")
    places = [text.find(part) for part in PARTS]
    assert places == sorted(places), text
    assert places[0] == 0
    assert text.count("# From") == 1  # once above a run of blocks
    assert not [word for word in ("unsaved", "import os", "private") if word in text]
    assert save("%time save = 1") is None  # no mark: it need not even parse


@pytest.mark.parametrize(
    ("cell", "line", "message"),
    [
        ("def f(:  #@save", 10, "does not parse"),
        ("x = 1\n#@save\ny = 2", 11, "cannot place #@save"),
        ("for i in range(3):  #@save\n    pass", 10, "definitions only, got 'for i in"),
        ("#@save\nx = 1\nprint(x)", 12, r"definitions only, got 'print\(x\)'"),
        ("#@save\nx = 1\ny = 2  #@save", 12, "cannot place #@save"),
        ("#@save", 10, "cannot place #@save"),
        ("x = 1  # @save", 10, "write #@save or #@save private, got '# @save'"),
    ],
)
def test_a_mark_that_cannot_be_placed_names_its_line(cell, line, message):
    with pytest.raises(BookError, match=f"book/04_x.md:{line}: .*{message}"):
        save(cell)


def test_what_is_saved_twice_or_not_at_all_names_its_place():
    twice = [save("def f(): pass  #@save", first) for first in (10, 70)]
    with pytest.raises(BookError, match=r"x.md:70: 'f' is already saved at book/04_x.md:10"):
        compose_module(twice, "# Made from x")
    with pytest.raises(BookError, match=r"04_x.md, Heading: saved code .*Undefined name `helper`"):
        compose_module([save("def f(): return helper()  #@save")], "# Made from x")
