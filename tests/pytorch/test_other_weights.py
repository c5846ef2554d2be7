"""sink_softmax, sparsemax and linear_attention against plain loops and their promises."""

import math

import oracle
import pytest
import torch
from cases import DTYPES, LAYOUTS, TOLERANCE, batch, laid_out, lengths, masks, nested, normal
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradcheck, gradgradcheck
from torch.fx.experimental.proxy_tensor import make_fx

from d2l_attention.torch import (
    LiveBytes,
    elu_features,
    linear_attention,
    masked_softmax,
    sink_softmax,
    sparsemax,
)

MAPS = {"sink": sink_softmax, "sparse": sparsemax}
each_map = pytest.mark.parametrize("weights_of", MAPS.values(), ids=MAPS.keys())


def sink_of(scores):
    top = max([0.0, *scores])
    total = math.exp(-top) + sum(math.exp(s - top) for s in scores)
    return [math.exp(s - top) / total for s in scores]


def sparse_of(scores):
    """The projection on the simplex: the threshold by bisection, in Python's floats."""
    low, high = max(scores) - 1, max(scores)
    for _ in range(100):
        middle = (low + high) / 2
        above = sum(max(s - middle, 0) for s in scores) > 1
        low, high = (middle, high) if above else (low, middle)
    return [max(s - low, 0.0) for s in scores]


ROWS = {sink_softmax: sink_of, sparsemax: sparse_of}


def expected(weights_of, X, lens=None, mask=None):
    """Return the weights by a loop over the rows, in double precision."""
    want = torch.zeros(X.shape, dtype=torch.float64)
    shape = () if mask is None else mask.shape
    for index in torch.cartesian_prod(*(torch.arange(size) for size in X.shape[:-1])).tolist():
        keys = [
            j
            for j in range(X.shape[-1])
            if oracle.allowed(tuple(index), j, nested(lens), nested(mask), shape)
        ]
        if keys:
            row = ROWS[weights_of]([X[(*index, j)].item() for j in keys])
            for j, weight in zip(keys, row, strict=True):
                want[(*index, j)] = weight
    return want


@each_map
@given(data=st.data(), heads=st.sampled_from([(), (2,)]), dtype=st.sampled_from(DTYPES))
def test_weights_equal_the_loop_over_rows(weights_of, data, heads, dtype):
    shape = (2, *heads, 3, data.draw(st.integers(1, 5)))
    X = laid_out(2 * normal(*shape, dtype=dtype), data.draw(LAYOUTS))
    before = X.clone()
    lens = data.draw(lengths(2, 3, shape[-1]))
    mask = data.draw(masks(shape))
    weights = weights_of(X, lens, mask)
    assert (weights.dtype, weights.shape) == (dtype, X.shape)
    assert torch.equal(X, before)
    want = expected(weights_of, X, lens, mask)
    torch.testing.assert_close(weights.double(), want, atol=TOLERANCE[dtype], rtol=0)


@each_map
@pytest.mark.parametrize("shape", [(0, 2, 3), (2, 0, 3), (2, 3, 0), (2, 2, 3, 0)])
def test_empty_scores_give_empty_weights(weights_of, shape):
    X = torch.zeros(shape, requires_grad=True)
    weights = weights_of(X)
    assert weights.shape == shape
    weights.sum().backward()
    assert X.grad.shape == shape


@each_map
@pytest.mark.parametrize("arguments", [{"valid_lens": [0, 3]}, {"valid_lens": [[0, 2], [3, 1]]}])
def test_a_fully_masked_row_is_zero_and_has_gradient_zero(weights_of, arguments):
    X = normal(2, 2, 3).requires_grad_()
    weights = weights_of(X, **arguments)
    (weights * normal(2, 2, 3, seed=1)).sum().backward()
    assert weights[0, 0].tolist() == [0, 0, 0]
    assert X.grad[0, 0].tolist() == [0, 0, 0]
    assert X.grad.isfinite().all()
    assert X.grad[1, 0].abs().sum() > 0


@each_map
def test_masked_scores_do_not_matter(weights_of):
    X = normal(2, 3, 4)
    want = weights_of(X, [2, 3])
    for rest in (torch.nan, torch.inf, -torch.inf, 1e30):
        spoiled = X.clone()
        spoiled[0, :, 2:] = spoiled[1, :, 3:] = rest
        spoiled.requires_grad_()
        weights = weights_of(spoiled, [2, 3])
        assert torch.equal(weights, want)
        (weights**2).sum().backward()
        assert spoiled.grad.isfinite().all()
        assert spoiled.grad[0, :, 2:].abs().max() == 0


@each_map
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [1e4, -1e4])
def test_large_scores_do_no_harm(weights_of, dtype, size):
    X = torch.tensor([[[1.0, 1.0, 0.5]]], dtype=dtype) * size
    weights = weights_of(X)
    torch.testing.assert_close(weights.double(), expected(weights_of, X), atol=1e-2, rtol=0)


@each_map
@pytest.mark.parametrize("half", [torch.bfloat16, torch.float16])
def test_autocast_changes_neither_dtype_nor_weights(weights_of, half):
    X = normal(2, 3, 4, dtype=torch.float32)
    want = weights_of(X, [2, 4])
    with torch.autocast("cpu", dtype=half):
        for scores in (X, X.to(half)):
            weights = weights_of(scores, [2, 4])
            assert weights.dtype == scores.dtype
            torch.testing.assert_close(weights.float(), want, atol=1e-2, rtol=0)


@each_map
@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
@pytest.mark.parametrize("lens", [None, [2, 4], [0, 3]])
def test_gradients_are_those_of_the_weights(weights_of, lens):
    X = normal(2, 3, 4).requires_grad_()
    assert gradcheck(lambda X: weights_of(X, lens), (X,), check_forward_ad=True)
    assert gradgradcheck(lambda X: weights_of(X, lens), (X,))


@each_map
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"X": torch.ones(2, 3, 4).long()}, TypeError, "X must be floating point, got torch.int64"),
        ({"X": torch.ones(3, 4)}, ValueError, r"X must have 3 axes or more, got \(3, 4\)"),
        ({"valid_lens": [5, 1]}, ValueError, r"valid_lens must lie in 0..4, got 1..5"),
        ({"valid_lens": [1, 1, 1]}, ValueError, r"valid_lens must have shape \(2,\) or \(2, 3\)"),
        ({"mask": torch.ones(2, 3, 4)}, TypeError, "mask must be boolean"),
        ({"mask": torch.ones(3, 3).bool()}, ValueError, "mask must broadcast to"),
    ],
)
def test_wrong_input_is_named(weights_of, arguments, error, message):
    with pytest.raises(error, match=message):
        weights_of(**{"X": torch.ones(2, 3, 4)} | arguments)


def record_by_export(function, X, lens):
    class Call(torch.nn.Module):
        def forward(self, X, lens):
            return function(X, lens)

    sizes = [torch.export.Dim(axis, min=2, max=64) for axis in "bnm"]
    shapes = dict(enumerate(sizes)), {0: sizes[0]}
    return torch.export.export(Call(), (X, lens), dynamic_shapes=shapes).module()


@each_map
def test_an_export_with_dynamic_sizes_is_right_for_other_sizes(weights_of):
    program = record_by_export(weights_of, normal(2, 3, 4), torch.tensor([4, 2]))
    for shape in ((2, 3, 4), (3, 5, 7)):
        X, lens = normal(*shape), torch.arange(shape[0])
        torch.testing.assert_close(program(X, lens), weights_of(X, lens))


@each_map
@pytest.mark.parametrize("record", [make_fx, None])
def test_recorded_calls_are_right_for_other_lengths(weights_of, record):
    X, lens = normal(2, 3, 4), torch.tensor([4, 2])
    if record:
        recorded = record(lambda X, lens: weights_of(X, lens))(X, lens)
    else:
        recorded = torch.compile(weights_of, dynamic=True, fullgraph=True, backend="eager")
    for other in ([4, 2], [4, 0], [1, 3]):
        other = torch.tensor(other)
        torch.testing.assert_close(recorded(X, other), weights_of(X, other))


@each_map
def test_vmap_over_the_scores_is_a_loop(weights_of):
    X = normal(5, 2, 3, 4)
    want = torch.stack([weights_of(x, [1, 4]) for x in X])
    torch.testing.assert_close(torch.func.vmap(lambda x: weights_of(x, [1, 4]))(X), want)


def test_the_sink_is_one_more_key_with_score_zero():
    X = 3 * normal(2, 3, 4)
    with_zero = torch.cat([X, torch.zeros(2, 3, 1).double()], dim=-1)
    torch.testing.assert_close(sink_softmax(X), with_zero.softmax(-1)[..., :-1])


def test_the_level_of_the_scores_decides_what_the_sink_takes():
    X = normal(2, 3, 4)
    torch.testing.assert_close(sink_softmax(X + 50), masked_softmax(X))
    assert sink_softmax(X - 50).max() < 1e-20


def test_sparse_rows_sum_to_one_and_ignore_a_shift():
    X = 2 * normal(3, 4, 9)
    weights = sparsemax(X)
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, 4).double())
    torch.testing.assert_close(sparsemax(X + 1000), weights)
    assert (weights == 0).any(-1).all()


def test_sparsemax_leaves_weights_as_they_are():
    weights = normal(2, 3, 4).softmax(-1)
    torch.testing.assert_close(sparsemax(weights), weights)


def test_a_lead_of_one_or_more_takes_all_of_sparsemax():
    X = torch.tensor([[[3.0, 1.5, -torch.inf]]], requires_grad=True)
    weights = sparsemax(X)
    weights[0, 0, 0].backward()
    assert weights.tolist() == [[[1.0, 0.0, 0.0]]]
    assert X.grad.tolist() == [[[0.0, 0.0, 0.0]]]


def test_sparsemax_of_many_half_precision_scores_sums_to_one():
    X = (100 + normal(1, 2, 4096)).half()
    assert sparsemax(X).double().sum(-1).sub(1).abs().max() < 0.01


# ---- linear attention


def elu_plus_one(x):
    return [math.exp(e) if e < 0 else e + 1 for e in x]


def linear_by_loops(queries, keys, values, lens=None, causal=False, phi=elu_plus_one):
    outputs = torch.zeros(*queries.shape[:-1], values.shape[-1], dtype=torch.float64)
    for e, (qs, ks, vs) in enumerate(
        zip(nested(queries), nested(keys), nested(values), strict=True)
    ):
        for i, q in enumerate(qs):
            seen = len(ks) if lens is None else lens[e]
            seen = min(seen, i + 1) if causal else seen
            similar = [oracle.dot(phi(q), phi(k)) for k in ks[:seen]]
            for s, v in zip(similar, vs[:seen], strict=True):
                outputs[e, i] += s / sum(similar) * torch.tensor(v, dtype=torch.float64)
    return outputs


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("lens", [None, [2, 3], [0, 4]])
def test_linear_attention_equals_the_loop(dtype, causal, lens):
    tensors = batch(n=4, m=4, dtype=dtype)
    want = linear_by_loops(*tensors, lens, causal)
    output = linear_attention(*tensors, lens, causal)
    assert output.dtype == dtype
    torch.testing.assert_close(output.double(), want, atol=3 * TOLERANCE[dtype], rtol=0)


def test_linear_attention_takes_other_sizes_and_features():
    queries, keys, values = batch(n=5, m=2, v=3)
    want = linear_by_loops(queries, keys, values, phi=lambda x: [math.exp(e) for e in x])
    output = linear_attention(queries, keys, values, features=torch.exp)
    torch.testing.assert_close(output, want)


@pytest.mark.parametrize("causal", [False, True])
def test_heads_of_linear_attention_do_not_mix(causal):
    tensors = batch(n=4, heads=(3,))
    output = linear_attention(*tensors, [1, 4], causal)
    for head in range(3):
        one = linear_attention(*(t[:, head] for t in tensors), [1, 4], causal)
        torch.testing.assert_close(output[:, head], one)


@pytest.mark.parametrize("causal", [False, True])
def test_nan_in_the_padding_reaches_neither_output_nor_gradient(causal):
    queries, keys, values = batch(n=4, m=4)
    want = linear_attention(queries, keys, values, [2, 3], causal)
    for spoiled in (keys, values):
        spoiled[0, 2:] = spoiled[1, 3:] = torch.nan
    leaves = [t.requires_grad_() for t in (queries, keys, values)]
    output = linear_attention(*leaves, [2, 3], causal)
    torch.testing.assert_close(output, want)
    output.square().sum().backward()
    assert all(leaf.grad.isfinite().all() for leaf in leaves)


@pytest.mark.parametrize("causal", [False, True])
def test_gradients_of_linear_attention_are_right(causal):
    leaves = [t.requires_grad_() for t in batch(n=3, m=3)]
    assert gradcheck(lambda *t: linear_attention(*t, [0, 2], causal), leaves)


@pytest.mark.parametrize("sizes", [(0, 3, 3), (2, 0, 0), (2, 3, 0)])
def test_linear_attention_of_nothing_is_zero(sizes):
    b, n, m = sizes
    output = linear_attention(*batch(b, n, m), causal=n == m)
    assert output.shape == (b, n, 2)
    assert (output == 0).all()


def test_many_keys_in_half_precision_do_not_overflow():
    tensors = [torch.full((1, 70_000, 1), 2.0).half() for _ in range(2)]
    output = linear_attention(tensors[0][:, :1], *tensors)
    assert output.item() == 2


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_elu_features_are_positive_and_exact_for_every_negative_number(dtype):
    x = torch.tensor([-20.0, -100.0, -1e4, -torch.inf], dtype=dtype)
    y = elu_features(x)
    assert y.dtype == dtype
    assert (y * y * y > 0).all()
    x = torch.tensor([-25.0, -17.0, -1.0, -1e-6, 0.0, 0.5, 3.0])
    want = torch.tensor([1 + e if e > 0 else math.exp(e) for e in x.tolist()]).double()
    torch.testing.assert_close(elu_features(x).double(), want, rtol=3e-6, atol=0)


def test_gradients_of_elu_features_are_those_of_the_branch_that_is_taken():
    x = torch.tensor([-1e4, -2.0, 0.0, 2.0, 1e4], requires_grad=True)
    elu_features(x).sum().backward()
    torch.testing.assert_close(x.grad, torch.tensor([0.0, math.exp(-2), 1.0, 1.0, 1.0]))
    assert elu_features(torch.tensor(torch.nan)).isnan()


@pytest.mark.parametrize("size", [-20.0, -100.0, -1e4])
@pytest.mark.parametrize("of_keys", [False, True])
def test_a_query_with_valid_keys_gets_their_values_whatever_its_size(size, of_keys):
    query, values = torch.full((1, 1, 2), size), torch.tensor([[[0.1], [0.3], [7.0]]])
    keys = torch.full((1, 3, 2), size) if of_keys else torch.ones(1, 3, 2)
    assert linear_attention(query, keys, torch.ones(1, 3, 1)).item() == pytest.approx(1)
    output = linear_attention(query, keys, values, valid_lens=[2])
    assert output.item() == pytest.approx(0.2, rel=1e-5)


@pytest.mark.parametrize("n", [63, 64, 65, 130])
def test_chunks_of_causal_linear_attention_are_as_one(n):
    tensors = batch(n=n, m=n, heads=(2,))
    for lens in (None, [0, 65 if n > 65 else 3]):
        output = linear_attention(*tensors, lens, causal=True)
        for head in range(2):
            want = linear_by_loops(*(t[:, head] for t in tensors), lens, causal=True)
            torch.testing.assert_close(output[:, head], want)


def test_gradients_of_causal_linear_attention_pass_from_chunk_to_chunk():
    leaves = [t.requires_grad_() for t in batch(b=1, n=70, m=70)]
    gradients = torch.autograd.grad(linear_attention(*leaves, causal=True)[0, -1, 0], leaves)
    q, k = elu_features(leaves[0][0, -1]), elu_features(leaves[1][0])
    whole = torch.autograd.grad(q @ k.T @ leaves[2][0, :, 0] / (q @ k.T).sum(), leaves)
    torch.testing.assert_close(gradients, whole)


@pytest.mark.parametrize("causal", [False, True])
def test_linear_attention_holds_no_matrix_of_all_pairs(causal):
    x = normal(1, 2048, 64, dtype=torch.float32)
    with LiveBytes() as live:
        linear_attention(x, x, x, causal=causal)
    assert live.peak < 2048 * 2048  # a quarter of the matrix in float32


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"causal": True}, "causal: one query for each key, got 3 queries and 4 keys"),
        ({"valid_lens": [[1, 2, 3], [1, 2, 3]]}, r"valid_lens must have shape \(2,\)"),
        ({"valid_lens": [[1, 2], [1, 2]]}, r"valid_lens must have shape \(2,\)"),
        ({"valid_lens": [1, 5]}, "valid_lens must lie in 0..4"),
        ({"keys": torch.ones(2, 4, 5)}, "got queries of dimension 3 and keys of dimension 5"),
        ({"values": torch.ones(2, 3, 2)}, "one value for each key"),
    ],
)
def test_wrong_input_of_linear_attention_is_named(arguments, message):
    given = dict(zip(("queries", "keys", "values"), batch(dtype=torch.float32), strict=True))
    with pytest.raises(ValueError, match=message):
        linear_attention(**given | arguments)


@pytest.mark.parametrize("causal", [False, True])
def test_linear_attention_can_be_compiled_recorded_and_mapped(causal):
    def call(q, k, v, lens):
        return linear_attention(q, k, v, lens, causal)

    lens, tensors = torch.tensor([4, 2]), batch(n=4, m=4)
    recorded = make_fx(call)(*tensors, lens)
    compiled = torch.compile(call, dynamic=True, fullgraph=True, backend="eager")
    for other in ([4, 2], [4, 0]):
        other = torch.tensor(other)
        want = call(*tensors, other)
        torch.testing.assert_close(recorded(*tensors, other), want)
        torch.testing.assert_close(compiled(*tensors, other), want)
    stacked = [torch.stack([t, 2 * t]) for t in tensors]
    mapped = torch.func.vmap(call, in_dims=(0, 0, 0, None))(*stacked, lens)
    torch.testing.assert_close(mapped[1], call(*(2 * t for t in tensors), lens))
