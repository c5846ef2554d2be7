"""MXNet, as `tests/contract/framework.py` asks for it, which imports this file."""

from types import SimpleNamespace

import mxnet as mx
from mxnet import autograd, np

from tests.contract.framework import ours

DTYPES = ("float32", "float64")  # it multiplies no others
MASKS_TAKEN, NO_MASK = (), "; there are no masks here"
additive_scores, devices = ours.additive_scores, ours.try_gpu  # missing, as vmap is
xp = SimpleNamespace(**vars(np), vmap=ours.vmap, swapped=lambda x: x.swapaxes(-1, -2))
cast, constant = np.ndarray.astype, np.ndarray.detach


def make(kind: str, *sizes, dtype: str = "float32", query_size=0, key_size=0, **options):
    mx.random.seed(0)
    layer = getattr(ours, kind)(*sizes, **options)
    layer.initialize(mx.init.Normal(0.5))  # its own is so small that tanh is straight
    if query_size:  # the first call says it
        queries, keys = (np.ones((1, 1, size)) for size in (query_size, key_size))
        layer(queries, keys, keys)
    layer.cast(dtype)
    return layer


def call(layer, *inputs, need_weights: bool, mask=None, **options):
    for missing in [ours.mask] * (mask is not None) + [ours.heads] * (inputs[0].ndim != 3):
        missing()
    return layer(*inputs, **options), layer.attention_weights if need_weights else None


def in_training(layer):
    layer.register_forward_pre_hook(lambda *_: autograd.set_training(True))
    layer.register_forward_hook(lambda *_: autograd.set_training(False))
    return layer


def parameters(layer) -> dict:
    named = layer._collect_params_with_prefix().items()  # by the names that the layer gives them
    return {name.removesuffix(".weight"): value.data() for name, value in named}


def slopes(layer, arrays, *lens, **_):
    for x in arrays:
        x.attach_grad()
    with autograd.record(train_mode=False):
        squares = (layer(*arrays, *lens) ** 2).sum()
    squares.backward()
    return [x.grad for x in (*arrays, *parameters(layer).values())]
