"""Gradients by central differences, with which those of an answer are compared."""

from collections.abc import Callable

import numpy as np

from d2l_attention.arrays import copied


@np.errstate(all="ignore")
def central_differences(
    function: Callable, inputs: tuple, place: int, direction: np.ndarray, step: float = 1e-6
) -> np.ndarray:
    """Return the gradient of sum(direction * function) for one input, by NumPy in float64."""
    inputs = [copied(x) for x in inputs]
    point = inputs[place]
    gradient = np.empty_like(point)
    for at in np.ndindex(point.shape):
        ends = []
        for sign in (1, -1):
            moved = point.copy()
            moved[at] += sign * step
            given = [*inputs[:place], moved, *inputs[place + 1 :]]
            ends.append((np.ravel(function(*given)) * direction).sum())
        gradient[at] = (ends[0] - ends[1]) / (2 * step)
    return gradient
