# SPDX-License-Identifier: Apache-2.0
"""Train the digits classifier of this example and write its int8 model and its test samples.

This is a one-off: the two files it writes are kept beside it, so nobody has to run it to build
the example. It needs the extra ``train``. A run takes about a minute on one CPU core and, with
the same package versions on the same kind of processor, writes the same bytes again.

    python train.py

The data are the 1797 greyscale 8x8 digits that come with scikit-learn. A stratified fifth is
held out: it takes no part in training or in quantisation, and becomes ``digits_test.npz``.
"""

import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # oneDNN may reorder sums between runs

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tensorflow import keras
from tensorflow.keras import layers
from tflite_micro.python.tflite_micro import runtime

HERE = Path(__file__).resolve().parent
MODEL_FILE = HERE / "digits_int8.tflite"
TEST_FILE = HERE / "digits_test.npz"

SEED = 20
HELD_OUT = 360
CLASSES = 10
BRIGHTEST = 16.0  # the pixels of the data set are the integers 0..16
EPOCHS = 150
BATCH = 32
PEAK_RATE = 4e-3
LOWEST_ACCURACY = 0.97

Images = npt.NDArray[np.float32]
Int8s = npt.NDArray[np.int8]
Labels = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """Images with their classes.

    Attributes:
        x: pixels, float32 [N, 8, 8, 1], 0..1.
        y: classes, uint8 [N], 0..9.
    """

    x: Images
    y: Labels


def main() -> None:
    """Train, quantise, measure and, if the model is good enough, write both files."""
    make_repeatable()
    training, held_out = split_digits()
    model = build_model()
    train(model, training)
    flatbuffer = quantise(model, training)
    x = quantise_images(flatbuffer, held_out.x)
    accuracy = float(np.mean(classify(flatbuffer, x) == held_out.y))
    print(f"{len(flatbuffer)} bytes, {accuracy:.2%} of {len(x)} held-out samples right")
    if accuracy < LOWEST_ACCURACY:
        raise SystemExit(f"accuracy is below {LOWEST_ACCURACY:.0%}: nothing written")
    write_atomically(MODEL_FILE, lambda path: path.write_bytes(flatbuffer))
    write_atomically(TEST_FILE, lambda path: save_samples(path, x, held_out.y))


def make_repeatable() -> None:
    """Seed every generator and forbid whatever makes two runs differ."""
    keras.utils.set_random_seed(SEED)
    tf.config.experimental.enable_op_determinism()
    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.config.threading.set_intra_op_parallelism_threads(1)


def split_digits() -> tuple[Samples, Samples]:
    """Return the training samples and the held-out ones, every class in the same proportion."""
    digits = load_digits()
    x = (digits.images[..., np.newaxis] / BRIGHTEST).astype(np.float32)
    y = digits.target.astype(np.uint8)
    x_train, x_test, y_train, y_test = train_test_split(
        x, y, test_size=HELD_OUT, stratify=y, random_state=SEED
    )
    return Samples(x=x_train, y=y_train), Samples(x=x_test, y=y_test)


def build_model() -> keras.Model:
    """Return the untrained network: a stem, a residual block, a strided block and a classifier."""
    image = keras.Input((8, 8, 1), name="image")
    stem = layers.ReLU()(normalised(layers.Conv2D(24, 3, padding="same", use_bias=False), image))
    inner = separable(stem, channels=24, stride=1)
    joined = layers.ReLU()(layers.Add()([stem, inner]))
    narrow = layers.ReLU()(separable(joined, channels=48, stride=2))
    pooled = layers.AveragePooling2D(2)(narrow)
    features = layers.Dropout(0.2)(layers.Flatten()(pooled))
    scores = layers.Dense(CLASSES, activation="softmax", name="scores")(features)
    return keras.Model(image, scores, name="digits")


def separable(x: keras.KerasTensor, *, channels: int, stride: int) -> keras.KerasTensor:
    """Apply a 3x3 depthwise and a 1x1 convolution, with no activation after the latter."""
    depthwise = layers.DepthwiseConv2D(3, strides=stride, padding="same", use_bias=False)
    spatial = layers.ReLU()(normalised(depthwise, x))
    return normalised(layers.Conv2D(channels, 1, use_bias=False), spatial)


def normalised(layer: keras.Layer, x: keras.KerasTensor) -> keras.KerasTensor:
    """Apply `layer` and a batch normalisation, which the converter folds into its weights."""
    return layers.BatchNormalization(momentum=0.95)(layer(x))


def train(model: keras.Model, samples: Samples) -> None:
    """Fit `model` to `samples`, which are turned, moved and zoomed a little at every epoch."""
    distort = keras.Sequential(
        [
            layers.RandomRotation(0.03, fill_mode="constant", seed=SEED),
            layers.RandomTranslation(0.1, 0.1, fill_mode="constant", seed=SEED + 1),
            layers.RandomZoom(0.1, fill_mode="constant", seed=SEED + 2),
        ]
    )
    steps = EPOCHS * math.ceil(len(samples.x) / BATCH)
    trainee = keras.Sequential([keras.Input((8, 8, 1)), distort, model])
    trainee.compile(
        optimizer=keras.optimizers.AdamW(
            keras.optimizers.schedules.CosineDecay(PEAK_RATE, steps), weight_decay=1e-3
        ),
        loss=keras.losses.CategoricalCrossentropy(label_smoothing=0.05),
    )
    classes = keras.utils.to_categorical(samples.y, CLASSES)
    trainee.fit(samples.x, classes, batch_size=BATCH, epochs=EPOCHS, verbose=2)


def quantise(model: keras.Model, samples: Samples) -> bytes:
    """Convert `model` to a TFLite flatbuffer that is int8 throughout and has batch size 1.

    Weights of convolutions have one scale per output channel, those of the dense layer a
    single one. The ranges of the activations are those seen on `samples`.
    """

    def representative() -> Iterator[list[Images]]:
        for sample in samples.x:
            yield [sample[np.newaxis]]

    image = keras.Input(batch_shape=(1, 8, 8, 1), name="image")  # no SHAPE or PACK operators
    single = keras.Model(image, model(image, training=False))
    converter = tf.lite.TFLiteConverter.from_keras_model(single)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = representative
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = tf.int8
    converter.inference_output_type = tf.int8
    converter._experimental_disable_per_channel_quantization_for_dense_layers = True
    return bytes(converter.convert())


def quantise_images(flatbuffer: bytes, images: Images) -> Int8s:
    """Return `images` in the scale and zero point of the model's input."""
    details = runtime.Interpreter.from_bytes(flatbuffer).get_input_details(0)
    parameters = details["quantization_parameters"]
    levels: Images = np.rint(images / parameters["scales"][0]) + parameters["zero_points"][0]
    return np.clip(levels, -128, 127).astype(np.int8)


def classify(flatbuffer: bytes, images: Int8s) -> Labels:
    """Return the class the reference kernels of TFLM give each image, uint8 [N]."""
    interpreter = runtime.Interpreter.from_bytes(flatbuffer)
    found = np.zeros(len(images), np.uint8)
    for index, image in enumerate(images):
        interpreter.set_input(image[np.newaxis], 0)
        interpreter.invoke()
        found[index] = interpreter.get_output(0).argmax()
    return found


def save_samples(path: Path, x: Int8s, y: Labels) -> None:
    """Write the test samples, pixels `x` int8 [N, 8, 8, 1] and classes `y` uint8 [N]."""
    with path.open("wb") as file:
        np.savez_compressed(file, x=x, y=y)


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file beside `path`, then give it that name."""
    temporary = path.with_name(path.name + ".tmp")
    write(temporary)
    temporary.replace(path)


if __name__ == "__main__":
    main()
