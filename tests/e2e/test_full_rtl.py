# SPDX-License-Identifier: Apache-2.0
"""CPU and accelerators in RTL: every layer equals the goldens, every access is as planned."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.effort import in_gate
from tests.tflm_process import TFLM

from atoll.cli import main
from atoll.driver.pipeline import Compiled, compile_file
from atoll.resolve import load_soc
from atoll_sim.build import verilator
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

pytestmark = pytest.mark.rtl

DIGITS = Path(__file__).parents[2] / "examples" / "01_digits"
NETWORKS = ("kws_ref_model", "pretrainedResnet_quant", "vww_96_int8", "ad01_int8")


def used_accelerators(compiled: Compiled) -> set[str]:
    return {op.device for op in compiled.graph.operators} - {compiled.soc.host}


@pytest.mark.parametrize(
    ("soc", "network"),
    [
        pytest.param(
            soc,
            network,
            marks=() if soc == "lagoon" and network in NETWORKS[::2] else pytest.mark.slow,
        )
        for soc in ("lagoon", "atoll2")
        for network in NETWORKS
    ],
)
def test_networks_equal_the_goldens(shared_models: Path, network: str, soc: str) -> None:
    compiled = compile_file(load_soc(soc), shared_models / f"{network}.tflite")
    golden = np.load(shared_models / "golden" / f"{network}.npz")
    name = compiled.graph.inputs[0]
    sample = {name: golden["inputs"][0].reshape(compiled.graph.tensor(name).shape)}
    (outcome,) = run_models(
        (compiled,), ([sample],), cpu=CpuKind.RTL, accelerator=AcceleratorKind.RTL
    )
    assert outcome.report.mismatches == ()
    assert outcome.report.violations == ()
    assert outcome.report.passed
    output = outcome.outputs[0][compiled.graph.outputs[0]]
    assert output.tobytes() == golden["outputs_tflm"][0].tobytes()
    if network in ("kws_ref_model", "vww_96_int8"):
        assert used_accelerators(compiled) == {npu.name for npu in compiled.soc.npus}


@pytest.mark.parametrize("soc", in_gate(["lagoon", "atoll2"], 0))
def test_digits_from_the_command_line(
    soc: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    test = np.load(DIGITS / "digits_test.npz")
    np.save(tmp_path / "in.npy", test["x"][:20])
    arguments = [
        "run",
        soc,
        str(DIGITS / "digits_int8.tflite"),
        "--input",
        str(tmp_path / "in.npy"),
    ]
    arguments += ["--output", str(tmp_path / "out.npy"), "--json", "--keep", str(tmp_path / "kept")]
    assert main(arguments) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert report["bit_exact"] is True
    assert report["samples"] == 20
    assert report["layers_compared"] == report["layers_equal"] > 0
    assert report["placement"]["violations"] == []
    assert report["placement"]["accesses"] > 90_000
    check_stack_and_cycles(report)
    outputs = np.load(tmp_path / "out.npy")
    assert outputs.shape == (20, 10)
    assert np.mean(outputs.argmax(axis=1) == test["y"][:20]) >= 0.9
    np.testing.assert_array_equal(outputs, oracle(test["x"][:20]))
    assert main(["simulate", str(tmp_path / "kept"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bit_exact"] is True


def test_another_pool_needs_no_other_model(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["run", "lagoon", str(DIGITS / "digits_int8.tflite"), "--json"]
    assert main(command) == 0
    monkeypatch.setattr(verilator, "_build", lambda *_: pytest.fail("a model is built"))
    changes = ("pools.shared.offset=32KiB", "pools.shared.size=96KiB")
    capsys.readouterr()
    assert main([*command, *(word for change in changes for word in ("--set", change))]) == 0
    assert json.loads(capsys.readouterr().out)["bit_exact"]
    with pytest.raises(pytest.fail.Exception):
        main([*command, "--set", "memories.sram.banks=2"])


def oracle(digits: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return the scores of the reference runtime, int8 [N, 10]."""
    pytest.importorskip("tflite_micro", reason="needs the wheel tflite-micro")
    network = (DIGITS / "digits_int8.tflite").read_bytes()
    answers = TFLM.run(network, [[digit[np.newaxis]] for digit in digits], [0])
    return np.stack([scores[0] for (scores,) in answers])


def check_stack_and_cycles(report: dict[str, Any]) -> None:
    stack = report["stack"]["cpu"]
    assert 0 < stack["watermark_bytes"] <= stack["bound_bytes"] <= stack["limit_bytes"]
    cycles = report["cycles"]
    assert (cycles["cpu"] > 0) == any(layer["device"] == "cpu" for layer in cycles["by_layer"])
    assert cycles["npu"] > 0
    assert sum(layer["cycles"] for layer in cycles["by_layer"]) == cycles["cpu"] + cycles["npu"]
    assert cycles["cpu"] + cycles["npu"] < cycles["total"]
    for pool in report["pools"].values():
        assert pool["bound_bytes"] <= pool["used_bytes"] <= pool["size_bytes"]


def test_the_host_alone(capsys: pytest.CaptureFixture[str]) -> None:
    model = str(DIGITS / "digits_int8.tflite")
    assert main(["run", "lagoon", model, "--accelerator", "none", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["bit_exact"] is True
    assert report["cycles"]["npu"] == 0
    assert {layer["device"] for layer in report["cycles"]["by_layer"]} == {"cpu"}
