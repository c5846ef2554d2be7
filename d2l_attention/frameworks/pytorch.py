"""PyTorch, as the book must know it: `frameworks/__init__.py` says what each name is."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from d2l_attention.arrays import is_float_array, made
from d2l_attention.frameworks import BY_HAND, NO_AVX512, NUMPY_PLAIN, ONE_THREAD, TWO_THREADS

NAME = "PyTorch"
PACKAGE = "torch"
PACKAGES = ("torch",)
VARIABLES: dict[str, str] = {}
EXACT = ""
KEEP_AXIS = "keepdim"

ATEN_PLAIN = {"ATEN_CPU_CAPABILITY": "default"}
# MKL obeys the first on Intel's CPUs only; MKL_CBWR chooses a path of MKL on all of them.
SSE4 = {"MKL_ENABLE_INSTRUCTIONS": "SSE4_2", "DNNL_MAX_CPU_ISA": "SSE41"}
MKL_PLAIN = {"MKL_CBWR": "COMPATIBLE"}
CPU_SETTINGS = {
    "two-threads": TWO_THREADS,
    "one-thread": ONE_THREAD,
    "aten-default": ATEN_PLAIN,
    "aten-avx2": {"ATEN_CPU_CAPABILITY": "avx2"},
    "mkl-avx2": {"MKL_ENABLE_INSTRUCTIONS": "AVX2", "DNNL_MAX_CPU_ISA": "AVX2"},
    "mkl-sse4": SSE4,
    "mkl-plain": MKL_PLAIN,
    "numpy-avx2": NO_AVX512,
    "numpy-plain": NUMPY_PLAIN,
    # make test has one thread in each process: this differs from it in everything
    "plainest": TWO_THREADS | ATEN_PLAIN | SSE4 | MKL_PLAIN | NUMPY_PLAIN,
}

CODE = r"\btorch\b|(?<![\w.])nn\.|\bF\."
FOREIGN = {
    r"\bnnx\b|\bFlax\b": "nn.Module, layer",
    r"\bXLA\b|\bjaxpr\b": "compiler, graph",
    r"\bpytrees?\b": "tensors",
}
EXCUSE = r"JAX|jax"


def array_type() -> type:
    from torch import Tensor

    return Tensor


def make_array(value: object) -> object:
    def tensor(array: np.ndarray):
        import torch

        return torch.tensor(array)

    return made(value, tensor)


def to_numpy(array) -> np.ndarray:
    array = array.detach().cpu()
    return (array.float() if "bfloat16" in str(array.dtype) else array).numpy()


def gradients(answer: Callable, inputs: tuple, direction: np.ndarray) -> dict[int, np.ndarray]:
    import torch

    given = [make_array(x) for x in inputs]
    leaves = {i: given[i].requires_grad_() for i, x in enumerate(inputs) if is_float_array(x)}
    total = (answer(*given).flatten() * torch.tensor(direction)).sum()
    if not total.requires_grad:
        return {i: np.full(leaf.shape, np.nan) for i, leaf in leaves.items()}
    found = torch.autograd.grad(
        total, list(leaves.values()), allow_unused=True, materialize_grads=True
    )
    return {i: to_numpy(gradient) for i, gradient in zip(leaves, found, strict=True)}


def largest_array(answer: Callable, inputs: tuple) -> tuple[int, ...]:
    from torch import Tensor
    from torch.func import debug_unwrap
    from torch.overrides import TorchFunctionMode

    shapes = []

    class Watch(TorchFunctionMode):
        def __torch_function__(self, function, types, arguments=(), options=None):
            if getattr(function, "__name__", "") in ("grad", "backward", "_make_dual"):
                raise RuntimeError(BY_HAND)
            result = function(*arguments, **(options or {}))
            for out in result if isinstance(result, tuple | list) else (result,):
                if isinstance(out, Tensor) and is_whole(out := debug_unwrap(out, recurse=True)):
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


def facts(device) -> dict[str, str]:
    import torch

    from d2l_attention.machine import free_main_memory, in_gib

    model = f"{torch.backends.cpu.get_cpu_capability()}, {torch.get_num_threads()} threads"
    free = free_main_memory()
    if device.type == "cuda":
        model = torch.cuda.get_device_name(device)
        free = in_gib(torch.cuda.mem_get_info(device)[0])
    return {"device": f"{device} ({model})", "free memory": free}


def has_gpu() -> bool:
    import torch

    return torch.cuda.is_available()


def environment(device: str, cache: Path) -> dict[str, str]:
    return {}
