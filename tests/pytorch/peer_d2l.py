"""Imports d2l 1.0.3, the peer of the tests and benchmarks, without the packages it never uses here.

d2l imports torchvision, pandas and scipy on its first lines. Attention needs none of them, so
missing ones get a stand-in that says so when it is used.
"""

import importlib.util
import sys
import types

UNUSED = ("torchvision", "torchvision.transforms", "pandas", "scipy", "scipy.spatial")


class StandIn(types.ModuleType):
    __path__ = ()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name in ("transforms", "distance_matrix"):  # d2l imports them by name
            return StandIn(f"{self.__name__}.{name}")
        raise RuntimeError(f"{self.__name__}.{name}: {self.__name__} is not installed")

    def __call__(self, *arguments, **keywords):
        raise RuntimeError(f"{self.__name__} is not installed")


missing = [name for name in UNUSED if importlib.util.find_spec(name.split(".")[0]) is None]
sys.modules.update({name: StandIn(name) for name in missing})
try:
    from d2l import torch as d2l
finally:  # others ask sys.modules what is installed
    for name in missing:
        del sys.modules[name]


masked_softmax = d2l.masked_softmax


def attention(kind: str, arrays: list, lens, parameters: dict) -> tuple:
    """Return outputs and weights of D2L's layer, as tests/contract/test_peer_d2l.py asks."""
    sizes = [parameters["w_v"].shape[1]] if parameters else []
    layer = getattr(d2l, kind)(*sizes, dropout=0)
    layer(*arrays, None)  # a lazy layer gets its parameters
    layer.load_state_dict({f"{name}.weight": value for name, value in parameters.items()})
    return layer(*arrays, lens).detach(), layer.attention_weights.detach()
