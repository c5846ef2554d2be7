"""nbval compares pictures and weights of models nearly, and runs the solutions in folds, too."""

from functools import partial
from types import SimpleNamespace

import nbformat
from nbval import plugin

from bookbinder.compare import apart, difference
from bookbinder.notebook import unfolded


def pytest_configure():
    def read(*arguments, **options):
        return unfolded(nbformat.read(*arguments, **options))

    plugin.nbformat = SimpleNamespace(**vars(nbformat) | {"read": read})


def pytest_itemcollected(item):
    if isinstance(item, plugin.IPyNbCell):
        item.compare_outputs = partial(compare_outputs, item, item.compare_outputs)


def compare_outputs(cell, compare, new, stored):
    """Return whether the outputs of a cell agree; what differs stands in its report."""
    (near, new), (wanted, stored) = apart(new), apart(stored)
    same = compare(new, stored, cell.parent.skip_compare)
    if not same:  # nbval names stderr, and keeps to itself what stands there
        cell.comparison_traceback += [out.text for out in new if out.get("name") == "stderr"]
    if reason := difference(near, wanted):
        cell.comparison_traceback.append(reason)
    return same and not reason
