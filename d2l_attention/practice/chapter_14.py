"""The checks of chapter 14, on functions that are shipped."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, one_of, symptom, when

# ---- 14.1


saved = Exercise("14.1", 0.6)


@saved.expects
class SavedMistakes:
    def the_share_that_stays():
        """That is the share that is left after the cut. The question asks what it saves."""
        return 0.4

    def the_padded_examples_alone():
        """That is the share among the three padded examples. The full one counts as well."""
        return 0.8

    @symptom
    def counted_in_scores(answer, target):
        """That is a number of scores. The question asks for a share, between 0 and 1."""
        return one_of(160, 240)(answer, target)

    @symptom
    def a_percentage(answer, target):
        """That is a percentage. Give the share as a number between 0 and 1."""
        return one_of(40, 60)(answer, target)


# ---- 14.2: the chapter checks the answer under `vmap`, so inputs have an axis more than the task


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


mean = Exercise("14.2", masked_mean, padded_values)


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
