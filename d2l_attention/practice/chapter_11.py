"""The checks of chapter 11, Batched products."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, when
from d2l_attention.practice.numerics import products, softmax


def rows_sum_to_1(answer, target, *inputs):
    return answer.shape == target.shape and np.allclose(answer.sum(-1), 1, atol=1e-4)


# ---- 11.1

shape = Exercise("11.1", (4, 2, 3, 7))


@shape.expects
class ShapeMistakes:
    def the_batch_of_the_left_side():
        """The right side has a batch as well: its 2 meets the 1 of the left side, and the 1 is
        stretched."""
        return 4, 1, 3, 7

    def the_batch_of_the_right_side():
        """The left side has a further axis, the 4. The right side lacks it, which counts as 1, and
        a 1 is stretched."""
        return 2, 3, 7

    def batch_axes_swapped():
        """Axes are lined up from the right: the 2 stands under the 1, the second axis."""
        return 2, 4, 3, 7

    def the_summed_axis_kept():
        """The product sums over the 5, so it is not in the result. The last two axes are rows of
        the left matrix and columns of the right one."""
        return 4, 2, 3, 5

    def matrix_axes_swapped():
        """The last two axes are in the wrong order: rows of the left matrix first."""
        return 4, 2, 7, 3

    def no_broadcasting():
        """All axes before the last two are batch axes, and some are missing in yours. Line up the
        two batches from the right and stretch each 1."""
        return 4, 3, 7

    def number_of_elements():
        """The task asks for the shape, one size for each axis."""
        return 168


# ---- 11.2


def step_scores(query, keys):
    return np.einsum("el,ejl->ej", query, keys)


def one_query_each(rng):
    sizes = (2, 4, 3), (3, 5, 2), (5, 2, 4), (1, 4, 3), (3, 1, 2), (1, 1, 4)
    for b, m, d in sizes:
        yield rng.normal(size=(b, d)), 30 * rng.normal(size=(b, m, d))


step = Exercise("11.2", step_scores, one_query_each, most_elements=lambda query, keys: keys.size)


@step.expects
class StepMistakes:
    @when(
        lambda answer, target, query, keys: (
            len(query) > 1
            and answer.shape in ((len(query), *target.shape), (*target.shape, len(query)))
        )
    )
    def every_query_with_every_example(query, keys):
        """Your result has the batch twice: the matrix of all queries was multiplied with each
        example. Give each query an axis of its own, (b, 1, d)."""
        return products(query[None], keys)

    def an_axis_of_size_1_too_many(query, keys):
        """The values are right, and the axis of the one query is still there: drop it at the end,
        (b, 1, m) -> (b, m)."""
        return step_scores(query, keys)[:, None]

    def squeeze_without_an_axis(query, keys):
        """You drop every axis of size 1, and with it a batch of one example or a single key. Drop
        the axis of the query by its number."""
        return step_scores(query, keys).squeeze()

    def not_summed_over_the_features(query, keys):
        """The products are there, and the sum over the features is missing: (b, m, d) -> (b, m)."""
        return query[:, None] * keys

    def summed_over_the_keys(query, keys):
        """You sum over the keys, but each key has a score of its own: sum over the features, the
        last axis."""
        return (query[:, None] * keys).sum(1)

    def one_query_for_all_examples(query, keys):
        """All examples are compared with the query of the first one."""
        return keys @ query[0]

    def the_mean_in_place_of_the_sum(query, keys):
        """A dot product is a sum over the features; yours is their mean."""
        return (query[:, None] * keys).mean(-1)

    def summed_over_the_examples(query, keys):
        """You sum over the batch: keep its axis. In einsum, a letter that is missing in the result
        is summed."""
        return step_scores(query, keys).sum(0)

    @when(rows_sum_to_1)
    def weights_in_place_of_scores(query, keys):
        return softmax(step_scores(query, keys))


# ---- 11.3


def split_heads(x: np.ndarray, heads: int) -> np.ndarray:
    """Return (b, n, d) as (b, heads, n, d/heads), neighboring features in one head."""
    b, n, d = x.shape
    return x.reshape(b, n, heads, d // heads).swapaxes(1, 2)


def torn_heads(x: np.ndarray, heads: int) -> np.ndarray:
    """Return (b, n, d) as (b, heads, n, d/heads) by a reshape alone, which mixes tokens."""
    b, n, d = x.shape
    return x.reshape(b, heads, n, d // heads)


def dealt_heads(x: np.ndarray, heads: int) -> np.ndarray:
    """Return (b, n, d) as (b, heads, n, d/heads), every heads-th feature in one head."""
    b, n, d = x.shape
    return x.reshape(b, n, d // heads, heads).transpose(0, 3, 1, 2)


def head_scores(queries, keys, heads):
    return products(split_heads(queries, heads), split_heads(keys, heads))


def with_heads(rng):
    sizes = (2, 3, 5, 4, 2), (3, 5, 2, 6, 3), (2, 3, 4, 10, 5), (1, 4, 2, 6, 2)
    more = (2, 1, 5, 4, 2), (3, 5, 1, 6, 2), (1, 3, 2, 5, 5), (2, 3, 4, 5, 1)
    for b, n, m, d, heads in (*sizes, *more):
        yield 2 * rng.normal(size=(b, n, d)), rng.normal(size=(b, m, d)), heads


by_head = Exercise("11.3", head_scores, with_heads)


@by_head.expects
class ByHeadMistakes:
    def one_reshape_in_place_of_split_and_transpose(queries, keys, heads):
        """The shape is right, and your heads hold parts of other queries: split the last axis
        first, (b, n, H, d/H), then transpose."""
        return products(torn_heads(queries, heads), torn_heads(keys, heads))

    def keys_reshaped_and_not_transposed(queries, keys, heads):
        """The keys have the right shape for the product, and their elements are out of order: swap
        the last two axes with a transpose. A reshape only cuts the elements anew."""
        b, m, d = keys.shape
        turned = split_heads(keys, heads).reshape(b, heads, d // heads, m)
        return split_heads(queries, heads) @ turned

    def features_dealt_out_like_cards(queries, keys, heads):
        """Head 0 should get the first d/H features, and yours gets every H-th one: the last axis
        splits into (H, d/H), in this order."""
        return products(dealt_heads(queries, heads), dealt_heads(keys, heads))

    def heads_before_the_batch(queries, keys, heads):
        """Your result is (H, b, n, m): the heads come after the batch."""
        return head_scores(queries, keys, heads).swapaxes(0, 1)

    def queries_and_keys_swapped(queries, keys, heads):
        return head_scores(keys, queries, heads)

    def all_features_in_every_head(queries, keys, heads):
        """Every head has the same scores, those of all d features: each head should see d/H of
        them."""
        return np.repeat(products(queries, keys)[:, None], heads, 1)

    def summed_over_the_heads(queries, keys, heads):
        """Your result has no axis of heads: these are the scores of one head with all d
        features."""
        return products(queries, keys)

    def scaled(queries, keys, heads):
        """You divide by the square root of a head's dimension; that comes in chapter 12. The task
        asks for the products alone."""
        return head_scores(queries, keys, heads) / np.sqrt(queries.shape[-1] / heads)

    @when(rows_sum_to_1)
    def weights_in_place_of_scores(queries, keys, heads):
        return softmax(head_scores(queries, keys, heads))
