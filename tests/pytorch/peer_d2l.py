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
    from d2l import torch as d2l  # noqa: F401
finally:  # others ask sys.modules what is installed
    for name in missing:
        del sys.modules[name]
