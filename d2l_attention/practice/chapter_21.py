"""The checks of chapter 21, From lesson to library."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, when

# ---- 21.1


def in_batches(lens, size):
    return [lens[start : start + size] for start in range(0, len(lens), size)]


def padded_scores(batches):
    return sum(len(batch) * batch.max() ** 2 for batch in batches)


def sorted_scores(lens, size):
    return padded_scores(in_batches(np.sort(lens), size))


def lengths_and_sizes(rng):
    for count, size, longest in ((7, 3, 9), (11, 4, 30), (5, 2, 12), (13, 5, 100), (10, 3, 50)):
        yield rng.integers(1, longest, size=count), size


similar = Exercise("21.1", sorted_scores, lengths_and_sizes)


@similar.expects
class SimilarMistakes:
    def not_sorted(lens, size):
        """These are batches in the order of the list. Sort the lengths first."""
        return padded_scores(in_batches(lens, size))

    def padded_to_the_longest_of_all(lens, size):
        """You pad every batch to the longest example of all. Each batch has a longest of its
        own."""
        return len(lens) * lens.max() ** 2

    def nothing_padded(lens, size):
        """These are the scores without any padding. All examples of a batch are padded to its
        longest."""
        return (lens**2).sum()

    def last_batch_dropped(lens, size):
        """The last batch is missing: it has fewer examples, and counts as well."""
        return padded_scores([b for b in in_batches(np.sort(lens), size) if len(b) == size])

    def last_batch_filled_up(lens, size):
        """You count the last batch as a full one. It has only the examples that are left."""
        return sum(size * batch.max() ** 2 for batch in in_batches(np.sort(lens), size))

    def one_query_per_example(lens, size):
        """You count one query per example. In self-attention each of the m tokens asks, padding
        included: m times m scores."""
        return sum(len(batch) * batch.max() for batch in in_batches(np.sort(lens), size))

    def padded_keys_only(lens, size):
        """You count the queries before padding. Queries and keys are the same tokens, so both are
        padded."""
        return sum(batch.sum() * batch.max() for batch in in_batches(np.sort(lens), size))

    def one_example_per_batch(lens, size):
        """You count one example per batch. A batch has up to `size` of them."""
        return sum(batch.max() ** 2 for batch in in_batches(np.sort(lens), size))


# ---- 21.2: the chapter checks the answer under `vmap`, so inputs have an axis more than the task


def valid(values, lens):
    return (np.arange(values.shape[-2]) < lens[..., None])[..., None]


def divisor(lens):
    return np.maximum(lens, 1)[..., None]


def masked_mean(values, lens):
    return np.where(valid(values, lens), values, 0).sum(-2) / divisor(lens)


def padded_values(rng):
    yield rng.normal(size=(1, 3, 4, 2)), np.array([[4, 2, 1]])
    for padding, lens in (
        (np.nan, [[3, 0, 4]]),
        (np.nan, [[0, 5, 2, 1], [1, 1, 0, 4]]),
        (np.inf, [[2], [0], [5], [1]]),
        (500, [[1, 0, 3], [0, 4, 5]]),
    ):
        lens = np.array(lens)
        values = rng.normal(size=(*lens.shape, 5, 6)) + 1
        yield np.where(valid(values, lens), values, padding), lens
    values = rng.normal(size=(2, 4, 1, 3))
    values[1, 2, 0, 1] = np.nan  # in a valid row
    yield values, np.array([[1, 0, 0, 1], [0, 1, 1, 0]])


mean = Exercise("21.2", masked_mean, padded_values)


@mean.expects
class MeanMistakes:
    def multiplied_by_the_mask(values, lens):
        """NaN in the padding reaches your answer: 0 * NaN is NaN. Choose with `where`."""
        return (valid(values, lens) * values).sum(-2) / divisor(lens)

    def divided_by_all_keys(values, lens):
        """You divide by the number of rows, padding included. Divide by the lengths."""
        return masked_mean(values, lens) * divisor(lens) / values.shape[-2]

    @when(lambda answer, target, values, lens: np.isnan(answer[lens == 0]).all())
    def no_zeros_without_valid_rows(values, lens):
        """An example of length 0 gives NaN: 0 divided by 0. Its sum is 0, so divide by 1."""
        return np.where(valid(values, lens), values, 0).sum(-2) / lens[..., None]

    def the_padding_is_not_left_out(values, lens):
        """Your mean takes all rows. Only the first `lens` of each example are valid."""
        return values.mean(-2)

    def not_divided(values, lens):
        """This is the sum of the valid rows: divide it by the lengths."""
        return masked_mean(values, lens) * divisor(lens)

    def valid_nan_hidden(values, lens):
        """A NaN in a valid row has become 0, and nobody will see that something went wrong. Leave
        out the padding only."""
        return np.where(valid(values, lens), np.nan_to_num(values), 0).sum(-2) / divisor(lens)

    def one_row_too_many(values, lens):
        """Row `lens` is padding already: rows 0 to lens - 1 are valid."""
        return np.where(valid(values, lens + 1), values, 0).sum(-2) / divisor(lens)
