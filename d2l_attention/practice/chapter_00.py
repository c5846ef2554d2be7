"""The exercise of chapter 0, on which readers see what a check does."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, Mistake


def row_shares(scores):
    return scores / scores.sum(-1, keepdims=True)


def positive_scores(rng):
    for n, m in ((2, 3), (4, 3), (5, 7)):
        yield (rng.integers(1, 9, (n, m)) + rng.random((n, m)).round(1),)


EXERCISES = (
    Exercise(
        "0.1",
        row_shares,
        positive_scores,
        mistakes=(
            Mistake(
                "columns divided",
                "Your columns sum to 1, not your rows. Each query has its own row: sum over the "
                "keys, the last axis.",
                lambda scores: scores / scores.sum(-2, keepdims=True),
            ),
            Mistake(
                "everything divided by one number",
                "All numbers together sum to 1. Each row should: give `sum` the axis.",
                lambda scores: scores / scores.sum(),
            ),
            Mistake(
                "a softmax",
                "Your rows sum to 1, but this is a softmax, which takes exponentials first. "
                "Here the scores themselves are to be divided.",
                lambda scores: np.exp(scores) / np.exp(scores).sum(-1, keepdims=True),
            ),
            Mistake(
                "mean in place of the sum",
                "You divide by the mean of each row. Divide by its sum.",
                lambda scores: scores / scores.mean(-1, keepdims=True),
            ),
            Mistake(
                "largest becomes 1",
                "You divide by the largest score of each row. Divide by its sum.",
                lambda scores: scores / scores.max(-1, keepdims=True),
            ),
            Mistake(
                "only the sums",
                "These are the sums of the rows. Divide the scores by them.",
                lambda scores: scores.sum(-1, keepdims=True),
                lambda answer, target, scores: np.allclose(answer, scores.sum(-1)),
            ),
        ),
        hints=(
            "How large is the sum of each row? `scores.sum(dim=1)` says it.",
            "The sums have shape (n,), the scores (n, m). With `keepdim=True` the sums get "
            "shape (n, 1), which broadcasts to (n, m).",
            "Divide the scores by `scores.sum(dim=1, keepdim=True)`.",
        ),
    ),
)
