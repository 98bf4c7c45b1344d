# SPDX-License-Identifier: Apache-2.0
"""Chips that are machines of QEMU: the same firmware, with the same bytes."""

import json
import random
import re
import shutil
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from benchmarks.instructions import counts_of
from benchmarks.small_program import link, request
from tests.effort import in_gate
from tests.property.test_random_networks import Network, runs_as_planned

from atoll.cli import main
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import compile_file
from atoll.resolve import load_soc
from atoll_sim.qemu.qemu_run import simulate
from atoll_sim.qemu.supported import PROGRAMS, check_chip
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models
from atoll_sim.trace.simulation import SimResult, Stop

EXAMPLES = Path(__file__).parents[2] / "examples"
MACHINES = EXAMPLES / "08_qemu_machines"
DIGITS = EXAMPLES / "01_digits" / "digits_int8.tflite"
ARM, A64, RV32, RV64 = PROGRAMS
PROGRAM = {
    "mps2_an385": ARM,
    "mps2_an386": ARM,
    "mps2_an500": ARM,
    "mps2_an505": ARM,
    "mps3_an547": ARM,
    "virt_rv32": RV32,
    "virt_rv64": RV64,
    "xlnx_zcu102": A64,
}
FEW = ("mps2_an385", "mps3_an547", "virt_rv32", "virt_rv64", "xlnx_zcu102")
"""One machine of each kind; `make test-all` runs digits on all."""

ISAS = {
    "mps2_an505": ("armv8-m.main", "armv8-m.main+dsp+fp"),
    "mps3_an547": ("armv8.1-m.main", "armv8.1-m.main+mve.fp+fp.dp"),
    "virt_rv32": ("rv32imc", "rv32imafc", "rv32imc_zba_zbb_zbs"),
    "virt_rv64": ("rv64gc",),
}
SLOW = pytest.mark.slow
SIBLINGS = ("mps2_an386", "mps2_an500")
"""As mps2_an385, with another core."""

STARTS = """
    .syntax unified
    .thumb
    .section .text.start, "ax", %progbits
    .word   0x20001000, _start
    .rept   14
    .word   atoll_interrupt
    .endr
    .globl  _start
    .type   _start, %function
    .thumb_func
_start:
    ldr     r0, =0x21FFF000
"""
ENDS = """
    .ltorg
    .globl  atoll_interrupt
    .type   atoll_interrupt, %function
    .thumb_func
atoll_interrupt:
1:  b       1b
"""
EXITS = "    movs r1, #'H'\n    str r1, [r0]\n    movs r1, #7\n    str r1, [r0, #4]\n"


def chip(machine: str) -> str:
    """Return the description of a machine, or skip where QEMU does not have it."""
    if shutil.which(PROGRAM[machine]) is None:
        pytest.skip(f"{PROGRAM[machine]} is not on the PATH")
    return str(MACHINES / f"{machine}.yaml")


def reported(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    """Return the report of a run that passes."""
    assert main(["run", *words, "--json"]) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert report["bit_exact"] is True
    return report


@SLOW
@pytest.mark.parametrize(
    ("machine", "core", "isa"),
    [
        ("mps2_an505", "cortex_m23", "armv8-m.base"),
        ("mps3_an547", "cortex_m52", "armv8.1-m.main+mve"),
    ],
)
def test_digits_on_a_machine_that_runs_more(
    machine: str, core: str, isa: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """No machine has the core; each of its instructions is one of the machine's core."""
    chosen = ("--set", f"devices.cpu.core={core}", "--set", f"devices.cpu.isa={isa}")
    report = reported(capsys, chip(machine), str(DIGITS), "--cpu", "qemu", *chosen)
    assert report["layers_compared"] == report["layers_equal"] == 10


@pytest.mark.parametrize(
    "machine",
    [*FEW, *(pytest.param(each, marks=pytest.mark.slow) for each in PROGRAM if each not in FEW)],
)
def test_digits_on_each_machine(machine: str, capsys: pytest.CaptureFixture[str]) -> None:
    report = reported(capsys, chip(machine), str(DIGITS), "--cpu", "qemu")
    assert report["layers_compared"] == report["layers_equal"] == 10
    assert report["placement"] == {"accesses": 0, "violations": []}
    stack = report["stack"]["cpu"]
    assert 0 < stack["watermark_bytes"] <= stack["bound_bytes"] <= stack["limit_bytes"]
    layers = report["cycles"]["by_layer"]
    assert all(layer["instructions"] == layer["cycles"] > 0 for layer in layers)


@pytest.mark.parametrize(
    ("machine", "isa"), [(machine, isa) for machine, isas in ISAS.items() for isa in isas]
)
@SLOW
def test_digits_with_each_instruction_set(
    machine: str, isa: str, capsys: pytest.CaptureFixture[str]
) -> None:
    setting = f"devices.cpu.isa={isa}"
    reported(capsys, chip(machine), str(DIGITS), "--cpu", "qemu", "--set", setting)


@pytest.mark.parametrize(
    "network",
    [
        "kws_ref_model",
        *(
            pytest.param(each, marks=SLOW)
            for each in ("pretrainedResnet_quant", "vww_96_int8", "ad01_int8")
        ),
    ],
)
@pytest.mark.parametrize(
    "machine",
    in_gate(
        [pytest.param(each, marks=SLOW) if each in SIBLINGS else each for each in PROGRAM], 3, 6
    ),
)
def test_networks_are_equal_to_their_goldens(
    shared_models: Path, machine: str, network: str
) -> None:
    compiled = compile_file(load_soc(chip(machine)), shared_models / f"{network}.tflite")
    golden = np.load(shared_models / "golden" / f"{network}.npz")
    (name,), (output,) = compiled.graph.inputs, compiled.graph.outputs
    samples = [{name: golden["inputs"][0].reshape(compiled.graph.tensor(name).shape)}]
    (outcome,) = run_models(
        (compiled,), (samples,), cpu=CpuKind.QEMU, accelerator=AcceleratorKind.NONE
    )
    assert outcome.report.passed
    assert outcome.report.layers_compared >= len(compiled.graph.operators)
    assert outcome.outputs[0][output].tobytes() == golden["outputs_tflm"][0].tobytes()


@pytest.mark.skipif(find_spec("unicorn") is None, reason="Unicorn is not installed")
@pytest.mark.parametrize(
    "machine", ["mps2_an385", pytest.param("virt_rv32", marks=pytest.mark.slow)]
)
def test_instructions_are_those_of_the_other_simulator(
    machine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    counted = [
        [layer["instructions"] for layer in report["cycles"]["by_layer"]]
        for cpu in ("qemu", "iss")
        for report in [reported(capsys, chip(machine), str(DIGITS), "--cpu", cpu)]
    ]
    assert counted[0] == counted[1]


@pytest.mark.skipif(find_spec("unicorn") is None, reason="Unicorn is not installed")
def test_a_chip_without_engines_needs_no_model_in_rtl(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("atoll_sim.build.verilator.call_tool", None)
    for cpu in ("iss", "native"):
        assert reported(capsys, chip("mps2_an385"), str(DIGITS), "--cpu", cpu)["bit_exact"]


def run_program(folder: Path, text: str, **changes: object) -> SimResult:
    """Run a small program on the Cortex-M3."""
    soc = load_soc(chip("mps2_an385"))
    source = folder / "test.S"
    source.write_text(STARTS + text + ENDS)
    script = "SECTIONS { . = 0; .text : { *(.text*) } }"
    elf = link(source, script, folder, soc.host_cpu.instructions)
    return simulate(request(soc, elf, **changes))


def test_text_and_status_of_the_firmware(tmp_path: Path) -> None:
    result = run_program(tmp_path, EXITS)
    assert (result.stop, result.exit_status, result.text) == (Stop.EXIT, 7, "H")
    assert result.cycles == 5, "ldr, movs, str, movs, str"
    assert result.unpainted == {"cpu": 8192}, "nothing has painted the stack"


TICKS = """
    ldr     r1, =table
    ldr     r2, =0xE000ED08
    str     r1, [r2]
    ldr     r2, =0xE000E010
    movs    r1, #25
    str     r1, [r2, #4]
    movs    r1, #7
    str     r1, [r2]
    movs    r3, #'a'
    movs    r4, #100
1:  str     r3, [r0]
    subs    r4, r4, #1
    bne     1b
    str     r4, [r0, #4]
    .ltorg
    .thumb_func
tick:
    bx      lr
    .balign 128
table:
    .rept   15
    .word   0
    .endr
    .word   tick
"""
"""Prints while interrupts come."""


def test_a_store_counts_once_where_interrupts_come(tmp_path: Path) -> None:
    result = run_program(tmp_path, TICKS)
    assert (result.stop, result.exit_status, result.text) == (Stop.EXIT, 0, 100 * "a")


def test_a_fault_is_the_end(tmp_path: Path) -> None:
    result = run_program(tmp_path, "    udf #0\n" + EXITS)
    assert (result.stop, result.trapped, result.text) == (Stop.TRAP, "cpu", "")


@pytest.mark.slow
def test_a_core_that_says_nothing_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATOLL_TIME_LIMIT", "5")
    with pytest.raises(AtollError, match="more than 5 s"):
        run_program(tmp_path, "1:  b 1b\n")


@pytest.mark.parametrize(
    ("setting", "code", "says"),
    [
        ("qemu.machine=mps9", "E103", "'qemu-system-arm' has no machine 'mps9'"),
        ("memories.psram.origin=0x2900_0000", "E103", "0x29000000, where the chip has memory 'ps"),
        ("memories.ssram1.origin=0x0800_0000", "E103", "0x08000000, where the firmware has bytes"),
        ("console=0x5000_0000", "E103", "no memory at 0x50000000, where the chip has the console"),
    ],
)
def test_a_chip_that_is_not_as_the_machine(
    setting: str, code: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", chip("mps2_an385"), str(DIGITS), "--cpu", "qemu", "--set", setting]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert f"error[{code}]" in said
    assert re.search(says, said)


def test_qemu_that_ends_by_itself(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("atoll_sim.qemu.supported.faults_of", lambda *_: ())
    setting = ["--set", "qemu.machine=mps9"]
    assert main(["run", chip("mps2_an385"), str(DIGITS), "--cpu", "qemu", *setting]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "error[E104]: QEMU's machine 'mps9' broke off; it said: " in said
    assert "unsupported machine" in said


def test_without_qemu_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    for machine, program in PROGRAM.items():
        with pytest.raises(AtollError) as caught:
            check_chip(load_soc(MACHINES / f"{machine}.yaml"))
        (fault,) = caught.value.faults
        assert (fault.code, program in fault.message) == ("E070", True)


def test_vectors_run_fewer_instructions_than_a_plain_loop_nest() -> None:
    """The compiler makes vectors of the plain loops too."""
    soc = load_soc(chip("mps3_an547"))
    counts = list(counts_of(DIGITS, soc, CpuKind.QEMU))
    assert len(counts) == 6
    assert all(0 < count.ours < 0.6 * count.plain for count in counts), counts
    depthwise = [count for count in counts if count.kind == "depthwise_conv_2d"]
    assert all(count.ours < 1.7 * count.macs for count in depthwise), depthwise
    assert sum(count.ours for count in counts) < 1.2 * sum(count.macs for count in counts)


def test_channels_that_fill_no_vector(tmp_path: Path, tflite_builder: ModuleType) -> None:
    """Depthwise layers of 5 to 80 channels, one to two for each channel of the input."""
    scale = tflite_builder.Tensor(shape=(1,), scales=(0.05,), zero_points=(-3,))

    class Scaled(Network):
        def activation(self, shape: tuple[int, ...], like: Any = scale) -> int:
            return super().activation(shape, like)

    network = Scaled(tflite_builder, random.Random(3))
    network.activation((1, 11, 9, 5))
    for _ in range(5):
        network.depthwise()
    path = tmp_path / "network.tflite"
    path.write_bytes(network.written())
    soc = load_soc(chip("mps3_an547"))
    assert runs_as_planned(path, soc, accelerators=False, cpu=CpuKind.QEMU)
