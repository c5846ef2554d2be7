"""Count the memory that a computation holds; written by hand."""

import weakref

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves


class LiveBytes(TorchFunctionMode):
    """Count the bytes that the tensors made inside a `with` block hold.

    `now` is what is alive, `peak` the largest value of `now`, `log` a list of (function, new
    bytes, bytes alive). Memory made before the block, and what a function needs inside itself and
    gives back, is not counted; nor is what a backward pass makes.
    """

    def __init__(self) -> None:
        super().__init__()
        self.now = self.peak = 0
        self.log: list[tuple[str, int, int]] = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        known = {id(memory) for memory in memories((args, kwargs))}
        result = func(*args, **(kwargs or {}))
        new = 0
        reads = func.__name__ == "__get__"  # of an attribute, such as a gradient: makes nothing
        for memory in [] if reads else memories(result):
            if id(memory) not in known:  # neither a view nor in place
                known.add(id(memory))
                new += memory.nbytes()
                weakref.finalize(memory, self.release, memory.nbytes())
        self.now += new
        self.peak = max(self.peak, self.now)
        if new:
            self.log.append((func.__name__, new, self.now))
        return result

    def release(self, nbytes: int) -> None:
        self.now -= nbytes


def memories(tree: object) -> list[torch.UntypedStorage]:
    """Return the memory behind each tensor in nested lists, tuples and dicts."""
    return [leaf.untyped_storage() for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]
