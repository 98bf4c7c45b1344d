# SPDX-License-Identifier: Apache-2.0
"""Small networks trained here, exported as people export them, and what Atoll makes of the files.

``python -m benchmarks.trained OUT`` trains and writes the files, in an environment that has the
packages which `PACKAGES` names. ``python -m benchmarks.trained.check OUT`` holds Atoll against
TFLM and onnxruntime on them, in Atoll's own environment.
"""

PACKAGES = ("tensorflow", "tf_keras", "tf2onnx", "onnxruntime", "torch", "onnxscript")
"""What training needs; none of them is a dependency of Atoll, and only onnxruntime of its tests."""

NETWORKS = {
    "cnn": "keras_files",
    "temporal": "keras_files",
    "mobilenet": "keras_files",
    "unet": "keras_files",
    "transformer": "keras_files",
    "lstm": "keras_files",
    "lstm_unrolled": "keras_files",
    "torch_residual": "torch_files",
    "torch_transformer": "torch_files",
}
"""By name, the module of this folder that trains and writes it."""

OF_KERAS_2 = ("lstm",)
"""Networks that Keras 2 makes: its LSTM becomes one operator of TFLite, that of Keras 3 a loop."""

SEED = 20
TESTED, CALIBRATING = 100, 100
"""Samples that are written beside each file, and those that show a quantiser the ranges."""
