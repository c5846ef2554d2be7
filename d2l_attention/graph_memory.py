"""Count the memory that a graph of TensorFlow holds; written by hand.

The count is that of a run in which one operation follows the other, in the order in which they were
made, and each result has memory of its own, from the operation that makes it to the last one that
reads it. What this leaves out: memory that an operation needs inside itself, operations that write
over their input, and operations that run at the same time.
"""

from collections import Counter
from typing import NamedTuple

import tensorflow as tf

# Operations whose results are their inputs, place by place, perhaps in another shape.
VIEWS = {"ExpandDims", "Identity", "IdentityN", "PreventGradient", "ReadVariableOp", "Reshape"}
VIEWS |= {"Squeeze", "StopGradient"}
# Results that are not made on the way: arguments, constants, what was in a list; a few numbers.
NOT_MADE = {"Const", "Placeholder", "TensorListGetItem", "TensorListPopBack"}
NOT_MADE |= {"BroadcastGradientArgs"}
# Operations that keep one of their inputs, here its number, in the list that is the first.
KEEPING = {"TensorListPushBack": 1, "TensorListSetItem": 2}


class Held(NamedTuple):
    """The most bytes that a function holds at a time, apart from its arguments."""

    on_the_way: int  # apart from its results, too
    in_all: int
    kept: Counter  # in lists that are arguments, counted from the last one: -1, -2, ...
    returned: Counter  # in lists that are results, counted from 0


def held_bytes(program) -> Held:
    """Return what a function holds while it runs as a graph.

    Args:
        program: The `inference_fn` of a concrete function, or one of its `children`.

    Raises ValueError where a size is not known, or how often a loop runs that fills lists.
    """
    graph, operations = program.graph, program.graph.get_operations()
    used = {name for op in operations for name in called(op)}  # the others may be left from before
    children = {f.name.decode(): f for f in program.children}
    children = {name: held_bytes(children[name]) for name in used}
    memory, last = memory_of(operations)
    arguments = {x.name: i - len(graph.inputs) for i, x in enumerate(graph.inputs)}
    results = {memory[x.name] for x in graph.outputs} - arguments.keys()
    lists = {memory[x.name]: i for i, x in enumerate(graph.outputs) if x.dtype == tf.variant}
    in_lists = set()  # memory that is counted with the list that keeps it
    now = made = on_the_way = in_all = 0
    ends, kept, returned = Counter(), Counter(), Counter()  # ends: given back by which operation

    def hold(name: str, size: int) -> None:
        nonlocal now, made
        if name in arguments:
            kept[arguments[name]] += size
        elif name in results:
            made += size
            if name in lists:
                returned[lists[name]] += size
        elif name in last and name not in in_lists:
            now += size
            ends[last[name]] += size

    for op in operations:
        if op.type in KEEPING:
            item, into = (memory[op.inputs[i].name] for i in (KEEPING[op.type], 0))
            if into in arguments or into in results:
                in_lists.add(item)
            else:
                last[item] = max(last[item], last[into])
    for place, op in enumerate(operations):
        calls = [children[name] for name in called(op)]
        for call in calls:
            for i, size in call.kept.items():
                hold(memory[op.inputs[i].name], size * rounds(op))
        new = [x for x in op.outputs if memory[x.name] == x.name and op.type not in NOT_MADE]
        passes = any(x.name in last and x.name not in results for x in new)
        for call in calls:
            on_the_way = max(on_the_way, now + (call.in_all if passes else call.on_the_way))
            in_all = max(in_all, now + made + call.in_all)
        for x in new:
            if x.name in last or x.name in results:
                hold(x.name, nbytes(x))
        for call in calls:
            for i, size in call.returned.items():
                hold(memory[op.outputs[i].name], size)
        if op.type == "TensorListFromTensor":  # a copy
            hold(memory[op.outputs[0].name], nbytes(op.inputs[0]))
        if op.type in KEEPING and memory[op.inputs[0].name] in arguments.keys() | results:
            hold(memory[op.inputs[0].name], nbytes(op.inputs[KEEPING[op.type]]))
        on_the_way, in_all = max(on_the_way, now), max(in_all, now + made)
        now -= ends[place]
    return Held(on_the_way, in_all, kept, returned)


def memory_of(operations: list[tf.Operation]) -> tuple[dict[str, str], dict[str, int]]:
    """Return which tensor made the memory of each, and which operation reads it last."""
    memory, last = {}, {}
    for place, op in enumerate(operations):
        for x in op.inputs:  # a loop may read a list that is made behind it
            last[memory.setdefault(x.name, x.name)] = place
        for i, x in enumerate(op.outputs):
            passed = op.inputs[i] if i < len(op.inputs) else x
            shared = op.type in VIEWS or x.dtype == passed.dtype == tf.variant
            memory[x.name] = memory[passed.name] if shared and passed is not x else x.name
    return memory, last


def nbytes(x: tf.Tensor) -> int:
    """Return the bytes of a tensor in a graph; a list counts by what is put into it."""
    if x.dtype == tf.variant:
        return 0
    if not x.shape.is_fully_defined():
        raise ValueError(f"every size must be known, got {x.name} of shape {x.shape}")
    return x.dtype.size * x.shape.num_elements()


def called(op: tf.Operation) -> list[str]:
    """Return the names of the functions that an operation calls."""
    given = op.node_def.attr.values()
    return [f.name for value in given for f in (value.func, *value.list.func) if f.name]


def rounds(op: tf.Operation) -> int:
    """Return how often an operation calls its functions, a loop at most."""
    if "While" not in op.type:
        return 1
    times = tf.get_static_value(op.inputs[1])  # its maximum_iterations
    if times is None or times < 0:
        raise ValueError(f"{op.name} fills lists, so it must be known how often it runs")
    return int(times)
