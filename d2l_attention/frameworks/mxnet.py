"""MXNet, as the book must know it; what only overlays and bounds of arrays need is missing."""

from collections.abc import Callable
from pathlib import Path

import numpy

from d2l_attention.arrays import entrywise, is_float_array
from d2l_attention.frameworks import Lazy, cpu_settings, to_numpy

mx = Lazy("mxnet")
NAME = "MXNet"
PACKAGE = "mxnet"
PACKAGES = ("mxnet",)
VARIABLES = {"MXNET_SAFE_ACCUMULATION": "1"}  # a softmax of float16 adds up in float32
KEEP_AXIS = "keepdims"
CPU_SETTINGS = cpu_settings({"DNNL_MAX_CPU_ISA": "AVX2"}, {"DNNL_MAX_CPU_ISA": "SSE41"})
for setting in CPU_SETTINGS.values():  # of the old NumPy features have other names
    setting.pop("NPY_DISABLE_CPU_FEATURES", None)
CODE = r"\bmx\.|\bnpx\.|\bgluon\b|(?<!\")\bmxnet\b"


def prepare() -> None:
    """Give NumPy four names back, which 1.24 removed, and follow its rules, as d2l does."""
    for kind in (bool, int, float, object):
        vars(numpy).setdefault(kind.__name__, kind)
    mx.npx.set_np()


@entrywise
def make_array(value: numpy.ndarray) -> object:
    try:
        return mx.np.array(value, dtype=value.dtype)
    except KeyError:  # a type that it does not have, as uint16: NumPy's array does as well
        return value


def gradients(answer: Callable, inputs: tuple, direction: numpy.ndarray) -> dict:
    given = [make_array(x) for x in inputs]
    leaves = {i: given[i] for i, x in enumerate(inputs) if is_float_array(x)}
    for leaf in leaves.values():
        leaf.attach_grad()
    with mx.autograd.record():
        total = (answer(*given).reshape(-1) * make_array(direction)).sum()
        total = total + sum((0 * leaf).sum() for leaf in leaves.values())  # it may use none
    total.backward()
    return {i: to_numpy(leaf.grad) for i, leaf in leaves.items()}


def has_gpu() -> bool:
    return mx.context.num_gpus() > 0


def environment(device: str, cache: Path) -> dict[str, str]:
    return {}
