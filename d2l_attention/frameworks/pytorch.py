"""PyTorch, as the book must know it: `frameworks/__init__.py` says what each name is."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from d2l_attention.arrays import entrywise, is_float_array
from d2l_attention.frameworks import BY_HAND, Lazy, cpu_settings, to_numpy

torch = Lazy("torch")
NAME = "PyTorch"
PACKAGE = "torch"
PACKAGES = ("torch",)
VARIABLES: dict[str, str] = {}
EXACT = ""
KEEP_AXIS = "keepdim"

CPU_SETTINGS = cpu_settings(
    {"ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2", "DNNL_MAX_CPU_ISA": "AVX2"},
    {
        "ATEN_CPU_CAPABILITY": "default",
        "MKL_CBWR": "COMPATIBLE",
        "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",  # obeyed on Intel's CPUs only
        "DNNL_MAX_CPU_ISA": "SSE41",
    },
)

CODE = r"\btorch\b|(?<![\w.])nn\.|\bF\."
FOREIGN = {
    r"\bnnx\b|\bFlax\b": "nn.Module, layer",
    r"\bXLA\b|\bjaxpr\b": "compiler, graph",
    r"\bpytrees?\b": "tensors",
}
EXCUSE = r"JAX|jax"


@entrywise
def make_array(value: np.ndarray) -> object:
    return torch.tensor(value)


def gradients(answer: Callable, inputs: tuple, direction: np.ndarray) -> dict[int, np.ndarray]:
    given = [make_array(x) for x in inputs]
    leaves = {i: given[i].requires_grad_() for i, x in enumerate(inputs) if is_float_array(x)}
    total = (answer(*given).flatten() * torch.tensor(direction)).sum()
    if not total.requires_grad:
        return {i: np.full(leaf.shape, np.nan) for i, leaf in leaves.items()}
    unused = {"allow_unused": True, "materialize_grads": True}
    found = torch.autograd.grad(total, list(leaves.values()), **unused)
    return dict(zip(leaves, map(to_numpy, found), strict=True))


def largest_array(answer: Callable, inputs: tuple) -> tuple[int, ...]:
    shapes, unwrap = [], torch.func.debug_unwrap

    class Watch(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, arguments=(), options=None):
            if getattr(function, "__name__", "") in ("grad", "backward", "_make_dual"):
                raise RuntimeError(BY_HAND)
            result = function(*arguments, **(options or {}))
            for out in result if isinstance(result, tuple | list) else (result,):
                if isinstance(out, torch.Tensor) and is_whole(out := unwrap(out, recurse=True)):
                    shapes.append(tuple(out.shape))  # with the axes that vmap hides
            return result

    given = [make_array(x) for x in inputs]
    with Watch():
        answer(*given)
    return max(shapes, key=math.prod, default=())


def is_whole(tensor) -> bool:
    """Say whether a tensor holds its elements itself, and is no view that repeats some."""
    try:
        return tensor.untyped_storage().nbytes() >= tensor.numel() * tensor.element_size()
    except NotImplementedError:  # sparse
        return True


def facts(device) -> tuple[str, int | None]:
    if device.type == "cuda":
        return torch.cuda.get_device_name(device), torch.cuda.mem_get_info(device)[0]
    threads = torch.get_num_threads()
    return f"{torch.backends.cpu.get_cpu_capability()}, {threads} threads", None


def has_gpu() -> bool:
    return torch.cuda.is_available()


def environment(device: str, cache: Path) -> dict[str, str]:
    return {}
