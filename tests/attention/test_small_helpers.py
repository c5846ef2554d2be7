"""The small helpers of the module."""

import math
from itertools import pairwise

import pytest
import torch
from cases import normal

from d2l_attention.torch import (
    all_finite,
    as_panels,
    zero_padding,
    fused_attention,
    fused_by_example,
    lengths_to_cut,
    show_heatmaps,
    try_gpu,
)


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


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_one_bad_number_is_found_in_any_of_the_tensors(bad):
    good, spoilt = normal(2, 3), normal(2, 3)
    spoilt[1, 2] = bad
    assert all_finite(good, good.requires_grad_())
    assert not all_finite(good, spoilt)
    assert not all_finite(spoilt, good)
    assert not all_finite(good.detach().to("meta"))


def test_huge_numbers_do_not_hide_each_other():
    assert not all_finite(torch.tensor([3e38, -3e38]))


CUT = {
    "long examples": ((2, 256, 3), (2, 256, 3), [7, 0], None, [7, 0]),
    "many keys": ((2, 1, 3), (2, 2**16, 3), [7, 0], None, [7, 0]),
    "heads": ((2, 300, 256, 3), (2, 300, 256, 3), [7, 0], None, [7, 0]),
    "short examples": ((2, 255, 3), (2, 257, 3), [7, 0], None, []),
    "many short examples": ((2**16, 2, 1), (2**16, 2, 1), [2] * 2**16, None, []),
    "many short heads": ((2, 2**16, 1, 1), (2, 2**16, 1, 1), [1, 0], None, []),
    "lengths per query": ((1, 256, 3), (1, 256, 3), [[7] * 256], None, []),
    "a mask": ((2, 256, 3), (2, 256, 3), [7, 0], torch.ones(256).bool(), []),
    "no lengths": ((2, 256, 3), (2, 256, 3), None, None, []),
    "nothing but padding": ((2, 256, 3), (2, 256, 3), [0, 0], None, []),
}


@pytest.mark.parametrize(("queries", "keys", "lens", "mask", "want"), CUT.values(), ids=CUT)
def test_long_examples_with_one_length_each_are_cut(queries, keys, lens, mask, want):
    assert lengths_to_cut(torch.empty(queries), torch.empty(keys), lens, mask) == want


def test_examples_on_another_device_are_not_cut():
    assert lengths_to_cut(*[torch.empty(2, 256, 3, device="meta")] * 2, [7, 0], None) == []


def test_the_fused_functions_drop_nothing_by_themselves():
    tensors = [normal(2, 3, 4, seed=i) for i in range(3)]
    want = torch.nn.functional.scaled_dot_product_attention(*tensors)
    torch.testing.assert_close(fused_attention(*tensors), want)
    torch.testing.assert_close(fused_by_example(*tensors, [3, 3]), want)


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
