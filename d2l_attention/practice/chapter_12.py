"""The checks of chapter 12, The layer for a library."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, when
from d2l_attention.practice.numerics import products, softmax, transposed
from d2l_attention.practice.recurring_mistakes import some_nan

# ---- 12.1

equal_keys = Exercise("12.1", (1 / 8, 2 / 8, 0.0))


@equal_keys.expects
class EqualKeysMistakes:
    def padding_counted():
        """You share the weight among all eight keys. The last two are padding: they take no part,
        and their weight is 0."""
        return 1 / 10, 2 / 10, 1 / 10

    def padding_in_the_denominator():
        """Padding has weight 0 in your answer, but it is still in the sum: four weights of one
        kind, two of the other and 0 do not add up to 1. Sum over six keys."""
        return 1 / 10, 2 / 10, 0.0

    def each_vector_counted_once():
        """You count each vector once. The sum of the softmax runs over keys: one vector is in it
        four times, the other twice."""
        return 1 / 3, 2 / 3, 0.0

    def weight_of_all_equal_keys_together():
        """These are the totals of the four and of the two equal keys. The task asks for the weight
        of one of them."""
        return 1 / 2, 1 / 2, 0.0

    def no_exponential():
        """You divide the scores by their sum. The softmax takes exponentials first, and exp(0) is
        1: a score of 0 is not a weight of 0."""
        return 0.0, 1 / 2, 0.0

    def the_two_kinds_swapped():
        """The higher score gets the larger weight, and ln 2 is more than 0."""
        return 2 / 8, 1 / 8, 0.0

    def scores_in_place_of_weights():
        """These are scores. The task asks for weights: what the softmax makes of scores."""
        return 0.0, np.log(2), 0.0

    def exponentials_in_place_of_weights():
        """These are exponentials. Weights sum to 1: divide by the sum over the six valid keys."""
        return 1.0, 2.0, 0.0

    def uniform():
        """Uniform weights need equal scores. Only keys of one kind are equal here: the two kinds
        have the scores 0 and ln 2."""
        return 1 / 6, 1 / 6, 0.0


# ---- 12.2


def gradient_of_scores(queries, keys, values, grad):
    """Return the weights, and the gradient that comes back to their scores: (b, n, m) each."""
    weights = softmax(products(queries, keys) / np.sqrt(queries.shape[-1]))
    arrived = products(grad, values)
    return weights, weights * (arrived - (weights * arrived).sum(-1, keepdims=True))


def gradient_of_queries(queries, keys, values, grad):
    _, of_scores = gradient_of_scores(queries, keys, values, grad)
    return of_scores @ keys / np.sqrt(queries.shape[-1])


def to_go_back(rng):
    sizes = (2, 3, 4, 5, 6), (1, 4, 3, 2, 6), (3, 1, 5, 7, 4), (2, 5, 7, 3, 1)
    for far, (b, n, m, d, v) in [*((0, size) for size in sizes), (1600, (2, 3, 5, 4, 6))]:
        queries, keys = (rng.normal(size=(b, count, d)) for count in (n, m))
        if far:  # scores near 800 that lie close together, and are exact in eighths
            queries, keys = queries.round(1) // 0.125 / 8, keys.round(1) // 0.125 / 8
            queries[..., 0], keys[..., 0] = far, 1
        yield queries, keys, rng.normal(size=(b, m, v)), rng.normal(size=(b, n, v))


# An array may be as large as it likes; looking at them sees automatic differentiation.
backward_pass = Exercise("12.2", gradient_of_queries, to_go_back, most_elements=lambda *_: np.inf)


@backward_pass.expects
class BackwardPassMistakes:
    def no_scale_at_the_end(queries, keys, values, grad):
        """The scores are divided by the root of the dimension, and so is their derivative: divide
        once more at the end."""
        return gradient_of_queries(queries, keys, values, grad) * np.sqrt(queries.shape[-1])

    def no_scale_in_the_scores(queries, keys, values, grad):
        """Your weights are not those of (12.1): the scores are divided by the root of the dimension
        before the softmax."""
        root = np.sqrt(queries.shape[-1])
        return gradient_of_queries(queries * root, keys, values, grad)

    def no_scale(queries, keys, values, grad):
        root = np.sqrt(queries.shape[-1])
        return gradient_of_queries(queries * root, keys, values, grad) * root

    def softmax_left_out(queries, keys, values, grad):
        """You pass the gradient of the weights on as if it were that of the scores. The softmax
        stands between them."""
        return products(grad, values) @ keys / np.sqrt(queries.shape[-1])

    def mean_not_subtracted(queries, keys, values, grad):
        """You multiply by the weights and do not subtract the weighted mean: more for one key is
        less for the others."""
        weights, _ = gradient_of_scores(queries, keys, values, grad)
        return weights * products(grad, values) @ keys / np.sqrt(queries.shape[-1])

    def plain_mean_subtracted(queries, keys, values, grad):
        """You subtract the plain mean over the keys. The softmax subtracts the mean that is
        weighted by the attention weights."""
        weights, _ = gradient_of_scores(queries, keys, values, grad)
        arrived = products(grad, values)
        centered = weights * (arrived - arrived.mean(-1, keepdims=True))
        return centered @ keys / np.sqrt(queries.shape[-1])

    def not_multiplied_by_the_weights(queries, keys, values, grad):
        """You subtract the weighted mean and do not multiply by the weights."""
        weights, _ = gradient_of_scores(queries, keys, values, grad)
        arrived = products(grad, values)
        centered = arrived - (weights * arrived).sum(-1, keepdims=True)
        return centered @ keys / np.sqrt(queries.shape[-1])

    @when(lambda answer, target, queries, keys, *others: answer.shape == keys.shape != target.shape)
    def gradient_of_the_keys(queries, keys, values, grad):
        """This has the shape of the keys: the task asks for the gradient of the queries."""
        _, of_scores = gradient_of_scores(queries, keys, values, grad)
        return transposed(of_scores) @ queries / np.sqrt(queries.shape[-1])

    @when(
        lambda answer, target, queries, keys, *others: (
            answer.shape == (*queries.shape[:2], keys.shape[1])
        )
    )
    def gradient_of_the_scores(queries, keys, values, grad):
        """This is the gradient of the scores, (b, n, m). One product with the keys is missing."""
        return gradient_of_scores(queries, keys, values, grad)[1]

    @when(some_nan)
    def maximum_not_subtracted(queries, keys, values, grad):
        similarity = np.exp(products(queries, keys) / np.sqrt(queries.shape[-1]))
        weights = similarity / similarity.sum(-1, keepdims=True)
        arrived = products(grad, values)
        centered = weights * (arrived - (weights * arrived).sum(-1, keepdims=True))
        return centered @ keys / np.sqrt(queries.shape[-1])


# ---- 12.3


def translated(padding, hidden):
    return ~padding[:, None, None] & ~hidden


def two_masks(rng):
    for b, n, m in ((2, 3, 4), (3, 2, 5), (4, 7, 6), (1, 4, 3), (2, 1, 6)):
        lengths = rng.permutation(np.arange(1, m))[:b, None]
        hidden = rng.random((n, m)) < 0.3
        hidden[0, :2] = True, False
        hidden[-1, -1] = True  # and padding: both masks hide this pair
        yield np.arange(m) >= lengths, hidden


one_mask_of_two = Exercise("12.3", translated, two_masks)


@one_mask_of_two.expects
class OneMaskOfTwoMistakes:
    def mask_inverted(padding, hidden):
        return ~translated(padding, hidden)

    def or_in_place_of_and(padding, hidden):
        """You let a query attend where one of the two masks allows it. Both must: the negation of
        (A or B) is (not A) and (not B)."""
        return ~padding[:, None, None] | ~hidden

    def true_only_where_both_hide(padding, hidden):
        """Your mask is the negation of (not A) or (not B): it is True only for pairs that both
        masks hide."""
        return padding[:, None, None] & hidden

    def exclusive_or(padding, hidden):
        """Your mask lets a query attend where both masks hide the pair. Hidden twice is hidden: use
        and, not exclusive or."""
        return padding[:, None, None] == hidden

    def only_the_padding_negated(padding, hidden):
        """You negate the padding mask and leave the mask of pairs as it came."""
        return ~padding[:, None, None] & hidden

    def only_the_mask_of_pairs_negated(padding, hidden):
        """You negate the mask of pairs and leave the padding mask as it came."""
        return padding[:, None, None] & ~hidden

    @when(lambda answer, target, padding, hidden: answer.shape == (1, 1, *hidden.shape))
    def padding_forgotten(padding, hidden):
        """Your mask does not depend on the padding."""
        return np.repeat(~hidden[None, None], len(padding), 0)

    @when(
        lambda answer, target, padding, hidden: (
            answer.shape == (len(padding), 1, 1, padding.shape[1])
        )
    )
    def mask_of_pairs_forgotten(padding, hidden):
        """Your mask does not depend on the mask of pairs: all queries get the same row."""
        return np.repeat(~padding[:, None, None], len(hidden), 2)

    @when(lambda answer, target, padding, hidden: answer.shape == (len(padding), *hidden.shape))
    def no_axis_for_the_heads(padding, hidden):
        """Your mask has the axes (b, n, m). Against scores (b, heads, n, m), broadcasting would
        take the batch for the heads: insert an axis of size 1 after the batch."""
        return translated(padding, hidden)[:, 0]

    @when(lambda answer, target, padding, hidden: answer.shape == (1, len(padding), *hidden.shape))
    def batch_and_heads_swapped(padding, hidden):
        """The axis of size 1 stands before the batch; it belongs after it: (b, 1, n, m)."""
        return translated(padding, hidden).swapaxes(0, 1)
