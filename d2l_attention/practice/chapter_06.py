"""The checks of chapter 6, Inside a small model."""

import numpy as np

from d2l_attention.practice.exercises import Exercise
from d2l_attention.practice.numerics import masked_softmax

# ---- 6.1


def followed(tokens, shift=1):
    """Return where position j follows a copy of token i: (b, n, n)."""
    n = tokens.shape[-1]
    before = np.roll(tokens, shift, -1)  # column j: the token at j - shift
    origin = np.arange(n) - shift
    real = (origin >= 0) & (origin < n)
    return (tokens[:, :, None] == before[:, None]) & real


def causal(n):
    return np.tri(n, dtype=bool)


def weight_after(shift, weights, tokens):
    return (weights * (followed(tokens, shift) & causal(tokens.shape[-1]))).sum(-1)


def copied_weight(weights, tokens):
    return weight_after(1, weights, tokens)


def weights_and_tokens(rng):
    sizes = (2, 6, 3, True), (1, 9, 4, True), (3, 7, 2, False), (1, 5, 1, False)
    for b, n, kinds, ordered in sizes:
        keep = causal(n) if ordered else np.ones((n, n), bool)
        yield masked_softmax(2 * rng.normal(size=(b, n, n)), keep), rng.integers(0, kinds, (b, n))


copying = Exercise("6.1", copied_weight, weights_and_tokens, square=True)


@copying.expects
class CopyingMistakes:
    def the_copies_themselves(weights, tokens):
        """You sum the weights on earlier copies of the token. The task asks for the positions
        one further, which followed them."""
        return weight_after(0, weights, tokens)

    def what_came_before(weights, tokens):
        """You sum the weights on the positions before a copy. The task asks for those after it."""
        return weight_after(-1, weights, tokens)

    def the_future_counts(weights, tokens):
        """You count positions after the query, too: only those with j <= i count."""
        return (weights * followed(tokens)).sum(-1)

    def the_query_itself_is_left_out(weights, tokens):
        """You leave out position i itself. It counts if the token before it is the same, as in
        "aa"."""
        return copied_weight(weights * ~np.eye(tokens.shape[-1], dtype=bool), tokens)

    def position_0_follows_the_end(weights, tokens):
        """For you, position 0 follows the last token of the text. It follows nothing."""
        n = tokens.shape[-1]
        around = tokens[:, :, None] == np.roll(tokens, 1, -1)[:, None]
        return (weights * (around & causal(n))).sum(-1)

    def sum_over_the_queries(weights, tokens):
        return (weights * (followed(tokens) & causal(tokens.shape[-1]))).sum(-2)

    def mean_over_the_keys(weights, tokens):
        return copied_weight(weights, tokens) / tokens.shape[-1]

    def one_value_per_text(weights, tokens):
        """You return one value per text. Each query has its own: the result has shape (b, n)."""
        return copied_weight(weights, tokens).sum(-1)
