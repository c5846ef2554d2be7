"""The small helpers of the module."""

from collections import deque
from itertools import pairwise

import numpy as np
import pytest
import torch
from cases import normal

import d2l_attention.torch as module
from d2l_attention.figures import as_panels
from d2l_attention.torch import (
    attention_without_padding,
    fused_attention,
    nadaraya_watson,
    show_heatmaps,
    triangular,
    try_gpu,
    zero_padding,
)


def test_public_names_are_documented_and_few():
    assert 20 <= len(module.__all__) <= 40
    for name in module.__all__:
        assert getattr(module, name).__doc__, name
    imported = {"torch", "Tensor", "nn", "F", "os", "Callable"}
    assert not imported & set(module.__all__)


def test_the_device_can_be_forced(monkeypatch):
    monkeypatch.setenv("D2L_DEVICE", "meta")
    assert try_gpu() == torch.device("meta")


@pytest.mark.parametrize(("i", "count", "want"), [(0, 0, "cpu"), (0, 1, "cuda:0"), (1, 1, "cpu")])
def test_a_gpu_is_taken_where_there_is_one(monkeypatch, i, count, want):
    monkeypatch.delenv("D2L_DEVICE", raising=False)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
    assert try_gpu(i) == torch.device(want)


def test_padding_is_cleared_only_where_no_query_looks():
    keep = torch.tensor([[[True, False, False], [False, False, True]]])
    tensor = normal(1, 3, 2)
    (cleared,) = zero_padding(keep, tensor)
    assert cleared[0, 1].tolist() == [0, 0]
    assert torch.equal(cleared[0, [0, 2]], tensor[0, [0, 2]])
    (same,) = zero_padding(None, tensor)
    assert same is tensor


def test_the_fused_functions_drop_nothing_by_themselves():
    tensors = [normal(2, 3, 4, seed=i) for i in range(3)]
    want = torch.nn.functional.scaled_dot_product_attention(*tensors)
    torch.testing.assert_close(fused_attention(*tensors), want)
    torch.testing.assert_close(attention_without_padding(*tensors, [3, 3]), want)


@pytest.mark.parametrize("heads", [(), (2,)])
def test_attention_without_padding_equals_attention_with_a_mask(heads):
    tensors = [normal(3, *heads, size, 4, seed=size) for size in (6, 5, 5)]
    lens = [5, 2, 0]
    keep = torch.arange(5) < torch.tensor(lens).reshape(3, *(1 for _ in heads), 1, 1)
    want = fused_attention(*tensors, keep)
    torch.testing.assert_close(attention_without_padding(*tensors, lens), want)


SEQUENCES = [(5, 4, 3), range(5, 2, -1), deque([5, 4, 3]), [np.int64(5), 4, 3]]


@pytest.mark.parametrize("lens", SEQUENCES, ids=repr)
def test_lengths_to_cut_at_are_any_sequence_of_integers(lens):
    tensors = [normal(3, size, 4, seed=size) for size in (6, 5, 5)]
    want = fused_attention(*tensors, torch.arange(5) < torch.tensor([[[5]], [[4]], [[3]]]))
    torch.testing.assert_close(attention_without_padding(*tensors, lens), want)


NO_INTEGERS = [
    torch.tensor([1, 2]), np.array([1, 2]), [torch.tensor(1), 2], (1.0, 2), [True, 2], "12", 3, None
]  # fmt: skip


@pytest.mark.parametrize("lens", NO_INTEGERS, ids=repr)
def test_lengths_to_cut_at_that_are_no_integers_are_named_in_one_line(lens):
    with pytest.raises(TypeError, match="lens must be a sequence of integers, got ") as caught:
        attention_without_padding(*[normal(2, 3, 4)] * 3, lens)
    assert repr(lens) in str(caught.value)


def test_a_long_wrong_sequence_is_quoted_in_part():
    with pytest.raises(TypeError) as caught:
        attention_without_padding(*[normal(2, 3, 4)] * 3, [1.0] * 1000)
    assert len(str(caught.value)) < 120


@pytest.mark.parametrize(
    ("lens", "error", "message"),
    [
        ([1], ValueError, "lens must be 2 lengths in 0..3, got"),
        ([1, 4], ValueError, "lens must be 2 lengths in 0..3, got"),
        ([-1, 3], ValueError, "lens must be 2 lengths in 0..3, got"),
    ],
)
def test_lengths_to_cut_at_are_as_many_as_examples_and_fit_the_keys(lens, error, message):
    with pytest.raises(error, match=message):
        attention_without_padding(*[normal(2, 3, 4)] * 3, lens)


def test_integers_are_compared_like_other_numbers():
    keys, values, queries = (torch.tensor(x) for x in ([0, 1, 4], [10, 20, 30], [1, 3]))
    got, weights = nadaraya_watson(keys, values, queries, triangular)
    want, _ = nadaraya_watson(keys.float(), values.float(), queries.float(), triangular)
    assert weights.dtype == torch.float32
    torch.testing.assert_close(got, want, equal_nan=True)


@pytest.mark.parametrize("shape", [(2, 3), (4, 2, 3), (5, 4, 2, 3)])
def test_matrices_become_rows_and_columns_of_panels(shape):
    assert as_panels(torch.zeros(shape)).shape == (1, 1, 2, 3)[: 4 - len(shape)] + shape


@pytest.mark.parametrize("shape", [(3,), (1, 1, 1, 2, 3)])
def test_matrices_of_other_axes_are_refused(shape):
    with pytest.raises(ValueError, match="matrices must have shape"):
        as_panels(torch.zeros(shape))


def test_heat_maps_put_queries_down_and_keys_across_on_one_scale():
    import matplotlib

    matplotlib.use("agg")
    weights = torch.tensor([[[0.0, 0.5, 1.0], [0.25, 0.75, 0.1]]]).requires_grad_()
    figure = show_heatmaps(weights, "keys", "queries", titles=["t"], xticks="abc", yticks="de")
    panel, colour_bar = figure.axes
    image = panel.collections[0]
    assert panel.get_title() == "t"
    assert panel.get_xlim() == (-0.5, 2.5)
    assert panel.get_ylim() == (1.5, -0.5)
    assert [label.get_text() for label in panel.get_xticklabels()] == list("abc")
    assert [label.get_text() for label in panel.get_yticklabels()] == list("de")
    assert image.get_clim() == (0, 1)
    assert (
        image.get_array().reshape(2, 3).tolist() == weights[0].double().round(decimals=6).tolist()
    )
    assert (figure.get_supxlabel(), figure.get_supylabel()) == ("keys", "queries")
    assert colour_bar.get_ylim() == (0, 1)


def test_heat_maps_hatch_exact_zeros_of_masked_weights():
    weights = torch.tensor([[0.0, 0.5, 1e-9], [0.25, 0.75, 0.0]])
    (plain,) = show_heatmaps(weights, "keys", "queries").axes[0].patches or [None]
    (hatched,) = show_heatmaps(weights, "keys", "queries", masked=True).axes[0].patches
    assert plain is None
    assert hatched.get_hatch()
    corners = hatched.get_path().vertices.reshape(-1, 5, 2)[:, 0].tolist()
    assert corners == [[-0.5, -0.5], [1.5, 0.5]]  # x and y; tiny weights are not masked


def test_titles_that_do_not_fit_the_panels_are_refused():
    with pytest.raises(ValueError, match="titles must have length 2, got 1"):
        show_heatmaps(torch.zeros(1, 2, 3, 3), "keys", "queries", titles=["one"])


def test_labels_of_many_keys_do_not_run_into_each_other():
    figure = show_heatmaps(torch.rand(5, 6, 40), "keys", "queries", figsize=(7.6, 2.2))
    figure.canvas.draw()
    for panel in figure.axes[:5]:
        names = [name for name in panel.get_xticklabels() if -0.5 <= name.get_position()[0] <= 39.5]
        assert len(names) >= 2
        assert all(name.get_text().isdecimal() for name in names)
        boxes = [name.get_window_extent() for name in names]
        assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_attention_without_padding_checks_sizes_first():
    message = "there must be one value for each key"
    with pytest.raises(ValueError, match=message):
        attention_without_padding(normal(2, 3, 4), normal(2, 5, 4), normal(2, 6, 4), [1, 2])


def test_attention_without_padding_drops_weights_when_asked():
    tensors = normal(64, 1, 4), normal(64, 2, 4), torch.ones(64, 2, 1).double()
    output = attention_without_padding(*tensors, [2] * 64, dropout=0.5)
    assert (output == 0).any()  # both weights of an example dropped
    assert (output > 1.01).any()
    kept = attention_without_padding(*tensors, [2] * 64)
    torch.testing.assert_close(kept, torch.ones(64, 1, 1).double())
