"""What right numbers do not show: gradients, and the arrays that an answer makes on its way."""

import math
from collections.abc import Callable

import numpy as np

from d2l_attention.arrays import as_array, copied, in_framework


def gradients(
    answer: Callable, inputs: tuple, direction: np.ndarray, framework: str
) -> dict[int, np.ndarray]:
    """Return the gradient of sum(direction * answer) for each input of floating-point numbers.

    Args:
        answer: A function of `inputs` in the framework's arrays.
        inputs: NumPy arrays and other values; the key of a gradient is the input's place.
        direction: One number for each element of the answer.
        framework: Only those with gradients of their own are asked; for others nothing returns.
    """
    places = [i for i, x in enumerate(inputs) if is_float_array(x)]
    given = [in_framework(x, framework) for x in inputs]
    if framework == "pytorch":
        import torch

        for place in places:
            given[place].requires_grad_()
        total = (answer(*given).flatten() * torch.tensor(direction)).sum()
        leaves = [given[place] for place in places]
        if not total.requires_grad:
            return {place: np.full(np.shape(inputs[place]), np.nan) for place in places}
        found = torch.autograd.grad(total, leaves, allow_unused=True, materialize_grads=True)
    elif framework == "jax":
        import jax

        def total_of(*inputs):
            return (answer(*inputs).ravel() * direction).sum()

        found = jax.grad(total_of, argnums=tuple(places))(*given)
    else:
        return {}
    return dict(zip(places, map(as_array, found), strict=True))


def is_float_array(value: object) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


@np.errstate(all="ignore")
def central_differences(
    function: Callable, inputs: tuple, place: int, direction: np.ndarray, step: float = 1e-6
) -> np.ndarray:
    """Return the gradient of sum(direction * function) for one input, by NumPy in float64."""
    inputs = [copied(x) for x in inputs]
    point = inputs[place]
    gradient = np.empty_like(point)
    for at in np.ndindex(point.shape):
        ends = []
        for sign in (1, -1):
            moved = point.copy()
            moved[at] += sign * step
            given = [*inputs[:place], moved, *inputs[place + 1 :]]
            ends.append((np.ravel(function(*given)) * direction).sum())
        gradient[at] = (ends[0] - ends[1]) / (2 * step)
    return gradient


def largest_made(answer: Callable, inputs: tuple, framework: str) -> tuple[int, ...]:
    """Return the shape of the largest array that an answer makes; () where nobody can tell."""
    given = [in_framework(x, framework) for x in inputs]
    if framework == "jax":
        import jax

        jaxpr = jax.make_jaxpr(answer)(*given)
        shapes = [out.aval.shape for line in jaxpr.eqns for out in line.outvars]
    elif framework == "pytorch":
        from torch import Tensor
        from torch.overrides import TorchFunctionMode

        shapes = []

        class Watch(TorchFunctionMode):
            def __torch_function__(self, function, types, arguments=(), options=None):
                result = function(*arguments, **(options or {}))
                for made in result if isinstance(result, tuple | list) else (result,):
                    if isinstance(made, Tensor) and is_whole(made):
                        shapes.append(tuple(made.shape))
                return result

        with Watch():
            answer(*given)
    else:
        return ()
    return max(shapes, key=math.prod, default=())


def is_whole(tensor) -> bool:
    """Say whether a tensor holds its elements itself, and is no view that repeats some."""
    return tensor.untyped_storage().nbytes() >= tensor.numel() * tensor.element_size()
