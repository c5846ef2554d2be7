"""The checks of chapter 1, Queries, keys and values."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, when
from d2l_attention.practice.numerics import softmax
from d2l_attention.practice.recurring_mistakes import columns_sum_to_1

# ---- 1.3


def softmax_at_temperature(scores, temperature):
    return softmax(scores / temperature)


def far_apart_scores(rng):
    # Quarters and powers of 2, so that single precision loses nothing in either order.
    for n, m, temperature in ((3, 4, 0.5), (2, 5, 2.0), (4, 3, 4.0)):
        shifts = rng.permutation([0, 8192, -8192, 16384][:n])
        scores = rng.permutation(n * m).reshape(n, m) / 4 + shifts[:, None]
        scores[-1, 1] += 4096  # far above the rest of its own row
        yield scores, temperature
    yield np.array([[0, -2000, 2000, 2000, 1999.5]]), 1.0  # with a tie
    yield np.array([[-2000.0]]), 2.0


def shifted(scores, shift, temperature):
    exponentials = np.exp((scores - shift) / temperature)
    return exponentials / exponentials.sum(-1, keepdims=True)


READY_MADE = "softmax", "logsumexp"
survivor = Exercise("1.3", softmax_at_temperature, far_apart_scores, without=READY_MADE)


def nan_below_the_best_row(answer, target, scores, temperature):
    lost = np.isnan(answer).all(-1)
    best = scores.max(-1) == scores.max()
    return answer.shape == target.shape and (lost == ~best).all()


def nan_and_else_right(answer, target, scores, temperature):
    lost = np.isnan(answer)
    return answer.shape == target.shape and lost.any() and np.allclose(answer[~lost], target[~lost])


@survivor.expects
class SurvivorMistakes:
    @when(columns_sum_to_1)
    def softmax_over_the_queries(scores, temperature):
        return softmax(scores / temperature, -2)

    def maximum_not_subtracted(scores, temperature):
        """The exponentials of large scores are infinite and those of very low ones are 0, so you
        divide infinity by infinity or 0 by 0. Shift each row first: that changes no weight."""
        return shifted(scores, 0, temperature)

    @when(nan_below_the_best_row)
    def one_maximum_for_all_rows(scores, temperature):
        """You subtract the largest score of the whole matrix. The other rows then lie far below 0,
        and all their exponentials are 0. Each row needs its own maximum."""
        return shifted(scores, scores.max(), temperature)

    @when(nan_and_else_right)
    def another_shift_than_the_maximum(scores, temperature):
        """Your shift is not the maximum of the row, as its mean, minimum or first entry is not. A
        score far above that shift still overflows, or all scores far below it underflow."""
        return shifted(scores, scores.mean(-1, keepdims=True), temperature)

    def no_temperature(scores, temperature):
        return softmax(scores)

    def times_the_temperature(scores, temperature):
        return softmax(scores * temperature)

    def temperature_after_the_exponential(scores, temperature):
        """You divide by the temperature after the exponential, where it is a mere factor: the rows
        do not sum to 1. Divide the scores."""
        return softmax(scores) / temperature

    def no_exponential(scores, temperature):
        return scores / scores.sum(-1, keepdims=True)

    def logarithms_of_the_weights(scores, temperature):
        """These are the logarithms of the weights: one exponential is missing."""
        scaled = (scores - scores.max(-1, keepdims=True)) / temperature
        return scaled - np.log(np.exp(scaled).sum(-1, keepdims=True))


# ---- 1.4

vanishing = Exercise("1.4", (1, 0, -1))


@vanishing.expects
class VanishingMistakes:
    def the_gradient_of_the_weight():
        """That is the gradient of the weight itself, which has vanished. The logarithm multiplies
        it by 1 over the weight: do that on paper before you round."""
        return 0, 0, 0

    def sign():
        """A larger score of entry 1 makes its weight larger, so the first entry is positive. You
        have the gradient of the negative logarithm, the loss."""
        return -1, 0, 1

    def denominator_forgotten():
        """The first entry is right. The score of the winner stands in the denominator of the
        weight: raising it costs the others weight."""
        return 1, 0, 0

    def the_losers_share():
        """Each score counts as much as its own weight: entry 2 has almost none and does not
        matter."""
        return 1, -0.5, -0.5

    def the_weights():
        """These are the weights. They are one of two terms of the gradient: what does the score of
        entry 1 itself add?"""
        return 0, 0, 1

    def zero_divided_by_zero():
        """A computer that takes the logarithm of a weight of 0 returns this. On paper the weight is
        positive: simplify first."""
        return np.nan, np.nan, np.nan
