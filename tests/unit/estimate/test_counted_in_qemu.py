# SPDX-License-Identifier: Apache-2.0
"""Instructions that QEMU counts by class, and those of kernels of Armv8.1-M beside them."""

import shutil
from functools import partial
from pathlib import Path

import pytest
from benchmarks.dual_issue import Core
from benchmarks.qemu_classes import counted_layers, issued_layers
from benchmarks.scheduled_cores import MODELS

from atoll.cost.counted import CLASSES, counted_instructions
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.resolve import load_soc

ROOT = Path(__file__).parents[3]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
SAMPLER = ROOT / "examples" / "03_two_networks" / "sampler.tflite"
MACHINES = ROOT / "examples" / "08_qemu_machines"
PROGRAMS = {"mps3_an547": "qemu-system-arm", "xlnx_zcu102": "qemu-system-aarch64"}

TOLD = [name for name in CLASSES if name != "shifted"]


def compiled_for(machine: str, network: Path) -> Compiled:
    if not shutil.which(PROGRAMS[machine]):
        pytest.skip(f"{PROGRAMS[machine]} is not installed")
    soc = load_soc(MACHINES / f"{machine}.yaml")
    return compile_file(soc, network, BuildOptions(accelerators=False))


@pytest.mark.parametrize("machine", PROGRAMS)
def test_classes_add_up_to_what_qemu_counts(machine: str) -> None:
    """QEMU counts all instructions by itself; a fully connected layer reads each weight."""
    compiled = compiled_for(machine, SAMPLER)
    layers = [*counted_layers(compiled)]
    assert [layer.instructions for layer, _ in layers] == [sum(row[:-1]) for _, row in layers]
    ran = {name: sum(row[place] for _, row in layers) for place, name in enumerate(TOLD)}
    assert all(ran[name] for name in TOLD if name != "divide")
    assert ran["taken"] <= sum(ran[name] for name in ("branch", "jump", "load", "other"))


@pytest.mark.parametrize("network", [DIGITS, SAMPLER], ids=["digits", "sampler"])
def test_counts_of_a_cortex_m55_are_near_those_of_qemu(network: Path) -> None:
    """Neither network is one that the counts come from."""
    compiled = compiled_for("mps3_an547", network)
    operators = {op.name: op for op in compiled.graph.operators}
    core = compiled.soc.host_cpu
    ran, told = 0, 0
    for layer, _ in counted_layers(compiled):
        expected = counted_instructions(operators[layer.operator], compiled.graph, core)
        assert expected is not None, layer.operator
        ran, told = ran + (layer.instructions or 0), told + expected
    assert told == pytest.approx(ran, rel=0.1)


def test_a_cortex_a53_issues_at_most_two_instructions_a_cycle() -> None:
    """A block that runs alone never waits for long; the plugin tells every block."""
    compiled = compiled_for("xlnx_zcu102", SAMPLER)
    for layer, counts, cycles in issued_layers(compiled, partial(Core, MODELS["cortex_a53"])):
        assert layer.instructions == sum(counts[:-1])
        assert sum(counts[:-1]) / 2 < cycles < 4 * sum(counts[:-1]), layer.operator
