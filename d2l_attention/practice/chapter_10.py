"""The exercises of chapter 10: padding in a measure of success, and an alarm for lost masks."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, Mistake
from d2l_attention.practice.reference import softmax

PAD = 0


def token_accuracy(logits, targets):
    asked = targets != PAD
    return ((logits.argmax(-1) == targets) & asked).sum() / asked.sum()


def probability_of_targets(logits, targets):
    return np.take_along_axis(softmax(logits), targets[..., None], -1)[..., 0]


def mean_of_rows(logits, targets):
    asked = targets != PAD
    return (((logits.argmax(-1) == targets) & asked).sum(-1) / asked.sum(-1)).mean()


def whole_rows(logits, targets):
    return ((logits.argmax(-1) == targets) | (targets == PAD)).all(-1).mean()


def logits_and_targets(rng):
    for lengths, n, tokens in (((5, 2), 6, 4), ((7, 3, 8), 8, 5), ((1, 9, 6, 4), 9, 7)):
        asked = np.arange(n) < np.array(lengths)[:, None]
        targets = np.where(asked, rng.integers(1, tokens, asked.shape), PAD)
        logits = rng.normal(size=(*asked.shape, tokens))
        helped = asked & (rng.random(asked.shape) < 0.6)  # about so many tokens are right
        helped[0] = asked[0]  # one whole row is
        helped[1, 0], logits[1, 0, targets[1, 0]] = False, -9.0  # and one is not
        for place in np.argwhere(helped):
            at = (*place, targets[tuple(place)])
            logits[at] = logits[tuple(place)].max() + 0.5
        logits[0, -1, PAD] = 9.0  # padding that is "right"
        yield logits, targets


def padding_of(weights, valid_lens):
    return np.arange(weights.shape[-1]) >= valid_lens[:, None, None]


def weight_on_padding(weights, valid_lens):
    return (weights * padding_of(weights, valid_lens)).sum(-1)


def weights_and_lengths(rng):
    for lengths, n, m in (((2, 4), 3, 5), ((4, 7, 1), 2, 7), ((5, 3, 6, 2), 3, 9)):
        exponentials = np.exp(rng.normal(size=(len(lengths), n, m)))
        yield exponentials / exponentials.sum(-1, keepdims=True), np.array(lengths)


def keys_from(weights, first):
    return (weights * (np.arange(weights.shape[-1]) >= first)).sum(-1)


EXERCISES = (
    Exercise(
        "10.1",
        token_accuracy,
        logits_and_targets,
        mistakes=(
            Mistake(
                "padding in the denominator",
                "You divide by the number of all places, padding included, so the same model "
                "looks worse the more padding there is. Divide by the number of tokens asked for.",
                lambda logits, targets: ((logits.argmax(-1) == targets) & (targets != PAD)).mean(),
            ),
            Mistake(
                "padding counts as a token",
                "You compare at padding too. Nobody asked for anything there: leave the places "
                "where the target is 0 out of the count and out of what divides it.",
                lambda logits, targets: (logits.argmax(-1) == targets).mean(),
            ),
            Mistake(
                "padding in the numerator",
                "You leave padding out of the number that divides, but count it where the model "
                "happens to prefer the token 0. Both masks must hold for a right token.",
                lambda logits, targets: (
                    (logits.argmax(-1) == targets).sum() / (targets != PAD).sum()
                ),
            ),
            Mistake(
                "percent",
                "This is a percentage. The task asks for a fraction between 0 and 1.",
                lambda logits, targets: 100 * token_accuracy(logits, targets),
            ),
            Mistake(
                "mean of the rows",
                "You take the mean of one accuracy per row, so a token of a short row counts more "
                "than one of a long row. Count over the whole batch, then divide once.",
                mean_of_rows,
            ),
            Mistake(
                "whole rows",
                "You count rows that are right from end to end, as `accuracy` does. This task "
                "counts single tokens.",
                whole_rows,
            ),
            Mistake(
                "probability of the right token",
                "This is the mean probability of the right tokens. A token is right if no other "
                "has a larger logit.",
                lambda logits, targets: probability_of_targets(logits, targets)[
                    targets != PAD
                ].mean(),
            ),
            Mistake(
                "mistakes counted",
                "This is the fraction of wrong tokens: 1 minus yours is asked for.",
                lambda logits, targets: 1 - token_accuracy(logits, targets),
            ),
            Mistake(
                "not divided",
                "This is the number of right tokens. Divide it by the number of tokens asked for.",
                lambda logits, targets: token_accuracy(logits, targets) * (targets != PAD).sum(),
            ),
            Mistake(
                "one number per row",
                "You return one number per row. Sum over rows and steps, so that one is left.",
                lambda logits, targets: (
                    ((logits.argmax(-1) == targets) & (targets != PAD)).sum(-1)
                    / (targets != PAD).sum(-1)
                ),
            ),
        ),
        hints=(
            "The model prefers the token with the largest logit. "
            "Which axis do the tokens lie on, and what is left of the shape after argmax?",
            "Make two masks of shape (b, n): where the preferred token is the target, "
            "and where a token was asked for (the target is not 0).",
            "Count the places where both masks hold, and divide by the sum of the second.",
        ),
    ),
    Exercise(
        "10.2",
        weight_on_padding,
        weights_and_lengths,
        mistakes=(
            Mistake(
                "weight on real keys",
                "This is the weight on the keys that are no padding; the padding has the rest.",
                lambda weights, valid_lens: 1 - weight_on_padding(weights, valid_lens),
            ),
            Mistake(
                "one key too few",
                "You leave out the first key of the padding: keys are counted from 0, so the key "
                "with number valid_len is padding already.",
                lambda weights, valid_lens: weight_on_padding(weights, valid_lens + 1),
            ),
            Mistake(
                "one key too many",
                "You count the last real key as padding: it has the number valid_len - 1.",
                lambda weights, valid_lens: weight_on_padding(weights, valid_lens - 1),
            ),
            Mistake(
                "sum over the queries",
                "You sum over the queries. Each query has its own weight on padding: sum over "
                "the keys, the last axis.",
                lambda weights, valid_lens: (weights * padding_of(weights, valid_lens)).sum(-2),
            ),
            Mistake(
                "mean over the keys",
                "You take the mean over the keys. The weight on padding is a sum.",
                lambda weights, valid_lens: (weights * padding_of(weights, valid_lens)).mean(-1),
            ),
            Mistake(
                "largest weight only",
                "This is the largest weight on one padding key. Add up the weights on all of them.",
                lambda weights, valid_lens: (weights * padding_of(weights, valid_lens)).max(-1),
            ),
            Mistake(
                "one length for all",
                "You use the length of the first example for all. Each example has its own.",
                lambda weights, valid_lens: keys_from(weights, valid_lens[0]),
            ),
            Mistake(
                "one number per example",
                "You sum over the queries as well. Each query has its own weight on padding: "
                "the result has shape (b, n).",
                lambda weights, valid_lens: weight_on_padding(weights, valid_lens).sum(-1),
            ),
        ),
        hints=(
            "Number the keys 0, ..., m - 1. Which of them are padding if the valid length is 3?",
            "Compare the row of key numbers with the lengths as an array of shape (b, 1, 1): "
            "the result broadcasts to (b, n, m).",
            "Multiply the weights by that mask, where True counts as 1, and sum over the last "
            "axis.",
        ),
    ),
)
