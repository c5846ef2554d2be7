"""A plugin that has nbval compare the SVG pictures of a cell as pictures, the rest as ever."""

from functools import partial

from nbval.plugin import IPyNbCell

from bookbinder.pictures import SVG, pictures_difference


def pytest_itemcollected(item):
    if isinstance(item, IPyNbCell):
        item.compare_outputs = partial(compare_outputs, item, item.compare_outputs)


def compare_outputs(cell, compare, new, stored):
    """Return whether the outputs of a cell agree; what differs stands in its report."""
    same = compare(new, stored, (*cell.parent.skip_compare, SVG))
    if reason := pictures_difference(svg_texts(new), svg_texts(stored)):
        cell.comparison_traceback.append(reason)
    return same and reason is None


def svg_texts(outputs) -> list[str]:
    return [str(o.data[SVG]) for o in outputs if SVG in o.get("data", {})]
