"""What a user of Keras expects of a layer: files, masks, training, types; Keras's own layers."""

import os
import subprocess
import sys
from functools import partial

import keras
import numpy as np
import pytest
import tensorflow as tf

from d2l_attention import tensorflow as ours
from d2l_attention.practice import Exercise, check
from tests.contract.comparing import HALF, TOLERANCE, close, refuses
from tests.contract.samples import NAN
from tests.tensorflow.adapter import named
from tests.tensorflow.cases import LAYERS, B, D, M, N, V, batch, layer_of, normal

every_layer = pytest.mark.parametrize("name", LAYERS)
H5PY = "ignore:__array__ implementation:DeprecationWarning"  # writes files
pytestmark = pytest.mark.filterwarnings(H5PY)
half = pytest.mark.parametrize("dtype", HALF)


# ---- files


def model_of(layer) -> keras.Model:
    inputs = [keras.Input((None, size)) for size in (D, D, V)]
    lens = keras.Input((), dtype="int32")
    return keras.Model([*inputs, lens], layer(*inputs, lens))


@every_layer
def test_a_model_is_saved_and_loaded(name, tmp_path):
    model, inputs = model_of(layer_of(name, dropout=0.25)), [*batch(), tf.constant([4, 2])]
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    close(again(inputs), model(inputs), 0)


@every_layer
def test_a_layer_is_made_again_from_its_config(name):
    layer = layer_of(name, dropout=0.25, dtype="mixed_bfloat16")
    again = type(layer).from_config(layer.get_config())
    assert again.get_config() == layer.get_config()
    inner = again.attention if name == "heads" else again
    assert inner.get_config()["dropout"] == 0.25
    assert again.compute_dtype == inner.compute_dtype == "bfloat16"


def test_a_config_holds_what_its_layer_was_made_with():
    cosine = ours.CosineAttention(0.1, temperature=2.0, learnable=False)
    kept = {"dropout": 0.1, "temperature": 2.0, "learnable": False}
    assert kept.items() <= cosine.get_config().items()
    heads = ours.MultiHeadAttention(8, 4, bias=True, num_kv_heads=2, attention=ours.CosineAttention)
    again = ours.MultiHeadAttention.from_config(heads.get_config())
    assert type(again.attention) is ours.CosineAttention
    assert (again.num_heads, again.num_kv_heads, again.W_q.use_bias) == (4, 2, True)


@every_layer
def test_weights_are_saved_and_loaded_alone(name, tmp_path):
    one, other = (model_of(layer_of(name)) for _ in range(2))
    for weight in one.trainable_weights:
        weight.assign(weight + 0.5)
    one.save_weights(tmp_path / "of.weights.h5")
    other.load_weights(tmp_path / "of.weights.h5")
    inputs = [*batch(), tf.constant([4, 2])]
    close(other(inputs), one(inputs), 0)


# ---- masks of Keras


def embedded(tokens) -> tuple[keras.layers.Layer, tf.Tensor]:
    embedding = keras.layers.Embedding(9, D, mask_zero=True)
    return embedding, embedding(tf.constant(tokens))


@pytest.mark.parametrize("name", LAYERS)
def test_the_mask_of_an_embedding_hides_padding_by_itself(name):
    _, x = embedded([[5, 3, 0, 0], [1, 2, 7, 0]])
    layer = ours.MultiHeadAttention(6, 3) if name == "heads" else layer_of(name)
    plain = tf.constant(x.numpy())  # without a mask
    close(layer(x, x, x), layer(plain, plain, plain, tf.constant([2, 3])))
    close(layer(plain, plain, plain), layer(plain, plain, plain, tf.constant([4, 4])))


@pytest.mark.parametrize("parts", [[6], [4, 2], [4, 1, 1]])
@pytest.mark.parametrize("graph", [False, True])
def test_a_cache_keeps_the_mask_of_an_embedding_until_its_places_are_taken_anew(parts, graph):
    _, x = embedded([[0, 0, 3, 4, 8, 1], [5, 6, 7, 8, 2, 2]])
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
    _, x = embedded([[5, 3, 0, 0], [0, 2, 7, 1]])
    plain, layer = tf.constant(x.numpy()), ours.DotProductAttention()
    mask = tf.constant(np.tri(4, dtype=bool))
    keys = np.array([[1, 1, 0, 0], [0, 1, 1, 1]], bool)[:, None]
    both = layer(plain, plain, plain, tf.constant([4, 3]), mask=mask & keys)
    close(layer(x, x, x, tf.constant([4, 3]), mask=mask), both)


def test_outputs_have_the_mask_of_the_queries_for_the_next_layer():
    _, x = embedded([[5, 3, 0, 0]])
    for layer in (ours.DotProductAttention(), ours.MultiHeadAttention(D, 1)):
        output, weights = layer(x, x, x, mask=tf.ones((4, 4), bool), need_weights=True)
        assert output._keras_mask.numpy().tolist() == [[True, True, False, False]]
        assert getattr(weights, "_keras_mask", None) is None


# ---- training


@pytest.mark.parametrize("kind", [ours.DotProductAttention, partial(ours.MultiHeadAttention, 6, 3)])
def test_training_reaches_dropout_from_a_model_and_a_seed_repeats_it(kind):
    def outputs(seed, **options):
        keras.utils.set_random_seed(0)  # of parameters
        return kind(dropout=0.5, seed=seed)(*batch(), **options).numpy()

    calm = outputs(1)
    close(outputs(1, training=False), calm, 0)
    assert (outputs(1, training=True) != calm).any()
    close(outputs(1, training=True), outputs(1, training=True), 0)
    assert (outputs(1, training=True) != outputs(2, training=True)).any()


@pytest.mark.filterwarnings("ignore:Layer .* `quantize`")
@pytest.mark.parametrize("name", ["additive", "bilinear", "heads", "additive in heads"])
def test_a_quantized_layer_gives_nearly_the_same(name):
    inside = {"attention": lambda **options: ours.AdditiveAttention(5, **options)}
    layer = ours.MultiHeadAttention(6, 3, **inside) if "in" in name.split() else layer_of(name)
    inputs = [keras.Input((None, size)) for size in (D, D, V)]
    model, arrays = keras.Model(inputs, layer(*inputs)), batch()
    want = model(arrays)
    model.quantize("int8")
    close(model(arrays), want, 0.05)


# ---- types


@every_layer
@half
def test_a_mixed_policy_computes_in_half_precision_with_parameters_in_single(name, dtype):
    layer = layer_of(name, dtype=f"mixed_{dtype}")
    assert {w.dtype for w in named(layer).values()} <= {"float32"}
    output = layer(*batch(), tf.constant([4, 2]))
    assert output.dtype == dtype
    want = layer_of(name)(*batch(), tf.constant([4, 2]))
    close(output, want, 8 * TOLERANCE[dtype])


@every_layer
def test_inputs_take_the_type_of_the_layer_as_in_keras(name):
    arrays = [x.numpy() for x in batch(dtype="float64")]  # NumPy's arrays will do
    assert layer_of(name)(*arrays).dtype == "float32"
    assert layer_of(name, dtype="float64")(*arrays).dtype == "float64"


def test_a_norm_is_taken_in_single_precision_or_wider():
    half = ours.unit_vectors(tf.constant([[300.0, 400.0]], tf.float16))  # squares overflow there
    assert half.dtype == tf.float16
    close(half, [[0.6, 0.8]], 1e-3)


@pytest.mark.parametrize("of_cache", ["float32", "bfloat16"])
def test_a_cache_of_any_type_keeps_the_type_of_the_inputs(of_cache):
    layer, x = ours.MultiHeadAttention(8, 4, dtype="mixed_bfloat16"), normal(B, 4, 8)
    want, cache = layer(x, x, x, causal=True), ours.KeyValueCache(B, 4, 4, 2, of_cache)
    for i in range(4):
        output = layer(*[x[:, i : i + 1]] * 3, causal=True, cache=cache)
        assert output.dtype == "bfloat16"
        close(output[:, 0], want[:, i], 4 * TOLERANCE["bfloat16"])
    assert cache.keys.dtype == of_cache


# ---- wrong input, through Keras's own wrapping


def test_an_error_in_a_layer_still_has_one_line_that_names_the_argument():
    layer = ours.DotProductAttention()
    with pytest.raises(ValueError, match=r"\n.*valid_lens must lie in 0\.\.4, got 2\.\.9.*\n"):
        layer(*batch(), valid_lens=[2, 9])
    refuses(layer, ValueError, "passed as a keyword argument", *batch(), [2, 1])


def test_a_check_shows_the_line_that_a_layer_or_an_operation_means():
    def inputs(rng):
        yield from ((rng.random((2, 3, 4)),), (rng.random((1, 5, 4)),))

    exercise, layer = Exercise("0.1", lambda x: x, inputs), ours.DotProductAttention()
    result = check(exercise, lambda x: layer(x, x, x, valid_lens=[9, 9]))
    assert "raises ValueError: valid_lens must lie in 0..3, got 9..9 (line " in result.message
    result = check(exercise, lambda x: x + tf.ones(3))
    said = "raises InvalidArgumentError: Incompatible shapes: [2,3,4] vs. [3] (line "
    assert said in result.message
    assert "Did an axis get lost" in result.message


# ---- Keras's own layers


def test_scaled_dot_products_equal_those_of_keras_where_every_query_has_a_key():
    queries, keys, values = batch()
    theirs = keras.layers.Attention(score_mode="dot")
    keep = tf.sequence_mask([4, 2], M)
    want = theirs([queries / D**0.5, values, keys], mask=[None, keep])
    close(ours.DotProductAttention()(queries, keys, values, tf.constant([4, 2])), want)


def test_additive_scores_equal_those_of_keras_where_the_projections_are_the_identity():
    queries, keys, values = batch()
    layer, theirs = ours.AdditiveAttention(D), keras.layers.AdditiveAttention()
    theirs.build([queries.shape, values.shape, keys.shape])
    theirs.scale.assign(normal(D, seed=5))
    layer.build(queries.shape, keys.shape)
    for projection in (layer.W_q, layer.W_k):
        projection.kernel.assign(np.eye(D))
    layer.w_v.kernel.assign(theirs.scale[:, None])
    keep = tf.sequence_mask([4, 2], M)
    want, shown = theirs([queries, values, keys], [None, keep], return_attention_scores=True)
    output, weights = layer(queries, keys, values, tf.constant([4, 2]), need_weights=True)
    close(output, want)
    close(weights, shown)


RANDOM = np.random.default_rng(0).random((B, 4, M, M)) < 0.7
RANDOM |= np.eye(M, dtype=bool)  # no row is empty
RANDOM[:, 1] = np.arange(M) == 0  # what this head does not see, others do
MASKS = {"of lengths": tf.sequence_mask([4, 2], M)[:, None], "of heads": RANDOM}
MASKS |= {"of one head": RANDOM[:, :1], "of all": RANDOM[0, 0]}


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", ["bool", "int32"])
@pytest.mark.parametrize("keep", MASKS.values(), ids=MASKS)
def test_heads_equal_those_of_keras_with_the_same_parameters(causal, dtype, keep):
    x, heads, d = normal(B, M, 8), 4, 2
    theirs = keras.layers.MultiHeadAttention(heads, d, use_bias=False)
    theirs.build(x.shape, x.shape)
    layer = ours.MultiHeadAttention(8, heads)
    layer.build(x.shape, x.shape, x.shape)
    own = (theirs.query_dense, theirs.key_dense, theirs.value_dense, theirs.output_dense)
    for mine, given in zip((layer.W_q, layer.W_k, layer.W_v, layer.W_o), own, strict=True):
        mine.kernel.assign(tf.reshape(given.kernel, (8, 8)))
    keep = tf.cast(keep, dtype)
    options = {"attention_mask": keep, "use_causal_mask": causal, "return_attention_scores": True}
    want, shown = theirs(x, x, **options)
    output, weights = layer(x, x, x, mask=keep, causal=causal, need_weights=True)
    close(output, want)
    close(weights, shown)


@pytest.mark.parametrize("attention", [ours.DotProductAttention, ours.CosineAttention, None])
def test_a_mask_for_each_head_is_that_of_the_head_where_heads_share_keys(attention):
    attention = attention or (lambda **options: ours.AdditiveAttention(5, **options))
    layer = ours.MultiHeadAttention(8, 4, num_kv_heads=2, attention=attention)
    x = normal(B, M, 8)
    _, weights = layer(x, x, x, mask=RANDOM, need_weights=True)
    for head in range(4):
        _, alone = layer(x, x, x, mask=RANDOM[:, head], need_weights=True)
        close(weights[:, head], alone[:, head])


def test_shared_keys_are_not_copied_for_each_head():
    layer, x = ours.MultiHeadAttention(64, 8, num_kv_heads=1), normal(1, 256, 64)
    layer(x, x, x)
    keys = 256 * 8 * 4  # bytes, of the one head; values are as many
    assert ours.temporary_bytes(lambda x: layer(x[:, :1], x, x), x) < 8 * keys


@every_layer
def test_a_layer_knows_the_shape_of_its_output(name):
    layer, arrays = layer_of(name), batch()
    shapes = [tuple(x.shape) for x in arrays]
    assert layer.compute_output_shape(*shapes) == layer(*arrays).shape
    output, weights = layer(*map(keras.Input, [x[1:] for x in shapes]), need_weights=True)
    assert (output.shape[1:], weights.shape[-2:]) == (layer(*arrays).shape[1:], (N, M))


def test_a_row_without_a_key_averages_its_padding_in_keras():
    queries, keys, values = (tf.zeros((1, 1, D)), tf.zeros((1, 2, D)), tf.ones((1, 2, V)))
    none = tf.zeros((1, 2), bool)
    theirs = keras.layers.Attention()([queries, values, keys], mask=[None, none])
    close(theirs, np.ones((1, 1, V)))
    close(ours.DotProductAttention()(queries, keys, values, tf.constant([0])), np.zeros((1, 1, V)))


def test_nan_in_padding_reaches_the_output_in_keras():
    queries, keys, values = (x.numpy() for x in batch())
    values[0, 3] = NAN
    keep = tf.sequence_mask([3, 4], M)
    theirs = keras.layers.Attention()([queries, values, keys], mask=[None, keep])
    assert np.isnan(theirs).any()
    output = ours.DotProductAttention()(queries, keys, values, tf.constant([3, 4]))
    assert np.isfinite(output).all()


# ---- devices


def test_a_device_is_a_gpu_where_there_is_one(monkeypatch):
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


def test_the_report_names_versions_and_device():
    report = ours.environment_report(ours.try_gpu())
    names = [line.split("  ")[0] for line in report.splitlines()]
    assert {"Python", "tensorflow", "keras", "device", "free memory"} <= set(names)
    assert "torch" not in names
    assert "not installed" not in report


def test_another_backend_of_keras_is_refused_in_one_line():
    done = subprocess.run(
        [sys.executable, "-c", "import d2l_attention.tensorflow"],
        env=os.environ | {"KERAS_BACKEND": "jax"},
        capture_output=True,
        text=True,
    )
    last = done.stderr.splitlines()[-1]
    message = "the edition in TensorFlow needs KERAS_BACKEND=tensorflow, got 'jax'"
    assert last == f"ImportError: {message}"
