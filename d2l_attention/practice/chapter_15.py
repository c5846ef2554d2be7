"""The checks of chapter 15, Attention that learns to align."""

import numpy as np

from d2l_attention.practice.exercises import Exercise
from d2l_attention.practice.numerics import softmax

# ---- 15.1


def on_padding(weights, valid_lens):
    """Return the weights with those on real keys set to 0."""
    return weights * (np.arange(weights.shape[-1]) >= valid_lens[:, None, None])


def weight_on_padding(weights, valid_lens):
    return on_padding(weights, valid_lens).sum(-1)


def weights_and_lengths(rng):
    sizes = ((2, 4), 3, 5), ((4, 7, 1), 2, 7), ((5, 3, 6, 2), 3, 9), ((3,), 2, 5)
    for lengths, n, m in (*sizes, ((1, 0, 1), 2, 1), ((6, 0), 1, 7)):
        weights = softmax(2 * rng.normal(size=(len(lengths), n, m)))
        if n == 1:
            weights[-1] = 0  # a fully masked row
        yield weights, np.array(lengths)


alarm = Exercise("15.1", weight_on_padding, weights_and_lengths)


@alarm.expects
class AlarmMistakes:
    def weight_on_real_keys(weights, valid_lens):
        """This is the weight on the real keys. The task asks for the weight on the others."""
        return weights.sum(-1) - weight_on_padding(weights, valid_lens)

    def rows_taken_to_sum_to_1(weights, valid_lens):
        """You subtract the weight on real keys from 1. A fully masked row sums to 0, and your alarm
        would sound there: add up the weights on padding themselves."""
        return 1 - weights.sum(-1) + weight_on_padding(weights, valid_lens)

    def one_key_too_few(weights, valid_lens):
        """You leave out the first key of the padding. Keys are counted from 0, so key `valid_len`
        is padding already."""
        return weight_on_padding(weights, valid_lens + 1)

    def one_key_too_many(weights, valid_lens):
        """You count the last real key as padding: it has the number valid_len - 1."""
        return weight_on_padding(weights, valid_lens - 1)

    def sum_over_the_queries(weights, valid_lens):
        return on_padding(weights, valid_lens).sum(-2)

    def mean_over_the_keys(weights, valid_lens):
        return on_padding(weights, valid_lens).mean(-1)

    def largest_weight_only(weights, valid_lens):
        """This is the largest weight on one key of the padding. Add up the weights on all of
        them."""
        return on_padding(weights, valid_lens).max(-1)

    def one_length_for_all(weights, valid_lens):
        """You use the length of the first example for all. Each example has its own."""
        return weight_on_padding(weights, np.full_like(valid_lens, valid_lens[0]))

    def one_value_per_example(weights, valid_lens):
        """You sum over the queries as well. Each query has its own weight on padding: the result
        has shape (b, n)."""
        return weight_on_padding(weights, valid_lens).sum(-1)
