"""#@save: what goes to the module, and what cannot; stale files show it of the real modules."""

import pytest

from bookbinder.export import compose_module, saved_in_cell
from bookbinder.files import BookError


def save(cell, first=10):
    return saved_in_cell(cell, lambda n: f"book/04_x.md:{first + n - 1}", "book/04_x.md, Heading")


def test_a_statement_is_saved_with_its_comment_decorators_and_name_and_without_its_mark():
    kept = "# of f\n@cache\ndef f({}\n    x,\n):\n    'Write #@save to save it.'"
    assert save(f"unsaved = 1\n{kept.format('  #@save')}").source == kept.format("")
    assert save("COUNT = 3  #@save").public == ["COUNT"]
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
