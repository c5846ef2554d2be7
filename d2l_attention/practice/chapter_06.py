"""The checks of chapter 6: attention with heads, and masks of two conventions."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, when
from d2l_attention.practice.numerics import (
    dealt_heads,
    joined_heads,
    products,
    softmax,
    split_heads,
    torn_heads,
)
from d2l_attention.practice.recurring_mistakes import some_nan

# ---- 6.1

equal_keys = Exercise("6.1", (1 / 8, 2 / 8, 0.0))


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


# ---- 6.2


def by_heads(queries, keys, values, heads, split=split_heads, divisor=None, axis=-1):
    """Return the output of every head, before they are joined: (b, heads, n, v/heads)."""
    q, k, v = (split(x, heads) for x in (queries, keys, values))
    scores = products(q, k) / np.sqrt(divisor or q.shape[-1])
    return softmax(scores, axis) @ v


def attend_by_heads(queries, keys, values, heads):
    return joined_heads(by_heads(queries, keys, values, heads))


def to_split(rng):
    sizes = (1, 3, 5, 6, 4, 2, 1), (2, 5, 4, 12, 9, 3, 1), (3, 4, 1, 10, 8, 2, 1)
    overflow = 2, 5, 7, 9, 6, 3, 30  # scores of hundreds
    for b, n, m, d, v, heads, width in (*sizes, (2, 1, 7, 5, 3, 1, 1), overflow):
        yield *(width * rng.normal(size=(b, *s)) for s in ((n, d), (m, d), (m, v))), heads


heads_there_and_back = Exercise("6.2", attend_by_heads, to_split)


def as_rows(outputs):
    """Return outputs with their elements in another order, in the shape of the right answer."""
    b, heads, n, v = outputs.shape
    return outputs.reshape(b, n, heads * v)


@heads_there_and_back.expects
class HeadsThereAndBackMistakes:
    def root_of_the_whole_dimension(queries, keys, values, heads):
        """You divide by the root of the whole dimension d. A score of one head sums d/heads
        products, so take the root of the dimension of a head."""
        return joined_heads(by_heads(queries, keys, values, heads, divisor=queries.shape[-1]))

    def no_scale(queries, keys, values, heads):
        return joined_heads(by_heads(queries, keys, values, heads, divisor=1))

    def divided_by_the_dimension_and_not_by_its_root(queries, keys, values, heads):
        """You divide by the dimension of a head. Divide by its square root."""
        divisor = (queries.shape[-1] // heads) ** 2
        return joined_heads(by_heads(queries, keys, values, heads, divisor=divisor))

    def root_of_the_number_of_heads(queries, keys, values, heads):
        """You divide by the root of the number of heads. The dimension of a head counts: a score
        sums that many products."""
        return joined_heads(by_heads(queries, keys, values, heads, divisor=heads))

    def joined_without_a_transpose(queries, keys, values, heads):
        """Each head is right, but they are joined in the wrong order: a reshape of (b, heads, n,
        v/heads) puts several queries of one head into a row. Swap heads and queries back first."""
        return as_rows(by_heads(queries, keys, values, heads))

    def features_and_heads_swapped_in_the_join(queries, keys, values, heads):
        """Each head is right, but joining scatters its features over the row. The features of one
        head stay neighbors: (b, n, heads, v/heads) -> (b, n, v)."""
        outputs = by_heads(queries, keys, values, heads)
        return outputs.transpose(0, 2, 3, 1).reshape(as_rows(outputs).shape)

    @when(lambda answer, target, *inputs: answer.ndim == 4 and answer.size == target.size)
    def not_joined(queries, keys, values, heads):
        """These are the outputs of the single heads. Put them side by side, (b, n, v)."""
        return by_heads(queries, keys, values, heads)

    def heads_added_up(queries, keys, values, heads):
        """You add the heads up. Their outputs stand side by side in the result."""
        return by_heads(queries, keys, values, heads).sum(1)

    def heads_averaged(queries, keys, values, heads):
        """You average the heads. Their outputs stand side by side in the result."""
        return by_heads(queries, keys, values, heads).mean(1)

    def reshape_in_place_of_transpose(queries, keys, values, heads):
        return as_rows(by_heads(queries, keys, values, heads, torn_heads))

    def reshape_in_place_of_transpose_in_the_split(queries, keys, values, heads):
        """You join correctly, but your split puts features of several tokens into one row. Split
        the last axis first, to (b, n, heads, d/heads), then swap the two axes in the middle."""
        return joined_heads(by_heads(queries, keys, values, heads, torn_heads))

    def features_dealt_out_in_turn(queries, keys, values, heads):
        """Your heads take features in turn, like players who are dealt cards. A head takes
        neighbors: the last axis splits into (heads, d/heads), in this order."""
        return joined_heads(by_heads(queries, keys, values, heads, dealt_heads))

    def softmax_over_the_queries(queries, keys, values, heads):
        return joined_heads(by_heads(queries, keys, values, heads, axis=-2))

    def softmax_over_the_heads(queries, keys, values, heads):
        """Your softmax runs over the heads. Each head has weights of its own: normalize over the
        keys, the last axis of the scores."""
        return joined_heads(by_heads(queries, keys, values, heads, axis=1))

    @when(some_nan)
    def maximum_not_subtracted(queries, keys, values, heads):
        q, k, v = (split_heads(x, heads) for x in (queries, keys, values))
        similarity = np.exp(products(q, k) / np.sqrt(q.shape[-1]))
        return joined_heads(similarity / similarity.sum(-1, keepdims=True) @ v)

    def one_head_only(queries, keys, values, heads):
        """This is one head that has all features. Split queries, keys and values into heads before
        you multiply."""
        return attend_by_heads(queries, keys, values, 1)


# ---- 6.3


def translated(padding, hidden):
    return ~padding[:, None, None] & ~hidden


def two_masks(rng):
    for b, n, m in ((2, 3, 4), (3, 2, 5), (4, 7, 6), (1, 4, 3), (2, 1, 6)):
        lengths = rng.permutation(np.arange(1, m))[:b, None]
        hidden = rng.random((n, m)) < 0.3
        hidden[0, :2] = True, False
        hidden[-1, -1] = True  # and padding: both masks hide this pair
        yield np.arange(m) >= lengths, hidden


one_mask_of_two = Exercise("6.3", translated, two_masks)


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
