# SPDX-License-Identifier: Apache-2.0
"""Each core that ships runs networks in RTL: equal bytes, no finding, stacks within bounds."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.cores import WITH_RTL

from atoll.cli import main
from atoll.driver.pipeline import compile_file
from atoll.resolve import load_soc
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

pytestmark = pytest.mark.rtl

DIGITS = Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite"
NETWORKS = ("kws_ref_model", "pretrainedResnet_quant", "vww_96_int8", "ad01_int8")
ISAS = {"vexriscv": "rv32im", "ibex_b": "rv32imc_zba_zbb_zbs"}
CORES = [core for core in WITH_RTL if core != "picorv32"]


def settings(core: str) -> tuple[str, ...]:
    """Return what makes lagoon a chip with `core`; `ibex_b` is Ibex with bit manipulation."""
    name = core.removesuffix("_b")
    return (f"devices.cpu.core={name}", f"devices.cpu.isa={ISAS.get(core, 'rv32imc')}")


@pytest.mark.parametrize(
    "core",
    [
        core if core == "ibex" else pytest.param(core, marks=pytest.mark.slow)
        for core in (*CORES, "ibex_b")
    ],
)
def test_digits_on_each_core(core: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The core adds as well, between operators of the accelerator."""
    chosen = (*settings(core), "devices.npu.params.vector=0")
    words = [word for setting in chosen for word in ("--set", setting)]
    assert main(["run", "lagoon", str(DIGITS), "--json", *words]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["bit_exact"] is True
    assert report["layers_compared"] == report["layers_equal"] == 10
    assert report["placement"]["violations"] == []
    assert report["placement"]["accesses"] > 10_000
    stack = report["stack"]["cpu"]
    assert 0 < stack["watermark_bytes"] <= stack["bound_bytes"] <= stack["limit_bytes"]


@pytest.mark.slow
@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("network", NETWORKS)
def test_networks_on_each_core(shared_models: Path, network: str, core: str) -> None:
    soc = load_soc("lagoon", settings(core))
    compiled = compile_file(soc, shared_models / f"{network}.tflite")
    golden = np.load(shared_models / "golden" / f"{network}.npz")
    name = compiled.graph.inputs[0]
    sample = {name: golden["inputs"][0].reshape(compiled.graph.tensor(name).shape)}
    (outcome,) = run_models(
        (compiled,), ([sample],), cpu=CpuKind.RTL, accelerator=AcceleratorKind.RTL
    )
    assert outcome.report.passed
    assert outcome.report.mismatches == ()
    assert outcome.report.violations == ()
    output = outcome.outputs[0][compiled.graph.outputs[0]]
    assert output.tobytes() == golden["outputs_tflm"][0].tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("network", NETWORKS)
def test_networks_on_two_cores_of_a_kind(shared_models: Path, network: str, core: str) -> None:
    """Both cores of twin are of the kind, beside two reefs and ripple."""
    isa = ISAS.get(core, "rv32imc")
    overrides = (
        *(f"devices.{name}.core={core}" for name in ("cpu", "dsp")),
        *(f"devices.{name}.isa={isa}" for name in ("cpu", "dsp")),
    )
    compiled = compile_file(load_soc("twin", overrides), shared_models / f"{network}.tflite")
    golden = np.load(shared_models / "golden" / f"{network}.npz")
    name = compiled.graph.inputs[0]
    sample = {name: golden["inputs"][0].reshape(compiled.graph.tensor(name).shape)}
    (outcome,) = run_models(
        (compiled,), ([sample],), cpu=CpuKind.RTL, accelerator=AcceleratorKind.RTL
    )
    assert outcome.report.passed
    assert outcome.report.bit_exact
    assert outcome.report.violations == ()


@pytest.mark.slow
@pytest.mark.parametrize("core", CORES)
def test_mutants_and_faults_on_each_core(core: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = [word for setting in settings(core) for word in ("--set", setting)]
    campaign = ["--mutants", "200", "--faults", "100", "--json"]
    assert main(["validate", "lagoon", str(DIGITS), *campaign, *words]) == 0
    report = json.loads(capsys.readouterr().out)
    (network,), (faults,) = report["networks"], report["faults"]
    assert len(network["mutants"]) == 200
    assert all(mutant["caught"] or mutant["equivalent"] for mutant in network["mutants"])
    assert sum(mutant["caught"] for mutant in network["mutants"]) >= 180
    assert sum(kind["recovered"] for kind in faults["kinds"]) == 100
    assert not any(kind["hung"] for kind in faults["kinds"])
