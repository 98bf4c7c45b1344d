# SPDX-License-Identifier: Apache-2.0
"""What onnxruntime's quantiser makes of common networks: the same classes, and few transposes."""

import logging
from pathlib import Path

import numpy as np
import pytest
from tests.effort import in_gate
from tests.onnx_builder import Builder, loaded, run_onnxruntime
from tests.onnx_networks import NETWORKS, WAYS, quantized, sample

from atoll.cli import main
from atoll.ir.graph import Graph, Tensor
from atoll.ops import reference

SAMPLES = 20
MOST_STEPS = {"attention": 2}
TRANSPOSES = {"attention": 4, "mobile": 1, "residual": 1, "sequence": 1}


@pytest.fixture(autouse=True)
def silent(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)


def parameters(tensor: Tensor) -> tuple[float, int]:
    assert tensor.quantization is not None
    return tensor.quantization.scales[0], tensor.quantization.zero_points[0]


def compared(graph: Graph, model: bytes, shape: tuple[int, ...]) -> tuple[int, float]:
    """Return how many samples have the same class, and the greatest difference in steps."""
    (name,), (result,) = graph.inputs, graph.outputs
    (scale, zero), (step, origin) = (parameters(graph.tensor(each)) for each in (name, result))
    same, furthest = 0, 0.0
    for seed in range(100, 100 + SAMPLES):
        x = sample(shape, seed)
        (theirs,) = run_onnxruntime(model, {"x": x})
        given = np.clip(np.rint(x / np.float32(scale)) + zero, -128, 127).astype(np.int8)
        made = reference.run(graph, {name: given})[result].astype(np.float64)
        ours = (made - origin) * step
        same += int(ours.argmax() == theirs.argmax())
        furthest = max(furthest, float(np.abs(ours - theirs).max()) / step)
    return same, furthest


@pytest.mark.parametrize(
    ("name", "way"),
    [
        pytest.param(name, way, marks=() if turn == number % len(NETWORKS) else pytest.mark.slow)
        for turn, name in enumerate(NETWORKS)
        for number, way in enumerate(WAYS)
    ],
)
def test_networks(name: str, way: str, tmp_path: Path) -> None:
    model, shape = quantized(name, way, tmp_path)
    graph = loaded(model)
    same, furthest = compared(graph, model, shape)
    print(f"{name}, {way}: {same} of {SAMPLES} classes, {furthest:.1f} steps")
    assert same >= SAMPLES - 1  # classes that are as good as each other
    # onnxruntime computes QDQ in float32, the others in integers, as Atoll does.
    assert furthest <= (0.6 if way.startswith("qoperator") else MOST_STEPS.get(name, 1) + 0.01)
    kinds = [op.kind for op in graph.operators]
    assert kinds.count("transpose") == TRANSPOSES[name]


@pytest.mark.rtl
@pytest.mark.parametrize(
    ("name", "way"), in_gate([("residual", "qdq uint8"), ("mobile", "qoperator int8")], 0)
)
def test_a_chip_runs_them(
    name: str, way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, _ = quantized(name, way, tmp_path)
    path = tmp_path / "network.onnx"
    path.write_bytes(model)
    assert main(["run", "lagoon", str(path), "--brief"]) == 0
    told = capsys.readouterr().out
    assert "0 placement violations" in told


def test_normalised_layers_run_with_all_checks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Results may lie over operands, and means of a curve have 16 bits."""
    b = Builder(3)
    made = b.again(b.node("LayerNormalization", [b.x((2, 6, 8)), b.weights((8,)), b.bias(8)]))
    made = b.again(b.node("Gelu", [made]))
    made = b.again(b.node("InstanceNormalization", [made, b.weights((6,)), b.bias(6)]))
    made = b.node("ReduceMean", [b.node("Exp", [made]), b.plain([-1])], keepdims=0)
    path = tmp_path / "normalised.onnx"
    path.write_bytes(b.model([b.quantized(made, b.suited(made))]))
    chip = ["--cpu", "native", "--accelerator", "model"]
    assert main(["run", "lagoon", str(path), "--brief", *chip]) == 0
    assert "0 placement violations" in capsys.readouterr().out
