# SPDX-License-Identifier: Apache-2.0
"""Six small networks in Keras, as people write them, with the data that they are trained on."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from tensorflow import keras
from tensorflow.keras import layers

from benchmarks.trained import samples
from benchmarks.trained.samples import Samples


@dataclass(frozen=True, kw_only=True)
class Task:
    """A network and what it learns.

    Attributes:
        network: makes the untrained network; its input has a batch of one if `batch` is 1.
        data: makes samples, given how many and a seed.
        epochs: of training.
        count: samples to train with.
        onnx: whether it is written as ONNX too.
    """

    network: Callable[[int | None], Any]
    data: Callable[[int, int], Samples]
    epochs: int
    count: int = 1000
    onnx: bool = True


class Positions(layers.Layer):  # type: ignore[misc]
    """Adds a learnt value to each place."""

    def build(self, shape: Any) -> None:
        """Make the values, for results of `shape`."""
        self.values = self.add_weight(shape=shape[1:], initializer="random_normal")

    def call(self, x: Any) -> Any:
        """Return `x` with the values added."""
        return x + self.values


def cnn(batch: int | None) -> Any:
    """Return three convolutions with poolings between, and a dense layer."""
    x = image = keras.Input(batch_shape=(batch, 24, 24, 1), name="image")
    for channels in (8, 16, 24):
        x = layers.Conv2D(channels, 3, padding="same", use_bias=False)(x)
        x = layers.MaxPooling2D(2)(layers.ReLU()(layers.BatchNormalization(momentum=0.9)(x)))
    x = layers.Dropout(0.1)(layers.Flatten()(x))
    return keras.Model(image, layers.Dense(4, activation="softmax")(x), name="cnn")


def temporal(batch: int | None) -> Any:
    """Return a temporal network: causal convolutions in ever wider steps, each with a shortcut."""
    wave = keras.Input(batch_shape=(batch, 128, 1), name="wave")
    x = layers.Conv1D(16, 5, strides=2, padding="causal", activation="relu")(wave)
    for dilation in (1, 2, 4, 8):
        made = layers.Conv1D(16, 3, padding="causal", dilation_rate=dilation, activation="relu")(x)
        x = layers.Add()([x, layers.SpatialDropout1D(0.1)(made)])
    x = layers.GlobalAveragePooling1D()(x)
    return keras.Model(wave, layers.Dense(5, activation="softmax")(x), name="temporal")


def mobilenet(batch: int | None) -> Any:
    """Return MobileNetV2 of width 0.35 at 96x96, as the library has it."""
    image = keras.Input(batch_shape=(batch, 96, 96, 3), name="image")
    body = keras.applications.MobileNetV2(
        input_tensor=image, alpha=0.35, weights=None, include_top=False, pooling="avg"
    )
    for layer in body.layers:
        if isinstance(layer, layers.BatchNormalization):
            layer.momentum = 0.9  # few steps have to be enough
    scores = layers.Dense(4, activation="softmax")(body.output)
    return keras.Model(image, scores, name="mobilenet")


def unet(batch: int | None) -> Any:
    """Return a U-Net with two scales, one enlarged by interpolation and one by repetition."""
    image = keras.Input(batch_shape=(batch, 48, 48, 1), name="image")
    x, skipped = _twice(image, 8), []
    for channels in (16, 24):
        skipped.append(x)
        x = _twice(layers.MaxPooling2D(2)(x), channels)
    for channels, how in ((16, "bilinear"), (8, "nearest")):
        x = layers.UpSampling2D(2, interpolation=how)(x)
        x = _twice(layers.Concatenate()([x, skipped.pop()]), channels)
    pixels = layers.Conv2D(5, 1, activation="softmax")(x)
    return keras.Model(image, pixels, name="unet")


def transformer(batch: int | None) -> Any:
    """Return a transformer for keywords: two blocks of attention with learnt positions."""
    frames = keras.Input(batch_shape=(batch, 40, 10), name="frames")
    x = layers.Dense(32)(frames)
    x = Positions()(x)
    for _ in range(2):
        made = layers.MultiHeadAttention(num_heads=4, key_dim=8)(x, x)
        x = layers.LayerNormalization(epsilon=1e-3)(layers.Add()([x, made]))
        made = layers.Dense(32)(layers.Dense(64, activation="relu")(x))
        x = layers.LayerNormalization(epsilon=1e-3)(layers.Add()([x, made]))
    x = layers.GlobalAveragePooling1D()(x)
    return keras.Model(frames, layers.Dense(5, activation="softmax")(x), name="transformer")


def lstm(batch: int | None, *, unroll: bool = False) -> Any:
    """Return an LSTM and a dense layer; `unroll`: of all its steps, one after the other."""
    frames = keras.Input(batch_shape=(batch, 20, 10), name="frames")
    x = layers.LSTM(24, unroll=unroll)(frames)
    return keras.Model(frames, layers.Dense(5, activation="softmax")(x), name="lstm")


def _twice(x: Any, channels: int) -> Any:
    for _ in range(2):
        x = layers.Conv2D(channels, 3, padding="same", activation="relu")(x)
    return x


FRAMES = partial(samples.words, frames=20, bands=10)

TASKS = {
    "cnn": Task(network=cnn, data=partial(samples.shapes, size=24), epochs=12),
    "temporal": Task(network=temporal, data=partial(samples.tones, length=128), epochs=12),
    "mobilenet": Task(
        network=mobilenet,
        data=partial(samples.shapes, size=96, channels=3),
        epochs=10,
        count=1000,
    ),
    "unet": Task(network=unet, data=partial(samples.shapes_by_pixel, size=48), epochs=8, count=500),
    "transformer": Task(
        network=transformer, data=partial(samples.words, frames=40, bands=10), epochs=8
    ),
    "lstm": Task(network=lstm, data=FRAMES, epochs=10, onnx=False),
    "lstm_unrolled": Task(network=partial(lstm, unroll=True), data=FRAMES, epochs=10),
}
