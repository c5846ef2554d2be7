"""A plugin that has nbval compare pictures as pictures, weights of models nearly, the rest as ever.

Pictures are the SVGs of a cell, and weights those that a widget of `draw_arcs` holds.
"""

from functools import partial

from nbval.plugin import IPyNbCell

from bookbinder.pictures import SVG, pictures_difference
from bookbinder.stored_weights import weights_apart, weights_difference


def pytest_itemcollected(item):
    if isinstance(item, IPyNbCell):
        item.compare_outputs = partial(compare_outputs, item, item.compare_outputs)


def compare_outputs(cell, compare, new, stored):
    """Return whether the outputs of a cell agree; what differs stands in its report."""
    (weights, new), (wanted, stored) = weights_apart(new), weights_apart(stored)
    same = compare(new, stored, (*cell.parent.skip_compare, SVG))
    reasons = (
        pictures_difference(svg_texts(new), svg_texts(stored)),
        weights_difference(weights, wanted),
    )
    found = [reason for reason in reasons if reason]
    cell.comparison_traceback += found
    return same and not found


def svg_texts(outputs) -> list[str]:
    return [str(o.data[SVG]) for o in outputs if SVG in o.get("data", {})]
