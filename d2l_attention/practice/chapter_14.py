"""The exercises of chapter 14, on functions that are shipped."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, Mistake, one_of


def masked_mean(values, lens):
    inside = np.arange(values.shape[1]) < lens[:, None]
    kept = np.where(inside[:, :, None], values, 0)
    return kept.sum(1) / np.maximum(lens, 1)[:, None]


def inside_times(values, lens):
    return (np.arange(values.shape[1]) < lens[:, None])[:, :, None] * values


def padded_values(rng):
    yield rng.normal(size=(3, 4, 2)), np.array([4, 2, 1])
    for lens in ([3, 0], [0, 5, 2, 1]):
        values = rng.normal(size=(len(lens), 5, 3)) + 1
        for value, length in zip(values, lens, strict=True):
            value[length:] = np.nan
        yield values, np.array(lens)


def has_nan(answer, target, values, lens):
    return bool(np.isnan(answer).any())


EXERCISES = (
    Exercise(
        "14.1",
        0.6,
        mistakes=(
            Mistake(
                "the share that stays",
                "That is the share that is left after the cut. The question asks what it saves.",
                0.4,
            ),
            Mistake(
                "the padded examples alone",
                "That is the share among the three padded examples. The full one counts as well.",
                0.8,
            ),
            Mistake(
                "counted in scores",
                "That is a number of scores. The question asks for a share, between 0 and 1.",
                when=one_of(160, 240),
            ),
            Mistake(
                "a percentage",
                "That is a percentage. Give the share as a number between 0 and 1.",
                when=one_of(40, 60),
            ),
        ),
        hints=(
            "For one query per example, how many scores are computed with a mask, in all examples "
            "together?",
            "How many are left when each example has only its own keys?",
        ),
    ),
    Exercise(
        "14.2",
        masked_mean,
        padded_values,
        mistakes=(
            Mistake(
                "multiplied by the mask",
                "NaN in the padding reaches your answer: 0 * NaN is NaN. Choose with `where`.",
                lambda values, lens: (
                    inside_times(values, lens).sum(1) / np.maximum(lens, 1)[:, None]
                ),
            ),
            Mistake(
                "divided by all keys",
                "You divide by the number of keys, padding included. Divide by the lengths.",
                lambda values, lens: masked_mean(values, lens) * (lens / values.shape[1])[:, None],
            ),
            Mistake(
                "no zeros for an empty example",
                "An example of length 0 gives NaN: 0 divided by 0. Its sum is 0, so divide by 1.",
                when=has_nan,
            ),
            Mistake(
                "the padding is not left out",
                "Your mean takes all rows. Only the first `lens` of each example are valid.",
                lambda values, lens: values.mean(1),
            ),
        ),
        hints=(
            "`torch.arange(m) < lens[:, None]` is True at the valid rows, with shape (b, m).",
            "`torch.where(inside[:, :, None], values, 0)` leaves the valid rows, whatever stands "
            "in the padding.",
            "Divide the sum over the rows by `lens.clamp(min=1)[:, None]`.",
        ),
    ),
)
