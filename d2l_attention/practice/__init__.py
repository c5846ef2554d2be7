"""Explorers, and exercises that check themselves, for every framework.

In a chapter:

    explore(weights, caption="...", question="...", temperature=[0.5, 1.0, 2.0])
    check("3.1", window_mask)    # shows target and answer, then names the likely mistake

An exercise is declared in `chapter_NN.py`, in NumPy alone (answers get arrays of the framework, on
the CPU, float64 as float32); `chapter_03.py` is an example:

    window = Exercise("3.1", window_mask, some_windows)

    @window.expects
    class WindowMistakes:
        def one_key_too_many(n, m, width):
            '''Your window is one key too wide: `width` counts the query's own position, too.'''
            return window_mask(n, m, width + 1)

A reader is told the mistake's name and docstring; `audit` finds what a wrong answer could slip
through. `diagnosis.py` recognises in every exercise what need not be declared: a wrong shape, NaN,
hard-coded numbers, a constant factor, another order, an argument changed in place, and so on.
"""

from d2l_attention.practice.arcs import draw_arcs
from d2l_attention.practice.audit import audit
from d2l_attention.practice.checking import Result, check
from d2l_attention.practice.exercises import Exercise
from d2l_attention.practice.explorer import Explorer, Toggles, explore
from d2l_attention.practice.explorer_planes import Name, Regions, Score
from d2l_attention.practice.explorer_plots import Arrow, Bars, Curve, Line, Piece, Plot, Points
from d2l_attention.practice.ladder import show_ladder

__all__ = ["Exercise", "Result", "audit", "check", "draw_arcs", "show_ladder"]
__all__ += ["Explorer", "Regions", "Score", "Toggles", "explore"]
__all__ += ["Arrow", "Bars", "Curve", "Line", "Name", "Piece", "Plot", "Points"]
