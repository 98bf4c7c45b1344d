# SPDX-License-Identifier: Apache-2.0
"""What a file has beside its network: names of all sorts, and what nothing refers to."""

from dataclasses import replace
from random import Random

from tests.tflite_builder import Model, Operator, Tensor

NAMES = (None, "", "x", "größe/名前:0", "model/conv_2d_1/Relu;model/conv_2d_1/bias", "int", "a b\n")
UNUSED = (
    Operator(code="CONV_3D", inputs=(), outputs=()),
    Operator(code="CUSTOM", custom="TFLite_Detection_PostProcess", inputs=(), outputs=()),
)
METADATA = ("min_runtime_version", b"1.5.0\0\0\0"), ("größe", b"")


def dressed(chance: Random, model: Model) -> Model:
    """Return the model in a file as some converters and tools leave it."""
    if chance.random() < 0.7:
        return model
    tensors = list(model.tensors)
    if chance.random() < 0.5:
        names = chance.sample(NAMES, 2)
        tensors = [replace(each, name=chance.choice((each.name, *names))) for each in tensors]
    if chance.random() < 0.5:
        tensors = [
            _any_batch(each) if at in model.inputs else each for at, each in enumerate(tensors)
        ]
    if chance.random() < 0.3:
        tensors.append(Tensor(shape=(3, 1), dtype=chance.choice(("float32", "int64", "int8"))))
    return replace(
        model,
        tensors=tuple(tensors),
        unused=tuple(each for each in UNUSED if chance.random() < 0.3),
        metadata=tuple(each for each in METADATA if chance.random() < 0.3),
    )


def _any_batch(tensor: Tensor) -> Tensor:
    """Return a tensor whose first extent may change."""
    return replace(tensor, signature=(-1, *tensor.shape[1:])) if tensor.shape else tensor
