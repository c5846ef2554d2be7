"""What only PyTorch's layers need to withstand: first calls, lists, types; written by hand."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from d2l_attention.checks import check_numbers, check_one_type, check_sizes


class LazyLinear(nn.LazyLinear):
    """nn.LazyLinear whose parameters train also if torch.inference_mode has made them."""

    def __init__(self, outputs: int, bias: bool) -> None:
        with torch.inference_mode(False):
            super().__init__(outputs, bias)

    def _infer_parameters(self, module: nn.Module, args: tuple, kwargs: dict | None = None) -> None:
        made = not self.has_uninitialized_params() and self.weight.dim() == 2
        if not made and torch._C._functorch.peek_interpreter_stack() is not None:
            raise RuntimeError(
                "the first call makes the parameters: make it before, or give the sizes; "
                "inside of torch.func (grad, vmap, ...) they cannot be made"
            )
        if made and not isinstance(self.weight, nn.Parameter):
            return  # lent by torch.func.functional_call
        x, *_ = *args, *(kwargs or {}).values()
        sized = torch.empty(0, int(x.shape[-1]), device="meta")  # compilers may leave it open
        with torch.inference_mode(False):
            super()._infer_parameters(module, (sized,))


def as_tensor(name: str, value: object, device: torch.device | None = None) -> Tensor | None:
    """Return an array of any kind or nested lists, also of tensors, as a tensor; None as None."""
    if value is None:
        return None
    if not torch.compiler.is_compiling():
        check_numbers(name, value)
    if isinstance(value, list | tuple) and any(isinstance(x, Tensor) for x in tree_leaves(value)):
        return torch.stack([as_tensor(name, entry, device) for entry in value])
    return torch.as_tensor(value, device=device)


def as_tensors(**values: object) -> list[Tensor]:
    """Return what `as_tensor` returns of each, with its name."""
    return [check_numbers(*x) if x[1] is None else as_tensor(*x) for x in values.items()]


def check_tensors(layer: nn.Module, queries: Tensor, keys: Tensor, values: Tensor) -> None:
    """Raise as check_sizes does, and TypeError for types that only torch.autocast multiplies."""
    given = {"queries": queries, "keys": keys, "values": values}
    for name, x in given.items():
        if not isinstance(x, Tensor):
            raise TypeError(f"{name} must be a tensor, got {type(x).__name__}")
    check_sizes(queries, keys, values)
    device = queries.device.type
    if torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device):
        return
    check_one_type(queries, keys)
    known = (nn.Linear,) if torch.compiler.is_compiling() else (nn.Linear, LazyLinear)
    for (name, x), of in zip(given.items(), ("W_q", "W_k", "W_v"), strict=True):
        linear = getattr(layer, of, None)
        if type(linear) in known and x.dtype != (want := linear.weight.dtype):
            raise TypeError(f"{name} must have the type of {of}, {want}, got {x.dtype}")


def wide(x: Tensor) -> Tensor:
    """Return x in float32, or as it is in float64."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def apply_wide(linear: Callable[[Tensor], Tensor], x: Tensor, dtype: torch.dtype) -> Tensor:
    """Apply a linear layer without bias, with parameters of this type, to wider x (..., d)."""
    if x.dtype == dtype:
        return linear(x)
    units = torch.eye(x.shape[-1], dtype=dtype, device=x.device)
    return x @ linear(units).to(x.dtype)  # its matrix, exactly
