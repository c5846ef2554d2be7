"""What arguments must look like: checks of shapes, kinds of types and Python numbers.

They raise TypeError or ValueError with the argument's name, what came and what would fit. All but
`check_lengths` read no values of arrays: one file serves every framework, under tracing, too.
"""

from functools import partial
from math import inf
from numbers import Integral, Real
from typing import Any

import numpy as np

Shaped = Any  # a tensor or array, with its shape and dtype
BY_NAME = "; a mask goes by name, as mask="
SPARSE = ("nested", "sparse", "Sparse", "Ragged", "BCOO", "BCSR")  # in names of types


def fit(have: tuple, want: tuple, ones: bool = False) -> bool:
    """Say whether a shape may be the wanted one, or has 1s; a graph leaves a size of None open."""
    pairs = zip(have, want, strict=False)
    same = all(h == w or h is None or w is None or (ones and h == 1) for h, w in pairs)
    return same and len(have) == len(want)


def kind(array: Shaped) -> str:
    """Return the name of a data type as its framework writes it."""
    return str(getattr(array.dtype, "name", getattr(array.dtype, "__name__", array.dtype)))


def check_array(name: str, array: Any) -> None:
    """Raise TypeError unless this is an array or a tensor, and a dense one."""
    if not hasattr(array, "dtype") or isinstance(array, type):
        raise TypeError(f"{name} must be an array, got {type(array).__name__}")
    layout = f"{type(array).__name__} {getattr(array, 'layout', '')}".strip()
    layout = "nested" if getattr(array, "is_nested", False) else layout
    if any(word in layout for word in SPARSE):
        raise TypeError(f"{name} must be dense (padded, with valid_lens), got {layout}")


def check_numbers(name: str, value: Any) -> tuple:
    """Return the shape of an array or nested lists; raise unless they hold numbers in even rows."""
    if isinstance(value, list | tuple):
        rows = {check_numbers(name, entry) for entry in value}
        if len(rows) > 1:
            raise ValueError(f"{name} must be rectangular, got rows of shapes {sorted(rows)}")
        return (len(value), *(rows.pop() if rows else ()))
    if getattr(getattr(value, "dtype", None), "kind", "f") in "OSUMm":  # NumPy's
        raise TypeError(f"{name} must hold numbers, got {kind(value)}")
    if isinstance(value, str | bytes | dict | set | None):
        raise TypeError(f"{name} must hold numbers, got {value!r}")
    if hasattr(value, "dtype"):
        check_array(name, value)
    return tuple(getattr(value, "shape", ()))


def check_vectors(queries: Shaped, keys: Shaped) -> None:
    """Raise ValueError unless queries and keys are (n, d) and (m, d), or (n,) and (m,)."""
    for name, array in (("queries", queries), ("keys", keys)):
        if "complex" in str(array.dtype):
            raise TypeError(f"{name} must hold real numbers, got {kind(array)}")
    q, k = tuple(queries.shape), tuple(keys.shape)
    d_q, d_k = ((*shape, 1)[1:2] for shape in (q, k))  # (n,) is (n, 1)
    if not fit(d_q, d_k) or not 1 <= len(q) <= 2 or not 1 <= len(k) <= 2:
        raise ValueError(f"queries and keys must be (n, d) and (m, d), got {q} and {k}")


def check_pairs(x_train: Shaped, y_train: Shaped) -> None:
    """Raise ValueError unless there is one value for each point."""
    m, count = ((*x.shape, 1)[0] for x in (x_train, y_train))
    if not fit((m,), (count,)):
        raise ValueError(f"x_train and y_train must come in pairs, got {m} and {count}")


def check_valid_lens(lens: Shaped, shape: tuple[int, ...], by_name: str = BY_NAME) -> None:
    """Raise unless lengths are integers (b,) or (b, n) for scores (b, ..., n, m), or without b."""
    b, n, have = tuple(shape[:-2][:1]), shape[-2], tuple(lens.shape)
    if "int" not in str(lens.dtype) and 0 not in have:  # [] becomes floating point
        mask = by_name if "bool" in str(lens.dtype) else ""
        raise TypeError(f"valid_lens must hold integers, got {kind(lens)}{mask}")
    if not (fit(have, b) or fit(have, (*b, n))):
        mask = by_name if fit(have, (*b, shape[-1])) else ""
        raise ValueError(f"valid_lens must have shape {b} or {(*b, n)}, got {have}{mask}")


def check_lengths(lens: np.ndarray, shape: tuple[int, ...], by_name: str = BY_NAME) -> None:
    """Raise ValueError if known lengths of scores (b, ..., n, m) lie outside 0..m, or are a mask.

    Where n = m, a mask of 0 and 1 for each key, as tokenizers make it, has the shape of lengths for
    each query. It is taken for one if some row has two 1s: they would be lengths of little use.
    """
    m, per_query = shape[-1], lens.ndim > len(shape[:-2][:1])
    if lens.size == 0 or m is None:
        return
    least, most = int(lens.min()), int(lens.max())
    if least < 0 or most > m:
        raise ValueError(f"valid_lens must lie in 0..{m}, got {least}..{most}")
    if per_query and most == 1 and lens.shape[-1] == m and (lens.sum(-1) > 1).any():
        got = f"a 0 or 1 for each key: {by_name[2:]}"
        raise ValueError(f"valid_lens must hold a length for each query, got {got}")


def check_mask(mask: Shaped, shape: tuple[int, ...]) -> None:
    """Raise unless a mask is boolean and broadcasts to the shape of the scores.

    Two axes are (n, m); three are (H, n, m), but must be said to be with four where b = H.
    """
    if "bool" not in str(mask.dtype):
        raise TypeError(f"mask must be boolean (True = may attend), got {kind(mask)}")
    have, want = tuple(mask.shape), tuple(shape)
    if not fit(have, want[len(want) - len(have) :], ones=True):
        keys = "; for keys of each example, (b, 1, m)" if have == (want[0], want[-1]) else ""
        raise ValueError(f"mask must broadcast to {want}, got {have}{keys}")
    if len(have) == 3 and len(want) == 4 and have[0] not in (1, None) and want[0] == want[1]:
        said = f"(b, 1, n, m) or (1, H, n, m) for scores {want}"
        raise ValueError(f"mask must have 4 axes, {said}, got {have}")


def check_floats(name: str, x: Any) -> None:
    """Raise TypeError or ValueError unless x is dense floating point with 2 axes or more."""
    check_array(name, x)
    if "float" not in str(x.dtype):
        raise TypeError(f"{name} must be floating point, got {kind(x)}")
    if len(x.shape) < 2:
        raise ValueError(f"{name} must have 2 axes or more, got {tuple(x.shape)}")


check_scores = partial(check_floats, "X")


def check_sizes(queries: Shaped, keys: Shaped, values: Shaped) -> None:
    """Raise unless floats (b, n, any), (b, m, any), (b, m, v) fit, also with more axes after b."""
    for name, array in (("queries", queries), ("keys", keys), ("values", values)):
        check_array(name, array)
        if "float" not in str(array.dtype):
            raise TypeError(f"queries, keys, values must be floating point, got {kind(array)}")
    q, k, v = (tuple(array.shape) for array in (queries, keys, values))
    got = f"got queries {q}, keys {k}, values {v}"
    if not len(q) == len(k) == len(v) or len(q) < 2:
        raise ValueError(f"queries, keys, values must have equally many axes, 2 or more; {got}")
    if not (fit(q[:-2], k[:-2]) and fit(k[:-2], v[:-2]) and fit(q[:-2], v[:-2])):
        raise ValueError(f"queries, keys, values must agree in batch and heads; {got}")
    if not fit(k[-2:-1], v[-2:-1]):
        raise ValueError(f"there must be one value for each key; {got}")


def check_one_type(*arrays: Shaped) -> None:
    """Raise TypeError unless queries, keys and, where they are given, values have one data type."""
    kinds = [kind(x).rpartition(".")[2] for x in arrays]
    if len(set(kinds)) > 1:
        names = ", ".join(("queries", "keys", "values")[: len(arrays)])
        raise TypeError(f"{names} must have one type, got {' and '.join(kinds)}")


def check_same_size(queries: Shaped, keys: Shaped) -> None:
    """Raise ValueError unless queries and keys have equal dimensions."""
    d_q, d_k = queries.shape[-1], keys.shape[-1]
    if not fit((d_q,), (d_k,)):
        got = f"got queries of dimension {d_q} and keys of dimension {d_k}"
        raise ValueError(f"queries and keys must have equal dimensions, {got}")


def check_features(name: str, vectors: Shaped, size: int) -> None:
    """Raise ValueError unless vectors have the dimension that a layer expects; 0: any."""
    if size != 0 and not fit((vectors.shape[-1],), (size,)):
        raise ValueError(f"{name} must have dimension {size}, got {tuple(vectors.shape)}")


def check_projected(layer: Any, *arrays: Shaped) -> None:
    """Raise ValueError unless queries, keys and, where given, values fit W_q, W_k, W_v."""
    for name, vectors in zip(("queries", "keys", "values"), arrays, strict=False):
        linear = getattr(layer, f"W_{name[0]}", None)
        kernel = getattr(linear, "kernel", None)  # of a layer without in_features
        size = getattr(linear, "in_features", getattr(kernel, "shape", (0,))[0])
        check_features(name, vectors, size)


def check_inputs(layer: Any, queries: Shaped, keys: Shaped, values: Shaped) -> None:
    """Raise unless (b, n, d_q), (b, m, d_k), (b, m, d_v) fit W_q, W_k, W_v of a layer, if any."""
    check_sizes(queries, keys, values)
    if len(queries.shape) != 3:
        raise ValueError(f"queries must have 3 axes (b, n, d), got {tuple(queries.shape)}")
    check_projected(layer, queries, keys, values)


def check_rank(rank: int | None, key_size: int | None, query_size: int | None = None) -> None:
    """Raise unless a bilinear score has a rank >= 1 or, for a full matrix, a size."""
    if rank is None and key_size is None:
        raise ValueError("give a rank, or key_size for a full matrix")
    check_whole_sizes(rank=rank, key_size=key_size, query_size=query_size)


def check_number(name: str, number: Any, kind: type, low: float, high: float, what: str) -> None:
    """Raise TypeError unless a number is of a kind, and ValueError unless it lies in low..high."""
    right = isinstance(number, kind) and not isinstance(number, bool)
    if not right or not low <= number <= high:
        raise (ValueError if right else TypeError)(f"{name} must {what}, got {number!r}")


check_whole = partial(check_number, kind=Integral, high=inf, what="be a positive whole number")
check_rate = partial(check_number, kind=Real, low=0, high=1, what="lie in 0..1")


def check_whole_sizes(**sizes: int | None) -> None:
    """Raise unless sizes are positive whole numbers; None: a size of inputs that is not given."""
    for name, size in sizes.items():
        if size is not None or name == "num_hiddens":
            check_whole(name, size, low=1)


def check_layer_sizes(num_hiddens, query_size=None, key_size=None, value_size=None) -> None:
    """Raise as check_whole_sizes does."""
    check_whole_sizes(**locals())


def check_positive(name: str, number: Any) -> None:
    """Raise TypeError unless this is a number, and ValueError unless it is positive and finite."""
    if isinstance(number, bool | str | complex | list | tuple | None):
        raise TypeError(f"{name} must be a positive number, got {number!r}")
    if not number > 0 or number == inf:
        raise ValueError(f"{name} must be positive, got {number}")


def check_positions(shape: tuple[int, ...], vectors: tuple[int, ...]) -> None:
    """Raise ValueError unless positions fit vectors (..., n, d) without d."""
    n = vectors[-1:]
    if not fit(shape[-1:], n) or not (len(shape) == 1 or fit(shape, vectors, ones=True)):
        like = (*vectors[:1], *[1] * (len(vectors) - 2), *n)
        more = f" or broadcast to {vectors} with all axes, as {like} does" * (len(vectors) > 1)
        raise ValueError(f"positions must have shape {n}{more}, got {shape}")


def check_divides(name: str, part: int, whole_name: str, whole: int) -> None:
    """Raise unless both are positive whole numbers, and `part` divides `whole`."""
    check_whole(whole_name, whole, low=1)
    check_whole(name, part, low=-inf)
    fits = [i for i in range(1, whole + 1) if whole % i == 0]
    if part not in fits:
        raise ValueError(f"{name} must divide {whole_name} = {whole}: one of {fits}, got {part}")


def check_even(x: Any) -> None:
    """Raise TypeError or ValueError unless x is floating point (..., n, d), d even."""
    check_floats("x", x)
    d = x.shape[-1]
    if d % 2:
        fit = f"got {d}; {d - 1} or {d + 1} would fit"
        raise ValueError(f"the dimension must be even, as features go in pairs, {fit}")


def check_cache(cache: Any, keys: Shaped, values: Shaped) -> None:
    """Raise ValueError unless new (b, heads, new, d) fit those of a cache, None at its start."""
    k, v = tuple(keys.shape), tuple(values.shape)
    if len(k) != 4 or not fit(k[:-1], v[:-1]):
        wanted = "keys and values must be (b, heads, new, d), and one value for each key"
        raise ValueError(f"{wanted}; got keys {k}, values {v}")
    for name, held, (b, heads, _, d) in (("keys", cache.keys, k), ("values", cache.values, v)):
        have = (b, heads, 0, d) if held is None else tuple(held.shape)
        if not fit((*have[:2], have[3]), (b, heads, d)):
            raise ValueError(
                f"cache must have {name} of shape (b, heads, any, d) = ({b}, {heads}, any, {d}), "
                f"got {have}: start a new one for each batch and each layer"
            )


def check_room(places: int, taken: int | None, new: int) -> None:
    """Raise ValueError unless `new` more tokens fit a cache; taken: None if it is not known."""
    if (taken or 0) + new > places:
        known = "" if taken is None else f", {taken} taken"
        raise ValueError(f"cache has {places} places{known}: no room for {new} more tokens")
