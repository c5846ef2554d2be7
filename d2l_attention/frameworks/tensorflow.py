"""TensorFlow, as the book must know it: `frameworks/__init__.py` says what each name is."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from d2l_attention.arrays import is_float_array, made
from d2l_attention.frameworks import BY_HAND, NO_AVX512, NUMPY_PLAIN, ONE_THREAD, TWO_THREADS

NAME = "TensorFlow"
PACKAGE = "tensorflow"
PACKAGES = ("tensorflow", "keras")
VARIABLES = {"KERAS_BACKEND": "tensorflow"}  # Keras runs on others, too
EXACT = "tf.config.experimental.enable_tensor_float_32_execution(False)"
KEEP_AXIS = "keepdims"

# TensorFlow has two pools of threads; Eigen chose its instructions when it was compiled.
POOLS = ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS")
ONE = ONE_THREAD | dict.fromkeys(POOLS, "1")
TWO = TWO_THREADS | dict.fromkeys(POOLS, "2")
XLA_AVX2 = {"XLA_FLAGS": "--xla_cpu_max_isa=AVX2"}  # below, XLA cannot compile float16
CPU_SETTINGS = {
    "two-threads": TWO,
    "one-thread": ONE,
    "xla-avx2": XLA_AVX2,
    "numpy-avx2": NO_AVX512,
    "numpy-plain": NUMPY_PLAIN,
    "plainest": TWO | NUMPY_PLAIN | XLA_AVX2,
}

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


def array_type() -> type:
    import tensorflow as tf

    return tf.Tensor | tf.Variable


def make_array(value: object) -> object:
    def tensor(array: np.ndarray):
        import tensorflow as tf

        with tf.device("/CPU:0"):
            return tf.constant(array)

    return made(value, tensor)


def to_numpy(array) -> np.ndarray:
    array = array.numpy()
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def gradients(answer: Callable, inputs: tuple, direction: np.ndarray) -> dict[int, np.ndarray]:
    import tensorflow as tf

    given = [make_array(x) for x in inputs]
    sources = {i: given[i] for i, x in enumerate(inputs) if is_float_array(x)}
    with tf.GradientTape() as tape:
        tape.watch(sources)
        total = tf.reduce_sum(tf.reshape(answer(*given), [-1]) * direction)
    found = tape.gradient(total, sources, unconnected_gradients="zero")
    return {i: to_numpy(tf.convert_to_tensor(gradient)) for i, gradient in found.items()}


def largest_array(answer: Callable, inputs: tuple) -> tuple[int, ...]:
    import tensorflow as tf

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


def facts(device) -> dict[str, str]:
    import tensorflow as tf

    from d2l_attention.machine import free_main_memory

    about = tf.config.experimental.get_device_details
    gpus = {name.name: about(name) for name in tf.config.list_physical_devices("GPU")}
    kind = next((gpu.get("device_name", "GPU") for gpu in gpus.values()), "CPU")
    kind = kind if "GPU" in str(device) else "CPU"
    return {"device": f"{device} ({kind})", "free memory": free_main_memory()}


def has_gpu() -> bool:
    import tensorflow as tf

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
