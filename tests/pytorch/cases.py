"""What the tests of the attention module share: the classes under test and inputs for them.

A new attention class joins every test of test_attention_classes.py, test_wrong_input.py and
test_torch_tools.py by one more entry in ATTENTIONS.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import oracle
import random_examples  # noqa: F401  (it takes effect when it is imported)
import torch
from hypothesis import strategies as st
from torch import Tensor, nn

from d2l_attention.torch import (
    AdditiveAttention,
    BilinearAttention,
    CosineAttention,
    DistanceAttention,
    DotProductAttention,
)

D = 3  # the size of queries and keys in `batch`
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
TOLERANCE = {torch.float16: 2e-3, torch.bfloat16: 2e-2, torch.float32: 1e-5, torch.float64: 1e-12}


@dataclass(frozen=True)
class Attention:
    """make(dropout) gives a layer for sizes D; score(layer) the oracle's score(query, key)."""

    make: Callable[..., nn.Module]
    score: Callable[[nn.Module], Callable]


def additive_score(layer: nn.Module) -> Callable:
    weights = (layer.W_q.weight, layer.W_k.weight, layer.w_v.weight[0])
    W_q, W_k, w_v = (w.double().tolist() for w in weights)
    return partial(oracle.additive_score, W_q=W_q, W_k=W_k, w_v=w_v)


def bilinear_score(layer: nn.Module) -> Callable:
    full = isinstance(layer.W_k, nn.Identity)
    W_q, W_k = (None if w is None else w.double().tolist()
                for w in (layer.W_q.weight, None if full else layer.W_k.weight))  # fmt: skip
    return partial(oracle.bilinear_score, W_q=W_q, W_k=W_k)


def cosine_score(layer: nn.Module) -> Callable:
    return partial(oracle.cosine_score, temperature=layer.temperature.item())


ATTENTIONS = {
    "dot": Attention(DotProductAttention, lambda layer: oracle.scaled_dot_score),
    "additive": Attention(partial(AdditiveAttention, 5, query_size=D, key_size=D), additive_score),
    "additive, lazy": Attention(partial(AdditiveAttention, 5), additive_score),
    "distance": Attention(DistanceAttention, lambda layer: oracle.distance_score),
    "bilinear": Attention(partial(BilinearAttention, query_size=D, key_size=D), bilinear_score),
    "bilinear, lazy, rank 2": Attention(partial(BilinearAttention, 2), bilinear_score),
    "cosine": Attention(partial(CosineAttention, temperature=0.7), cosine_score),
}


def layer_of(name: str, dtype=torch.float64, seed=0, **options) -> nn.Module:
    """Return the layer after one call, so that a lazy one has its parameters; in eval mode."""
    torch.default_generator.manual_seed(seed)  # torch.manual_seed notes each caller's stack, slowly
    layer = ATTENTIONS[name].make(**options).to(dtype).eval()
    layer(*batch(dtype=dtype))
    return layer


def normal(*shape, seed=0, dtype=torch.float64) -> Tensor:
    generator = torch.Generator().manual_seed(seed + 1000 * len(shape))
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def batch(b=2, n=3, m=4, v=2, heads=(), dtype=torch.float64) -> tuple[Tensor, Tensor, Tensor]:
    """Return queries (b, n, D), keys (b, m, D) and values (b, m, v), or with heads."""
    shapes = ((b, *heads, n, D), (b, *heads, m, D), (b, *heads, m, v))
    return tuple(normal(*shape, seed=i, dtype=dtype) for i, shape in enumerate(shapes))


def nested(tensor: Tensor | None):
    """The numbers as lists of float64 (or of integers, or of True and False), for the oracle."""
    return None if tensor is None else tensor.tolist()


@st.composite
def lengths(draw, b: int, n: int, m: int) -> Tensor | None:
    """Valid lengths of shape (b,), (b, n), or none, of any integer type."""
    shape = draw(st.sampled_from([None, (b,), (b, n)]))
    if shape is None:
        return None
    dtype = draw(st.sampled_from([torch.int64, torch.int32, torch.int8, torch.uint8]))
    size = b if len(shape) == 1 else b * n
    numbers = draw(st.lists(st.integers(0, m), min_size=size, max_size=size))
    return torch.tensor(numbers, dtype=dtype).reshape(shape)


@st.composite
def masks(draw, shape: tuple[int, ...]) -> Tensor | None:
    """A boolean mask of a shape that broadcasts to `shape`, or none."""
    if draw(st.booleans()):
        return None
    shape = tuple(1 if draw(st.booleans()) else size for size in shape)
    shape = shape[draw(st.integers(0, len(shape))) :]
    keep = torch.rand(shape, generator=torch.Generator().manual_seed(draw(st.integers(0, 99))))
    return keep < draw(st.sampled_from([0.2, 0.7, 1.0]))


def laid_out(tensor: Tensor, layout: str) -> Tensor:
    """The same numbers in another order of memory."""
    if layout == "transposed":
        return tensor.transpose(-1, -2).contiguous().transpose(-1, -2)
    if layout == "every second":
        return tensor.repeat_interleave(2, dim=-1)[..., ::2]
    return tensor


LAYOUTS = st.sampled_from(["plain", "transposed", "every second"])
