"""What a user of Keras expects of a layer: files, masks, training, types, models, XLA, devices."""

from functools import partial

import keras
import numpy as np
import pytest
import tensorflow as tf

from d2l_attention import tensorflow as ours
from d2l_attention.frameworks import check_installed
from d2l_attention.practice import Exercise, check
from tests.contract.comparing import HALF, TOLERANCE, close, refuses
from tests.contract.samples import LAYERS, NAN, B, D, M, N, V, array_of, arrays_of
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


def test_a_config_holds_what_its_layer_was_made_with():
    cosine = ours.CosineAttention(0.1, temperature=2.0, learnable=False)
    kept = {"dropout": 0.1, "temperature": 2.0, "learnable": False}
    assert kept.items() <= cosine.get_config().items()
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
@pytest.mark.parametrize("name", ["additive", "bilinear", "heads", "additive in heads"])
def test_a_quantized_layer_gives_nearly_the_same(name):
    inside = {"attention": lambda **options: ours.AdditiveAttention(5, **options)}
    layer = LAYERS[name].make() if name in LAYERS else ours.MultiHeadAttention(6, 3, **inside)
    inputs = [keras.Input((None, size)) for size in (D, D, V)]
    model, arrays = keras.Model(inputs, layer(*inputs)), arrays_of()
    want = model(arrays)
    model.quantize("int8")
    close(model(arrays), want, 0.05)


# ---- masks of Keras


def embedded(tokens) -> tf.Tensor:
    return keras.layers.Embedding(9, D, mask_zero=True)(tf.constant(tokens))


@every_layer
def test_the_mask_of_an_embedding_hides_padding_by_itself(name):
    x = embedded([[5, 3, 0, 0], [1, 2, 7, 0]])
    layer = ours.MultiHeadAttention(6, 3) if name == "heads" else LAYERS[name].make()
    plain = tf.constant(x.numpy())  # without a mask
    close(layer(x, x, x), layer(plain, plain, plain, tf.constant([2, 3])))
    close(layer(plain, plain, plain), layer(plain, plain, plain, tf.constant([4, 4])))


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


def test_the_mask_of_an_embedding_is_joined_with_lengths_and_mask():
    x = embedded([[5, 3, 0, 0], [0, 2, 7, 1]])
    plain, layer = tf.constant(x.numpy()), ours.DotProductAttention()
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
    output = layer(*arrays_of(), LENS)
    assert output.dtype == dtype
    close(output, LAYERS[name].make()(*arrays_of(), LENS), 8 * TOLERANCE[dtype])


@every_layer
def test_inputs_take_the_type_of_the_layer_as_in_keras(name):
    arrays = [x.numpy() for x in arrays_of(dtype="float64")]  # NumPy's arrays will do
    assert LAYERS[name].make()(*arrays).dtype == "float32"
    assert LAYERS[name].make(dtype="float64")(*arrays).dtype == "float64"


# ---- XLA, second derivatives


def test_second_derivatives_of_the_softmax_are_those_of_finite_differences():
    def slope(X):
        with tf.GradientTape() as tape:
            tape.watch(X)
            total = tf.reduce_sum(ours.masked_softmax(X, [[0, 2, 3], [4, 1, 0]]) ** 2)
        return tape.gradient(total, X)

    X = array_of(B, N, M, dtype="float64")
    (theory,), (practice,) = tf.test.compute_gradient(slope, [X])
    assert np.isfinite(theory).all()
    close(theory, practice, 1e-6)


def test_a_graph_takes_no_queries_and_no_examples():
    layer = ours.AdditiveAttention(5)
    program = tf.function(layer, input_signature=[tf.TensorSpec((None, None, D))] * 3)
    for b, n in ((2, 0), (0, 3)):
        assert program(*[tf.zeros((b, n, D))] * 3).shape == (b, n, D)


def test_eager_calls_with_other_sizes_trace_additive_scores_no_more_than_twice():
    layer = LAYERS["additive"].make()
    layer(*arrays_of(1, 1, 1))
    before = ours.score_each.experimental_get_tracing_count()
    for sizes in ((2, 3, 4), (3, 4, 5), (4, 5, 6), (1, 7, 2), (5, 1, 3)):
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
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: [])
    assert ours.try_gpu() == "/CPU:0"
    monkeypatch.setenv("D2L_DEVICE", "cuda:1")
    assert ours.try_gpu() == "/GPU:1"
    monkeypatch.setenv("D2L_DEVICE", "cpu")
    with tf.device(ours.try_gpu()):
        assert "CPU:0" in tf.zeros(N).device


def test_another_backend_of_keras_is_refused(monkeypatch):
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    message = "the edition in TensorFlow needs KERAS_BACKEND=tensorflow, got 'jax'"
    refuses(check_installed, ImportError, message, "tensorflow")


def test_additive_scores_hold_one_query_and_shared_keys_are_not_copied():
    arrays, table = [tf.ones((1, 256, 8)), tf.ones((1, 256, 8)), tf.ones(8)], 256 * 256 * 8 * 4

    def training(*arrays):
        with tf.GradientTape() as tape:
            tape.watch(arrays)
            loss = tf.reduce_sum(ours.additive_scores(*arrays) ** 2)
        return tape.gradient(loss, arrays)

    assert ours.temporary_bytes(training, *arrays) < table / 2
    layer, x = ours.MultiHeadAttention(64, 8, num_kv_heads=1), tf.ones((1, 256, 64))
    layer(x, x, x)
    keys = 256 * 8 * 4  # bytes, of the one head; values are as many
    assert ours.temporary_bytes(lambda x: layer(x[:, :1], x, x), x) < 8 * keys
