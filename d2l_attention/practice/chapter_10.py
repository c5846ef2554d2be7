"""The checks of chapter 10, Masked softmax in every corner."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, when
from d2l_attention.practice.numerics import entropy, masked_softmax, normalized, softmax

# ---- 10.1


def scores_and_masks(rng):
    for b, n, m, size in ((1, 3, 4, 2), (2, 5, 3, 2), (4, 2, 7, 6), (1, 4, 5, 20)):
        keep = rng.random((b, n, m)) < 0.6
        keep[..., -1, :] = False  # a fully masked row
        keep[..., 0, :2] = True, False
        scores = np.clip(size * rng.normal(size=(b, n, m)), -20, 20)
        scores[2:, 0, 1] = 1000  # masked, in the third case: its exponential overflows
        yield scores, keep


def scores_at_the_limits(rng):
    yield from scores_and_masks(rng)
    lowest = np.array([[[-20.0, -19.0, 5.0]], [[20.0, -20.0, 0.0]]])
    yield lowest, np.array([[[True, True, False]], [[True, True, True]]])
    yield np.array([[[3.0], [-1.0]]]), np.array([[[True], [False]]])  # a single key


weights_under_a_mask = Exercise("10.1", masked_softmax, scores_at_the_limits)


def rows_left(answer, target, keep):
    left = keep.any(-1)
    return np.allclose(answer[left], target[left], atol=1e-4)


@weights_under_a_mask.expects
class WeightsUnderAMaskMistakes:
    @when(lambda answer, target, scores, keep: np.allclose(answer.sum(-2)[keep.any(-2)], 1))
    def softmax_over_the_queries(scores, keep):
        return softmax(np.where(keep, scores, -np.inf), -2)

    def softmax_over_the_examples(scores, keep):
        return softmax(np.where(keep, scores, -1e6), 0)

    def mask_after_the_softmax(scores, keep):
        """Your rows sum to less than 1: the masked keys count in the denominator. Leave them out
        before you divide."""
        return softmax(scores) * keep

    def no_mask(scores, keep):
        """Your weights do not depend on the mask: masked keys get weight, too."""
        return softmax(scores)

    def softmax_then_zeros_then_a_division(scores, keep):
        """On paper this is right. But the softmax has a huge masked score in its denominator and
        rounds all other weights of the row to 0. Leave masked keys out before you divide."""
        return normalized(softmax(scores) * keep)

    def infinity_times_0(scores, keep):
        """You multiply by the mask. The exponential of a huge masked score is infinite, and
        infinity times 0 is NaN: choose with where() instead."""
        return normalized(np.exp(scores) * keep)

    @when(
        lambda answer, target, scores, keep: (
            np.isnan(answer[~keep.any(-1)]).all() and rows_left(answer, target, keep)
        )
    )
    def nan_in_a_fully_masked_row(scores, keep):
        """Where no key is left, you divide 0 by 0. Such a row should be all zeros."""
        return softmax(np.where(keep, scores, -np.inf))

    @when(
        lambda answer, target, scores, keep: (
            np.allclose(answer[~keep.any(-1)].sum(-1), 1, atol=1e-4)
            and rows_left(answer, target, keep)
        )
    )
    def uniform_weights_in_a_fully_masked_row(scores, keep):
        """A large negative constant makes all scores of a fully masked row equal, and the softmax
        of equal scores is uniform. Such a row should be all zeros."""
        return softmax(np.where(keep, scores, -1e6))

    def score_0_for_masked_keys(scores, keep):
        """A score of 0 does not mask a key, because exp(0) is 1. The exponential itself must be
        0."""
        return softmax(np.where(keep, scores, 0))

    def mask_inverted(scores, keep):
        return masked_softmax(scores, ~keep)


# ---- 10.2


def entropy_under_a_mask(scores, keep):
    return entropy(masked_softmax(scores, keep)) + 0.0  # and not -0


def scores_of_all_sizes(rng):
    yield from scores_and_masks(rng)
    scores = rng.uniform(-500, 500, (2, 3, 5))
    scores[0, 0] = 300, 301, 299, 500, -500
    yield scores, np.arange(5) < np.array([[[3], [5], [0]], [[1], [2], [4]]])


spread = Exercise("10.2", entropy_under_a_mask, scores_of_all_sizes, gradient=True)


@spread.expects
class SpreadMistakes:
    @when(lambda answer, target, scores, keep: np.isnan(answer[~keep.all(-1)]).all())
    def zero_times_minus_infinity(scores, keep):
        """A weight of 0 gives 0 * log 0 = NaN. Its share of the entropy is 0: replace the weight
        inside the logarithm where it is 0."""
        weights = masked_softmax(scores, keep)
        return -(weights * np.log(weights)).sum(-1)

    def no_mask(scores, keep):
        """Your entropy does not depend on the mask: masked keys count, too."""
        return entropy(softmax(scores))

    def mask_after_the_softmax(scores, keep):
        """You take the softmax over all keys and zero out the masked ones later, so the rest does
        not sum to 1. The masked keys should not count in the denominator."""
        return entropy(softmax(scores) * keep)

    def nan_in_a_fully_masked_row(scores, keep):
        """Where no key is left, your weights are 0/0 = NaN. Such a row has weights of 0 and the
        entropy 0: masked_softmax gives them."""
        return entropy(softmax(np.where(keep, scores, -np.inf)))

    def uniform_weights_in_a_fully_masked_row(scores, keep):
        """A large negative constant makes all scores of a fully masked row equal, and their softmax
        uniform. Such a row has weights of 0 and the entropy 0."""
        return entropy(softmax(np.where(keep, scores, -1e6)))

    def sign(scores, keep):
        """Entropy is not negative: the logarithm of a weight is, so a minus is missing."""
        return -entropy_under_a_mask(scores, keep)

    def bits(scores, keep):
        """You take the logarithm to base 2. The task asks for the natural one."""
        return entropy_under_a_mask(scores, keep) / np.log(2)

    def mean_over_the_keys(scores, keep):
        return entropy_under_a_mask(scores, keep) / scores.shape[-1]

    def sum_over_the_queries(scores, keep):
        return entropy(masked_softmax(scores, keep), -2)

    def one_value_for_all(scores, keep):
        return entropy_under_a_mask(scores, keep).sum()

    def mask_inverted(scores, keep):
        return entropy_under_a_mask(scores, ~keep)
