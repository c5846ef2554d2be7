"""LiveBytes counts what is made; chapter 16's outputs compare all else that it counts."""

import torch

from d2l_attention.memory import LiveBytes


def test_a_gradient_that_is_only_read_is_not_counted():
    x = torch.ones(1000, requires_grad=True)
    with LiveBytes() as live:
        x.sum().backward()
        assert x.grad is x.grad is not None
    assert [name for name, _, _ in live.log] == ["sum"]
