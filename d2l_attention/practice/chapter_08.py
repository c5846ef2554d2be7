"""The exercises of chapter 8: distance, cosine and bilinear scores."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, Mistake, one_of
from d2l_attention.practice.reference import softmax


def products(a, b):
    return a @ b.swapaxes(-1, -2)


def norms(x):
    return (x**2).sum(-1, keepdims=True)


def squared_distances(queries, keys):
    return norms(queries) - 2 * products(queries, keys) + norms(keys).swapaxes(-1, -2)


def one_query_and_as_many_as_keys(rng):  # where Gram matrices run without an error
    for b, n, m, d in ((2, 1, 5, 3), (3, 4, 4, 2), (2, 6, 6, 5)):
        yield rng.normal(size=(b, n, d)), rng.normal(size=(b, m, d))


def lengths(x):
    length = np.sqrt(norms(x))
    return np.where(length > 0, length, 1)


def across(x):
    return np.sqrt((x**2).sum(-2, keepdims=True))


def cosines(queries, keys):
    return products(queries / lengths(queries), keys / lengths(keys))


def cosine_weights(queries, keys, temperature):
    return softmax(cosines(queries, keys) / temperature)


def directions(rng):
    for b, n, m, d, temperature in ((1, 3, 4, 2, 0.5), (2, 4, 6, 3, 0.2), (3, 2, 5, 4, 2.0)):
        queries, keys = 2 * rng.normal(size=(b, n, d)), 3 * rng.normal(size=(b, m, d))
        queries[0, -1] = 0  # no direction
        yield queries, keys, temperature


def low_rank_scores(queries, keys, W_q, W_k):
    return projected_products(queries, keys, W_q, W_k) / np.sqrt(len(W_q))


def projected_products(queries, keys, W_q, W_k):
    return products(queries @ W_q.T, keys @ W_k.T)


def tensors_and_matrices(rng):
    for b, n, m, d_q, d_k, r in ((1, 3, 5, 4, 6, 2), (2, 4, 3, 7, 5, 6)):
        yield tuple(rng.normal(size=s) for s in ((b, n, d_q), (b, m, d_k), (r, d_q), (r, d_k)))


EXERCISES = (
    Exercise(
        "8.1",
        squared_distances,
        one_query_and_as_many_as_keys,
        square=True,
        mistakes=(
            Mistake(
                "Gram matrices for the norms",
                "Q Qᵀ and K Kᵀ are Gram matrices: the products of all pairs. The squared norms "
                "are their diagonals only: square each vector's entries and sum them.",
                lambda queries, keys: (
                    products(queries, queries) - 2 * products(queries, keys) + products(keys, keys)
                ),
            ),
            Mistake(
                "a Gram matrix for the norms of the keys",
                "K Kᵀ is a Gram matrix: the products of all pairs of keys. Their squared norms "
                "are its diagonal only: one number per key, from a sum of squares.",
                lambda queries, keys: (
                    norms(queries) - 2 * products(queries, keys) + products(keys, keys)
                ),
            ),
            Mistake(
                "a Gram matrix for the norms of the queries",
                "Q Qᵀ is a Gram matrix: the products of all pairs of queries. Their squared norms "
                "are its diagonal only: one number per query, from a sum of squares.",
                lambda queries, keys: (
                    products(queries, queries)
                    - 2 * products(queries, keys)
                    + norms(keys).swapaxes(-1, -2)
                ),
            ),
            Mistake(
                "norms not squared",
                "You take the lengths themselves. Their squares are wanted: q · q, without a root.",
                lambda queries, keys: (
                    np.sqrt(norms(queries))
                    - 2 * products(queries, keys)
                    + np.sqrt(norms(keys)).swapaxes(-1, -2)
                ),
            ),
            Mistake(
                "root taken",
                "These are the distances. The task asks for their squares.",
                lambda queries, keys: np.sqrt(np.abs(squared_distances(queries, keys))),
            ),
            Mistake(
                "query i with key i only",
                "You subtract the tensors as they are, so that query i meets key i only, or all "
                "keys meet one query. Every pair is wanted: shape (b, n, m).",
                lambda queries, keys: ((queries - keys) ** 2).sum(-1),
            ),
            Mistake(
                "no norms of the queries",
                "The squared norms of the queries are missing. A softmax would not notice, but "
                "these are no distances.",
                lambda queries, keys: squared_distances(queries, keys) - norms(queries),
            ),
            Mistake(
                "product counted once",
                "Multiply the square out once more: the product of q and k comes twice.",
                lambda queries, keys: squared_distances(queries, keys) + products(queries, keys),
            ),
            Mistake(
                "product added",
                "The product of q and k has the wrong sign: this is the squared length of q + k.",
                lambda queries, keys: (
                    squared_distances(queries, keys) + 4 * products(queries, keys)
                ),
            ),
            Mistake(
                "queries and keys swapped",
                "Queries go down and keys across: the result has shape (b, n, m).",
                lambda queries, keys: squared_distances(keys, queries),
            ),
        ),
        hints=(
            "Multiply (q - k) · (q - k) out for one query and one key.",
            "The squared norms of the queries are queries.square().sum(-1), of shape (b, n). "
            "Which axis do they lack to fit (b, n, m)? And those of the keys?",
            "unsqueeze(-1) makes (b, n, 1) of the first and unsqueeze(-2) makes (b, 1, m) of the "
            "second; add both, and subtract twice queries @ keys.transpose(-2, -1).",
        ),
    ),
    Exercise(
        "8.2",
        cosine_weights,
        directions,
        mistakes=(
            Mistake(
                "times the temperature",
                "You multiply by the temperature. Divide by it: a low one makes weights sharp.",
                lambda q, k, temperature: softmax(cosines(q, k) * temperature),
            ),
            Mistake(
                "no temperature",
                "Your weights do not depend on the temperature.",
                lambda q, k, temperature: softmax(cosines(q, k)),
            ),
            Mistake(
                "lengths not divided away",
                "These are dot products: divide queries and keys by their lengths first.",
                lambda q, k, temperature: softmax(products(q, k) / temperature),
            ),
            Mistake(
                "only the queries have length 1",
                "The lengths of the keys still count. Divide the keys by their lengths, too.",
                lambda q, k, temperature: softmax(products(q / lengths(q), k) / temperature),
            ),
            Mistake(
                "only the keys have length 1",
                "The lengths of the queries still count: they act like a temperature of their "
                "own. Divide the queries by their lengths, too.",
                lambda q, k, temperature: softmax(products(q, k / lengths(k)) / temperature),
            ),
            Mistake(
                "lengths along the wrong axis",
                "You divide by lengths that run over the tokens of a sequence. The length of a "
                "vector is a sum over its own entries, the last axis.",
                lambda q, k, temperature: softmax(
                    products(q / across(q), k / across(k)) / temperature
                ),
            ),
            Mistake(
                "squared lengths",
                "You divide by the squared lengths. A root is missing.",
                lambda q, k, temperature: softmax(
                    products(q / lengths(q) ** 2, k / lengths(k) ** 2) / temperature
                ),
            ),
            Mistake(
                "NaN for a zero vector",
                "The zero vector has length 0, and 0/0 is NaN. Divide by 1 where the length is 0: "
                "then its cosine is 0 with every key.",
                lambda q, k, temperature: softmax(
                    products(q / np.sqrt(norms(q)), k / np.sqrt(norms(k))) / temperature
                ),
            ),
            Mistake(
                "softmax over the queries",
                "Your columns sum to 1, not your rows: normalize over the keys, the last axis.",
                lambda q, k, temperature: softmax(cosines(q, k) / temperature, -2),
            ),
            Mistake(
                "no softmax",
                "These are scores. A softmax over the keys makes weights of them.",
                lambda q, k, temperature: cosines(q, k) / temperature,
            ),
        ),
        hints=(
            "Make all vectors as long as 1 first; then the dot products are cosines.",
            "x.norm(dim=-1, keepdim=True) has shape (b, n, 1), so that x can be divided by it. "
            "One query of the test is the zero vector: what is its length?",
            "torch.where(norm > 0, norm, 1) is safe to divide by. "
            "Then divide the cosines by the temperature and take the softmax over the last axis.",
        ),
    ),
    Exercise(
        "8.3",
        low_rank_scores,
        tensors_and_matrices,
        mistakes=(
            Mistake(
                "no root",
                "The products of vectors of size r grow with r: divide by the root of r.",
                projected_products,
            ),
            Mistake(
                "root of the size of the keys",
                "You divide by the root of the size of the keys, which is right for a full "
                "matrix. Here queries and keys meet at size r.",
                lambda queries, keys, W_q, W_k: (
                    projected_products(queries, keys, W_q, W_k) / np.sqrt(keys.shape[-1])
                ),
            ),
            Mistake(
                "root of the size of the queries",
                "You divide by the root of the size of the queries; they meet the keys at size r.",
                lambda queries, keys, W_q, W_k: (
                    projected_products(queries, keys, W_q, W_k) / np.sqrt(queries.shape[-1])
                ),
            ),
            Mistake(
                "divided by r",
                "You divide by r. Its root is enough: it is the variance that grows like r.",
                lambda queries, keys, W_q, W_k: (
                    projected_products(queries, keys, W_q, W_k) / len(W_q)
                ),
            ),
            Mistake(
                "softmax taken",
                "These are attention weights. The task asks for scores.",
                lambda *inputs: softmax(low_rank_scores(*inputs)),
            ),
            Mistake(
                "queries and keys swapped",
                "Queries go down and keys across: the scores have shape (b, n, m).",
                lambda *inputs: low_rank_scores(*inputs).swapaxes(-1, -2),
            ),
        ),
        hints=(
            "What shape must the projected queries have, and what shape the projected keys?",
            "A matrix of shape (r, d_q) maps a column to a column. "
            "Your queries are rows: multiply them by its transpose.",
            "(b, n, d_q) @ (d_q, r) and (b, m, d_k) @ (d_k, r) meet at r; "
            "multiply them as in a dot product and divide by the root of r.",
        ),
    ),
    Exercise(
        "8.4",
        119,
        mistakes=(
            Mistake(
                "as many, not fewer",
                "With this rank both forms hold equally many numbers. The task asks for fewer.",
                120,
            ),
            Mistake(
                "the rank of a full matrix",
                "This is the largest rank that a 300 × 200 matrix can have. "
                "The question is what the two thin matrices hold at rank r.",
                200,
            ),
            Mistake(
                "one matrix only",
                "You have counted one of the two thin matrices. Both must be stored.",
                when=one_of(199, 299, 300),
            ),
            Mistake(
                "sizes multiplied",
                "One matrix has r rows of 300 numbers, the other r rows of 200: add, do not "
                "multiply.",
                when=one_of(0, 1),
            ),
            Mistake(
                "both of one size",
                "The two thin matrices are not equally wide: one has rows of 300 numbers, the "
                "other rows of 200.",
                when=one_of(99, 100, 149, 150),
            ),
        ),
        hints=(
            "How many numbers are in M, and how many in each thin matrix?",
            "M holds 300 · 200 numbers, the thin matrices r · 300 and r · 200.",
            "Solve r · (300 + 200) < 300 · 200, and mind that equal is not fewer.",
        ),
    ),
)
