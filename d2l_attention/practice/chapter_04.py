"""The checks of chapter 4, Order."""

import numpy as np

from d2l_attention.practice.exercises import Exercise
from d2l_attention.practice.numerics import products, softmax

# ---- 4.1


def distances_of(queries):
    places = np.arange(queries.shape[1])
    return places[:, None] - places


def rows_of(table, distances):
    c = len(table) // 2
    return table[np.clip(distances, -c, c) + c]  # (n, n, d)


def positional(queries, table, distances):
    """Return the dot products of queries with the vectors of the distances, unscaled."""
    return np.einsum("bid,ijd->bij", queries, rows_of(table, distances))


def scaled(scores, queries):
    return scores / np.sqrt(queries.shape[-1])


def unscaled(queries, keys, table):
    return products(queries, keys) + positional(queries, table, distances_of(queries))


def relative_scores(queries, keys, table):
    return scaled(unscaled(queries, keys, table), queries)


def vectors_and_a_table(rng):
    for b, n, d, c in ((2, 5, 3, 2), (1, 7, 4, 3), (3, 4, 6, 1), (1, 3, 5, 4), (2, 8, 10, 2)):
        queries, keys = rng.normal(size=(2, b, n, d))
        yield 2 * queries, keys, rng.normal(size=(2 * c + 1, d))


def largest_without_pairs_of_vectors(queries, keys, table):
    b, n, _ = queries.shape
    return max(queries.size, keys.size, table.size, b * n * n, b * n * len(table))


by_distance = Exercise(
    "4.1",
    relative_scores,
    vectors_and_a_table,
    square=True,
    most_elements=largest_without_pairs_of_vectors,
)


@by_distance.expects
class ByDistanceMistakes:
    def distances_of_the_wrong_sign(queries, keys, table):
        """You take j - i. The distance is i - j: positive for keys before the query."""
        return relative_scores(queries, keys, table[::-1])

    def distances_without_sign(queries, keys, table):
        """You take |i - j|. A key before the query and one after it have different vectors."""
        added = positional(queries, table, abs(distances_of(queries)))
        return scaled(products(queries, keys) + added, queries)

    def the_table_begins_at_distance_0(queries, keys, table):
        """You look up row r of the table. Row R + r belongs to distance r, as row 0 is distance
        -R."""
        return relative_scores(queries, keys, np.roll(table, len(table) // 2, 0))

    def far_keys_without_a_vector(queries, keys, table):
        """Beyond the distance R you add nothing. Farther keys share the vector of distance R, or
        -R."""
        near = abs(distances_of(queries)) <= len(table) // 2
        added = near * positional(queries, table, distances_of(queries))
        return scaled(products(queries, keys) + added, queries)

    def only_the_content_is_scaled(queries, keys, table):
        """You divide the dot products of queries and keys only. The root divides the products with
        the vectors of the distances, too."""
        added = positional(queries, table, distances_of(queries))
        return scaled(products(queries, keys), queries) + added

    def only_the_positions_are_scaled(queries, keys, table):
        """You divide the products with the vectors of the distances only. The root divides the dot
        products of queries and keys, too."""
        added = positional(queries, table, distances_of(queries))
        return products(queries, keys) + scaled(added, queries)

    def no_scale(queries, keys, table):
        return unscaled(queries, keys, table)

    def no_distances(queries, keys, table):
        """These are scaled dot products of queries and keys. The vectors of the distances are
        missing."""
        return scaled(products(queries, keys), queries)

    def no_content(queries, keys, table):
        """The dot products of queries and keys are missing: these are the products with the vectors
        of the distances only."""
        return scaled(positional(queries, table, distances_of(queries)), queries)

    def vectors_added_to_the_queries(queries, keys, table):
        """You multiply the vectors of the distances by the keys. They are added to the keys, so the
        queries multiply them."""
        rows = rows_of(table, distances_of(queries))
        added = np.einsum("bjd,ijd->bij", keys, rows)
        return scaled(products(queries, keys) + added, queries)

    def weights_in_place_of_scores(queries, keys, table):
        return softmax(relative_scores(queries, keys, table))


# ---- 4.2


def steps(d):
    return 10_000.0 ** (-np.arange(0, d, 2) / d)


def rotate_by(x, angles):
    first, second = np.split(x, 2, axis=-1)
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([first * cos - second * sin, first * sin + second * cos], -1)


def rotate_halves(x, positions):
    return rotate_by(x, positions[:, None] * steps(x.shape[-1]))


def vectors_and_positions(rng):
    for n, d, start, stride in ((5, 4, 0, 1), (3, 6, 100, 1), (1, 8, 7, 1), (7, 2, 3, 2)):
        yield rng.normal(size=(n, d)), start + stride * np.arange(n)
    yield rng.normal(size=(4, 10)), np.array([9, 0, 1001, 2])  # any positions, in any order


halves = Exercise("4.2", rotate_halves, vectors_and_positions, gradient=True)


@halves.expects
class HalvesMistakes:
    def neighbors_in_place_of_halves(x, positions):
        """You pair neighboring features, as `rotate` does. Here feature t belongs to t + d/2."""
        angles = positions[:, None] * steps(x.shape[-1])
        even, odd, cos, sin = x[:, ::2], x[:, 1::2], np.cos(angles), np.sin(angles)
        return np.stack([even * cos - odd * sin, even * sin + odd * cos], -1).reshape(x.shape)

    def halves_that_end_as_neighbors(x, positions):
        """You pair the right features, but leave the two coordinates of a pair side by side. Put
        them back where they came from: all first ones, then all second ones."""
        turned = rotate_halves(x, positions)
        return np.stack(np.split(turned, 2, axis=-1), -1).reshape(x.shape)

    def the_other_direction(x, positions):
        """You rotate in the other direction: the minus sign belongs to the sine in the first
        coordinate."""
        return rotate_halves(x, -positions)

    def both_signs_alike(x, positions):
        """One of the two sines has the wrong sign, so this is no rotation: lengths change."""
        first, second = np.split(x, 2, axis=-1)
        angles = positions[:, None] * steps(x.shape[-1])
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([first * cos + second * sin, first * sin + second * cos], -1)

    def angles_that_fall_half_as_fast(x, positions):
        """Your exponent is -t/d. It is -2t/d: the exponents run through 0, 2/d, 4/d, and so on."""
        d = x.shape[-1]
        return rotate_by(x, positions[:, None] * 10_000.0 ** (-np.arange(d // 2) / d))

    def angles_that_grow(x, positions):
        """Your exponent is positive. The pairs turn more and more slowly: -2t/d."""
        return rotate_by(x, positions[:, None] / steps(x.shape[-1]))

    def positions_in_bfloat16(x, positions):
        """You round the positions to 8 significant bits, so that far ones coincide with a neighbor.
        Compute positions and angles in single precision at least."""
        step = 2.0 ** np.maximum(np.floor(np.log2(np.maximum(positions, 1))) - 7, 0)
        return rotate_halves(x, np.round(positions / step) * step)

    def positions_that_begin_at_0(x, positions):
        """You count positions from 0 and do not use the ones that you are given."""
        return rotate_halves(x, np.arange(len(x)))

    def one_angle_for_all_pairs(x, positions):
        """All your pairs turn by the same angle. Pair t turns by the position times
        10000^(-2t/d)."""
        return rotate_by(x, positions[:, None] * np.ones(x.shape[-1] // 2))

    def multiplied_by_the_cosine_only(x, positions):
        """The sines are missing: a rotation mixes the two coordinates of a pair."""
        angles = positions[:, None] * steps(x.shape[-1])
        return x * np.tile(np.cos(angles), 2)
