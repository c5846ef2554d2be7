"""What the attention classes of the chapter on more scoring functions promise beside the rest."""

import math
import re

import pytest
import torch
from cases import D, batch, normal

from d2l_attention.torch import (
    Attention,
    BilinearAttention,
    CosineAttention,
    DistanceAttention,
    DotProductAttention,
    unit_vectors,
)


def shapes(layer):
    return {name: tuple(parameter.shape) for name, parameter in layer.named_parameters()}


def test_a_class_without_a_score_says_so():
    for need_weights in (True, False):
        with pytest.raises(NotImplementedError, match="Attention defines no features"):
            Attention()(*batch(), need_weights=need_weights)


def test_a_class_needs_a_score_and_nothing_else():
    class Nearest(Attention):
        def score(self, queries, keys):
            return -torch.cdist(queries, keys)

    layer = Nearest()
    queries, keys, values = batch()
    want = torch.softmax(-torch.cdist(queries, keys), -1) @ values
    for need_weights in (True, False):
        torch.testing.assert_close(layer(queries, keys, values, need_weights=need_weights), want)


@pytest.mark.parametrize("layer", [DotProductAttention(), DistanceAttention(), CosineAttention()])
def test_scores_that_compare_entries_want_queries_and_keys_of_one_dimension(layer):
    queries, _, values = batch()
    message = (
        "queries and keys must have equal dimensions, "
        "got queries of dimension 3 and keys of dimension 2"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        layer(queries, values, values)


def test_a_full_bilinear_form_compares_vectors_of_different_sizes():
    layer = BilinearAttention(query_size=3, key_size=2)
    assert shapes(layer) == {"W_q.weight": (2, 3)}
    layer.load_state_dict({"W_q.weight": torch.tensor([[1.0, 0, 2], [0, -1, 0]])})
    query, keys = torch.tensor([[[1.0, 2, 3]]]), torch.tensor([[[1.0, 0], [0, 1]]])
    layer(query, keys, keys)
    want = torch.softmax(torch.tensor([7.0, -2]) / math.sqrt(2), -1)
    torch.testing.assert_close(layer.attention_weights[0, 0], want)


def test_a_full_bilinear_form_takes_the_size_of_the_queries_from_the_first_call():
    layer = BilinearAttention(key_size=2)
    layer(torch.ones(1, 1, 5), torch.ones(1, 4, 2), torch.ones(1, 4, 2))
    assert shapes(layer) == {"W_q.weight": (2, 5)}


def test_a_bilinear_form_of_low_rank_has_two_matrices():
    assert shapes(BilinearAttention(4, query_size=3, key_size=2)) == {
        "W_q.weight": (4, 3),
        "W_k.weight": (4, 2),
    }


def test_a_bilinear_form_needs_a_rank_or_the_size_of_the_keys():
    for sizes in ({}, {"query_size": 3}):
        with pytest.raises(ValueError, match="give a rank, or key_size for a full matrix"):
            BilinearAttention(**sizes)


@pytest.mark.parametrize("rank", [None, 4])
def test_bilinear_attention_names_the_tensor_of_another_dimension(rank):
    layer = BilinearAttention(rank, query_size=3, key_size=2)
    queries, keys = torch.ones(1, 1, 3), torch.ones(1, 4, 2)
    layer(queries, keys, keys)
    message = "queries must have dimension 3, got (1, 4, 2)"
    with pytest.raises(ValueError, match=re.escape(message)):
        layer(keys, keys, keys)
    message = (
        "keys must have dimension 2" if rank else "queries of dimension 2 and keys of dimension 3"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        layer(queries, queries, queries)


@pytest.mark.parametrize("temperature", [0, -1, math.nan])
def test_a_temperature_is_positive(temperature):
    with pytest.raises(ValueError, match=f"temperature must be positive, got {temperature}"):
        CosineAttention(temperature=temperature)


def test_a_temperature_is_learned_where_it_may_be():
    layer = CosineAttention()
    assert layer.temperature.item() == pytest.approx(0.1)
    layer(*batch(dtype=torch.float32))[0, 0, 0].backward()
    assert layer.log_ratio.grad != 0
    fixed = CosineAttention(temperature=2, learnable=False)
    assert fixed.temperature.item() == pytest.approx(2)
    assert not fixed.log_ratio.requires_grad
    assert shapes(fixed) == {"log_ratio": ()}


def test_weight_decay_pulls_a_temperature_back_to_where_it_began():
    layer = CosineAttention(temperature=0.1)
    with torch.no_grad():
        layer.log_ratio.fill_(1.0)
    decay = torch.optim.SGD(layer.parameters(), lr=1.0, weight_decay=0.5)
    for _ in range(20):
        layer.log_ratio.grad = torch.zeros(())
        decay.step()
    assert layer.temperature.item() == pytest.approx(0.1, rel=1e-4)


def test_a_positive_log_ratio_raises_the_temperature():
    layer = CosineAttention(temperature=0.1)
    with torch.no_grad():
        layer.log_ratio.fill_(math.log(3))
    assert layer.temperature.item() == pytest.approx(0.3, rel=1e-6)


def test_unit_vectors_keep_the_direction_and_have_length_1_or_0():
    x = torch.tensor([[3.0, 4.0], [0, 0], [-0.5, 0]])
    want = torch.tensor([[0.6, 0.8], [0, 0], [-1, 0]])
    torch.testing.assert_close(unit_vectors(x), want)
    torch.testing.assert_close(unit_vectors(x[:, None]), want[:, None])


def test_the_gradient_at_a_zero_vector_is_finite():
    x = torch.tensor([[3.0, 4.0], [0, 0]], requires_grad=True)
    unit_vectors(x).sum().backward()
    torch.testing.assert_close(x.grad, torch.tensor([[0.032, -0.024], [1, 1]]))


def test_a_zero_vector_has_cosine_0_with_every_vector():
    layer = CosineAttention(temperature=0.5)
    queries, keys = normal(1, 2, D), normal(1, 3, D)
    queries[0, 0] = keys[0, 1] = 0
    layer(queries, keys, keys)
    weights = layer.attention_weights[0]
    torch.testing.assert_close(weights[0], torch.full((3,), 1 / 3).double())
    cosines = torch.cosine_similarity(queries[0, 1], keys[0], dim=-1)
    assert cosines[1] == 0
    torch.testing.assert_close(weights[1], torch.softmax(cosines / 0.5, -1))


in_half_precision = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])


@in_half_precision
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("lens", [None, [2], [1]])
def test_distances_of_long_vectors_do_not_overflow_in_half_precision(dtype, need_weights, lens):
    keys = torch.tensor([[[300.0, 0], [301, 0]]], dtype=dtype)  # in bfloat16, 301 rounds to 300
    query, values = torch.zeros(1, 1, 2, dtype=dtype), torch.eye(2, dtype=dtype)[None]
    output = DistanceAttention()(query, keys, values, lens, need_weights=need_weights)
    want = [0.5, 0.5] if dtype == torch.bfloat16 and lens != [1] else [1.0, 0.0]
    assert output.dtype == dtype
    assert output[0, 0].tolist() == want


@in_half_precision
@pytest.mark.parametrize("need_weights", [True, False])
def test_distances_in_half_precision_are_not_lost_between_large_products(dtype, need_weights):
    query, keys = (torch.tensor([x], dtype=dtype) for x in ([[64.0]], [[64.0], [64.5]]))
    values = torch.eye(2, dtype=dtype)[None]
    output = DistanceAttention()(query, keys, values, need_weights=need_weights)
    want = torch.softmax(torch.tensor([0, -0.125]), -1)
    torch.testing.assert_close(output[0, 0].float(), want, atol=torch.finfo(dtype).eps, rtol=0)
