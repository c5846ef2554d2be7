"""TensorFlow, as the book must know it: `frameworks/__init__.py` says what each name is."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from d2l_attention.arrays import entrywise, is_float_array
from d2l_attention.frameworks import BY_HAND, Lazy, cpu_settings, to_numpy

tf = Lazy("tensorflow")
NAME = "TensorFlow"
PACKAGE = "tensorflow"
PACKAGES = ("tensorflow", "keras")
VARIABLES = {"KERAS_BACKEND": "tensorflow"}  # Keras runs on others, too
EXACT = "tf.config.experimental.enable_tensor_float_32_execution(False)"
KEEP_AXIS = "keepdims"

XLA = {"XLA_FLAGS": "--xla_cpu_max_isa=AVX2"}  # with less, it cannot compile float16
CPU_SETTINGS = cpu_settings(XLA, XLA, "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS")

CODE = r"\btf\.|(?<!\")\btensorflow\b|\bkeras\b"
FOREIGN = {
    r"\bautograd\b": "GradientTape",
    r"\bbackward\b(?! pass| as well)": "gradient, backward pass",
    r"\bstate_dict\b|\brequires_grad\b": "weights, trainable",
    r"`forward`|`__call__`": "`call`",
    r"\bjaxpr\b|\bpytrees?\b|\bnnx\b|\bFlax\b": "graph, tensors, Keras",
    r"\bnn\.Module\b": "Layer",
}
EXCUSE = r"PyTorch|torch|JAX|jax|(?<!`)forward|forward(?!`)"


@entrywise
def make_array(value: np.ndarray) -> object:
    with tf.device("/CPU:0"):
        return tf.constant(value)


def gradients(answer: Callable, inputs: tuple, direction: np.ndarray) -> dict[int, np.ndarray]:
    given = [make_array(x) for x in inputs]
    sources = {i: given[i] for i, x in enumerate(inputs) if is_float_array(x)}
    with tf.GradientTape() as tape:
        tape.watch(sources)
        total = tf.reduce_sum(tf.reshape(answer(*given), [-1]) * direction)
    found = tape.gradient(total, sources, unconnected_gradients="zero")
    return {i: to_numpy(tf.convert_to_tensor(gradient)) for i, gradient in found.items()}


def largest_array(answer: Callable, inputs: tuple) -> tuple[int, ...]:
    program = tf.function(answer).get_concrete_function(*map(make_array, inputs))
    graph = program.graph.as_graph_def(add_shapes=True)
    inner = [node for function in graph.library.function for node in function.node_def]
    taped = "gradients/", "gradient_tape/"
    if any(node.name.startswith(taped) for node in [*graph.node, *inner]):
        raise RuntimeError(BY_HAND)
    found = [
        tuple(axis.size for axis in shape.dim)
        for node in [*graph.node, *inner]
        if node.op != "Placeholder"  # an input
        for shape in node.attr["_output_shapes"].list.shape
    ]
    return max((shape for shape in found if -1 not in shape), key=math.prod, default=())


def facts(device) -> tuple[str, int | None]:
    about = tf.config.experimental.get_device_details
    gpus = {name.name: about(name) for name in tf.config.list_physical_devices("GPU")}
    kind = next((gpu.get("device_name", "GPU") for gpu in gpus.values()), "CPU")
    return kind if "GPU" in str(device) else "CPU", None


def has_gpu() -> bool:
    return bool(tf.config.list_physical_devices("GPU"))


def environment(device: str, cache: Path) -> dict[str, str]:
    """Let it be silent, and add up in the same order on every CPU."""
    on_gpu = {
        "NVIDIA_TF32_OVERRIDE": "0",  # else it multiplies float32 with three digits
        "TF_FORCE_GPU_ALLOW_GROWTH": "true",  # else one process takes its memory from another
    }
    hidden = {"CUDA_VISIBLE_DEVICES": "-1"}  # empty, it hides all, too
    return (hidden if device == "cpu" else on_gpu) | {
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "TF_ENABLE_ONEDNN_OPTS": "0",
        **VARIABLES,
    }
