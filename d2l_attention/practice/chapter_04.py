"""The exercises of chapter 4: masks and the masked softmax."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, Mistake
from d2l_attention.practice.reference import softmax


def window_mask(n, m, width):
    ages = np.arange(n)[:, None] - np.arange(m)  # how many steps key j lies behind query i
    return (ages >= 0) & (ages < width)


def rows_normalized(exponentials):
    totals = exponentials.sum(-1, keepdims=True)
    return exponentials / np.where(totals == 0, 1, totals)


def masked_weights(scores, keep):
    return rows_normalized(np.where(keep, np.exp(scores), 0))


def columns_sum_to_1(weights, keep):
    return np.allclose(weights.sum(-2)[keep.any(-2)], 1)


def scores_and_masks(rng):
    for b, n, m in ((1, 3, 4), (2, 5, 3), (4, 2, 7)):
        keep = rng.random((b, n, m)) < 0.6
        keep[..., -1, :] = False  # a row in which nothing is left
        keep[..., 0, :2] = True, False
        scores = 2 * rng.normal(size=(b, n, m))
        scores[2:, 0, 1] = 1000  # hidden, in the last case: its exponential overflows
        yield scores, keep


def entropy(weights):
    return -(weights * np.log(np.where(weights > 0, weights, 1))).sum(-1)


def some_weights(rng):
    for b, n, m in ((1, 3, 4), (2, 3, 5), (4, 2, 7)):
        scores = 2 * rng.normal(size=(b, n, m))
        yield (masked_weights(scores, np.arange(m) < rng.integers(2, m, (b, n, 1))),)


EXERCISES = (
    Exercise(
        "4.1",
        window_mask,
        lambda rng: ((4, 6, 2), (5, 3, 3), (7, 8, 4)),
        mistakes=(
            Mistake(
                "looks ahead",
                "Your window reaches to both sides: a query sees keys that come after it. "
                "The window is causal: j may not be larger than i.",
                lambda n, m, width: abs(np.arange(n)[:, None] - np.arange(m)) < width,
            ),
            Mistake(
                "one key too many",
                "Your window is one key too wide: `width` counts the query's own position too.",
                lambda n, m, width: window_mask(n, m, width + 1),
            ),
            Mistake(
                "own position left out",
                "Your window ends before the query. A query sees its own position too, i - j = 0.",
                lambda n, m, width: (
                    window_mask(n, m, width) & (np.arange(n)[:, None] != np.arange(m))
                ),
            ),
            Mistake(
                "window one step too early",
                "Your window has the right width and lies one step too far back: its last key "
                "should be the query's own position.",
                lambda n, m, width: (
                    window_mask(n, m, width + 1) & (np.arange(n)[:, None] != np.arange(m))
                ),
            ),
            Mistake(
                "queries and keys swapped",
                "Queries go down and keys across: the mask has shape (n, m), and yours is (m, n).",
                lambda n, m, width: window_mask(n, m, width).T,
                lambda answer, target, n, m, width: n != m and answer.shape == (m, n),
            ),
            Mistake(
                "keys counted from the wrong side",
                "The keys of your window come after the query. Check the sign: key j lies i - j "
                "steps behind query i.",
                lambda n, m, width: window_mask(m, n, width).T,
            ),
            Mistake(
                "everything before, no window",
                "This is a causal mask: it never forgets. Keys `width` or more steps behind the "
                "query are to be left out as well.",
                lambda n, m, width: np.tri(n, m, dtype=bool),
            ),
            Mistake(
                "True for what is hidden",
                "Your mask is the opposite: in this book True means that a query may attend.",
                lambda n, m, width: ~window_mask(n, m, width),
            ),
        ),
        hints=(
            "Number the queries i = 0, ..., n - 1 and the keys j = 0, ..., m - 1. "
            "Which keys may query 3 see if the width is 2?",
            "Make a column of the numbers i and a row of the numbers j; "
            "their difference i - j has shape (n, m).",
            "A key is in the window if 0 <= i - j and i - j < width; join the two masks with &.",
        ),
    ),
    Exercise(
        "4.2",
        masked_weights,
        scores_and_masks,
        mistakes=(
            Mistake(
                "softmax over the queries",
                "Your columns sum to 1, not your rows: normalize over the keys, the last axis.",
                lambda scores, keep: softmax(np.where(keep, scores, -np.inf), -2),
                lambda answer, target, scores, keep: columns_sum_to_1(answer, keep),
            ),
            Mistake(
                "softmax over the examples",
                "The weights of one key sum to 1 over the batch: normalize over the keys, the "
                "last axis.",
                lambda scores, keep: softmax(np.where(keep, scores, -1e6), 0),
            ),
            Mistake(
                "mask after the softmax",
                "Your rows sum to less than 1: the hidden keys have gone into the denominator. "
                "Leave them out before you divide.",
                lambda scores, keep: softmax(scores) * keep,
            ),
            Mistake(
                "no mask",
                "Your weights do not depend on the mask: hidden keys get weight too.",
                lambda scores, keep: softmax(scores),
            ),
            Mistake(
                "softmax, zeros, then a division",
                "On paper this is right. But the softmax has a huge hidden score in its "
                "denominator and rounds all other weights of the row to 0. Leave hidden keys out "
                "before you divide.",
                lambda scores, keep: rows_normalized(softmax(scores) * keep),
            ),
            Mistake(
                "infinity times 0",
                "You multiply by the mask. The exponential of a huge hidden score is infinite, "
                "and infinity times 0 is NaN: choose with where() instead.",
                lambda scores, keep: rows_normalized(np.exp(scores) * keep),
            ),
            Mistake(
                "NaN in an empty row",
                "Where no key is left, you divide 0 by 0. Such a row is to be all zeros.",
                lambda scores, keep: softmax(np.where(keep, scores, -np.inf)),
                lambda answer, target, scores, keep: (
                    np.isnan(answer[~keep.any(-1)]).all()
                    and np.allclose(answer[keep.any(-1)], target[keep.any(-1)], atol=1e-4)
                ),
            ),
            Mistake(
                "uniform weights in an empty row",
                "A large negative constant makes all scores of an empty row equal, and the "
                "softmax of equal scores is uniform. Such a row is to be all zeros.",
                lambda scores, keep: softmax(np.where(keep, scores, -1e6)),
                lambda answer, target, scores, keep: (
                    np.allclose(answer[~keep.any(-1)].sum(-1), 1, atol=1e-4)
                    and np.allclose(answer[keep.any(-1)], target[keep.any(-1)], atol=1e-4)
                ),
            ),
            Mistake(
                "score 0 for hidden keys",
                "A score of 0 does not hide a key, because exp(0) is 1. "
                "The exponential itself must be 0.",
                lambda scores, keep: softmax(np.where(keep, scores, 0)),
            ),
            Mistake(
                "hidden and allowed keys swapped",
                "You keep the keys that are to be hidden: True means that a query may attend.",
                lambda scores, keep: masked_weights(scores, ~keep),
            ),
        ),
        hints=(
            "Take the exponential of all scores first, and think about which of them may count.",
            "Put 0 in place of the exponentials of hidden keys, then divide each row by its sum. "
            "Use where(): a product with the mask makes NaN out of infinity times 0.",
            "In an empty row the sum is 0. Divide by 1 there: 0 / 1 is the 0 that you want.",
        ),
    ),
    Exercise(
        "4.3",
        entropy,
        some_weights,
        mistakes=(
            Mistake(
                "0 times minus infinity",
                "A weight of 0 gives 0 * log 0 = NaN. Its share of the entropy is 0: replace the "
                "weight inside the logarithm where it is 0.",
                lambda weights: -(weights * np.log(weights)).sum(-1),
            ),
            Mistake(
                "sign",
                "Entropy is not negative: the logarithm of a weight is, so a minus is missing.",
                lambda weights: -entropy(weights),
            ),
            Mistake(
                "bits",
                "You take the logarithm to base 2. The task asks for the natural one.",
                lambda weights: entropy(weights) / np.log(2),
            ),
            Mistake(
                "mean over the keys",
                "Entropy is a sum over the keys; yours is their mean.",
                lambda weights: entropy(weights) / weights.shape[-1],
            ),
            Mistake(
                "sum over the queries",
                "You sum over the queries. Each query has an entropy of its own: sum over the "
                "keys, the last axis.",
                lambda weights: -(weights * np.log(np.where(weights > 0, weights, 1))).sum(-2),
            ),
            Mistake(
                "one number for all",
                "You sum over everything. Each query has an entropy of its own: shape (b, n).",
                lambda weights: entropy(weights).sum(),
            ),
        ),
        hints=(
            "Write the sum for one row of weights first, and try it on [0.5, 0.5, 0.0].",
            "0 * log 0 is to count as 0, and the computer says NaN: "
            "give the logarithm a harmless number there.",
            "Use where(weights > 0, weights, 1) inside the logarithm, and sum over the last axis.",
        ),
    ),
)
