"""A plugin that has nbval run the solutions, too, which readers get as text in folds."""

from types import SimpleNamespace

import nbformat
from nbval import plugin

from bookbinder.solutions import unfolded


def pytest_configure():
    plugin.nbformat = SimpleNamespace(**vars(nbformat) | {"read": read})


def read(*arguments, **options):
    return unfolded(nbformat.read(*arguments, **options))
