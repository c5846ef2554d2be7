"""What a user of Keras expects of a layer: files, masks, training, types, models, XLA, devices."""

import copy
from functools import partial

import keras
import numpy as np
import pytest
import tensorflow as tf

from d2l_attention import tensorflow as ours
from d2l_attention.frameworks import check_installed, load
from d2l_attention.practice import Exercise, check
from tests.contract.comparing import HALF, TOLERANCE, close, refuses
from tests.contract.samples import ATTENTIONS, LAYERS, NAN, B, D, M, N, V, array_of, arrays_of
from tests.tensorflow.adapter import named

every_layer = pytest.mark.parametrize("name", LAYERS)
H5PY = "ignore:__array__ implementation:DeprecationWarning"  # writes files
pytestmark = pytest.mark.filterwarnings(H5PY)
LENS = tf.constant([4, 2])


def model_of(layer) -> keras.Model:
    inputs = [keras.Input((None, size)) for size in (D, D, V)]
    lens = keras.Input((), dtype="int32")
    return keras.Model([*inputs, lens], layer(*inputs, lens))


# ---- models and files


@every_layer
def test_a_model_with_open_sizes_is_saved_and_loaded_whole_or_its_weights_alone(name, tmp_path):
    inputs, layer = [*arrays_of(), LENS], LAYERS[name].make(dropout=0.25)
    model, other = model_of(layer), model_of(LAYERS[name].make())
    assert model.output_shape[:2] == (None, None)
    close(model(inputs), layer(*inputs), 0)
    for weight in model.trainable_weights:
        weight.assign(weight + 0.5)
    model.save(tmp_path / "model.keras")
    close(keras.saving.load_model(tmp_path / "model.keras")(inputs), model(inputs), 0)
    model.save_weights(tmp_path / "of.weights.h5")
    other.load_weights(tmp_path / "of.weights.h5")
    close(other(inputs), model(inputs), 0)


@pytest.mark.parametrize("sizes", [{"H": 4}, {"depth": 1}, {"depth": 3}, {"D": 8, "kinds": 5}])
def test_a_copied_singer_has_its_sizes_and_is_the_same_model(sizes):
    model, letters = ours.Singer(**sizes), np.array([[0, 1, 2, 1]])
    close(model(letters)[0], copy.deepcopy(model)(letters)[0], 0)  # saved and loaded in memory


def test_a_config_holds_what_its_layer_was_made_with():
    cosine = ours.CosineAttention(0.1, temperature=2.0, learnable=False)
    kept = {"dropout": 0.1, "temperature": 2.0, "learnable": False}
    assert kept.items() <= cosine.get_config().items()
    (other := ours.CosineAttention()).set_weights(cosine.get_weights())
    close(other.temperature, 2.0, 0)
    heads = ours.MultiHeadAttention(8, 4, bias=True, num_kv_heads=2, attention=ours.CosineAttention)
    again = ours.MultiHeadAttention.from_config(heads.get_config())
    assert type(again.attention) is ours.CosineAttention
    assert (again.num_heads, again.num_kv_heads, again.W_q.use_bias) == (4, 2, True)


@every_layer
def test_a_layer_knows_the_shape_of_its_output(name):
    layer, arrays = LAYERS[name].make(), arrays_of()
    shapes = [tuple(x.shape) for x in arrays]
    assert layer.compute_output_shape(*shapes) == layer(*arrays).shape
    output, weights = layer(*map(keras.Input, [x[1:] for x in shapes]), need_weights=True)
    assert (output.shape[1:], weights.shape[-2:]) == (layer(*arrays).shape[1:], (N, M))


@pytest.mark.filterwarnings("ignore:Layer .* `quantize`")
def test_a_quantized_layer_gives_nearly_the_same():
    layer = ours.MultiHeadAttention(6, 3, attention=partial(ours.AdditiveAttention, 5))
    inputs = [keras.Input((None, size)) for size in (D, D, V)]
    model, arrays = keras.Model(inputs, layer(*inputs)), arrays_of()
    want = model(arrays)
    model.quantize("int8")
    close(model(arrays), want, 0.05)


# ---- masks of Keras


def embedded(tokens) -> tf.Tensor:
    return keras.layers.Embedding(9, D, mask_zero=True)(tf.constant(tokens))


@pytest.mark.parametrize("name", ATTENTIONS)
def test_a_mask_of_keys_has_all_their_axes_or_is_one_for_each_example(name):
    x, layer = embedded([[[5, 3, 0], [1, 0, 0], [2, 2, 2]]]), LAYERS[name].make()
    mask, plain = x._keras_mask, [tf.constant(x.numpy())] * 3
    want = layer(*plain, mask=mask[:, :, None])
    close(layer(x, x, x), want, 0)
    for kind in (mask, tf.cast(mask, "int32"), mask.numpy().tolist()):
        close(layer(*plain, keys_mask=kind), want, 0)
    close(layer(*plain, keys_mask=mask[:, 0]), layer(*plain, mask=mask[:, None, :1]), 0)
    refuses(layer, ValueError, "3, 3, 3), got (1, 3, 1, 2)", *plain, keys_mask=mask[..., :2])


@pytest.mark.parametrize("parts", [[6], [4, 2], [4, 1, 1]])
@pytest.mark.parametrize("graph", [False, True])
def test_a_cache_keeps_the_mask_of_an_embedding_until_its_places_are_taken_anew(parts, graph):
    x = embedded([[0, 0, 3, 4, 8, 1], [5, 6, 7, 8, 2, 2]])
    mask, layer = x._keras_mask, ours.MultiHeadAttention(8, 4, num_kv_heads=2)
    want, cache = layer(x, x, x, causal=True), ours.KeyValueCache(B, 2, 6, 2)
    plain = tf.constant(x.numpy())
    spoilt = tf.where(mask[..., None], plain, NAN)  # where padding stands

    def read(x, mask):
        return layer(x, x, x, causal=True, cache=cache, keys_mask=mask)

    read = tf.function(read) if graph else read
    parts = [tf.split(tensor, parts, 1) for tensor in (spoilt, mask)]
    got = tf.concat([read(*part) for part in zip(*parts, strict=True)], 1)
    close(got[1], want[1])
    close(got[0, 2:], want[0, 2:])
    assert np.isfinite(cache.keys).all()
    cache.length.assign(0)
    close(layer(plain, plain, plain, cache=cache), layer(plain, plain, plain))


@pytest.mark.parametrize("kind", [ours.DotProductAttention, partial(ours.MultiHeadAttention, 6, 3)])
def test_the_mask_of_an_embedding_is_joined_with_lengths_and_mask(kind):
    x = embedded([[5, 3, 0, 0], [0, 2, 7, 1]])
    plain, layer = tf.constant(x.numpy()), kind()
    mask = tf.constant(np.tri(4, dtype=bool))
    keys = np.array([[1, 1, 0, 0], [0, 1, 1, 1]], bool)[:, None]
    both = layer(plain, plain, plain, tf.constant([4, 3]), mask=mask & keys)
    close(layer(x, x, x, tf.constant([4, 3]), mask=mask), both)


def test_outputs_have_the_mask_of_the_queries_for_the_next_layer():
    x = embedded([[5, 3, 0, 0]])
    for layer in (ours.DotProductAttention(), ours.MultiHeadAttention(D, 1)):
        output, weights = layer(x, x, x, mask=tf.ones((4, 4), bool), need_weights=True)
        assert output._keras_mask.numpy().tolist() == [[True, True, False, False]]
        assert getattr(weights, "_keras_mask", None) is None


# ---- training and types


@pytest.mark.parametrize("kind", [ours.DotProductAttention, partial(ours.MultiHeadAttention, 6, 3)])
def test_training_reaches_dropout_from_a_model_and_a_seed_repeats_it(kind):
    def outputs(seed, **options):
        keras.utils.set_random_seed(0)  # of parameters
        return kind(dropout=0.5, seed=seed)(*arrays_of(), **options).numpy()

    calm = outputs(1)
    close(outputs(1, training=False), calm, 0)
    assert (outputs(1, training=True) != calm).any()
    close(outputs(1, training=True), outputs(1, training=True), 0)
    assert (outputs(1, training=True) != outputs(2, training=True)).any()


@every_layer
@pytest.mark.parametrize("dtype", HALF)
def test_a_mixed_policy_computes_in_half_precision_with_parameters_in_single(name, dtype):
    layer = LAYERS[name].make(dtype=f"mixed_{dtype}")
    assert {w.dtype for w in named(layer).values()} <= {"float32"}
    output = layer(*[x.numpy() for x in arrays_of(dtype="float64")], LENS)
    assert output.dtype == dtype
    close(output, LAYERS[name].make()(*arrays_of(), LENS), 8 * TOLERANCE[dtype])
    _, weights = layer(*arrays_of(m=4096), need_weights=True)
    assert abs(np.sum(weights, -1, dtype=float) - 1).max() < TOLERANCE[dtype] / 16


def test_kernels_take_lists_and_arrays_of_types_that_differ():
    x, y, at = [1.0, 4.0, 6.0], [2.0, 1.0, 7.0], [3.0, 5.0]
    want, _ = ours.nadaraya_watson(x, y, at, ours.gaussian)
    for keys, kind in ((np.array(x), "float64"), (np.array(x, int), "float32")):
        got, _ = ours.nadaraya_watson(keys, y, tf.constant(at), ours.gaussian)
        assert got.dtype == kind
        close(got, want)


# ---- XLA, derivatives


def test_few_additive_scores_have_second_and_forward_derivatives_and_those_of_each_example():
    layer, X = LAYERS["additive"].make(dtype="float64"), array_of(B, N, D, dtype="float64")

    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = tf.reduce_sum(layer(x, x, x, valid_lens=[0, 2, 3]) ** 2)
        return tape.gradient(total, x)

    close(tf.vectorized_map(slope, X), tf.stack([slope(x) for x in X]))
    x, direction = X
    (theory,), (practice,) = tf.test.compute_gradient(slope, [x])
    assert np.isfinite(theory).all()
    close(theory, practice, 1e-6)
    with tf.autodiff.ForwardAccumulator(x, direction) as forward:
        found = slope(x)
    close(np.ravel(forward.jvp(found)), theory @ np.ravel(direction))


def test_a_graph_takes_no_queries_and_no_examples_and_a_list_that_holds_tensors():
    layer = ours.AdditiveAttention(5)
    program = tf.function(layer, input_signature=[tf.TensorSpec((None, None, D))] * 3)
    for b, n in ((2, 0), (0, 3)):
        assert program(*[tf.zeros((b, n, D))] * 3).shape == (b, n, D)
    program = tf.function(lambda X: ours.masked_softmax(X, [tf.shape(X)[2], 3]))
    close(program(X := array_of(B, N, M)), ours.masked_softmax(X, [4, 3]), 0)


def test_eager_calls_with_other_sizes_trace_additive_scores_no_more_than_twice():
    layer = LAYERS["additive"].make()
    layer(*arrays_of(1, 240, 240))  # 5 hidden units of each pair
    before = ours.score_each.experimental_get_tracing_count()
    for sizes in ((2, 160, 170), (3, 130, 150), (4, 120, 130), (1, 300, 200), (5, 110, 120)):
        layer(*arrays_of(*sizes))
    assert ours.score_each.experimental_get_tracing_count() - before <= 2


def test_a_layer_may_get_its_parameters_inside_a_graph():
    layer, x = ours.MultiHeadAttention(6, 3), array_of(B, N, 6)
    close(tf.function(lambda x: layer(x, x, x))(x), layer(x, x, x))


# ---- wrong input, through Keras's own wrapping


def test_an_error_in_a_layer_still_has_one_line_that_names_the_argument():
    layer = ours.DotProductAttention()
    with pytest.raises(ValueError, match=r"\n.*valid_lens must lie in 0\.\.4, got 2\.\.9.*\n"):
        layer(*arrays_of(), valid_lens=[2, 9])
    refuses(layer, ValueError, "passed as a keyword argument", *arrays_of(), [2, 1])


def test_a_check_shows_the_line_that_a_layer_or_an_operation_means():
    def inputs(rng):
        yield from ((rng.random((2, 3, 4)),), (rng.random((1, 5, 4)),))

    exercise, layer = Exercise("0.1", lambda x: x, inputs), ours.DotProductAttention()
    result = check(exercise, lambda x: layer(x, x, x, valid_lens=[9, 9]))
    assert "raises ValueError: valid_lens must lie in 0..3, got 9..9 (line " in result.message


# ---- devices


def test_a_device_is_a_gpu_where_there_is_one_unless_one_is_forced(monkeypatch):
    monkeypatch.setenv("D2L_DEVICE", "")
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: ["one"])
    assert (ours.try_gpu(), ours.try_gpu(1)) == ("/GPU:0", "/CPU:0")
    monkeypatch.setenv("D2L_DEVICE", "cuda:1")
    assert ours.try_gpu() == "/GPU:1"
    monkeypatch.setenv("D2L_DEVICE", "cpu")
    assert ours.try_gpu() == "/CPU:0"
    with tf.Graph().as_default(), tf.device("/GPU:0"):  # inputs of checks stay on the CPU
        assert load("tensorflow").make_array(np.ones(2)).device == "/device:CPU:0"


def test_another_backend_of_keras_is_refused(monkeypatch):
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    message = "the edition in TensorFlow needs KERAS_BACKEND=tensorflow, got 'jax'"
    refuses(check_installed, ImportError, message, "tensorflow")


def test_additive_scores_hold_one_query_and_shared_keys_are_not_copied():
    def training(*arrays):
        with tf.GradientTape() as tape:
            tape.watch(arrays)
            loss = tf.reduce_sum(ours.additive_scores(*arrays) ** 2)
        return tape.gradient(loss, arrays)

    with tf.device("/CPU:0"):  # a GPU has other plans
        arrays = [tf.ones((1, 256, 8)), tf.ones((1, 256, 8)), tf.ones(8)]
        assert ours.temporary_bytes(training, *arrays) < 256 * 256 * 8 * 4 / 2  # of the table
        layer, x = ours.MultiHeadAttention(64, 8, num_kv_heads=1), tf.ones((1, 256, 64))
        layer(x, x, x)
        keys = 256 * 8 * 4  # bytes, of the one head; values are as many
        assert ours.temporary_bytes(lambda x: layer(x[:, :1], x, x), x) < 8 * keys
