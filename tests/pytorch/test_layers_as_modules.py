"""What a user of PyTorch expects of layers, of machines that are threads, and of checks."""

import copy
import pickle
import time

import numpy as np
import pytest
import torch
from torch import func

from d2l_attention import torch as ours
from d2l_attention.network import on_machines
from d2l_attention.practice import Exercise, check
from tests.contract.comparing import refuses
from tests.contract.samples import LAYERS, D, array_of, arrays_of
from tests.contract.test_practice import SHARES, row_shares, shares, stub, two_inputs

every_layer = pytest.mark.parametrize("name", LAYERS)
LAZY = {
    "additive": lambda: ours.AdditiveAttention(5),
    "bilinear": lambda: ours.BilinearAttention(key_size=D),
    "heads": lambda: ours.MultiHeadAttention(6, 3, bias=True),
}


@pytest.mark.parametrize("make", LAZY.values(), ids=LAZY)
def test_parameters_train_wherever_the_first_call_makes_them(make):
    for place in (torch.inference_mode, torch.no_grad):
        layer, x = make(), array_of(2, 3, D)
        with place():
            layer(x, x, x)
        layer(x, x, x).square().sum().backward()
        assert all(parameter.grad.any() for parameter in layer.parameters() if parameter.dim() > 1)
        assert type(layer.W_q) is torch.nn.Linear


@pytest.mark.parametrize("make", LAZY.values(), ids=LAZY)
@pytest.mark.filterwarnings("ignore:.*jit.script:DeprecationWarning")  # PyTorch's own import
def test_a_layer_stays_lazy_inside_a_transform_and_is_copied_and_loaded_before_a_call(make):
    layer, made, x = make(), make(), array_of(2, 3, D)
    message = "the first call makes the parameters: make it before, or give the sizes"
    refuses(func.grad(lambda x: layer(x, x, x).sum()), RuntimeError, message, x)
    refuses(func.vmap(lambda x: layer(x, x, x)), RuntimeError, message, x[None])
    want = made(x, x, x)
    assert torch.equal(func.functional_call(layer, made.state_dict(), (x, x, x)), want)
    for other in (copy.deepcopy(layer), layer):
        other.load_state_dict(made.state_dict())
        assert torch.equal(other(x, x, x), want)
        assert type(other.W_q) is torch.nn.Linear


@every_layer
def test_types_that_do_not_agree_are_refused_unless_autocast_is_on(name):
    layer, (queries, keys, values) = LAYERS[name].make(), arrays_of()
    message = "queries, keys must have one type, got float32 and float16"
    refuses(layer, TypeError, message, queries, keys.half(), values)
    if hasattr(layer, "W_q"):
        refuses(layer, TypeError, "type of W_q, torch.float32, got", *arrays_of(dtype="float64"))
    refuses(layer, TypeError, "keys must be a tensor, got list", queries, keys.tolist(), values)
    for ragged in (torch.nested.nested_tensor([*keys], layout=torch.jagged), keys.to_sparse()):
        refuses(layer, TypeError, "values must be dense (padded, ", queries, keys, ragged)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        got = layer(queries, keys.bfloat16(), values, [0, 3])
    torch.testing.assert_close(got.float(), layer(*arrays_of(), [0, 3]), atol=3e-2, rtol=3e-2)


def test_a_cache_follows_the_type_of_new_keys_and_is_true_though_it_is_empty():
    cache, layer = ours.KeyValueCache(), LAYERS["heads"].make()
    assert cache
    layer(*arrays_of(), cache=cache)
    layer.bfloat16()(*arrays_of(dtype="bfloat16"), cache=cache, causal=True)
    assert cache.keys.dtype == cache.values.dtype == torch.bfloat16


def test_the_temperature_that_was_learned_is_in_the_state_and_may_be_fixed():
    layer, other = ours.CosineAttention(temperature=0.5), ours.CosineAttention(learnable=False)
    layer.log_ratio.data.fill_(0.25)
    other.load_state_dict(layer.state_dict())
    assert (other.temperature, other.log_ratio.requires_grad) == (layer.temperature, False)


@every_layer
def test_kept_weights_have_no_graph_are_not_copied_and_none_unless_asked_for(name):
    layer, (queries, keys, values) = LAYERS[name].make(), arrays_of()
    assert layer.attention_weights is None
    func.vmap(lambda q: layer(q, keys, values))(torch.stack([queries, queries]))
    layer(queries.requires_grad_(), keys, values).sum().backward()
    assert not layer.attention_weights.requires_grad
    lens = [torch.tensor(4), 2]  # a list may hold tensors
    assert torch.equal(layer(queries, keys, values, lens), layer(queries, keys, values, [4, 2]))
    for twin in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert twin.attention_weights is None
        assert torch.equal(twin(queries, keys, values), layer(queries, keys, values))
    layer(queries, keys, values, need_weights=False)
    assert layer.attention_weights is None


@every_layer
@pytest.mark.parametrize("lens", [None, [2, 0], [[1, 2, 0], [3, 4, 4]]])
def test_lengths_and_masks_follow_the_tensors_to_their_device(name, lens):
    layer, given = LAYERS[name].make().to("meta"), [x.to("meta") for x in arrays_of()]
    options = {"causal": True} if name == "heads" else {}  # meta: a device that all machines have
    for need_weights in (True, False):
        options |= {"mask": torch.ones(3, 4).bool(), "need_weights": need_weights}
        assert layer(*given, lens, **options).device.type == "meta"


def test_an_error_of_one_machine_comes_out_at_once():
    def program(rank, net):
        if rank == 2:
            raise ValueError("machine 2 is out of order")
        net.recv([torch.empty(1)], (rank - 1) % 4, 0).wait()

    begun = time.monotonic()
    refuses(on_machines, ValueError, "machine 2 is out of order", 4, program, seconds=60)
    assert time.monotonic() < begun + 30  # sooner than the others would give up


def written_over(x):
    x /= x.sum(-1, keepdim=True)
    return x


def test_answers_that_only_tensors_can_give():
    view = Exercise("0.10", row_shares, two_inputs, most_elements=lambda x: x.size)
    for exercise, answer, says in (
        (SHARES, written_over, "argument changed in place: The values are right"),
        (SHARES, lambda x: written_over(x) * 2, "It also writes into its argument"),
        (SHARES, lambda x: x.to("meta"), "no array of real numbers, but a Tensor"),
        (SHARES, lambda x: np.ndarray.dot(x, stub(x)), "not attempted"),
        (SHARES, lambda x: torch.utils.data.Dataset()[0], "error"),
        (SHARES, lambda x: shares(x.requires_grad_()), "passed"),
        (SHARES, lambda x: shares(x.double()), "passed"),
        (view, lambda x: shares(x[:, None].expand(-1, 9, -1)[:, 0]), "passed"),
    ):
        result = check(exercise, answer)
        assert says in f"{result.status} {result.mistake}: {result.message}"
