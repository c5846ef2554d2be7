"""What a user of Keras expects of a layer: files, masks, training, graphs, errors."""

from functools import partial

import keras
import numpy as np
import pytest
import tensorflow as tf

from d2l_attention import tensorflow as ours
from d2l_attention.frameworks import check_installed
from d2l_attention.practice import Exercise, check
from tests.contract import samples
from tests.contract.comparing import close, refuses
from tests.contract.samples import LAYERS, NAN, B, D, M, N, V, array_of, arrays_of

HEADS = partial(ours.MultiHeadAttention, 6, 3)
LENS = tf.constant([4, 2])
SHARED = samples.HEADS | {"num_kv_heads": 1, "bias": True, "attention": ours.CosineAttention}
SAVED = LAYERS | {"shared heads": samples.Score("MultiHeadAttention", SHARED, None)}


@pytest.mark.parametrize("name", SAVED)
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of h5py
def test_a_model_with_open_sizes_is_saved_and_loaded_whole_or_its_weights_alone(name, tmp_path):
    inputs, layer = [*arrays_of(), LENS], SAVED[name].make(dropout=0.25)
    opened = [*(keras.Input((None, size)) for size in (D, D, V)), keras.Input((), dtype="int32")]
    model, other = (keras.Model(opened, f(*opened)) for f in (layer, SAVED[name].make()))
    shape = layer.compute_output_shape(*map(np.shape, inputs[:3]))
    assert (model.output_shape, shape) == ((None, None, shape[-1]), layer(*inputs).shape)
    for weight in model.trainable_weights:
        weight.assign(weight + 0.5)
    want, _ = layer(*inputs, need_weights=True)
    model.save(tmp_path / "model.keras")
    close(keras.saving.load_model(tmp_path / "model.keras")(inputs), want, 0)
    model.save_weights(tmp_path / "of.weights.h5")
    other.load_weights(tmp_path / "of.weights.h5")
    close(other(inputs), want, 0)


def embedded(tokens) -> tf.Tensor:
    return keras.layers.Embedding(9, D, mask_zero=True)(tf.constant(tokens))


def test_a_cache_keeps_the_mask_of_an_embedding_until_its_places_are_taken_anew():
    x, layer = embedded([[0, 0, 3, 4, 8, 1], [5, 6, 7, 8, 2, 2]]), HEADS(num_kv_heads=1)
    want, cache = layer(x, x, x, causal=True), ours.KeyValueCache(B, 1, 6, 2)
    plain, mask = tf.constant(x.numpy()), x._keras_mask
    spoilt = tf.where(mask[..., None], plain, NAN)  # where padding stands

    @tf.function
    def read(x, mask):
        return layer(x, x, x, causal=True, cache=cache, keys_mask=mask)

    parts = (slice(0, 4), slice(4, 5), slice(5, 6))
    got = tf.concat([read(spoilt[:, part], mask[:, part]) for part in parts], 1)
    close(got[mask], want[mask])
    assert np.isfinite(cache.keys).all()
    cache.length.assign(0)
    close(layer(plain, plain, plain, cache=cache), layer(plain, plain, plain))


@pytest.mark.parametrize("kind", [ours.DotProductAttention, HEADS])
def test_the_mask_of_an_embedding_is_joined_with_others_and_handed_to_the_next_layer(kind):
    x, layer, mask = embedded([[5, 3, 0, 0], [0, 2, 7, 1]]), kind(), np.tri(4, dtype=bool)
    plain, both = [tf.constant(x.numpy())] * 3, mask & x._keras_mask.numpy()[:, None]
    output, weights = layer(x, x, x, LENS, mask=tf.constant(mask), need_weights=True)
    close(output, layer(*plain, LENS, mask=tf.constant(both)))
    close(output._keras_mask, x._keras_mask)
    assert getattr(weights, "_keras_mask", None) is None


@pytest.mark.parametrize("kind", [ours.DotProductAttention, HEADS])
def test_training_reaches_dropout_and_a_seed_repeats_it(kind):
    def outputs(seed, training=None):
        keras.utils.set_random_seed(0)  # of parameters
        return kind(dropout=0.5, seed=seed)(*arrays_of(), training=training).numpy()

    close(outputs(1, True), outputs(1, True), 0)
    assert all((outputs(1, True) != other).any() for other in (outputs(1), outputs(2, True)))


def test_lists_go_by_name_and_may_hold_tensors_and_a_check_shows_whose_line_it_was():
    layer, X = ours.DotProductAttention(), array_of(B, N, M)
    close(ours.masked_softmax(X, [tf.constant(4), 3]), ours.masked_softmax(X, [4, 3]), 0)
    refuses(layer, ValueError, "passed as a keyword argument", *arrays_of(), [2, 1])
    exercise = Exercise("0.1", lambda x: x, lambda rng: iter([(rng.random((2, 3, 4)),)] * 2))
    result = check(exercise, lambda x: layer(x, x, x, valid_lens=[9, 9]))
    assert "raises ValueError: valid_lens must lie in 0..3, got 9..9 (line " in result.message


def test_another_backend_of_keras_is_refused(monkeypatch):
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    message = "the edition in TensorFlow needs KERAS_BACKEND=tensorflow, got 'jax'"
    refuses(check_installed, ImportError, message, "tensorflow")
