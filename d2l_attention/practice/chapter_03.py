"""The exercises of chapter 3: distances, norms and the gradient of the softmax."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, Mistake


def halves(vectors):
    return 0.5 * (vectors**2).sum(-1)


def gaussian_scores(queries, keys):
    return queries @ keys.T - halves(keys) - halves(queries)[:, None]


def append_norm(keys):
    return np.concatenate([keys, -halves(keys)[:, None]], -1)


def softmax_backward(weights, grad):
    return weights * (grad - (weights * grad).sum(-1, keepdims=True))


def queries_and_keys(rng):
    for n, m, d in ((2, 4, 3), (5, 3, 2), (3, 7, 4)):
        yield rng.normal(size=(n, d)), 1.5 * rng.normal(size=(m, d))


def some_keys(rng):
    for m, d in ((4, 2), (3, 5), (6, 4)):
        yield (1.5 * rng.normal(size=(m, d)),)


def weights_and_gradients(rng):
    for shape in ((2, 3), (5, 4), (3, 2, 6)):
        exponentials = np.exp(rng.normal(size=shape))
        yield exponentials / exponentials.sum(-1, keepdims=True), rng.normal(size=shape)


EXERCISES = (
    Exercise(
        "3.1",
        gaussian_scores,
        queries_and_keys,
        mistakes=(
            Mistake(
                "the keys' norms are missing",
                "The term -1/2 |k|^2 is missing. It differs from key to key, so these scores give "
                "other weights than the distances do.",
                lambda queries, keys: queries @ keys.T - halves(queries)[:, None],
            ),
            Mistake(
                "the queries' norms are missing",
                "The term -1/2 |q|^2 is missing. A softmax over the keys would forgive it, but the "
                "task asks for the scores themselves.",
                lambda queries, keys: queries @ keys.T - halves(keys),
            ),
            Mistake(
                "a dot product and nothing else",
                "This is the dot product alone; the terms of the two norms are missing.",
                lambda queries, keys: queries @ keys.T,
            ),
            Mistake(
                "no factor 1/2",
                "Your scores are twice the right ones: the factor 1/2 of (3.2) is missing.",
                lambda queries, keys: 2 * gaussian_scores(queries, keys),
            ),
            Mistake(
                "norms not halved",
                "The dot product is right, and the squared norms are not halved: look at (3.4).",
                lambda queries, keys: 2 * gaussian_scores(queries, keys) - queries @ keys.T,
            ),
            Mistake(
                "sign of the norms",
                "The norms are added: both have a minus in (3.4).",
                lambda queries, keys: queries @ keys.T + halves(keys) + halves(queries)[:, None],
            ),
            Mistake(
                "norms not squared",
                "You subtract half the norms, and (3.4) has half the squared norms: no root.",
                lambda queries, keys: (
                    queries @ keys.T
                    - 0.5 * np.linalg.norm(keys, axis=-1)
                    - 0.5 * np.linalg.norm(queries, axis=-1)[:, None]
                ),
            ),
            Mistake(
                "distance not squared",
                "These are scores of the distance, and the task asks for the squared distance.",
                lambda queries, keys: -0.5 * np.sqrt(-2 * gaussian_scores(queries, keys)),
            ),
            Mistake(
                "a squared distance, not a score",
                "The sign is wrong: a score must be larger for nearer keys.",
                lambda queries, keys: -gaussian_scores(queries, keys),
            ),
            Mistake(
                "the kernel, not its exponent",
                "These are the similarities (3.1). The task asks for the scores, the exponents.",
                lambda queries, keys: np.exp(gaussian_scores(queries, keys)),
            ),
        ),
        hints=(
            "(3.4) has three terms. Which shapes do they have: (n, m), (n,), (m,)?",
            "The dot products are queries @ keys.T. A squared norm is the sum of the squared "
            "coordinates, over the last axis.",
            "The keys' term (m,) fits a row as it is. The queries' term needs the shape (n, 1): "
            "keep the summed axis with keepdim=True.",
        ),
    ),
    Exercise(
        "3.2",
        append_norm,
        some_keys,
        mistakes=(
            Mistake(
                "sign",
                "The new coordinate has the wrong sign: q.k - 1/2 |k|^2 has a minus.",
                lambda keys: np.concatenate([keys, halves(keys)[:, None]], -1),
            ),
            Mistake(
                "no factor 1/2",
                "The new coordinate is twice as large as it should be: half the squared norm.",
                lambda keys: np.concatenate([keys, -2 * halves(keys)[:, None]], -1),
            ),
            Mistake(
                "norm not squared",
                "The new coordinate is half the norm; take half the squared norm, without a root.",
                lambda keys: np.concatenate([keys, -np.sqrt(halves(keys)[:, None] / 2)], -1),
            ),
            Mistake(
                "a 1 for the key",
                "The 1 belongs to the query. The key's new coordinate is what the 1 is to be "
                "multiplied by.",
                lambda keys: np.concatenate([keys, np.ones_like(keys[:, :1])], -1),
            ),
            Mistake(
                "in front",
                "The new coordinate stands in front. The query has its 1 at the end, so the key "
                "needs it there too.",
                lambda keys: np.concatenate([-halves(keys)[:, None], keys], -1),
            ),
            Mistake(
                "one number for all keys",
                "You have summed over the keys as well: each key has a norm of its own.",
                lambda keys: np.concatenate(
                    [keys, np.full_like(keys[:, :1], -halves(keys).sum())], -1
                ),
            ),
            Mistake(
                "the norm is not appended",
                "Your result has d columns. A coordinate is to be added: shape (m, d + 1).",
                lambda keys: keys - halves(keys)[:, None],
                lambda answer, target, keys: answer.shape == keys.shape,
            ),
        ),
        hints=(
            "Write the dot product of two vectors of d + 1 coordinates as the first d products "
            "plus the last one.",
            "The last one is 1 times the new coordinate. It has to be the term of (3.4) that "
            "belongs to the key alone.",
            "Compute -0.5 * (keys**2).sum(-1, keepdim=True), shape (m, 1), and join it to the "
            "keys along the last axis with torch.cat.",
        ),
    ),
    Exercise(
        "3.3",
        softmax_backward,
        weights_and_gradients,
        mistakes=(
            Mistake(
                "diagonal only",
                "This is diag(alpha) g, and alpha alpha^T g is missing: a score moves the weights "
                "of all keys, because they share the denominator.",
                lambda weights, grad: weights * grad,
            ),
            Mistake(
                "derivative of a sigmoid",
                "alpha (1 - alpha) g keeps the diagonal of J only. The off-diagonal entries "
                "-alpha_i alpha_j count as well.",
                lambda weights, grad: weights * (1 - weights) * grad,
            ),
            Mistake(
                "sum over the queries",
                "You sum over the queries. Each query has a Jacobian of its own: sum over the "
                "keys, the last axis.",
                lambda weights, grad: weights * (grad - (weights * grad).sum(-2, keepdims=True)),
                lambda answer, target, weights, grad: np.allclose(
                    answer, weights * (grad - (weights * grad).sum(0)), atol=1e-4
                ),
            ),
            Mistake(
                "one sum for all",
                "You sum over everything. Each query has a Jacobian of its own: sum over the "
                "last axis, and keep it.",
                lambda weights, grad: weights * (grad - (weights * grad).sum()),
            ),
            Mistake(
                "mean in place of the sum",
                "alpha^T g is a sum over the keys, and yours is their mean.",
                lambda weights, grad: weights * (grad - (weights * grad).mean(-1, keepdims=True)),
            ),
            Mistake(
                "sum of the gradients without weights",
                "You subtract the plain mean of g. It has to be the mean under the weights, "
                "alpha^T g.",
                lambda weights, grad: weights * (grad - grad.mean(-1, keepdims=True)),
            ),
            Mistake(
                "not multiplied by the weights",
                "You have g - alpha^T g. The factor alpha in front is missing.",
                lambda weights, grad: grad - (weights * grad).sum(-1, keepdims=True),
            ),
            Mistake(
                "plus in place of minus",
                "J is diag(alpha) minus alpha alpha^T, and you add.",
                lambda weights, grad: weights * (grad + (weights * grad).sum(-1, keepdims=True)),
            ),
        ),
        hints=(
            "Multiply (diag(alpha) - alpha alpha^T) g out for one query: two vectors.",
            "The first is alpha * g, entry by entry. The second is alpha times the number "
            "alpha^T g.",
            "alpha^T g for all rows at once: (weights * grad).sum(-1, keepdim=True).",
        ),
    ),
)
