"""Explorers, and exercises that check themselves. Written by hand, for every framework.

In a chapter:

    from d2l_attention.practice import check, explore

    explore(weights, caption="...", question="...", temperature=[0.5, 1.0, 2.0])
    check("3.1", window_mask)    # shows target and answer, then names the likely mistake

An exercise is declared in `chapter_NN.py`, where readers of a worksheet do not meet it, in NumPy
alone (answers get arrays of the edition's framework, on the CPU, float64 as float32):

    window = Exercise("3.1", window_mask, some_windows)

    @window.expects
    class WindowMistakes:
        def one_key_too_many(n, m, width):
            '''Your window is one key too wide: `width` counts the query's own position, too.'''
            return window_mask(n, m, width + 1)

The mistake's name and docstring are what a reader is told; the sentence of one that recurs in
several exercises stands in `recurring_mistakes.py`, what right answers share in `numerics.py`.
`chapter_03.py` is an example; `audit` finds what a wrong answer could slip through, and a test
runs it on every chapter. These mistakes are recognised in every exercise without being declared:
exceptions, wrong arguments, nothing returned, shape (transposed, axis missing, broadcast by luck),
NaN, hard-coded numbers, rows that do not sum to 1, a constant factor or offset, another order,
data type, an argument changed in place; and, where the exercise asks for it, a wrong gradient or
an array that is too large.
"""

from d2l_attention.practice.arcs import draw_arcs
from d2l_attention.practice.audit import audit
from d2l_attention.practice.checking import Result, check
from d2l_attention.practice.exercises import Exercise
from d2l_attention.practice.explorer import Explorer, Toggles, explore
from d2l_attention.practice.explorer_live import Live, Score
from d2l_attention.practice.explorer_planes import Regions
from d2l_attention.practice.explorer_plots import (
    Arrow,
    Bars,
    Curve,
    Line,
    Name,
    Piece,
    Plot,
    Points,
)

__all__ = [
    "Arrow",
    "Bars",
    "Curve",
    "Exercise",
    "Explorer",
    "Line",
    "Live",
    "Name",
    "Piece",
    "Plot",
    "Points",
    "Regions",
    "Result",
    "Score",
    "Toggles",
    "audit",
    "check",
    "draw_arcs",
    "explore",
]
