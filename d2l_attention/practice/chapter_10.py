"""The checks of chapter 10: padding in a measure of success, and an alarm for lost masks."""

import numpy as np

from d2l_attention.practice.exercises import Exercise
from d2l_attention.practice.numerics import softmax

# ---- 10.1

PAD = 0


def counts(logits, targets):
    """Return where a token is right and where there is one: (b, n), (b, n)."""
    counted = targets != PAD
    return (logits.argmax(-1) == targets) & counted, counted


def token_accuracy(logits, targets):
    right, counted = counts(logits, targets)
    return right.sum() / counted.sum()


def logits_and_targets(rng):
    sizes = ((5, 2), 6, 4, 1), ((7, 3, 8), 8, 5, 1), ((1, 9, 6, 4), 9, 7, 200), ((4,), 5, 3, 1)
    for lengths, n, tokens, scale in (*sizes, ((1, 1, 1), 1, 4, 1)):
        counted = np.arange(n) < np.array(lengths)[:, None]
        targets = np.where(counted, rng.integers(1, tokens, counted.shape), PAD)
        logits = scale * rng.normal(size=(*counted.shape, tokens))
        helped = counted & (rng.random(counted.shape) < 0.6)  # about so many tokens are right
        helped[0] = counted[0]  # one whole row is
        helped[-1, 0] = True
        for place in np.argwhere(helped):
            at = (*place, targets[tuple(place)])
            logits[at] = logits[tuple(place)].max() + 0.5
        logits[-1, 0, PAD] = logits[-1, 0].max() + 1  # the target has the second largest logit,
        if n > 1:  # once behind padding and once behind another token
            right = targets[-1, 1]
            best = logits[-1, 1].max()
            logits[-1, 1, right], logits[-1, 1, right % (tokens - 1) + 1] = best + 1, best + 2
        if lengths[0] < n:
            logits[0, -1, PAD] = logits[0, -1].max() + 1  # padding that is "right"
        yield logits, targets


accuracy = Exercise("10.1", token_accuracy, logits_and_targets)


@accuracy.expects
class AccuracyMistakes:
    def padding_in_the_denominator(logits, targets):
        """You divide by the number of all places, padding included, so the same model looks worse
        the more padding there is. Divide by the number of target tokens."""
        return counts(logits, targets)[0].mean()

    def padding_counts_as_a_token(logits, targets):
        """You compare at padding, too. Leave the places where the target is 0 out of the count and
        out of what you divide it by."""
        return (logits.argmax(-1) == targets).mean()

    def padding_in_the_numerator(logits, targets):
        """You leave padding out of the number you divide by, but count it where the model happens
        to prefer the token 0. Both masks must hold for a right token."""
        return (logits.argmax(-1) == targets).sum() / (targets != PAD).sum()

    def padding_left_out_of_the_choice(logits, targets):
        """You choose among the other tokens where the padding token has the largest logit. A token
        is right only if its logit is the largest of all."""
        right = logits[..., 1:].argmax(-1) + 1 == targets
        return right.sum() / (targets != PAD).sum()

    def percent(logits, targets):
        """This is a percentage. The task asks for a fraction between 0 and 1."""
        return 100 * token_accuracy(logits, targets)

    def mean_of_the_rows(logits, targets):
        """You take the mean of one accuracy per row, so a token of a short row counts more than one
        of a long row. Count over the whole batch, then divide once."""
        right, counted = counts(logits, targets)
        return (right.sum(-1) / counted.sum(-1)).mean()

    def whole_rows(logits, targets):
        """You count rows that are right from end to end, as `accuracy` does. This task counts
        single tokens."""
        right, counted = counts(logits, targets)
        return (right | ~counted).all(-1).mean()

    def probability_of_the_right_token(logits, targets):
        """This is the mean probability of the right tokens. A token is right if no other has a
        larger logit."""
        probability = np.take_along_axis(softmax(logits), targets[..., None], -1)[..., 0]
        return probability[targets != PAD].mean()

    def mistakes_counted(logits, targets):
        """This is the fraction of wrong tokens. The task asks for 1 minus yours."""
        return 1 - token_accuracy(logits, targets)

    def not_divided(logits, targets):
        """This is the number of right tokens. Divide it by the number of target tokens."""
        return counts(logits, targets)[0].sum()

    def one_value_per_row(logits, targets):
        """You return one value per row. Sum over rows and steps, so that a single value is left."""
        right, counted = counts(logits, targets)
        return right.sum(-1) / counted.sum(-1)


# ---- 10.2


def on_padding(weights, valid_lens):
    """Return the weights with those on real keys set to 0."""
    return weights * (np.arange(weights.shape[-1]) >= valid_lens[:, None, None])


def weight_on_padding(weights, valid_lens):
    return on_padding(weights, valid_lens).sum(-1)


def weights_and_lengths(rng):
    sizes = ((2, 4), 3, 5), ((4, 7, 1), 2, 7), ((5, 3, 6, 2), 3, 9), ((3,), 2, 5)
    for lengths, n, m in (*sizes, ((1, 0, 1), 2, 1), ((6, 0), 1, 7)):
        weights = softmax(2 * rng.normal(size=(len(lengths), n, m)))
        if n == 1:
            weights[-1] = 0  # a fully masked row
        yield weights, np.array(lengths)


alarm = Exercise("10.2", weight_on_padding, weights_and_lengths)


@alarm.expects
class AlarmMistakes:
    def weight_on_real_keys(weights, valid_lens):
        """This is the weight on the real keys. The task asks for the weight on the others."""
        return weights.sum(-1) - weight_on_padding(weights, valid_lens)

    def rows_taken_to_sum_to_1(weights, valid_lens):
        """You subtract the weight on real keys from 1. A fully masked row sums to 0, and your alarm
        would sound there: add up the weights on padding themselves."""
        return 1 - weights.sum(-1) + weight_on_padding(weights, valid_lens)

    def one_key_too_few(weights, valid_lens):
        """You leave out the first key of the padding. Keys are counted from 0, so key `valid_len`
        is padding already."""
        return weight_on_padding(weights, valid_lens + 1)

    def one_key_too_many(weights, valid_lens):
        """You count the last real key as padding: it has the number valid_len - 1."""
        return weight_on_padding(weights, valid_lens - 1)

    def sum_over_the_queries(weights, valid_lens):
        return on_padding(weights, valid_lens).sum(-2)

    def mean_over_the_keys(weights, valid_lens):
        return on_padding(weights, valid_lens).mean(-1)

    def largest_weight_only(weights, valid_lens):
        """This is the largest weight on one key of the padding. Add up the weights on all of
        them."""
        return on_padding(weights, valid_lens).max(-1)

    def one_length_for_all(weights, valid_lens):
        """You use the length of the first example for all. Each example has its own."""
        return weight_on_padding(weights, np.full_like(valid_lens, valid_lens[0]))

    def one_value_per_example(weights, valid_lens):
        """You sum over the queries as well. Each query has its own weight on padding: the result
        has shape (b, n)."""
        return weight_on_padding(weights, valid_lens).sum(-1)
