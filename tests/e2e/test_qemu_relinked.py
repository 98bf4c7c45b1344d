# SPDX-License-Identifier: Apache-2.0
"""Chips that are no machine of QEMU: the same code at other addresses, with the same bytes."""

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import Symbol, SymbolTableSection

from atoll.artifacts.build_tree import build
from atoll.cli import main
from atoll.driver.pipeline import compile_file
from atoll.resolve import load_soc
from atoll_sim.qemu.relink import relink
from atoll_sim.qemu.supported import program_of
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

ROOT = Path(__file__).parents[2]
DIGITS = str(ROOT / "examples" / "01_digits" / "digits_int8.tflite")
DATA = ROOT / "tests" / "data" / "chips"
SLOW = pytest.mark.slow
M85 = ("devices.cpu.core=cortex_m85", "devices.ethos_u55=null", "qemu=null")
FEW = {"stm32h747": "mps2-an500", "esp32c6": "virt", "lagoon": "virt", "zynqmp": "xlnx-zcu102"}
MANY = {
    "litex": "virt",
    "x_heep": "virt",
    "twin": "virt",
    "rp2040": "mps2-an385",
    "mcxn947": "mps2-an505",
    "imxrt1176": "mps2-an500",
    "corstone300_u55": "mps3-an547",
    str(DATA / "k210.yaml"): "virt",
}
RELOCATED = 8
"""Bytes that a relocation changes at most: an address is made by one or two instructions."""


def require_qemu(chip: str, *changes: str) -> None:
    """Skip where QEMU is not installed."""
    program = program_of(load_soc(chip, changes))
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not on the PATH")


def alone(chip: str) -> list[str]:
    """Return options with which the host runs all of a network."""
    return ["--accelerator", "none", "--on-device", f"*={load_soc(chip).host}"]


@pytest.mark.parametrize(
    ("chip", "machine"),
    [*FEW.items(), *(pytest.param(*each, marks=SLOW) for each in MANY.items())],
)
def test_digits_at_other_addresses(
    chip: str, machine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    require_qemu(chip)
    assert main(["run", chip, DIGITS, "--cpu", "qemu", *alone(chip), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["layers_compared"] == report["layers_equal"] == 10
    assert report["soc"] == load_soc(chip).name
    assert report["relinked"]["machine"] == machine
    assert report["cycles"]["total"] is report["cycles"]["total_ns"] is None
    for layer in report["cycles"]["by_layer"]:
        assert layer["instructions"] > 0
        assert layer["cycles"] is layer["time_ns"] is None
    for name, stack in report["stack"].items():
        if name == load_soc(chip).host:
            assert 0 < stack["watermark_bytes"] <= stack["bound_bytes"] <= stack["limit_bytes"]
        else:
            assert stack["watermark_bytes"] is None
            assert 0 < stack["bound_bytes"] <= stack["limit_bytes"]


@pytest.mark.parametrize("brief", [(), ("--brief",)])
def test_the_report_says_so(brief: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    require_qemu("stm32h747")
    assert main(["run", "stm32h747", DIGITS, "--cpu", "qemu", *brief]) == 0
    said = capsys.readouterr().out
    assert "same code, other addresses: it was linked for QEMU's machine 'mps2-an500'" in said
    assert "(a Cortex-M7), without 'cm4'; instructions and used stack were counted there" in said
    assert "\nstack cm7 on mps2-an500 " in said
    assert "cycles by layer" not in said
    assert ("instructions by layer on QEMU's machine 'mps2-an500'" in said) == (not brief)


@pytest.mark.slow
def test_a_cortex_m85_on_the_machine_of_a_cortex_m55(capsys: pytest.CaptureFixture[str]) -> None:
    changes = [word for change in M85 for word in ("--set", change)]
    require_qemu("corstone300")
    assert main(["run", "corstone300", DIGITS, "--cpu", "qemu", "--brief", *changes]) == 0
    assert "QEMU's machine 'mps3-an547' (a Cortex-M55)" in capsys.readouterr().out


@pytest.mark.slow
def test_a_network_is_equal_to_its_golden(shared_models: Path) -> None:
    """One whose weights the chip has in a flash, of which the machine has less."""
    require_qemu("imxrt1176")
    compiled = compile_file(load_soc("imxrt1176"), shared_models / "kws_ref_model.tflite")
    golden = np.load(shared_models / "golden" / "kws_ref_model.npz")
    (name,), (output,) = compiled.graph.inputs, compiled.graph.outputs
    samples = [{name: golden["inputs"][0].reshape(compiled.graph.tensor(name).shape)}]
    (outcome,) = run_models(
        (compiled,), (samples,), cpu=CpuKind.QEMU, accelerator=AcceleratorKind.NONE
    )
    assert outcome.report.passed
    assert outcome.outputs[0][output].tobytes() == golden["outputs_tflm"][0].tobytes()


def test_a_kept_build_is_the_chips(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody shall flash what was linked for a machine of QEMU."""
    require_qemu("esp32c6")
    kept = str(tmp_path / "kept")
    assert main(["run", "esp32c6", DIGITS, "--cpu", "qemu", "--brief", "--keep", kept]) == 0
    with (tmp_path / "kept" / "firmware.elf").open("rb") as stream:
        assert ELFFile(stream).header["e_entry"] == 0x4200_0080
    assert main(["simulate", kept, "--cpu", "qemu"]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "error[E103]: chip 'esp32c6' does not say which machine of QEMU it is" in said


def functions_in(elf: ELFFile) -> Iterator[Symbol]:
    """Yield the symbols of functions."""
    table = elf.get_section_by_name(".symtab")
    assert isinstance(table, SymbolTableSection)
    yield from (each for each in table.iter_symbols() if each["st_info"]["type"] == "STT_FUNC")


def code_in(image: Path) -> Mapping[str, bytes]:
    """Return the code of each function of a linked image."""
    with image.open("rb") as stream:
        elf = ELFFile(stream)
        found = {}
        for symbol in functions_in(elf):
            section = elf.get_section(symbol["st_shndx"])
            offset = (symbol["st_value"] & ~1) - section["sh_addr"]
            found[symbol.name] = section.data()[offset : offset + symbol["st_size"]]
    return found


def relocated_in(objects: Path) -> Iterator[tuple[str, int, set[int]]]:
    """Yield name and size of each function of an object, and its bytes that depend on addresses."""
    with objects.open("rb") as stream:
        elf = ELFFile(stream)
        bytes_of: dict[int, set[int]] = {}
        for table in (each for each in elf.iter_sections() if isinstance(each, RelocationSection)):
            places = bytes_of.setdefault(table["sh_info"], set())
            for each in table.iter_relocations():
                places |= {*range(each["r_offset"], each["r_offset"] + RELOCATED)}
        for symbol in functions_in(elf):
            first = symbol["st_value"] & ~1
            places = {place - first for place in bytes_of.get(symbol["st_shndx"], ())}
            yield symbol.name, symbol["st_size"], places


@pytest.mark.parametrize("chip", ["stm32h747", "esp32c6", pytest.param("zynqmp", marks=SLOW)])
def test_it_is_the_same_code(chip: str, tmp_path: Path) -> None:
    """Kernels and the run function are one object; linked, they differ in addresses alone."""
    compiled = compile_file(load_soc(chip), Path(DIGITS))
    build((compiled,), tmp_path / "chip")
    build(relink((compiled,)), tmp_path / "machine")
    objects = [tmp_path / name / "obj" / "digits_int8_model.o" for name in ("chip", "machine")]
    assert objects[0].read_bytes() == objects[1].read_bytes()
    on_chip, on_machine = (
        code_in(tmp_path / name / "firmware.elf") for name in ("chip", "machine")
    )
    compared = [*relocated_in(objects[0])]
    assert len(compared) >= 10
    for name, size, places in compared:
        ours, theirs = on_chip[name], on_machine[name]
        assert len(ours) == len(theirs) == size
        different = {at for at in range(size) if ours[at] != theirs[at]}
        assert different, "its constants lie elsewhere"
        assert different <= places
