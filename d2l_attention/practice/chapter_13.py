"""The checks of chapter 13, Additive attention."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, when
from d2l_attention.practice.numerics import softmax, transposed
from d2l_attention.practice.recurring_mistakes import some_nan

# ---- 13.1

memory = Exercise("13.1", (768_000, 3_072_000, 17), tolerance=0)


@memory.expects
class MemoryMistakes:
    def batch_forgotten():
        """You count one example. All examples of the minibatch are there at once."""
        return 192_000, 768_000, 68

    def batch_forgotten_in_the_block():
        """A block holds its queries of every example, not of one: divide by the batch size, too."""
        return 768_000, 3_072_000, 68

    def added_in_place_of_multiplied():
        """You count the projections, one vector per query and one per key. The step after them
        holds a vector for each pair: n times m."""
        return 40_960, 163_840, 17

    def scores_counted():
        """You count the scores. The hidden units come before them, h for each pair."""
        return 6_000, 24_000, 2_184

    def entries_in_place_of_bytes():
        """The second number should be bytes: each entry of float32 takes 4 of them."""
        return 768_000, 768_000, 17

    def bits():
        """The second number should be bytes, and yours are bits: float32 takes 32 bits, which are 4
        bytes."""
        return 768_000, 24_576_000, 17

    def rounded_up():
        """That is one query more than the block can hold: round the quotient down."""
        return 768_000, 3_072_000, 18

    def not_rounded():
        """A block holds whole queries: round the quotient down."""
        return 768_000, 3_072_000, 2**18 / (4 * 30 * 128)

    def block_in_bytes():
        """The size of the block counts entries, not bytes: do not divide by 4 again."""
        return 768_000, 3_072_000, 4


# ---- 13.2


def hidden_units(queries, keys, W_q, W_k, nonlinearity=np.tanh):
    q, k = queries @ W_q.T, keys @ W_k.T
    return nonlinearity(q[:, :, None] + k[:, None])  # (b, n, 1, h) + (b, 1, m, h)


def all_scores(queries, keys, W_q, W_k, w_v):
    return hidden_units(queries, keys, W_q, W_k) @ w_v


def layers(rng):
    sizes = (1, 2, 3, 4, 2, 5, 1), (2, 4, 3, 5, 6, 7, 1), (3, 2, 5, 4, 2, 6, 1)
    overflow = 1, 3, 2, 5, 4, 6, 1000  # sums of thousands
    sizes = *sizes, (3, 1, 4, 2, 5, 3, 1), (2, 5, 1, 3, 4, 1, 1), overflow
    for b, n, m, d_q, d_k, h, width in sizes:
        sizes = (b, n, d_q), (b, m, d_k), (h, d_q), (h, d_k), (h,)
        queries, keys, *weights = (rng.normal(size=size) for size in sizes)
        yield width * queries, width * keys, *weights


def largest_unit_by_unit(queries, keys, W_q, W_k, w_v):
    rows = [queries.size // queries.shape[-1], keys.size // keys.shape[-1]]
    scores = rows[0] * keys.shape[1]
    inputs = queries.size, keys.size, W_q.size, W_k.size
    return max(*inputs, *(len(w_v) * count for count in rows), scores)


additive = Exercise("13.2", all_scores, layers, most_elements=largest_unit_by_unit)


@additive.expects
class AdditiveMistakes:
    def tanh_before_the_sum(queries, keys, W_q, W_k, w_v):
        """You apply the tanh to query and key apart and add afterward. Such a score is a sum of a
        query term and a key term, and the softmax forgets the query. Add, then apply the tanh."""
        q, k = np.tanh(queries @ W_q.T), np.tanh(keys @ W_k.T)
        return (q[:, :, None] + k[:, None]) @ w_v

    def no_tanh(queries, keys, W_q, W_k, w_v):
        """The tanh is missing. Without it, the softmax forgets the query."""
        return hidden_units(queries, keys, W_q, W_k, np.copy) @ w_v

    def tanh_around_the_score(queries, keys, W_q, W_k, w_v):
        """You apply the tanh to the score. Apply it to each hidden unit, before w_v weights it."""
        return np.tanh(hidden_units(queries, keys, W_q, W_k, np.copy) @ w_v)

    def no_w_v(queries, keys, W_q, W_k, w_v):
        """You add up the hidden units, all with the weight 1. Weight them with w_v."""
        return hidden_units(queries, keys, W_q, W_k).sum(-1)

    @when(lambda answer, target, *inputs: answer.ndim == 4 and answer.shape[:-1] == target.shape)
    def hidden_units_not_added_up(queries, keys, W_q, W_k, w_v):
        """These are the weighted hidden units, h for each pair. Add them up."""
        return hidden_units(queries, keys, W_q, W_k) * w_v

    def difference_in_place_of_sum(queries, keys, W_q, W_k, w_v):
        """You subtract the keys from the queries. The score is additive: add them."""
        return all_scores(queries, keys, W_q, -W_k, w_v)

    @when(lambda answer, target, *inputs: answer.shape == transposed(target).shape)
    def queries_and_keys_swapped(queries, keys, W_q, W_k, w_v):
        return transposed(all_scores(queries, keys, W_q, W_k, w_v))

    def only_the_last_unit(queries, keys, W_q, W_k, w_v):
        """Only the last unit counts: each one overwrites the scores. Add its share to them."""
        return all_scores(queries, keys, W_q[-1:], W_k[-1:], w_v[-1:])

    def first_unit_left_out(queries, keys, W_q, W_k, w_v):
        """The first unit is missing. Begin with scores of 0, and add the share of every unit."""
        return all_scores(queries, keys, W_q[1:], W_k[1:], w_v[1:])

    def sigmoid_in_place_of_tanh(queries, keys, W_q, W_k, w_v):
        """You use a sigmoid, which runs from 0 to 1. The tanh runs from -1 to 1."""
        return hidden_units(queries, keys, W_q, W_k, lambda x: 1 / (1 + np.exp(-x))) @ w_v

    @when(some_nan)
    def exponentials_that_overflow(queries, keys, W_q, W_k, w_v):
        """Some scores are NaN: your tanh divides one overflowing exponential by another. Use the
        tanh of the library, which stays between -1 and 1."""

        def tanh(x):
            return (np.exp(x) - np.exp(-x)) / (np.exp(x) + np.exp(-x))

        return hidden_units(queries, keys, W_q, W_k, tanh) @ w_v

    def matrices_reshaped(queries, keys, W_q, W_k, w_v):
        """You reshape the matrices to make them fit. That leaves their elements in the old order:
        take the transposes of W_q and W_k."""
        turned = (W.reshape(W.shape[::-1]).T for W in (W_q, W_k))
        return all_scores(queries, keys, *turned, w_v)

    def weights_in_place_of_scores(queries, keys, W_q, W_k, w_v):
        return softmax(all_scores(queries, keys, W_q, W_k, w_v))
