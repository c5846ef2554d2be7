"""Layers under test and their inputs, in double precision; lazy layers are PyTorch's own."""

from functools import partial

import torch
from torch import Tensor, nn

from d2l_attention.torch import (
    AdditiveAttention,
    BilinearAttention,
    CosineAttention,
    DistanceAttention,
    DotProductAttention,
    MultiHeadAttention,
)
from tests.contract import samples

D = samples.D
LAYERS = {
    "dot": DotProductAttention,
    "additive": partial(AdditiveAttention, 5, query_size=D, key_size=D),
    "additive, lazy": partial(AdditiveAttention, 5),
    "distance": DistanceAttention,
    "bilinear": partial(BilinearAttention, query_size=D, key_size=D),
    "bilinear, lazy, rank 2": partial(BilinearAttention, 2),
    "cosine": partial(CosineAttention, temperature=0.7),
    "heads": partial(MultiHeadAttention, 8, 4, num_kv_heads=2),
}


def layer_of(name: str, dtype=torch.float64, **options) -> nn.Module:
    """Return the layer after one call, so that a lazy one has its parameters; in eval mode."""
    torch.default_generator.manual_seed(0)
    layer = LAYERS[name](**options).to(dtype).eval()
    layer(*batch(dtype=dtype))
    return layer


def normal(*shape, seed=0, dtype=torch.float64) -> Tensor:
    return torch.tensor(samples.normal(*shape, seed=seed)).to(dtype)


def batch(*sizes, heads=(), dtype=torch.float64, **named) -> list[Tensor]:
    arrays = samples.batch(*sizes, heads=heads, **named)
    return [torch.tensor(x).to(dtype) for x in arrays]
