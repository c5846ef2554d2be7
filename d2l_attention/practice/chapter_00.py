"""The exercise of chapter 0, on which readers see what a check does."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, when
from d2l_attention.practice.numerics import softmax


def row_shares(scores):
    return scores / scores.sum(-1, keepdims=True)


def positive_scores(rng):
    for n, m in ((2, 3), (4, 3), (5, 7), (1, 4), (1, 1)):
        yield (rng.integers(1, 9, (n, m)) + rng.random((n, m)).round(1),)
    yield (500 * rng.random((3, 5)) ** 4 + 0.01,)


shares = Exercise("0.1", row_shares, positive_scores)


def sums_of_rows(answer, target, scores):
    return answer.size == len(scores) and np.allclose(answer.ravel(), scores.sum(-1))


@shares.expects
class SharesMistakes:
    def columns_divided(scores):
        """Your columns sum to 1, not your rows. Each query has its own row: sum over the keys, the
        last axis."""
        return scores / scores.sum(-2, keepdims=True)

    def everything_divided_by_one_number(scores):
        """All your entries together sum to 1. Each row should: give `sum` the axis of the keys."""
        return scores / scores.sum()

    def a_softmax(scores):
        """Your rows sum to 1, but this is a softmax, which takes exponentials first. The task asks
        for the scores themselves, divided by their sum."""
        return softmax(scores)

    def mean_in_place_of_the_sum(scores):
        """You divide by the mean of each row. Divide by its sum."""
        return scores / scores.mean(-1, keepdims=True)

    def largest_becomes_1(scores):
        """You divide by the largest score of each row. Divide by its sum."""
        return scores / scores.max(-1, keepdims=True)

    @when(sums_of_rows)
    def only_the_sums(scores):
        """These are the sums of the rows. Divide the scores by them."""
        return scores.sum(-1, keepdims=True)
