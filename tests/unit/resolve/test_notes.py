# SPDX-License-Identifier: Apache-2.0
"""`atoll check` notes what is no fault and perhaps not meant."""

import json
import shutil
from pathlib import Path

import pytest

from atoll.cli import main
from atoll.diagnostics.errors import AtollError, SimulationError
from atoll.resolve import load_soc
from atoll.resolve.notes import notes_of
from atoll_sim.qemu.machines import machine_for
from atoll_sim.qemu.supported import check_chip, program_of

DIGITS = str(Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite")
CHIP = """extends: lagoon
soc: own
devices:
  cpu: {clock: 100}
  npu: {clock: 5 kHz}
  spare: {kind: cpu, isa: rv32im, stack: {memory: extra, size: 4 KiB}}
memories:
  extra: {origin: 0x3000_0000, size: 64 KiB, kind: ram}
  idle: {origin: 0x3100_0000, size: 64 KiB, kind: ram}
  more: {origin: 0x3200_0000, size: 64 KiB, kind: ram}
pools:
  weights: {others: none}
  shared: {others: none}
  private: {others: none}
"""


def test_notes_name_what_nothing_uses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chip = tmp_path / "chip.yaml"
    chip.write_text(CHIP)
    assert main(["check", str(chip), "--json"]) == 0
    memory, core, clock, _, spare = json.loads(capsys.readouterr().out)["notes"]
    assert memory.startswith("nothing is planned or linked into 'idle', 'more': no pool and no ")
    assert core.startswith("core 'spare' has no mailbox: it gets no image and runs no operators")
    assert "clock of core 'cpu' is 100 Hz" in clock
    assert "write 'clock: 100 MHz'" in clock
    assert spare.startswith("the clock of device 'spare' is not given")
    assert main(["check", str(chip)]) == 0
    assert capsys.readouterr().out.count("\nnote: ") == 5


def test_a_clock_that_is_not_given_is_said(tmp_path: Path) -> None:
    chip = tmp_path / "chip.yaml"
    text = "extends: lagoon\nsoc: own\ndevices:\n  cpu: {clock: 250 MHz}\n"
    chip.write_text(text)
    assert notes_of(load_soc(chip)) == ()
    chip.write_text(text + "  npu: {clock: null}\n")
    (note,) = notes_of(load_soc(chip))
    assert note.startswith("the clock of device 'npu' is not given: it counts as 100 MHz")


@pytest.mark.parametrize("chip", ["lagoon", "twin", "quad"])
def test_chips_that_ship_need_no_notes(chip: str) -> None:
    assert notes_of(load_soc(chip)) == ()


@pytest.mark.parametrize(
    ("core", "isa", "machine"),
    [
        ("cortex_m0plus", "armv6-m", "mps2-an385"),
        ("cortex_m3", "armv7-m", "mps2-an385"),
        ("cortex_m33", "armv8-m.main", "mps2-an505"),
        ("cortex_m23", "armv8-m.base", "mps2-an505"),
        ("cortex_m52", "armv8.1-m.main+mve", "mps3-an547"),
        ("cortex_m55", "armv8.1-m.main+mve", "mps3-an547"),
        ("cortex_m85", "armv8.1-m.main+mve", "mps3-an547"),
        ("riscv", "rv32imac", "virt"),
        ("cortex_a32", "armv8-a", ""),
    ],
)
def test_the_machine_of_a_chip_without_one_has_the_core(
    core: str, isa: str, machine: str, tmp_path: Path
) -> None:
    chip = tmp_path / "chip.yaml"
    chip.write_text(
        f"soc: own\nversion: 1\n"
        f"devices: {{cpu: {{kind: cpu, core: {core}, isa: {isa}, stack: {{memory: ram,"
        " size: 8 KiB, interrupts: 256}}}\nmemories:\n"
        "  rom: {origin: 0, size: 1 MiB, kind: rom}\n"
        "  ram: {origin: 0x2000_0000, size: 1 MiB, kind: ram}\n"
        "pools:\n  weights: {memory: rom, role: constants, reach: {cpu: ro}}\n"
        "  shared: {memory: ram, role: workspace, reach: {cpu: rw}}\n"
    )
    soc = load_soc(chip)
    found = machine_for(soc.host_cpu)
    assert (found.name if found else "") == machine
    if not found:
        with pytest.raises(SimulationError, match="no firmware for 'armv8-a' of 'cpu' runs on"):
            check_chip(soc)
    elif shutil.which(program_of(soc)):
        check_chip(soc)


def test_capabilities_are_checked_before_anything_is_compiled(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def compiled(*_: object) -> None:
        raise AssertionError("it was compiled")

    monkeypatch.setattr("atoll_sim.cli.simulate.compile_files", compiled)
    bits = ["--set", "devices.cpu.core=ibex", "--set", "devices.cpu.isa=rv32imc_zba_zbb_zbs"]
    protected = ["--set", "devices.cpu.core=ibex", "--set", "devices.cpu.protection=true"]
    refused = (([*bits, "--cpu", "iss"], "E102"), ([*protected, "--cpu", "qemu"], "E103"))
    for words, code in refused:
        assert main(["run", "lagoon", DIGITS, *words]) == 1
        assert f"error[{code}]" in capsys.readouterr().err


@pytest.mark.parametrize("controller", ["picorv32", "vexriscv"])
def test_a_core_without_zicbom_has_no_data_cache(controller: str, tmp_path: Path) -> None:
    (tmp_path / "core.yaml").write_text(
        "core: mine\nversion: 1\nisas: [rv32imc]\nstartup: picorv32.S\ncache: zicbom\n"
        f"interrupts: {{first: 3, last: 31, bus_error: 2, controller: {controller}}}\n"
        "reset: {offset: 0, alignment: 4}\nbus_errors: traps\n"
    )
    words = (f"devices.cpu.core={tmp_path}/core.yaml", "devices.cpu.cache.line=32")
    with pytest.raises(AtollError, match="'mine' of 'cpu' has no way to maintain a data cache"):
        load_soc("lagoon", words)


def test_two_cores_whose_caches_the_same_registers_maintain() -> None:
    chip = Path(__file__).parents[2] / "data" / "caches" / "by_registers.yaml"
    assert not [each for each in notes_of(load_soc(chip)) if "data caches" in each]
    (note,) = (
        each for each in notes_of(load_soc(chip, ["devices.cpu.count=2"])) if "data caches" in each
    )
    assert note.startswith("the same registers maintain the data caches of 'cpu_0' and 'cpu_1': ")
