"""LiveBytes counts what the tensors hold that are made inside it."""

import torch

from d2l_attention.memory import LiveBytes


def test_bytes_of_before_are_not_counted():
    x = torch.ones(1000)
    with LiveBytes() as live:
        x.mul_(2)
        torch.add(x, 1, out=x)
        x[10:]
    assert (live.now, live.peak, live.log) == (0, 0, [])
    del x
    assert live.now == 0


def test_a_gradient_that_is_only_read_is_not_counted():
    x = torch.ones(1000, requires_grad=True)
    with LiveBytes() as live:
        x.sum().backward()
        assert x.grad is x.grad is not None
    assert [name for name, _, _ in live.log] == ["sum"]


def test_views_of_one_new_tensor_are_counted_once():
    with LiveBytes() as live:
        halves = torch.ones(6, dtype=torch.float64).split(3)
        assert len(halves) == 2
        both = torch.ones(5).aminmax()
        assert both.min == both.max == 1
    assert live.log[:3] == [("ones", 48, 48), ("ones", 20, 68), ("aminmax", 8, 76)]
