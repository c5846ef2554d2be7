"""Mistakes that people make in several exercises: what to say about them, and how they show."""

import numpy as np

RECURRING = {
    "softmax over the queries": (
        "Your columns sum to 1, not your rows: normalize over the keys, the last axis."
    ),
    "softmax over the examples": (
        "The weights of one key sum to 1 over the batch: normalize over the keys, the last axis."
    ),
    "sum over the queries": (
        "You sum over the queries. Each query has a result of its own: sum over the keys, the "
        "last axis."
    ),
    "mean over the keys": "The task asks for a sum over the keys, and yours is their mean.",
    "queries and keys swapped": (
        "Queries go down and keys across: the last two axes are (n, m), and yours are (m, n)."
    ),
    "mask inverted": (
        "Your mask is inverted: in this book True means that a query may attend to a key."
    ),
    "maximum not subtracted": (
        "The exponential of a large score overflows. Subtract the row's maximum first: the "
        "weights stay the same, and no exponent is above 0."
    ),
    "exponential before the logarithm": (
        "Far from every key all similarities are 0 in floating point, and 0/0 is NaN. The weights "
        "exist: take the softmax of the logarithms of the similarities."
    ),
    "no exponential": "You divide the scores by their sum. The softmax takes exponentials first.",
    "no temperature": "Your weights do not depend on the temperature: divide the scores by it.",
    "times the temperature": (
        "You multiply by the temperature. A high temperature makes weights more equal, so divide "
        "the scores by it."
    ),
    "no scale": "The scale is missing: divide the scores by the root of the dimension.",
    "no factor one half": "The factor 1/2 is missing.",
    "not divided by the sum": "These are similarities: divide each row by its sum.",
    "weights in place of scores": (
        "These are attention weights. The task asks for scores, before the softmax."
    ),
    "bandwidth not squared": (
        "The distance is divided by the bandwidth and then squared, so the bandwidth is squared "
        "too."
    ),
    "reshape in place of transpose": (
        "A reshape keeps the order of the elements and only cuts it anew, so rows of different "
        "tokens are mixed. Swap the axes with a transpose."
    ),
    "one value for all": "You return a single value. Each query has a result of its own.",
}


def columns_sum_to_1(answer, target, *inputs):
    return answer.shape == target.shape and np.allclose(answer.sum(-2), 1)


def some_nan(answer, target, *inputs):
    return answer.shape == target.shape and np.isnan(answer).any()
