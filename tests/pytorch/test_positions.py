"""Positions: vectors for inputs, biases for scores, and rotations of queries and keys."""

import copy
import math
import pickle
import re

import pytest
import torch
from cases import DTYPES, TOLERANCE, normal
from hypothesis import given
from hypothesis import strategies as st
from torch.func import vmap

from d2l_attention.torch import (
    DotProductAttention,
    RelativeBias,
    alibi_bias,
    alibi_slopes,
    fused_attention,
    relative_positions,
    rotate,
    sinusoidal_positions,
)


class Biased(DotProductAttention):
    """How a bias joins a layer, as in the chapter."""

    def __init__(self, bias):
        super().__init__()
        self.bias = bias

    def score(self, queries, keys):
        return super().score(queries, keys) + self.bias(queries.shape[-2], keys.shape[-2])


class Rotary(DotProductAttention):
    """How rotary joins a layer, with queries at the last positions."""

    def features(self, queries, keys):
        q, k = super().features(queries, keys)
        at = torch.arange(k.shape[-2])
        return rotate(q, at[k.shape[-2] - q.shape[-2] :]), rotate(k, at)


def angle(i, t, d, base=10_000.0):
    return i * base ** (-2 * t / d)


def rotated(x, i, base=10_000.0):
    """One vector, as a list, turned by loops."""
    y = list(x)
    for t in range(len(x) // 2):
        cos, sin = math.cos(angle(i, t, len(x), base)), math.sin(angle(i, t, len(x), base))
        y[2 * t] = cos * x[2 * t] - sin * x[2 * t + 1]
        y[2 * t + 1] = sin * x[2 * t] + cos * x[2 * t + 1]
    return y


sizes = st.tuples(st.integers(0, 5), st.integers(0, 4)).map(lambda nk: (nk[0], nk[0] + nk[1]))
EVEN = st.sampled_from([2, 4, 6, 10])


# ---- sinusoidal


@given(n=st.integers(0, 6), d=EVEN)
def test_sinusoidal_positions_equal_a_loop(n, d):
    want = torch.empty(n, d)
    for i in range(n):
        for t in range(d // 2):
            want[i, 2 * t] = math.sin(angle(i, t, d))
            want[i, 2 * t + 1] = math.cos(angle(i, t, d))
    torch.testing.assert_close(sinusoidal_positions(n, d), want)


def test_sinusoidal_positions_have_the_default_type_and_stay_exact_far_out(monkeypatch):
    assert sinusoidal_positions(2, 4).dtype == torch.float32
    far = sinusoidal_positions(100_001, 2)[-1]
    want = torch.tensor([math.sin(100_000), math.cos(100_000)])
    torch.testing.assert_close(far, want, atol=1e-6, rtol=0)
    try:
        torch.set_default_dtype(torch.float64)
        assert sinusoidal_positions(2, 4).dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_single_precision_sinusoids_are_rounded_only_at_the_end():
    far, d = 4095, 6
    exact = [f(angle(far, t, d)) for t in range(d // 2) for f in (math.sin, math.cos)]
    assert sinusoidal_positions(far + 1, d)[far].tolist() == pytest.approx(exact, abs=1e-6)


def test_products_of_sinusoids_depend_on_the_distance_alone():
    p = sinusoidal_positions(9, 6).double()
    products = p @ p.T
    for r in range(9):
        diagonal = products.diagonal(r)
        want = sum(math.cos(angle(r, t, 6)) for t in range(3))
        torch.testing.assert_close(diagonal, torch.full_like(diagonal, want), atol=1e-5, rtol=0)


# ---- distances and biases


@given(nm=sizes)
def test_distances_are_those_of_the_last_queries(nm):
    n, m = nm
    r = relative_positions(n, m)
    assert r.dtype == torch.int64
    assert r.shape == (n, m)
    assert r.tolist() == [[m - n + i - j for j in range(m)] for i in range(n)]


@given(nm=sizes, heads=st.integers(1, 3), most=st.integers(1, 4))
def test_a_relative_bias_equals_a_loop(nm, heads, most):
    n, m = nm
    layer = RelativeBias(heads, most)
    with torch.no_grad():
        layer.bias.copy_(normal(heads, 2 * most + 1))
    got = layer(n, m)
    assert got.shape == (heads, n, m)
    for h in range(heads):
        for i in range(n):
            for j in range(m):
                r = min(max(m - n + i - j, -most), most)
                assert got[h, i, j] == layer.bias[h, most + r]


def test_a_relative_bias_begins_with_zeros_and_learns_all_that_it_shows():
    layer = RelativeBias(2, 3)
    assert dict(layer.named_parameters()).keys() == {"bias"}
    assert layer.bias.shape == (2, 7)
    assert not layer.bias.any()
    layer(5, 5).sum().backward()  # how often each distance occurs; beyond 3, distances share
    want = torch.tensor([1 + 2, 3, 4, 5, 4, 3, 2 + 1]).expand(2, 7).to(layer.bias)
    torch.testing.assert_close(layer.bias.grad, want)


def test_a_relative_bias_passes_gradcheck_in_a_layer():
    layer = Biased(RelativeBias(2, 2)).double()
    queries, keys, values = (normal(1, 2, n, 3, seed=n).requires_grad_() for n in (2, 4, 4))

    def attend(bias, queries, keys):
        parameters = {"bias.bias": bias}
        inputs = (queries, keys, values)
        return torch.func.functional_call(layer, parameters, inputs)

    assert torch.autograd.gradcheck(attend, (normal(2, 5).requires_grad_(), queries, keys))


def test_slopes_are_those_of_the_paper():
    assert alibi_slopes(8).tolist() == [2.0**-i for i in range(1, 9)]
    torch.testing.assert_close(alibi_slopes(3).log2(), torch.tensor([-8 / 3, -16 / 3, -8]))
    assert alibi_slopes(1).tolist() == [2.0**-8]


@given(nm=sizes, heads=st.integers(1, 3))
def test_the_bias_of_alibi_equals_a_loop(nm, heads):
    n, m = nm
    slopes = alibi_slopes(heads).double()
    want = [[[-s * abs(m - n + i - j) for j in range(m)] for i in range(n)] for s in slopes]
    torch.testing.assert_close(
        alibi_bias(slopes, n, m), torch.tensor(want).double().reshape(heads, n, m)
    )


def test_the_bias_of_alibi_has_no_negative_zero():
    assert not torch.signbit(alibi_bias(alibi_slopes(2), 3, 3).diagonal(dim1=1, dim2=2)).any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_bias_has_the_type_of_its_slopes_or_table(dtype):
    assert alibi_bias(alibi_slopes(2).to(dtype), 3, 4).dtype == dtype
    assert RelativeBias(2, 3).to(dtype)(3, 4).dtype == dtype


def test_under_a_causal_mask_alibi_is_a_feature_of_the_key():
    x, slopes = normal(2, 3, 6, 4), alibi_slopes(3).double()
    keep = torch.ones(6, 6, dtype=torch.bool).tril()
    want = Biased(lambda n, m: alibi_bias(slopes, n, m))(x, x, x, mask=keep)
    s = slopes[:, None, None].expand(2, 3, 6, 1)
    at = torch.arange(6.0).double()[:, None].expand(2, 3, 6, 1)
    q, k = torch.cat([x / 2, s], -1), torch.cat([x, at], -1)
    got = fused_attention(q, k, x, keep[None, None], scale=1.0)
    torch.testing.assert_close(got, want)


# ---- rotary


@given(n=st.integers(0, 4), d=EVEN, base=st.sampled_from([10_000.0, 10.0]))
def test_rotated_vectors_equal_a_loop(n, d, base):
    x, at = normal(2, n, d), torch.tensor([3, 0, 7, 1])[:n]
    got = rotate(x, at, base)
    want = [[rotated(x[e, i].tolist(), at[i].item(), base) for i in range(n)] for e in range(2)]
    torch.testing.assert_close(got, torch.tensor(want).double().reshape(2, n, d))


def test_the_base_is_that_of_the_paper_and_of_the_sinusoids():
    x, far = normal(1, 6), 100_000
    wanted = rotated(x[0].tolist(), far, base=10_000.0)
    assert rotate(x, torch.tensor([far]))[0].tolist() == pytest.approx(wanted, abs=1e-6)


def test_positions_count_from_0_and_may_differ_by_example():
    x = normal(2, 3, 4)
    assert torch.equal(rotate(x), rotate(x, torch.arange(3)))
    at = torch.tensor([[0, 1, 2], [5, 6, 7]])
    assert torch.equal(rotate(x, at)[1], rotate(x[1], at[1]))
    heads = rotate(x[:, None].expand(2, 4, 3, 4), at[:, None])
    assert torch.equal(heads[:, 2], rotate(x, at))


@pytest.mark.parametrize("shape", [(3,), (2, 1, 3), (1, 4, 3), (1, 1, 3), (2, 4, 3)])
def test_positions_broadcast_axis_by_axis(shape):
    x, at = normal(2, 4, 3, 6), torch.arange(math.prod(shape)).reshape(shape)
    each = at.expand(2, 4, 3)
    want = [[rotate(x[e, h], each[e, h]) for h in range(4)] for e in range(2)]
    torch.testing.assert_close(rotate(x, at), torch.stack([torch.stack(row) for row in want]))


@pytest.mark.parametrize(
    "shape", [(2, 3), (1, 3), (1, 1, 1, 3), (2, 1, 1), (3, 1, 3), (2, 3, 1), ()]
)
def test_positions_that_might_belong_to_other_axes_are_refused(shape):
    message = "positions must have shape (3,) or broadcast to (2, 2, 3) with all axes, "
    message += f"as (2, 1, 3) does, got {shape}"
    with pytest.raises(ValueError, match=re.escape(message)):
        rotate(normal(2, 2, 3, 4), torch.zeros(shape, dtype=torch.long))


def test_positions_do_not_add_axes_or_examples():
    with pytest.raises(ValueError, match=re.escape("must have shape (3,), got (1, 3)")):
        rotate(normal(3, 4), torch.zeros((1, 3), dtype=torch.long))
    message = (
        "must have shape (3,) or broadcast to (1, 3) with all axes, as (1, 3) does, got (2, 3)"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        rotate(normal(1, 3, 4), torch.zeros((2, 3), dtype=torch.long))


@given(shift=st.integers(-50, 50))
def test_scores_of_rotated_vectors_depend_on_the_distance_alone(shift):
    q, k = normal(4, 6), normal(4, 6, seed=1)
    at = torch.arange(4)
    want = rotate(q) @ rotate(k).T
    torch.testing.assert_close(rotate(q, at + shift) @ rotate(k, at + shift).T, want)
    torch.testing.assert_close(rotate(rotate(q, at), -at), q)
    torch.testing.assert_close(rotate(q, at + shift).norm(dim=-1), q.norm(dim=-1))


@pytest.mark.parametrize("dtype", DTYPES)
def test_half_precision_keeps_its_type_and_knows_far_positions(dtype):
    x, at = normal(3, 4), torch.tensor([1000, 1001, 4097])
    got = rotate(x.to(dtype), at)
    assert got.dtype == dtype
    want = rotate(x.to(dtype).double(), at)
    slack = max(TOLERANCE[dtype], 1e-9) * 4 + (3e-4 if dtype == torch.float32 else 0)
    torch.testing.assert_close(got.double(), want, atol=slack, rtol=slack)


def test_the_gradient_of_a_rotation_is_checked_and_turns_back():
    x = normal(3, 4).requires_grad_()
    assert torch.autograd.gradcheck(rotate, (x,))
    upstream = normal(3, 4, seed=2)
    rotate(x).backward(upstream)
    torch.testing.assert_close(x.grad, rotate(upstream, -torch.arange(3)))


def test_rotary_attention_with_a_cache_equals_attention_at_once():
    x = normal(1, 2, 5, 4)
    layer = Rotary()
    keep = torch.ones(5, 5, dtype=torch.bool).tril()
    at_once = layer(x, x, x, mask=keep)
    for need_weights in (True, False):
        step = layer(x[..., 4:, :], x, x, need_weights=need_weights)
        torch.testing.assert_close(step, at_once[..., 4:, :])


@pytest.mark.parametrize("layer", [Biased(RelativeBias(2, 3)), Rotary()], ids=["bias", "rotary"])
def test_layers_with_positions_withstand_padding_and_fully_masked_rows(layer):
    layer = layer.double()
    q, k, v = normal(2, 2, 3, 4), normal(2, 2, 5, 4, seed=1), normal(2, 2, 5, 2, seed=2)
    lens = torch.tensor([0, 3])
    want = layer(q, k, v, lens)
    assert not want[0].any()
    k[1, :, 3:], v[1, :, 3:] = math.nan, math.nan
    q.requires_grad_()
    got = layer(q, k, v, lens)
    torch.testing.assert_close(got, want)
    got.sum().backward()
    assert q.grad.isfinite().all()


# ---- tools


def test_a_relative_bias_can_be_copied_saved_and_loaded():
    layer = RelativeBias(2, 3)
    torch.nn.init.normal_(layer.bias)
    again = RelativeBias(2, 3)
    again.load_state_dict(layer.state_dict())
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer)), again):
        assert torch.equal(other(3, 4), layer(3, 4))


def test_vmap_over_vectors_and_positions_equals_a_loop():
    x, at = normal(3, 2, 4), torch.tensor([[0, 1], [4, 2], [9, 9]])
    got = vmap(rotate)(x, at)
    torch.testing.assert_close(
        got, torch.stack([rotate(*pair) for pair in zip(x, at, strict=True)])
    )


def test_compiled_and_exported_functions_equal_the_plain_ones():
    class Scores(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bias = RelativeBias(2, 3)

        def forward(self, x):
            n = x.shape[-2]
            bias = self.bias(n, n) + alibi_bias(alibi_slopes(2), n, n)
            return rotate(x) @ rotate(x).mT + bias

    layer = Scores()
    torch.nn.init.normal_(layer.bias.bias)
    compiled = torch.compile(layer, backend="eager", fullgraph=True, dynamic=True)
    size = torch.export.Dim("n", min=2, max=64)
    shapes = {"x": {1: size}}
    exported = torch.export.export(layer, (torch.randn(2, 5, 4),), dynamic_shapes=shapes).module()
    for n in (5, 7):
        x = torch.randn(2, n, 4)
        torch.testing.assert_close(compiled(x), layer(x))
        torch.testing.assert_close(exported(x), layer(x))


# ---- wrong input


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: sinusoidal_positions(3, 5), ValueError, "must be even, as features go in pairs, "
            "got 5; 4 or 6 would fit"),
        (lambda: rotate(torch.ones(2, 3)), ValueError, "dimension must be even, as features go in "
            "pairs, got 3; 2 or 4 would fit"),
        (lambda: rotate(torch.ones(2, 4).long()), TypeError,
            "x must be floating point, got torch.int64"),
        (lambda: rotate(torch.ones(2, 4), torch.arange(3)), ValueError,
            "positions must have shape (2,), got (3,)"),
        (lambda: rotate(torch.ones(2, 4), torch.tensor(1)), ValueError,
            "positions must have shape (2,), got ()"),
        (lambda: relative_positions(4, 3), ValueError, "n must lie in 0..m = 3, got 4"),
        (lambda: relative_positions(-1, 3), ValueError, "n must lie in 0..m = 3, got -1"),
        (lambda: RelativeBias(0, 3), ValueError, "num_heads must be at least 1, got 0"),
        (lambda: RelativeBias(2, 0), ValueError, "max_distance must be at least 1, got 0"),
        (lambda: RelativeBias(2, 3)(5, 4), ValueError, "n must lie in 0..m = 4, got 5"),
        (lambda: alibi_slopes(0), ValueError, "num_heads must be at least 1, got 0"),
        (lambda: alibi_bias(torch.ones(2, 1), 3, 3), ValueError,
            "slopes must have shape (heads,), got (2, 1)"),
        (lambda: alibi_bias(torch.ones(2), 4, 3), ValueError, "n must lie in 0..m = 3, got 4"),
    ],
)  # fmt: skip
def test_wrong_input_is_refused_with_what_would_fit(call, error, message):
    with pytest.raises(error, match=re.escape(message)):
        call()
