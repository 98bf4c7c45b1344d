# SPDX-License-Identifier: Apache-2.0
"""The digits network as ONNX: the classes of onnxruntime, and in RTL the bytes of the reference."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from tests.effort import in_gate

from atoll.cli import main
from atoll.driver.pipeline import compile_file
from atoll.frontend.registry import load_network
from atoll.ops import reference
from atoll.ops.rounding import rounds_once
from atoll.resolve import load_soc

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "01_digits"
ONNX, TFLITE = FOLDER / "digits_qdq.onnx", FOLDER / "digits_int8.tflite"
CHANNELS_FIRST = (0, 3, 1, 2)


def samples() -> tuple[np.ndarray, np.ndarray]:
    data = np.load(FOLDER / "digits_test.npz")
    return data["x"], data["y"]


def test_the_file_is_what_its_script_writes(tmp_path: Path) -> None:
    path = tmp_path / "digits.onnx"
    subprocess.run([sys.executable, FOLDER / "to_onnx.py", path], check=True)
    assert path.read_bytes() == ONNX.read_bytes()


def test_classes_are_those_of_onnxruntime() -> None:
    ours, image = load_network(ONNX), load_network(TFLITE).tensor("image")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(ONNX, options)
    assert image.quantization is not None
    (scale,), (zero,) = image.quantization.scales, image.quantization.zero_points
    right, same, steps = [0, 0], 0, list[int]()
    for pixels, digit in zip(*samples(), strict=True):
        given = np.ascontiguousarray(pixels[np.newaxis].transpose(CHANNELS_FIRST))
        made = reference.run(ours, {"pixels": given})[ours.outputs[0]].astype(np.int64)
        real = (given.astype(np.float32) - zero) * np.float32(scale)
        (shares,) = session.run(None, {"pixels": real})
        right[0] += int(made.argmax() == digit)
        right[1] += int(shares.argmax() == digit)
        same += int(made.argmax() == shares.argmax())
        steps.append(int(np.abs(made + 128 - np.rint(shares * 256)).max()))
    assert (right, same) == ([356, 356], 360)
    # Means of four values are often halves, which float32 does not hit.
    assert max(steps) <= 4
    assert steps.count(0) >= 280


@pytest.mark.rtl
def test_every_layer_is_right_in_rtl(capsys: pytest.CaptureFixture[str]) -> None:
    placed = compile_file(load_soc("lagoon"), ONNX).graph.operators
    once = {op.kind for op in placed if op.device == "npu" and rounds_once(op)}
    assert once == {"conv_2d", "depthwise_conv_2d", "fully_connected"}
    assert main(["run", "lagoon", str(ONNX), "--brief"]) == 0
    told = capsys.readouterr().out
    assert "10 of 10 layers bit-exact" in told
    assert "0 placement violations" in told


@pytest.mark.parametrize("emit", in_gate(["c", "object"], 1))
def test_every_layer_is_right_on_a_core(
    emit: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "build"
    words = ["build", "lagoon", str(ONNX), "--no-accelerators", "--emit", emit, "-o", str(folder)]
    assert main(words) == 0
    if emit == "c":
        assert "scaled_right_once(" in (folder / "model.c").read_text()
    assert main(["simulate", str(folder), "--cpu", "iss", "--brief"]) == 0
    assert "10 of 10 layers bit-exact" in capsys.readouterr().out


def test_a_dataset_has_the_extents_of_onnx(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pixels, digits = samples()
    path = tmp_path / "digits.npz"
    np.savez(path, x=pixels.transpose(CHANNELS_FIRST), y=digits)
    chip = ["--cpu", "native", "--accelerator", "model"]
    assert main(["run", "lagoon", str(ONNX), "--dataset", str(path), *chip]) == 0
    assert "356 of 360 samples" in capsys.readouterr().out
