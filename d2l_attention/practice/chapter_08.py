"""The checks of chapter 8: distance, cosine and bilinear scores."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, one_of, when
from d2l_attention.practice.numerics import products, softmax, transposed
from d2l_attention.practice.recurring_mistakes import some_nan


def squares(x, axis=-1):
    return (x**2).sum(axis, keepdims=True)


# ---- 8.1


def squared_distances(queries, keys):
    return squares(queries) - 2 * products(queries, keys) + transposed(squares(keys))


def one_query_and_as_many_as_keys(rng):  # where Gram matrices run without an error
    for b, n, m, d in ((2, 1, 5, 3), (3, 4, 4, 2), (2, 6, 6, 5), (1, 5, 5, 4), (1, 4, 1, 3)):
        queries, keys = 3 * rng.normal(size=(b, n, d)), rng.normal(size=(b, m, d))
        queries[0, 0] = keys[0, -1]  # a distance of 0
        yield queries, keys


def largest_of_inputs_and_result(queries, keys):
    return max(queries.size, keys.size, products(queries, keys).size)


distances = Exercise(
    "8.1",
    squared_distances,
    one_query_and_as_many_as_keys,
    square=True,
    most_elements=largest_of_inputs_and_result,
)


@distances.expects
class DistancesMistakes:
    def gram_matrices_for_the_norms(queries, keys):
        """Q Qᵀ and K Kᵀ are Gram matrices: the products of all pairs. The squared norms are only
        their diagonals: square each vector's entries and sum them."""
        return products(queries, queries) - 2 * products(queries, keys) + products(keys, keys)

    def a_gram_matrix_for_the_norms_of_the_keys(queries, keys):
        """K Kᵀ is a Gram matrix: the products of all pairs of keys. Their squared norms are only
        its diagonal: one for each key, from a sum of squares."""
        return squares(queries) - 2 * products(queries, keys) + products(keys, keys)

    def a_gram_matrix_for_the_norms_of_the_queries(queries, keys):
        """Q Qᵀ is a Gram matrix: the products of all pairs of queries. Their squared norms are only
        its diagonal: one for each query, from a sum of squares."""
        return products(queries, queries) - 2 * products(queries, keys) + transposed(squares(keys))

    def norms_not_squared(queries, keys):
        """You take the norms themselves. The task needs their squares: q · q, without a root."""
        norms = np.sqrt(squares(queries)), np.sqrt(squares(keys))
        return norms[0] - 2 * products(queries, keys) + transposed(norms[1])

    def root_taken(queries, keys):
        """These are the distances. The task asks for their squares."""
        return np.sqrt(((queries[:, :, None] - keys[:, None]) ** 2).sum(-1))

    def query_i_with_key_i_only(queries, keys):
        """You subtract queries and keys as they are, so query i meets key i only, or one query
        meets all keys. The task asks for every pair: shape (b, n, m)."""
        return ((queries - keys) ** 2).sum(-1)

    def no_norms_of_the_queries(queries, keys):
        """The squared norms of the queries are missing. A softmax would not notice, but these are
        not distances."""
        return squared_distances(queries, keys) - squares(queries)

    def no_norms_of_the_keys(queries, keys):
        """The squared norms of the keys are missing."""
        return squared_distances(queries, keys) - transposed(squares(keys))

    def norms_of_the_queries_in_a_row(queries, keys):
        """The squared norms of the queries lie along the keys. They belong to the rows of the
        result: give them an axis of size 1 at the end."""
        return squared_distances(queries, keys) - squares(queries) + transposed(squares(queries))

    def norms_of_the_keys_in_a_column(queries, keys):
        """The squared norms of the keys lie along the queries. They belong to the columns of the
        result: put their axis of size 1 before the last axis."""
        return squared_distances(queries, keys) - transposed(squares(keys)) + squares(keys)

    def product_counted_once(queries, keys):
        """Expand the square once more: the product of q and k comes twice."""
        return squared_distances(queries, keys) + products(queries, keys)

    def product_added(queries, keys):
        """The product of q and k has the wrong sign: this is the squared norm of q + k."""
        return squared_distances(queries, -keys)

    def queries_and_keys_swapped(queries, keys):
        return squared_distances(keys, queries)


# ---- 8.2


def lengths(x, axis=-1):
    length = np.sqrt(squares(x, axis))
    return np.where(length > 0, length, 1)


def cosines(queries, keys):
    return products(queries / lengths(queries), keys / lengths(keys))


def cosine_weights(queries, keys, temperature):
    return softmax(cosines(queries, keys) / temperature)


def directions(rng):
    sizes = (1, 3, 4, 2, 0.5), (2, 4, 6, 3, 0.2), (3, 2, 5, 4, 2.0), (1, 1, 3, 5, 0.05)
    for b, n, m, d, temperature in sizes:
        queries, keys = 2 * rng.normal(size=(b, n, d)), 3 * rng.normal(size=(b, m, d))
        if n > 1:
            queries[0, -1] = 0  # no direction
        if b > 1:
            queries[1, 0] *= 1e-4  # short, and with a direction
            keys[1, :3] *= np.array([[1e3], [1e-4], [0]])
        yield queries, keys, temperature


by_cosine = Exercise("8.2", cosine_weights, directions)


def only_short_vectors_differ(answer, target, *inputs):
    others = np.delete(np.stack([answer, target]), 1, 1)  # example 1 holds the short vectors
    return others.size and np.isfinite(answer).all() and np.allclose(*others, atol=1e-3)


@by_cosine.expects
class ByCosineMistakes:
    def times_the_temperature(queries, keys, temperature):
        return softmax(cosines(queries, keys) * temperature)

    def no_temperature(queries, keys, temperature):
        return softmax(cosines(queries, keys))

    def lengths_not_divided_away(queries, keys, temperature):
        """These are dot products: divide queries and keys by their lengths first."""
        return softmax(products(queries, keys) / temperature)

    def only_the_queries_have_length_1(queries, keys, temperature):
        """The lengths of the keys still count. Divide the keys by their lengths, too."""
        return softmax(products(queries / lengths(queries), keys) / temperature)

    def only_the_keys_have_length_1(queries, keys, temperature):
        """The lengths of the queries still count: they act like a temperature of their own. Divide
        the queries by their lengths, too."""
        return softmax(products(queries, keys / lengths(keys)) / temperature)

    def lengths_along_the_wrong_axis(queries, keys, temperature):
        """Your lengths run over the tokens of a sequence. The length of a vector is a sum over its
        own entries, the last axis."""
        return softmax(
            products(queries / lengths(queries, -2), keys / lengths(keys, -2)) / temperature
        )

    def squared_lengths(queries, keys, temperature):
        """You divide by the squared lengths. A root is missing."""
        q, k = queries / lengths(queries) ** 2, keys / lengths(keys) ** 2
        return softmax(products(q, k) / temperature)

    @when(some_nan)
    def nan_for_a_zero_vector(queries, keys, temperature):
        """A zero vector has length 0, and 0/0 is NaN. Divide by 1 where the length is 0: then its
        cosine is 0 with every key."""
        q, k = queries / np.sqrt(squares(queries)), keys / np.sqrt(squares(keys))
        return softmax(products(q, k) / temperature)

    @when(only_short_vectors_differ)
    def a_floor_for_the_lengths(queries, keys, temperature):
        """You bound the lengths from below or add to them, so very short vectors stay shorter than
        1. Only a length of exactly 0 needs another divisor."""
        q, k = queries / np.maximum(lengths(queries), 1e-2), keys / np.maximum(lengths(keys), 1e-2)
        return softmax(products(q, k) / temperature)

    def softmax_over_the_queries(queries, keys, temperature):
        return softmax(cosines(queries, keys) / temperature, -2)

    def softmax_over_the_examples(queries, keys, temperature):
        return softmax(cosines(queries, keys) / temperature, 0)

    def no_softmax(queries, keys, temperature):
        """These are scores. A softmax over the keys turns them into weights."""
        return cosines(queries, keys) / temperature


# ---- 8.3


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


low_rank = Exercise("8.3", low_rank_scores, vectors_and_factors, most_elements=largest_without_m)


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


# ---- 8.4


largest_rank = Exercise("8.4", 119)


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
