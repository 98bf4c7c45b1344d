# SPDX-License-Identifier: Apache-2.0
"""Cores that see memories elsewhere than the bus has them, each on its own way: digits."""

import json
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile

from atoll.cli import main
from atoll.diagnostics.errors import SimulationError
from atoll.isa.instruction_set import Family
from atoll.resolve import load_soc
from atoll.resolve.protection.area import areas_of
from atoll_sim.simulate.firmware import data_taken, load_images, start_copies

ROOT = Path(__file__).parents[2]
BAY = str(ROOT / "tests" / "data" / "bay.yaml")
DUO = str(ROOT / "tests" / "data" / "duo.yaml")
MODEL = str(ROOT / "examples" / "01_digits" / "digits_int8.tflite")
ON_DSP = ("--set", "default_device=dsp", "--place", "softmax_9=dsp")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bay") / "build"
    assert main(["build", BAY, MODEL, "-o", str(folder), *ON_DSP]) == 0
    return folder


def spans_of(elf: Path) -> list[range]:
    with elf.open("rb") as stream:
        return [
            range(segment["p_vaddr"], segment["p_vaddr"] + segment["p_memsz"])
            for segment in ELFFile(stream).iter_segments("PT_LOAD")
            if segment["p_memsz"]
        ]


def report_of(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    assert main(["run", BAY, MODEL, "--json", *ON_DSP, *options]) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert report["bit_exact"] is True
    assert report["layers_compared"] == report["layers_equal"] == 10
    assert report["placement"]["violations"] == []
    devices = {layer["device"] for layer in report["cycles"]["by_layer"]}
    assert devices == {"dsp", "npu"}
    return report


def test_each_image_is_linked_where_its_core_sees_the_memories(tree: Path) -> None:
    soc = load_soc(BAY)
    files = {"cpu": tree / "firmware.elf", "dsp": tree / "dsp.elf"}
    for core, elf in files.items():
        seen = [memory.device_range(core) for memory in soc.memories]
        for span in spans_of(elf):
            assert any(span[0] in home and span[-1] in home for home in seen), hex(span[0])
    assert spans_of(files["cpu"])[0].start == 0x0800_0000
    assert spans_of(files["dsp"])[0].start == 0x4000_0000 + soc.cpus[1].code.origin


def test_the_images_come_together_on_the_bus(tree: Path) -> None:
    soc = load_soc(BAY)
    elves = (tree / "firmware.elf", tree / "dsp.elf")
    flash = soc.memory("flash")
    assert {flash.origin <= each.address < flash.end for each in load_images(elves, soc)} == {True}
    homes = (soc.memory("dtcm"), soc.memory("dsp_tcm"))
    for load, to in start_copies(elves, soc):
        assert load.start < flash.end
        assert any(home.origin <= to < home.end for home in homes)
    assert data_taken(elves, soc)["cpu"] > 0


def test_an_image_of_the_chip_without_views_is_refused(tmp_path: Path) -> None:
    assert main(["build", DUO, MODEL, "-o", str(tmp_path / "build")]) == 0
    elves = (tmp_path / "build" / "firmware.elf", tmp_path / "build" / "dsp.elf")
    with pytest.raises(SimulationError, match="'cpu' of 'bay' sees no memory for them"):
        load_images(elves, load_soc(BAY))


def test_headers_and_driver_have_the_hosts_addresses(tree: Path) -> None:
    texts = {path.name: path.read_text() for path in (tree / "bsp").glob("atoll_*.[ch]")}
    header = texts["atoll_pools.h"]
    assert "#define ATOLL_POOL_SHARED_ORIGIN UINT32_C(0x00010000)" in header
    assert "#define ATOLL_POOL_SHARED_ORIGIN_AT_DSP UINT32_C(0x60000000)" in header
    assert "#define ATOLL_POOL_SHARED_ORIGIN_AT_NPU UINT32_C(0x30000000)" in header
    assert "ORIGIN_AT_CPU" not in header
    # The host sees the commands at 0x0800_0000, the accelerator where the bus has them.
    driver = texts["atoll_devices.c"]
    assert "address - UINT32_C(0x08000000) + UINT32_C(0x00000000)" in driver
    assert "seen_by_dsp" not in driver


def test_each_core_has_its_own_address_of_registers(tree: Path) -> None:
    header = (tree / "bsp" / "atoll_devices.h").read_text()
    assert "#define ATOLL_DEVICE_NPU_REGISTERS UINT32_C(0x50000000)" in header
    assert "#define ATOLL_DEVICE_DSP_REGISTERS UINT32_C(0x51000000)" in header
    assert "#define ATOLL_DEVICE_DSP_REGISTERS_AT_DSP UINT32_C(0x70000000)" in header
    (own,) = (
        path for path in (tree / "bsp").rglob("*.c") if "ATOLL_MAILBOX_LINE" in path.read_text()
    )
    assert "atoll_read(ATOLL_DEVICE_DSP_REGISTERS_AT_DSP + offset)" in own.read_text()


def test_objects_for_another_firmware_have_each_cores_addresses(tmp_path: Path) -> None:
    folder = tmp_path / "objects"
    assert main(["build", BAY, MODEL, "-o", str(folder), "--objects"]) == 0
    described = json.loads((folder / "objects.json").read_text())
    weights = load_soc(BAY).pool("weights").region.origin
    assert described["pools"]["weights"]["address"] == 0x0800_0000 + weights
    sections = [section for each in described["objects"] for section in each["sections"]]
    assert {each["address"] for each in sections} == {0x0800_0000 + weights}
    port = (folder / "atoll_port.h").read_text()
    assert "atoll_pool_shared = 0x00010000, from the linker script" in port
    assert "npu has sram, 0x00010000 at the host, at 0x30000000" in port


def test_memory_protection_opens_what_the_core_sees() -> None:
    soc = load_soc(BAY, ("devices.cpu.core=ibex",))
    cpu, dsp = soc.cpus
    assert cpu.instructions.family is Family.RISCV
    opened = {area.names: area for area in areas_of(soc, cpu, 4)}
    assert opened["cpu.code",].begin == 0x0800_0000
    assert opened["cpu.code",].runs
    assert opened["shared",].begin == 0x0001_0000
    assert opened["npu.registers",].begin == 0x5000_0000
    assert opened["dsp.mailbox",].begin == 0x5100_0000
    assert {a.begin for a in areas_of(soc, dsp, 4) if a.registers} == {0x7000_0000}
    own = next(area for area in areas_of(soc, dsp, 4) if "dsp.stack" in area.names)
    assert own.begin in range(0x1000_0000, 0x1000_4000)


def test_the_instruction_set_simulator(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("unicorn")
    report_of(capsys, "--cpu", "iss", "--accelerator", "model")


@pytest.mark.rtl
@pytest.mark.slow
def test_the_whole_chip_in_rtl(capsys: pytest.CaptureFixture[str]) -> None:
    report = report_of(capsys, "--place", "add_3=dsp", "--place", "conv_2d_0=dsp")
    assert report["placement"]["accesses"] > 50_000
