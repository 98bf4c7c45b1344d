# SPDX-License-Identifier: Apache-2.0
"""ONNX files of real numbers become QDQ ones, by onnxruntime's static quantiser."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from benchmarks.trained.samples import Array, Samples

TYPES = {"int8": QuantType.QInt8, "uint8": QuantType.QUInt8}
"""Of activations; onnxruntime's own choice is uint8 on many machines."""


def write_quantised(real: Path, folder: Path, name: str, shown: Array, tested: Samples) -> None:
    """Write a network once for each of `TYPES`.

    Args:
        real: the network of real numbers, which is removed.
        folder: where files go.
        name: stem of the files, without the type.
        shown: samples that show which ranges values have, float32 [N, ...].
        tested: what is written beside each file.
    """
    prepared = real.with_suffix(".prepared")
    quant_pre_process(real, prepared, skip_symbolic_shape=True)  # it knows not all of PyTorch's
    given = onnx.load(real).graph.input[0].name
    for suffix, kind in TYPES.items():
        path = folder / f"{name}_{suffix}.onnx"
        quantize_static(
            prepared,
            path,
            _Samples(given, shown),
            quant_format=QuantFormat.QDQ,
            activation_type=kind,
            weight_type=QuantType.QInt8,
            per_channel=True,
        )
        write_samples(path, tested)
    real.unlink()
    prepared.unlink()


def write_samples(beside: Path, tested: Samples, **more: Array) -> None:
    """Write samples `x`, their `labels` and other arrays beside the file of a network."""
    arrays: dict[str, Any] = {"x": tested.x, "labels": tested.y, **more}
    np.savez_compressed(beside.with_suffix(".npz"), **arrays)


class _Samples(CalibrationDataReader):  # type: ignore[misc]
    def __init__(self, name: str, samples: Array) -> None:
        self._samples = ({name: each[None]} for each in samples)

    def get_next(self) -> dict[str, Array] | None:
        return next(self._samples, None)
