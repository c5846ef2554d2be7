"""Explorers, and exercises that check themselves. Written by hand, for every framework.

In a chapter:

    from d2l_attention.practice import check, explore, hint

    explore(weights, caption="...", question="...", temperature=[0.5, 1.0, 2.0])
    check("4.1", window_mask)    # shows target and answer, then names the likely mistake
    hint("4.1")                  # one step more at each call

An exercise is declared in `chapter_NN.py`, where readers of a worksheet do not meet it: a tuple
EXERCISES of `Exercise`, in NumPy alone (answers get arrays of the edition's framework, on the CPU,
float64 as float32). `chapter_04.py` is an example; `audit` finds what a wrong answer could slip
through, and a test runs it on every chapter. These mistakes are recognised in every exercise
without being declared: exceptions, wrong arguments, nothing returned, shape (transposed, axis
missing, broadcast by luck), NaN, hard-coded numbers, rows that do not sum to 1, a constant factor
or offset, another order, data type, an argument changed in place.
"""

from d2l_attention.practice.audit import audit
from d2l_attention.practice.checking import Result, check, hint
from d2l_attention.practice.exercises import Exercise, Mistake
from d2l_attention.practice.explorer import Explorer, explore

__all__ = ["Exercise", "Explorer", "Mistake", "Result", "audit", "check", "explore", "hint"]
