# SPDX-License-Identifier: Apache-2.0
"""Random float networks that onnxruntime's `quantize_static` quantises, in all its modes.

`python -m tests.onnx_quantised 1000` holds so many against onnxruntime, each quantised value made
of Atoll's operands, and counts by kind what is refused.
"""

import logging
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import onnx
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidGraph, NotImplemented
from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process
from tests.onnx_networks import Network, Samples

from atoll.artifacts.samples import random_samples
from atoll.diagnostics.errors import ModelError
from atoll.frontend.onnx.imported import import_file
from atoll.frontend.onnx.settling import settle_file
from atoll.report.oracle import OracleVerdict
from atoll_sim.oracle.onnx import against_onnxruntime
from atoll_sim.oracle.onnx_runs import outputs

_GIVEN_UP = (InvalidGraph, Fail, NotImplemented, RuntimeError, ValueError, KeyError, IndexError)

Shape = tuple[int, ...]
Step = Callable[["Growing"], None]


@dataclass
class Growing:
    """A network that grows at its end.

    Attributes:
        net: the network.
        value: its last value.
        shape: of that.
    """

    net: Network
    value: str
    shape: Shape

    def node(self, op: str, *inputs: str, **attributes: Any) -> None:
        """Apply an operator that keeps the shape."""
        self.value = self.net.node(op, self.value, *inputs, **attributes)

    def pick(self, *values: Any) -> Any:
        return values[int(self.net.rng.integers(len(values)))]


def _conv(g: Growing) -> None:
    channels, made = g.shape[1], g.pick(2, 4, 8)
    kernel, stride = g.pick(1, 3), g.pick(1, 1, 2)
    group = channels if g.pick(0, 0, 1) and made % channels == 0 else 1
    g.value = g.net.conv(g.value, channels, made, kernel, stride, group)
    rows = (-(-extent // stride) for extent in g.shape[2:])
    g.shape = (1, made, *rows)


def _activation(g: Growing) -> None:
    how = g.pick(*range(10))
    before = g.value
    if how == 0:
        g.node("Clip", g.net.constant(0.0), g.net.constant(6.0))
    elif how == 1:
        g.node("LeakyRelu", alpha=0.1)
    elif how == 2:
        g.node("Sigmoid")
        g.value = g.net.node("Mul", before, g.value)
    elif how == 3:
        g.node("HardSigmoid")
        g.value = g.net.node("Mul", before, g.value)
    else:
        g.node(("Relu", "Relu", "HardSwish", "Sigmoid", "Tanh", "Elu")[how - 4])


def _pool(g: Growing) -> None:
    op = g.pick("MaxPool", "AveragePool")
    g.node(op, kernel_shape=[2, 2], strides=[2, 2])
    g.shape = (*g.shape[:2], g.shape[2] // 2, g.shape[3] // 2)


def _residual(g: Growing) -> None:
    before, shape = g.value, g.shape
    g.value = g.net.conv(g.value, shape[1], shape[1], g.pick(1, 3))
    if g.pick(0, 1):
        _activation(g)
    g.value = g.net.node(g.pick("Add", "Add", "Mul", "Sub"), before, g.value)


def _joined(g: Growing) -> None:
    other = g.net.conv(g.value, g.shape[1], 4, 1)
    g.value = g.net.node("Concat", g.value, other, axis=1)
    g.shape = (1, g.shape[1] + 4, *g.shape[2:])


def _moved(g: Growing) -> None:
    how = g.pick(0, 1, 2, 3, 4)
    batch, channels, height, width = g.shape
    if how == 0:
        g.node("Pad", g.net.constant([0, 0, 1, 0, 0, 0, 1, 2], "int64"))
        g.shape = (batch, channels, height + 2, width + 2)
    elif how == 1:
        sizes = g.net.constant([1, channels, 2 * height, 2 * width], "int64")
        mode = g.pick({"mode": "nearest", "nearest_mode": "floor"}, {"mode": "linear"})
        g.node("Resize", "", "", sizes, coordinate_transformation_mode="asymmetric", **mode)
        g.shape = (batch, channels, 2 * height, 2 * width)
    elif how == 2 and height > 1:
        ends = [g.net.constant([each], "int64") for each in (1, height, 2)]
        g.node("Slice", *ends)
        g.shape = (batch, channels, height - 1, width)
    elif how == 3:
        g.node("Transpose", perm=[0, 1, 3, 2])
        g.shape = (batch, channels, width, height)
    elif channels % 4 == 0:
        g.node("DepthToSpace", blocksize=2)
        g.shape = (batch, channels // 4, 2 * height, 2 * width)


def _normalised(g: Growing) -> None:
    channels = g.shape[1]
    parameters = [g.net.constant(g.net.rng.uniform(0.5, 1.5, channels)), g.net.normal(channels)]
    if g.pick(0, 1):
        g.node("InstanceNormalization", *parameters)
        return
    _conv(g)
    channels = g.shape[1]
    given = [g.net.rng.uniform(0.5, 1.5, channels) for _ in range(4)]
    g.node("BatchNormalization", *map(g.net.constant, given))


STEPS: tuple[Step, ...] = (
    *(_conv, _conv, _conv, _activation, _activation, _activation),
    *(_pool, _residual, _residual, _joined, _moved, _normalised),
)


def _head(g: Growing) -> None:
    how = g.pick(0, 1, 2, 3)
    if how == 0:
        return
    if how == 1:
        g.node("GlobalAveragePool")
        g.shape = (*g.shape[:2], 1, 1)
    g.node("Flatten")
    count = prod(g.shape[1:])
    g.node("Gemm", g.net.normal(6, count, scale=count**-0.5), g.net.normal(6), transB=1)
    if how == 3:
        g.node("Mul", g.net.node("Sigmoid", g.value))
        g.node("MatMul", g.net.normal(6, 6, scale=0.4))
        if g.pick(0, 1):
            g.node("LayerNormalization", g.net.constant(g.net.rng.uniform(0.5, 1.5, 6)))
    if g.pick(0, 1):
        g.node("Softmax", axis=-1)


def network(seed: int) -> Network:
    """Return a float network; its output is its last value."""
    net = Network((1, 3, 8, 8), seed)
    g = Growing(net, "x", net.shape)
    if g.pick(*(0,) * 9, 1) == 0:
        _conv(g)  # what quantize_static does not know in front leaves the input real
    for _ in range(int(net.rng.integers(1, 7))):
        if min(g.shape[2:]) < 2 or prod(g.shape) > 4096:
            break
        STEPS[int(net.rng.integers(len(STEPS)))](g)
    _head(g)
    net.output = g.value
    return net


def mode(seed: int) -> dict[str, Any]:
    """Draw the options of `quantize_static`."""
    rng = np.random.default_rng(seed + 10**6)

    def pick(*values: Any) -> Any:
        return values[int(rng.integers(len(values)))]

    form = pick(QuantFormat.QDQ, QuantFormat.QDQ, QuantFormat.QOperator)
    types = [(QuantType.QInt8, QuantType.QInt8), (QuantType.QUInt8, QuantType.QUInt8)]
    types += [(QuantType.QUInt8, QuantType.QInt8)]
    if form == QuantFormat.QDQ:
        types += [(QuantType.QInt16, QuantType.QInt8)]
    activations, weights = pick(*types)
    extra = {"ActivationSymmetric": pick(False, True), "WeightSymmetric": pick(True, True, False)}
    if activations == QuantType.QInt16:
        extra["ActivationSymmetric"] = True
    extra |= {"AddQDQPairToWeight": pick(False, True), "DedicatedQDQPair": pick(False, True)}
    extra |= {"ForceQuantizeNoInputCheck": pick(False, True)}
    if pick(0, 0, 1):
        extra["OpTypesToExcludeOutputQuantization"] = [pick("Conv", "Gemm", "Add", "MatMul")]
    methods = CalibrationMethod
    return {
        "quant_format": form,
        "activation_type": activations,
        "weight_type": weights,
        "per_channel": pick(False, True),
        "reduce_range": pick(False, False, False, True),
        "calibrate_method": pick(methods.MinMax, methods.Percentile, methods.Entropy),
        "extra_options": extra,
    }


def quantised(seed: int, folder: Path) -> bytes:
    """Return a network as onnxruntime quantises it, two of three after its own preparation."""
    net = network(seed)
    source, ready, target = (folder / f"{name}.onnx" for name in ("float", "ready", "quantised"))
    onnx.save(net.model(net.output), source)
    if seed % 3:
        quant_pre_process(source, ready, skip_symbolic_shape=True)
    else:
        ready = source
    quantize_static(ready, target, Samples(net.shape), **mode(seed))
    return target.read_bytes()


@contextmanager
def _here() -> Iterator[Callable[[bytes], bytes]]:
    """Settle files in this process, which generated files do no harm."""
    yield settle_file


def verdict(seed: int, folder: Path) -> OracleVerdict | list[str]:
    """Return what onnxruntime says of a network, or why it is refused."""
    try:
        data = quantised(seed, folder)
    except _GIVEN_UP as fault:
        return [f"quantize_static: {type(fault).__name__}: {str(fault)[:80]}"]
    path = folder / "quantised.onnx"
    path.write_bytes(data)
    with patch("atoll.frontend.onnx.imported.settler", _here):
        try:
            graph = import_file(path).graph
        except ModelError as refused:
            return [_kind(fault.message) for fault in refused.faults]
        samples = [[*sample.values()] for sample in random_samples(graph, 2)]
        return against_onnxruntime(path, samples, outputs)


def _kind(message: str) -> str:
    """Leave numbers and names out of a message."""
    message = re.sub(r"'[^']*'|\[[^\]]*\]", "_", message)
    return re.sub(r"-?\d+(\.\d+)?(e-?\d+)?", "N", message)


def main(first: int, count: int) -> int:
    """Print what so many networks come to."""
    logging.disable(logging.WARNING)
    found, refusals, refused, given = Counter[int](), Counter[str](), 0, 0
    with TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            made = verdict(seed, Path(folder))
            if isinstance(made, list):
                given += made[0].startswith("quantize_static")
                refused += not made[0].startswith("quantize_static")
                refusals.update(set(made))
                continue
            furthest = max(made.values)
            found[furthest] += 1
            if not made.passed:
                print(f"seed {seed}: {made}", flush=True)
    print(f"{count} networks, by the greatest difference in steps: {dict(sorted(found.items()))}")
    print(f"not quantised by onnxruntime: {given}; refused by Atoll: {refused}, by kind:")
    for kind, number in refusals.most_common():
        print(f"  {number}: {kind}")
    return int(max(found, default=0) > 1)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[2]) if len(sys.argv) > 2 else 0, int(sys.argv[1])))
