"""The checks of chapter 12: heads, what one adds, the cache, induction heads, and latents."""

import numpy as np

from d2l_attention.practice.exercises import Exercise
from d2l_attention.practice.numerics import joined_heads, masked_softmax, products, softmax

# ---- 12.1


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
    "12.1", grouped_scores, queries_and_shared_keys, most_elements=largest_without_copies
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


# ---- 12.2


def contributions(outputs, W_o):
    heads = outputs.shape[1]
    blocks = W_o.reshape(len(W_o), heads, -1)  # (D, H, v)
    return outputs @ blocks.transpose(1, 2, 0)


def outputs_and_matrices(rng):
    for b, heads, n, v, D in ((2, 3, 4, 5, 7), (1, 2, 3, 4, 9), (3, 4, 1, 2, 5), (2, 1, 5, 3, 4)):
        yield rng.normal(size=(b, heads, n, v)), rng.normal(size=(D, heads * v))


adding = Exercise("12.2", contributions, outputs_and_matrices)


@adding.expects
class AddingMistakes:
    def summed_over_the_heads(outputs, W_o):
        """This is the output of the layer, the sum over the heads. Keep the axis of heads."""
        return joined_heads(outputs) @ W_o.T

    def features_of_the_heads_mixed(outputs, W_o):
        """You give each head every H-th column of the matrix. After joining, the features of a head
        are neighbors: its columns are, too."""
        heads = outputs.shape[1]
        blocks = W_o.reshape(len(W_o), -1, heads)  # (D, v, H)
        return outputs @ blocks.transpose(2, 1, 0)

    def heads_in_reverse(outputs, W_o):
        """Your heads meet the columns in reverse order: the first v columns belong to head 0."""
        return contributions(outputs[:, ::-1], W_o)[:, ::-1]

    def first_block_for_all(outputs, W_o):
        """You multiply every head by the first v columns. Each head has columns of its own."""
        return outputs @ W_o[:, : outputs.shape[-1]].T

    def divided_by_the_heads(outputs, W_o):
        """You divide by the number of heads. Their sum is the output, not their mean."""
        return contributions(outputs, W_o) / outputs.shape[1]


# ---- 12.3

LAYERS, HEADS, KEY_HEADS, DIMENSION, TOKENS, BYTES = 40, 40, 8, 128, 6000, 2
cache = Exercise("12.3", 2 * LAYERS * KEY_HEADS * DIMENSION * TOKENS * BYTES / 1e6)


@cache.expects
class CacheMistakes:
    def keys_or_bytes_forgotten():
        """Too small: both keys and values are kept, and each entry has 2 bytes."""
        return cache.reference / 2

    def keys_and_bytes_forgotten():
        """Far too small: both keys and values are kept, and each entry has 2 bytes."""
        return cache.reference / 4

    def keys_of_every_head():
        """You count keys and values for every head of the queries. The heads share them: 8 are
        kept."""
        return cache.reference * HEADS / KEY_HEADS

    def one_layer():
        """This is the cache of one layer. Every layer has keys and values of its own."""
        return cache.reference / LAYERS

    def one_token():
        """This is the cache for one token. Every token of the text leaves its keys and values."""
        return cache.reference / TOKENS

    def in_bytes():
        """These are bytes. The task asks for megabytes."""
        return cache.reference * 1e6

    def powers_of_two():
        """You divide by 1024 twice. The task counts megabytes of a million bytes."""
        return cache.reference * 1e6 / 2**20


# ---- 12.4


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


copying = Exercise("12.4", copied_weight, weights_and_tokens, square=True)


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


# ---- 12.6


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
        (2, 3, 4, 7, 9, 5, 6),
        (1, 4, 2, 7, 9, 5, 3),
        (3, 2, 1, 5, 7, 4, 6),
        (2, 4, 1, 6, 8, 3, 5),
    ):
        shapes = (b, heads, n, d), (b, m, r), (heads, d, r), (b, heads, n, e), (b, m, e)
        yield tuple(rng.normal(size=shape) for shape in shapes)


def largest_without_keys(queries, latents, U, turned_queries, turned_keys):
    """Allow a copy of what is cached for each head, but, as d > r and d > e, no keys."""
    heads = len(U)
    absorbed = queries.size // queries.shape[-1] * latents.shape[-1]
    scores = queries.size // queries.shape[-1] * latents.shape[1]
    cached = heads * max(latents.size, turned_keys.size)
    return max(queries.size, U.size, turned_queries.size, absorbed, scores, cached)


absorbing = Exercise("12.6", latent_scores, parts_and_matrices, most_elements=largest_without_keys)


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
