"""The exercises of chapter 4: masks, the masked softmax and its entropy."""

import numpy as np

from d2l_attention.practice.exercises import Exercise
from d2l_attention.practice.numerics import entropy, masked_softmax, normalized, softmax

# ---- 4.1


def window_mask(n, m, width):
    steps_behind = np.arange(n)[:, None] - np.arange(m)  # of key j behind query i
    return (steps_behind >= 0) & (steps_behind < width)


window = Exercise(
    "4.1", window_mask, lambda rng: ((4, 6, 2), (5, 3, 3), (7, 8, 4), (6, 4, 1), (1, 3, 2))
)


def without_own_position(mask):
    n, m = mask.shape
    return mask & (np.arange(n)[:, None] != np.arange(m))


@window.mistake
def looks_ahead(n, m, width):
    """Your window reaches to both sides, so a query sees keys that come after it. The window is
    causal: j is never larger than i."""
    return abs(np.arange(n)[:, None] - np.arange(m)) < width


@window.mistake
def one_key_too_many(n, m, width):
    """Your window is one key too wide: `width` counts the query's own position, too."""
    return window_mask(n, m, width + 1)


@window.mistake
def own_position_left_out(n, m, width):
    """Your window ends before the query. A query sees its own position, too, i - j = 0."""
    return without_own_position(window_mask(n, m, width))


@window.mistake
def window_one_step_too_early(n, m, width):
    """Your window has the right width and lies one step too far back: its last key should be the
    query's own position."""
    return without_own_position(window_mask(n, m, width + 1))


@window.mistake(when=lambda answer, target, n, m, width: n != m and answer.shape == (m, n))
def queries_and_keys_swapped(n, m, width):
    return window_mask(n, m, width).T


@window.mistake
def keys_counted_from_the_wrong_side(n, m, width):
    """The keys of your window come after the query. Check the sign: key j lies i - j steps behind
    query i."""
    return window_mask(m, n, width).T


@window.mistake
def everything_before_and_no_window(n, m, width):
    """This is a causal mask: it never forgets. Leave out the keys that lie `width` or more steps
    behind the query, too."""
    return np.tri(n, m, dtype=bool)


@window.mistake
def mask_inverted(n, m, width):
    return ~window_mask(n, m, width)


# ---- 4.2


def masked_weights(scores, keep):
    return masked_softmax(scores, keep)


def scores_and_masks(rng):
    for b, n, m in ((1, 3, 4), (2, 5, 3), (4, 2, 7)):
        keep = rng.random((b, n, m)) < 0.6
        keep[..., -1, :] = False  # a fully masked row
        keep[..., 0, :2] = True, False
        scores = 2 * rng.normal(size=(b, n, m))
        scores[2:, 0, 1] = 1000  # masked, in the last case: its exponential overflows
        yield scores, keep


weights_under_a_mask = Exercise("4.2", masked_weights, scores_and_masks)


def rows_left(answer, target, keep):
    left = keep.any(-1)
    return np.allclose(answer[left], target[left], atol=1e-4)


@weights_under_a_mask.mistake(
    when=lambda answer, target, scores, keep: np.allclose(answer.sum(-2)[keep.any(-2)], 1)
)
def softmax_over_the_queries(scores, keep):
    return softmax(np.where(keep, scores, -np.inf), -2)


@weights_under_a_mask.mistake
def softmax_over_the_examples(scores, keep):
    return softmax(np.where(keep, scores, -1e6), 0)


@weights_under_a_mask.mistake
def mask_after_the_softmax(scores, keep):
    """Your rows sum to less than 1: the masked keys count in the denominator. Leave them out
    before you divide."""
    return softmax(scores) * keep


@weights_under_a_mask.mistake
def no_mask(scores, keep):
    """Your weights do not depend on the mask: masked keys get weight, too."""
    return softmax(scores)


@weights_under_a_mask.mistake
def softmax_then_zeros_then_a_division(scores, keep):
    """On paper this is right. But the softmax has a huge masked score in its denominator and
    rounds all other weights of the row to 0. Leave masked keys out before you divide."""
    return normalized(softmax(scores) * keep)


@weights_under_a_mask.mistake
def infinity_times_0(scores, keep):
    """You multiply by the mask. The exponential of a huge masked score is infinite, and infinity
    times 0 is NaN: choose with where() instead."""
    return normalized(np.exp(scores) * keep)


@weights_under_a_mask.mistake(
    when=lambda answer, target, scores, keep: (
        np.isnan(answer[~keep.any(-1)]).all() and rows_left(answer, target, keep)
    )
)
def nan_in_a_fully_masked_row(scores, keep):
    """Where no key is left, you divide 0 by 0. Such a row should be all zeros."""
    return softmax(np.where(keep, scores, -np.inf))


@weights_under_a_mask.mistake(
    when=lambda answer, target, scores, keep: (
        np.allclose(answer[~keep.any(-1)].sum(-1), 1, atol=1e-4) and rows_left(answer, target, keep)
    )
)
def uniform_weights_in_a_fully_masked_row(scores, keep):
    """A large negative constant makes all scores of a fully masked row equal, and the softmax of
    equal scores is uniform. Such a row should be all zeros."""
    return softmax(np.where(keep, scores, -1e6))


@weights_under_a_mask.mistake
def score_0_for_masked_keys(scores, keep):
    """A score of 0 does not mask a key, because exp(0) is 1. The exponential itself must be 0."""
    return softmax(np.where(keep, scores, 0))


@weights_under_a_mask.mistake
def mask_inverted(scores, keep):
    return masked_weights(scores, ~keep)


# ---- 4.3


def some_weights(rng):
    for b, n, m in ((1, 3, 4), (2, 3, 5), (4, 2, 7)):
        scores = 2 * rng.normal(size=(b, n, m))
        yield (masked_weights(scores, np.arange(m) < rng.integers(2, m, (b, n, 1))),)


def entropy_of(weights):
    return entropy(weights)


spread = Exercise("4.3", entropy_of, some_weights)


@spread.mistake
def zero_times_minus_infinity(weights):
    """A weight of 0 gives 0 * log 0 = NaN. Its share of the entropy is 0: replace the weight
    inside the logarithm where it is 0."""
    return -(weights * np.log(weights)).sum(-1)


@spread.mistake
def sign(weights):
    """Entropy is not negative: the logarithm of a weight is, so a minus is missing."""
    return -entropy(weights)


@spread.mistake
def bits(weights):
    """You take the logarithm to base 2. The task asks for the natural one."""
    return entropy(weights) / np.log(2)


@spread.mistake
def mean_over_the_keys(weights):
    return entropy(weights) / weights.shape[-1]


@spread.mistake
def sum_over_the_queries(weights):
    return entropy(weights, -2)


@spread.mistake
def one_value_for_all(weights):
    return entropy(weights).sum()
