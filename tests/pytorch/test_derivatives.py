"""First, second and forward derivatives, also where nothing is recorded."""

import pytest
import torch
from torch.autograd import forward_ad, gradcheck, gradgradcheck

from d2l_attention.torch import CosineAttention, additive_scores, masked_softmax, rotate
from tests.pytorch.cases import LAYERS, batch, layer_of, normal

ARGUMENTS = {
    "no mask": {},
    "lengths": {"valid_lens": torch.tensor([2, 4])},
    "an empty row": {"valid_lens": torch.tensor([[3, 0, 1], [4, 2, 4]])},
    "a mask": {"mask": torch.tensor([[True, False, True, True]] * 2 + [[False] * 4])},
}
# It comes with torch's own import.
no_script = pytest.mark.filterwarnings("ignore:.*jit.script:DeprecationWarning")


@no_script
@pytest.mark.parametrize("arguments", ARGUMENTS.values(), ids=ARGUMENTS)
def test_derivatives_of_weights_equal_finite_differences_in_every_mode(arguments):
    def weights(X):
        return masked_softmax(X, **arguments)

    X, direction = normal(2, 3, 4).requires_grad_(), normal(2, 3, 4, seed=1)
    assert gradcheck(weights, X, check_forward_ad=True)
    assert gradgradcheck(weights, X)
    with forward_ad.dual_level():  # it needs no backward derivatives
        dual = forward_ad.make_dual(X.detach(), direction)
        tangent = forward_ad.unpack_dual(weights(dual)).tangent
    _, want = torch.func.jvp(weights, (X.detach(),), (direction,))
    torch.testing.assert_close(tangent, want)


@pytest.mark.parametrize("arguments", ARGUMENTS.values(), ids=ARGUMENTS)
def test_weights_are_the_same_where_nothing_is_recorded(arguments):
    X = normal(2, 3, 4).requires_grad_()
    want = masked_softmax(X, **arguments)
    assert want.requires_grad
    with torch.no_grad():
        assert torch.equal(masked_softmax(X, **arguments), want)
    with torch.inference_mode():
        assert torch.equal(masked_softmax(X, **arguments), want)


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("lens", [[2, 4], [0, 3]])
def test_derivatives_of_layers_equal_finite_differences(name, lens):
    layer, tensors = layer_of(name), [t.requires_grad_() for t in batch()]
    for need_weights in (True, False):
        call = lambda *t, need=need_weights: layer(*t, lens, need_weights=need)  # noqa: E731
        assert gradcheck(call, tensors, fast_mode=True)
    assert gradgradcheck(lambda *t: layer(*t, lens), tensors, fast_mode=True)


def in_blocks(q, k, w):
    return additive_scores(q, k, lambda hidden: hidden @ w.unsqueeze(-1))


def test_derivatives_of_many_blocks_and_of_rotations_equal_finite_differences():
    q, k, w = (normal(*shape).requires_grad_() for shape in ((1, 9, 31), (1, 61, 31), (31,)))
    assert gradgradcheck(in_blocks, (q, k, w), fast_mode=True)
    assert gradcheck(rotate, normal(3, 4).requires_grad_())


@pytest.mark.parametrize("recorded", [0, 1, 2])
def test_one_recorded_tensor_is_enough_for_a_gradient(recorded):
    tensors = [normal(2, 40, 33), normal(2, 128, 33), normal(33)]
    tensors[recorded].requires_grad_()
    in_blocks(*tensors).sum().backward()
    assert tensors[recorded].grad.abs().sum() > 0


def test_a_zero_vector_has_a_second_derivative_by_its_cosine():
    x = torch.randn(1, 4, 3, dtype=torch.double)
    x[0, 3] = 0  # padding
    W = torch.eye(3, dtype=torch.double, requires_grad=True)
    output = CosineAttention()(x @ W, x @ W, x @ W, [3])[:, :3]
    (slope,) = torch.autograd.grad(output.square().sum(), W, create_graph=True)
    assert torch.autograd.grad(slope.square().sum(), W)[0].isfinite().all()
