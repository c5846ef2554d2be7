"""#@save: what goes to the module, and what cannot."""

import textwrap

import pytest

from bookbinder.export import compose_module, saved_in_cell
from bookbinder.files import BookError


def save(cell, first_line=10):
    cell = textwrap.dedent(cell).strip("\n")
    return saved_in_cell(
        cell, lambda line: f"book/04_x.md:{first_line + line - 1}", "book/04_x.md, Heading"
    )


def module(*cells):
    return compose_module([save(cell) for cell in cells], "# Made from x")


def run(text):
    names = {}
    exec(text, names)
    return names


def test_a_marked_first_line_saves_the_whole_cell_and_names_that_are_not_private_are_public():
    text = module(
        """
        #@save
        import math
        # how many
        COUNT = 3

        def area(r):
            # twice
            return COUNT * math.pi * square(r)
        """,
        "#@save private\ndef square(x): return x * x",
        "from d2l_attention.figures import show_heatmaps  #@save\nTURNS = 2  #@save private",
        "def volume(r):  #@save\n    return area(r) * r * TURNS, show_heatmaps",
    )
    assert "import math\n" in text
    assert "# how many\nCOUNT = 3" in text
    assert "# twice" in text
    assert run(text)["area"](1) == pytest.approx(9.42477796)
    assert '__all__ = ["COUNT", "area", "show_heatmaps", "volume"]' in text
    assert "@save" not in text
    assert "private" not in text


def test_a_mark_at_the_end_of_a_line_saves_that_statement():
    text = module("""
        import functools  #@save
        unsaved = 1
        # why it is three
        COUNT = 3  #@save
        # belongs to what follows
        @functools.cache
        def f(  #@save
            x,
        ):
            '''Return  x; write #@save to save it.

            Args:
                x:   shape (b,  n)
            '''
            return x
        class A:
            pass
        """)
    assert "unsaved" not in text
    assert "class A" not in text
    assert "# why it is three\nCOUNT = 3\n" in text
    assert "# belongs to what follows\n@functools.cache\ndef f(x):\n" in text
    words = "Return  x; write #@save to save it.\n\n    Args:\n        x:   shape (b,  n)\n"
    assert words in text  # docstrings stay as written
    names = run(text)
    assert names["f"](1) == 1
    assert hasattr(names["f"], "cache_info")


def test_imports_are_merged_sorted_and_dropped_when_unused():
    text = module(
        """
        #@save
        import torch
        from torch import nn
        import os
        def f(): return nn.Linear, torch.ones
        """,
        """
        import torch  #@save
        from torch import Tensor, nn  #@save
        def g(x: Tensor): return nn  #@save
        """,
    )
    assert "\nimport torch\nfrom torch import Tensor, nn\n\n" in text
    assert text.count("import torch\n") == 1
    assert "os" not in text


def test_blocks_keep_the_order_of_the_book_and_say_where_they_come_from():
    text = module("def b(): pass  #@save", "def a(): pass  #@save")
    assert text.index("def b") < text.index("def a")
    assert text.count("# From book/04_x.md, Heading\n") == 1  # once above a run of blocks


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


def test_a_name_saved_twice_names_both_places():
    twice = [save("def f(): pass  #@save", first_line) for first_line in (10, 70)]
    with pytest.raises(BookError, match=r"x.md:70: 'f' is already saved at book/04_x.md:10"):
        compose_module(twice, "# Made from x")


def test_saved_code_that_needs_an_unsaved_name_names_its_origin():
    with pytest.raises(BookError, match=r"04_x.md, Heading: saved code .*Undefined name `helper`"):
        module("def f(): return helper()  #@save")


def test_cells_without_marks_are_left_alone_even_if_they_do_not_parse():
    assert save("%time save = 1") is None
