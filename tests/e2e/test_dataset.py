# SPDX-License-Identifier: Apache-2.0
"""`atoll run --dataset`: accuracy by the host's own code, and a few samples on the chip."""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.effort import in_gate

from atoll.artifacts.samples import random_samples
from atoll.cli import main
from atoll.driver.pipeline import compile_file
from atoll.frontend.tflite.load import load_tflite
from atoll.ops import reference
from atoll.resolve import load_soc
from atoll_sim.dataset.host_network import HostNetwork
from atoll_sim.dataset.labelled import load_labelled

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
HELD_OUT = ROOT / "examples" / "01_digits" / "digits_test.npz"
SYSTOLIC = ROOT / "examples" / "11_systolic_array" / "chip.yaml"
NATIVE = ["--cpu", "native", "--accelerator", "model"]


def run(*words: str) -> list[str]:
    return ["run", "lagoon", str(DIGITS), *words]


def test_digits(capsys: pytest.CaptureFixture[str]) -> None:
    """357 of 360 are right: the confusion is that of the references, sample by sample."""
    assert main(run("--dataset", str(HELD_OUT), *NATIVE, "--json")) == 0
    told = json.loads(capsys.readouterr().out)["dataset"]
    data = np.load(HELD_OUT)
    graph = load_tflite(DIGITS)
    expected = np.zeros((10, 10), int)
    for image, label in zip(data["x"], data["y"], strict=True):
        values = reference.run(graph, {graph.inputs[0]: image[np.newaxis]})
        expected[label, values[graph.outputs[0]].argmax()] += 1
    assert told["confusion"] == expected.tolist()
    assert (told["samples"], told["right"]) == (360, int(np.trace(expected)))
    assert told["accuracy"] == pytest.approx(np.trace(expected) / 360)
    assert (told["compared_samples"], told["equal_samples"]) == (2, 2)


def test_what_people_read(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    made = tmp_path / "made.npy"
    words = ("--dataset", str(HELD_OUT), *NATIVE, "--brief", "--output", str(made))
    assert main(run(*words)) == 0
    text = capsys.readouterr().out
    assert "accuracy 99.17 %: 357 of 360 samples" in text
    assert "2 of these samples ran on the chip and made the same bytes" in text
    assert np.load(made).shape == (360, 10)


def test_other_bytes_on_the_chip_are_a_failure(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = HostNetwork.run

    def wrong(self: Any, sample: Any, workspace: Any) -> Any:
        made = whole(self, sample, workspace)
        return {name: np.bitwise_not(values.view(np.int8)) for name, values in made.items()}

    monkeypatch.setattr(HostNetwork, "run", wrong)
    assert main(run("--dataset", str(HELD_OUT), *NATIVE, "--brief")) == 1
    assert "2 of 2 samples made other bytes on the chip" in capsys.readouterr().out


def test_real_numbers_are_quantised(tmp_path: Path) -> None:
    graph = load_tflite(DIGITS)
    quantization = graph.tensor(graph.inputs[0]).quantization
    assert quantization is not None
    images = np.load(HELD_OUT)["x"][:5]
    real = (images.astype(float) - quantization.zero_points[0]) * quantization.scales[0]
    np.savez(tmp_path / "real.npz", x=real.astype(np.float32), labels=np.arange(5))
    labelled = load_labelled(tmp_path / "real.npz", graph)
    assert labelled.batches[graph.inputs[0]].tobytes() == images.tobytes()
    far = np.array([np.inf, -np.inf, 1e30, -1e30]).repeat(16).reshape(1, 8, 8, 1)
    np.savez(tmp_path / "far.npz", x=far, labels=np.arange(1))
    (only,) = load_labelled(tmp_path / "far.npz", graph).batches.values()
    assert only.reshape(4, 16)[:, 0].tolist() == [127, -128, 127, -128]


@pytest.mark.parametrize(
    "chip", in_gate(["lagoon", "twin", str(SYSTOLIC)], 0, 1), ids=["reef", "two", "own"]
)
def test_the_host_makes_the_bytes_of_the_chip(
    chip: str, tmp_path: Path, tflite_builder: ModuleType, every_operator: Any
) -> None:
    """Placed, with copies and views, and with an accelerator that rounds in its own way."""
    path = tmp_path / "network.tflite"
    path.write_bytes(tflite_builder.write(every_operator))
    soc = load_soc(Path(chip) if "/" in chip else chip)
    compiled = compile_file(soc, path)
    host = HostNetwork(compiled.graph, soc)
    workspace = host.workspace()
    for sample in random_samples(compiled.graph, 3):
        made = host.run(sample, workspace)
        values = reference.run(compiled.graph, sample, soc)
        assert {name: values[name].tobytes() for name in made} == {
            name: each.tobytes() for name, each in made.items()
        }


@pytest.mark.rtl
def test_samples_on_the_chip_in_rtl(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(run("--dataset", str(HELD_OUT), "--json")) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["cpu"] == "rtl"
    assert told["dataset"]["equal_samples"] == 2


def test_a_network_of_one_number_has_no_classes(
    tmp_path: Path, tflite_builder: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    scale: dict[str, Any] = {"scales": (0.5,), "zero_points": (0,)}
    tensors = tuple(tflite_builder.Tensor(shape=(1,), **scale) for _ in range(2))
    op = tflite_builder.Operator(code="QUANTIZE", inputs=(0,), outputs=(1,))
    model = tflite_builder.Model(tensors=tensors, operators=(op,), inputs=(0,), outputs=(1,))
    path = tmp_path / "one.tflite"
    path.write_bytes(tflite_builder.write(model))
    np.savez(tmp_path / "set.npz", x=np.zeros((4, 1), np.int8), labels=np.zeros(4, int))
    words = ["run", "lagoon", str(path), "--dataset", str(tmp_path / "set.npz"), *NATIVE]
    assert main(words) == 1
    assert "error[E093]: output 'quantize_0_out' is one number" in capsys.readouterr().err
