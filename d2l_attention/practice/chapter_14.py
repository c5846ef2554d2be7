"""The checks of chapter 14, Distance, bilinear, cosine."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, when
from d2l_attention.practice.numerics import products, softmax, transposed
from d2l_attention.practice.recurring_mistakes import some_nan


def squares(x, axis=-1):
    return (x**2).sum(axis, keepdims=True)


def one_of(*values):
    return lambda answer, target: answer.ndim == 0 and float(answer) in values


# ---- 14.1


def lengths(x, axis=-1):
    length = np.sqrt((x**2).sum(axis, keepdims=True))
    return np.where(length > 0, length, 1)


def cosines(queries, keys):
    return products(queries / lengths(queries), keys / lengths(keys))


def of_each_head(temperatures):
    return temperatures[:, None, None]


def cosine_weights(queries, keys, temperatures):
    return softmax(cosines(queries, keys) / of_each_head(temperatures))


def directions(rng):  # some with H = m, or H = n, where a wrong axis raises no error
    sizes = (1, 2, 3, 4, 2), (2, 5, 4, 5, 3), (3, 3, 3, 6, 4), (2, 4, 2, 3, 4), (1, 3, 1, 3, 5)
    for b, heads, n, m, d in sizes:
        queries = 2 * rng.normal(size=(b, heads, n, d))
        keys = 3 * rng.normal(size=(b, heads, m, d))
        if n > 1:
            queries[0, 0, -1] = 0  # no direction
        if b > 1:
            queries[1, 0, 0] *= 1e-4  # short, and with a direction
            keys[1, 0, :3] *= np.array([[1e3], [1e-4], [0]])
        yield queries, keys, rng.uniform(0.05, 2, size=heads)


by_cosine = Exercise("14.1", cosine_weights, directions, square=True)


def only_short_vectors_differ(answer, target, *inputs):
    if answer.shape != target.shape or len(target) == 1 or not np.isfinite(answer).all():
        return False
    differs = ~np.isclose(answer, target, atol=1e-3).all((2, 3))  # (b, H)
    return not np.delete(differs.ravel(), target.shape[1]).any()  # they are head 0 of example 1


@by_cosine.expects
class ByCosineMistakes:
    def times_the_temperature(queries, keys, temperatures):
        return softmax(cosines(queries, keys) * of_each_head(temperatures))

    def no_temperature(queries, keys, temperatures):
        return softmax(cosines(queries, keys))

    def one_temperature_for_all_heads(queries, keys, temperatures):
        """All heads have one temperature. Divide the cosines of each head by its own."""
        return softmax(cosines(queries, keys) / temperatures[0])

    def temperatures_along_the_keys(queries, keys, temperatures):
        """Your temperatures lie along the last axis, the keys. Give them two axes of size 1 at the
        end, and they lie along the heads."""
        along = np.resize(temperatures, keys.shape[-2])
        return softmax(cosines(queries, keys) / along)

    def temperatures_along_the_queries(queries, keys, temperatures):
        """Your temperatures lie along the queries. Give them one more axis of size 1 at the end,
        and they lie along the heads."""
        along = np.resize(temperatures, queries.shape[-2])[:, None]
        return softmax(cosines(queries, keys) / along)

    def lengths_not_divided_away(queries, keys, temperatures):
        """These are dot products: divide queries and keys by their lengths first."""
        return softmax(products(queries, keys) / of_each_head(temperatures))

    def only_the_queries_have_length_1(queries, keys, temperatures):
        """The lengths of the keys still count. Divide the keys by their lengths, too."""
        return softmax(products(queries / lengths(queries), keys) / of_each_head(temperatures))

    def only_the_keys_have_length_1(queries, keys, temperatures):
        """The lengths of the queries still count: they act like a temperature of their own. Divide
        the queries by their lengths, too."""
        return softmax(products(queries, keys / lengths(keys)) / of_each_head(temperatures))

    def squared_lengths(queries, keys, temperatures):
        """You divide by the squared lengths. A root is missing."""
        q, k = queries / lengths(queries) ** 2, keys / lengths(keys) ** 2
        return softmax(products(q, k) / of_each_head(temperatures))

    @when(some_nan)
    def nan_for_a_zero_vector(queries, keys, temperatures):
        """A zero vector has length 0, and 0/0 is NaN. Divide by 1 where the length is 0: then its
        cosine is 0 with every key."""
        q, k = (x / np.sqrt((x**2).sum(-1, keepdims=True)) for x in (queries, keys))
        return softmax(products(q, k) / of_each_head(temperatures))

    @when(only_short_vectors_differ)
    def a_floor_for_the_lengths(queries, keys, temperatures):
        """You bound the lengths from below or add to them, so very short vectors stay shorter than
        1. Only a length of exactly 0 needs another divisor."""
        q, k = (x / np.maximum(lengths(x), 1e-2) for x in (queries, keys))
        return softmax(products(q, k) / of_each_head(temperatures))

    def softmax_over_the_queries(queries, keys, temperatures):
        return softmax(cosines(queries, keys) / of_each_head(temperatures), -2)

    def softmax_over_the_heads(queries, keys, temperatures):
        """The weights of a key sum to 1 over the heads. Each head has a softmax of its own, over
        the keys, the last axis."""
        return softmax(cosines(queries, keys) / of_each_head(temperatures), 1)

    def no_softmax(queries, keys, temperatures):
        """These are scores. A softmax over the keys turns them into weights."""
        return cosines(queries, keys) / of_each_head(temperatures)


# ---- 14.2


def projected_products(queries, keys, W_q, W_k):
    return products(queries @ W_q.T, keys @ W_k.T)


def low_rank_scores(queries, keys, W_q, W_k):
    return projected_products(queries, keys, W_q, W_k) / np.sqrt(len(W_q))


def vectors_and_factors(rng):
    sizes = (1, 3, 5, 4, 6, 2), (2, 4, 3, 7, 5, 6), (1, 2, 3, 9, 11, 4), (2, 1, 4, 3, 5, 1)
    for b, n, m, d_q, d_k, r in sizes:
        yield tuple(rng.normal(size=s) for s in ((b, n, d_q), (b, m, d_k), (r, d_q), (r, d_k)))


def largest_without_m(queries, keys, W_q, W_k):
    projected = [x.size // x.shape[-1] * len(W_q) for x in (queries, keys)]
    result = products(queries[..., :1], keys[..., :1]).size
    return max(queries.size, keys.size, W_q.size, W_k.size, *projected, result)


low_rank = Exercise("14.2", low_rank_scores, vectors_and_factors, most_elements=largest_without_m)


@low_rank.expects
class LowRankMistakes:
    def no_root(queries, keys, W_q, W_k):
        """The products of vectors of dimension r grow with r: divide by the root of r."""
        return projected_products(queries, keys, W_q, W_k)

    def root_of_the_dimension_of_the_keys(queries, keys, W_q, W_k):
        """You divide by the root of the keys' dimension, which is right for a full matrix. Here the
        product is one of vectors of dimension r."""
        return projected_products(queries, keys, W_q, W_k) / np.sqrt(keys.shape[-1])

    def root_of_the_dimension_of_the_queries(queries, keys, W_q, W_k):
        """You divide by the root of the queries' dimension, but the product is one of vectors of
        dimension r."""
        return projected_products(queries, keys, W_q, W_k) / np.sqrt(queries.shape[-1])

    def divided_by_r(queries, keys, W_q, W_k):
        """You divide by r. Its root is enough: it is the variance that grows like r."""
        return projected_products(queries, keys, W_q, W_k) / len(W_q)

    def multiplied_by_the_root(queries, keys, W_q, W_k):
        """You multiply by the root of r. Divide by it: the products grow with r."""
        return projected_products(queries, keys, W_q, W_k) * np.sqrt(len(W_q))

    def weights_in_place_of_scores(queries, keys, W_q, W_k):
        return softmax(low_rank_scores(queries, keys, W_q, W_k))

    def queries_and_keys_swapped(queries, keys, W_q, W_k):
        return transposed(low_rank_scores(queries, keys, W_q, W_k))


# ---- 14.3


largest_rank = Exercise("14.3", 119)


@largest_rank.expects
class LargestRankMistakes:
    def as_many_and_not_fewer():
        """With this rank both forms hold equally many entries. The task asks for fewer."""
        return 120

    def the_rank_of_a_full_matrix():
        """This is the largest rank that a 300 × 200 matrix can have. The question is how many
        entries the two factors hold at rank r."""
        return 200

    @when(one_of(199, 299, 300))
    def one_matrix_only():
        """You have counted one of the two low-rank factors. Both must be stored."""
        return 299

    @when(one_of(0, 1))
    def sizes_multiplied():
        """One factor has r rows of 300 entries, the other r rows of 200: add, do not multiply."""
        return 0

    @when(one_of(99, 100, 149, 150))
    def both_of_one_size():
        """The two factors do not have the same size: one has rows of 300 entries, the other rows of
        200."""
        return 99
