# SPDX-License-Identifier: Apache-2.0
"""Networks of Keras are trained and become TFLite files and, through tf2onnx, ONNX files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import tensorflow as tf
import tf2onnx
from tensorflow import keras

from benchmarks.trained import CALIBRATING, SEED, TESTED
from benchmarks.trained.keras_networks import TASKS
from benchmarks.trained.quantising import write_quantised, write_samples
from benchmarks.trained.samples import Array

OPSET = 17
WITH_WIDE = ("cnn",)
"""Networks that are also written with activations of 16 bits."""


def write(name: str, folder: Path) -> None:
    """Train a network of `TASKS` and write its files."""
    task = TASKS[name]
    keras.utils.set_random_seed(SEED)
    model, training = task.network(None), task.data(task.count, SEED)
    model.compile(
        keras.optimizers.Adam(2e-3), "sparse_categorical_crossentropy", metrics=["accuracy"]
    )
    model.fit(training.x, training.y, batch_size=32, epochs=task.epochs, verbose=2)
    tested, shown = task.data(TESTED, SEED + 1), training.x[:CALIBRATING]
    print(f"{name}: right {model.evaluate(tested.x, tested.y, verbose=0)[1]:.1%}")
    single = _like(task.network(1), model)
    for wide in (False, True)[: 1 + (name in WITH_WIDE)]:
        path = folder / f"{name}{'_16x8' if wide else ''}.tflite"
        path.write_bytes(_tflite(single, shown, wide=wide))
        write_samples(path, tested, **_run(path, tested.x))
    if task.onnx:
        real = folder / f"{name}.real"
        _write_onnx(single, real)
        write_quantised(real, folder, name, shown, tested)


def _like(network: Any, trained: Any) -> Any:
    network.set_weights(trained.get_weights())
    return network


def _tflite(model: Any, shown: Array, *, wide: bool) -> bytes:
    """Return a network as TFLite, int8 in and out and throughout; `wide`: activations of 16 bits.

    Args:
        model: with a batch of one.
        shown: samples that show which ranges values have, float32 [N, ...].
        wide: whether activations have 16 bits.
    """

    def representative() -> Iterator[list[Array]]:
        for sample in shown:
            yield [sample[None]]

    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = representative
    ops = tf.lite.OpsSet
    way = ops.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
    converter.target_spec.supported_ops = [way if wide else ops.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = tf.int16 if wide else tf.int8
    converter.inference_output_type = tf.int16 if wide else tf.int8
    return bytes(converter.convert())


def _run(path: Path, samples: Array) -> dict[str, Array]:
    """Return samples as a file is `given` them, and what TFLite's kernels make."""
    kernels = tf.lite.experimental.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = tf.lite.Interpreter(str(path), experimental_op_resolver_type=kernels)
    interpreter.allocate_tensors()
    (takes,), (makes,) = interpreter.get_input_details(), interpreter.get_output_details()
    scale, zero = takes["quantization"]
    limits = np.iinfo(takes["dtype"])
    given = (np.rint(samples / scale) + zero).clip(limits.min, limits.max).astype(takes["dtype"])
    expected = []
    for sample in given:
        interpreter.reset_all_variables()
        interpreter.set_tensor(takes["index"], sample[None])
        interpreter.invoke()
        expected.append(interpreter.get_tensor(makes["index"]))
    return {"given": given, "expected": np.stack(expected)}


def _write_onnx(model: Any, path: Path) -> None:
    """Write a network with a batch of one as ONNX of real numbers."""
    function, signature = _function(model), [_signature(model)]
    made, _ = tf2onnx.convert.from_function(function, input_signature=signature, opset=OPSET)
    onnx.save(made, path)


def _signature(model: Any) -> Any:
    (given,) = model.inputs
    return tf.TensorSpec(given.shape, tf.float32, name=given.name)


def _function(model: Any) -> Any:
    return tf.function(lambda x: model(x, training=False), input_signature=[_signature(model)])
