"""The checks of chapter 18, Caches and shared keys."""

import numpy as np

from d2l_attention.practice.exercises import Exercise
from d2l_attention.practice.numerics import products, softmax

# ---- 18.1


def grouped_scores(queries, keys):
    shared = keys.repeat(queries.shape[1] // keys.shape[1], axis=1)
    return products(queries, shared) / np.sqrt(queries.shape[-1])


def queries_and_shared_keys(rng):
    for b, heads, groups, n, m, d in (
        (2, 6, 3, 4, 5, 7),
        (1, 8, 2, 3, 5, 6),
        (3, 4, 4, 2, 7, 5),
        (2, 6, 1, 1, 4, 3),
    ):
        yield rng.normal(size=(b, heads, n, d)), rng.normal(size=(b, groups, m, d))


def largest_without_copies(queries, keys):
    return max(queries.size, keys.size, queries.size // queries.shape[-1] * keys.shape[2])


sharing = Exercise(
    "18.1", grouped_scores, queries_and_shared_keys, most_elements=largest_without_copies
)


@sharing.expects
class SharingMistakes:
    def groups_take_turns(queries, keys):
        """Your heads take turns with the keys: 0, 1, 0, 1. Neighboring heads share their keys:
        0, 0, 1, 1."""
        turns = np.tile(keys, (1, queries.shape[1] // keys.shape[1], 1, 1))
        return grouped_scores(queries, turns)

    def without_a_scale(queries, keys):
        """The scale is missing: divide by the root of the dimension of a query."""
        return grouped_scores(queries, keys) * np.sqrt(queries.shape[-1])

    def root_of_all_heads_together(queries, keys):
        """You divide by the root of the dimension of all heads together. Each head has its own
        dot products, of dimension d."""
        return grouped_scores(queries, keys) / np.sqrt(queries.shape[1])

    def first_group_for_all(queries, keys):
        """All your heads get the keys of the first group. Each group has keys of its own."""
        return grouped_scores(queries, keys[:, :1])

    def mean_of_the_groups(queries, keys):
        """All your heads get the mean of the keys. Each group has keys of its own."""
        return grouped_scores(queries, keys.mean(1, keepdims=True))

    def queries_of_a_group_mixed(queries, keys):
        """You order the rows of a group by query and then by head, and read them back by head and
        then by query. Put the queries of one head below those of the other."""
        b, heads, n, _ = queries.shape
        groups = keys.shape[1]
        scores = grouped_scores(queries, keys).reshape(b, groups, heads // groups, n, -1)
        return scores.swapaxes(2, 3).reshape(b, heads, n, -1)

    def weights_in_place_of_scores(queries, keys):
        return softmax(grouped_scores(queries, keys))


# ---- 18.2


def content_scores(queries, latents, U):
    return products(queries @ U, latents[:, None])


def rotated_scores(turned_queries, turned_keys):
    return products(turned_queries, turned_keys[:, None])


def both_parts(queries, latents, U, turned_queries, turned_keys):
    return content_scores(queries, latents, U) + rotated_scores(turned_queries, turned_keys)


def root(*arrays):
    return np.sqrt(sum(x.shape[-1] for x in arrays))


def latent_scores(queries, latents, U, turned_queries, turned_keys):
    scores = both_parts(queries, latents, U, turned_queries, turned_keys)
    return scores / root(queries, turned_queries)


def parts_and_matrices(rng):
    for b, heads, n, m, d, r, e in (
        (2, 3, 4, 7, 12, 5, 6),
        (1, 2, 4, 19, 17, 3, 5),  # the keys of one head are more than all copies of the cache
        (3, 2, 1, 5, 11, 4, 6),
        (2, 4, 1, 6, 9, 3, 5),
    ):
        shapes = (b, heads, n, d), (b, m, r), (heads, d, r), (b, heads, n, e), (b, m, e)
        yield tuple(rng.normal(size=shape) for shape in shapes)


def largest_without_keys(queries, latents, U, turned_queries, turned_keys):
    """Allow both parts side by side, and a copy for each head, but, as d > r + e, no keys."""
    of_all_heads = queries.size // queries.shape[-1]
    absorbed = of_all_heads * latents.shape[-1] + turned_queries.size
    scores = of_all_heads * latents.shape[1]
    cached = len(U) * (latents.size + turned_keys.size)
    return max(queries.size, U.size, absorbed, scores, cached)


absorbing = Exercise("18.2", latent_scores, parts_and_matrices, most_elements=largest_without_keys)


@absorbing.expects
class AbsorbingMistakes:
    def root_of_the_latent_dimension(queries, latents, U, turned_queries, turned_keys):
        """You divide by the root of the features that meet in the products, r and the rotated ones.
        The products equal those of whole queries and keys, which have d and the rotated ones."""
        scores = both_parts(queries, latents, U, turned_queries, turned_keys)
        return scores / root(latents, turned_queries)

    def root_of_the_content_alone(queries, latents, U, turned_queries, turned_keys):
        """You divide by the root of d. A whole query has the features that are rotated, too."""
        return both_parts(queries, latents, U, turned_queries, turned_keys) / root(queries)

    def each_part_with_a_scale_of_its_own(queries, latents, U, turned_queries, turned_keys):
        """You divide each product by the root of its own dimension. Both are parts of one product
        of whole queries and keys, so they have one scale."""
        content = content_scores(queries, latents, U) / root(queries)
        return content + rotated_scores(turned_queries, turned_keys) / root(turned_queries)

    def without_a_scale(queries, latents, U, turned_queries, turned_keys):
        """The scale is missing: divide by the root of the dimension of the whole query."""
        return both_parts(queries, latents, U, turned_queries, turned_keys)

    def rotated_parts_forgotten(queries, latents, U, turned_queries, turned_keys):
        """You score the content alone. Add the product of the rotated parts."""
        return content_scores(queries, latents, U) / root(queries, turned_queries)

    def content_forgotten(queries, latents, U, turned_queries, turned_keys):
        """You score the rotated parts alone. Add the product of the content parts."""
        return rotated_scores(turned_queries, turned_keys) / root(queries, turned_queries)

    def one_matrix_for_all_heads(queries, latents, U, turned_queries, turned_keys):
        """Your heads all absorb the matrix of head 0. Each has one of its own."""
        first = np.broadcast_to(U[:1], U.shape)
        return latent_scores(queries, latents, first, turned_queries, turned_keys)

    def weights_in_place_of_scores(queries, latents, U, turned_queries, turned_keys):
        return softmax(latent_scores(queries, latents, U, turned_queries, turned_keys))
