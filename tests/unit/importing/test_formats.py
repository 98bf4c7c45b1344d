# SPDX-License-Identifier: Apache-2.0
"""What each format says, as the description that begins with it."""

from pathlib import Path

import pytest
from tests.unit.importing.reading import asked, chip, imported
from tests.unit.importing.vendor import CSR_JSON, FILES, IPXACT, PDSC, REPL, SVD

from atoll.diagnostics.errors import UsageError
from atoll.resolve import load_soc

STACK = ["devices.cpu.stack.memory", "devices.cpu.stack.size"]


def test_svd(tmp_path: Path) -> None:
    found = imported(tmp_path, {"gull.svd": SVD})
    assert chip(found)["soc"] == "gull_1"
    assert asked(found) == [*STACK, "memories", "pools"]
    assert "  # gull.svd:9 peripheral DMA1 at 0x40020000, interrupts 11, 12\n" in found.text
    assert chip(found)["devices"]["dma1"] == {"kind": "master"}
    cpu = chip(found)["devices"]["cpu"]
    assert (cpu["core"], cpu["isa"]) == ("cortex_m4", "armv7e-m+fp")
    assert "  # gull.svd:4 cpu CM4\n" in found.text
    (others,) = found.left_out
    assert (others.what, others.source.line) == ("2 other peripherals", 2)


@pytest.mark.parametrize("empty", ["<baseAddress/>", "<baseAddress> </baseAddress>", ""])
def test_a_peripheral_without_an_address_is_left_out(empty: str, tmp_path: Path) -> None:
    """As a published file has one: all others come in."""
    nowhere = f"<peripherals><peripheral><name>PT4</name>{empty}</peripheral>"
    found = imported(tmp_path, {"gull.svd": SVD.replace("<peripherals>", nowhere)})
    assert chip(found)["devices"]["dma1"] == {"kind": "master"}
    said = [(each.what, each.why) for each in found.left_out]
    assert ("its registers", "they have no address") in said


def test_an_address_of_a_peripheral_that_is_no_number(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a peripheral has the address 'here'"):
        imported(tmp_path, {"gull.svd": SVD.replace("0x40020000", "here")})


def test_svd_names_an_instruction_set(tmp_path: Path) -> None:
    found = imported(tmp_path, {"gull.svd": SVD.replace("CM4", "RV32IMC")})
    assert (asked(found)[0], chip(found)["devices"]["cpu"]["isa"]) == (
        "devices.cpu.core",
        "rv32imc",
    )


def test_pdsc(tmp_path: Path) -> None:
    found = imported(tmp_path, {"gull.pdsc": PDSC}, "gull2")
    assert asked(found) == [*STACK, "pools.iram1.role"]
    data = chip(found)
    assert data["devices"]["cpu"] == {
        "kind": "cpu",
        "core": "cortex_m4",
        "isa": "armv7e-m+fp",
        "clock": "64 MHz",
        "stack": {"memory": "undecided", "size": "undecided"},
    }
    assert data["memories"] == {
        "iram1": {"origin": 0x2000_0000, "size": "128 KiB", "kind": "ram"},
        "flash": {"origin": 0x0800_0000, "size": "512 KiB", "kind": "rom"},
    }
    assert data["pools"]["flash"]["reach"] == {"cpu": "ro"}


def test_answers_make_a_chip(tmp_path: Path) -> None:
    path = tmp_path / "chip.yaml"
    path.write_text(imported(tmp_path, {"gull.pdsc": PDSC}, "GULL2").text)
    stack = ["devices.cpu.stack.memory=iram1", "devices.cpu.stack.size=8 KiB"]
    soc = load_soc(path, [*stack, "pools.iram1.role=workspace"])
    assert [(pool.name, pool.region.size) for pool in soc.pools] == [
        ("flash", 0x60000),
        ("iram1", 0x1D000),
    ]


def test_memory_of_one_processor_says_nothing_of_the_other(tmp_path: Path) -> None:
    found = imported(tmp_path, {"gull.pdsc": PDSC}, "GULL3")
    data = chip(found)
    assert data["devices"]["a"]["isa"] == "armv7e-m+fp.dp"
    assert data["devices"]["b"]["isa"] == "undecided"
    assert "one of armv8-m.main+dsp+fp, armv8-m.main+fp" in found.text
    assert data["pools"]["local"]["reach"] == {"a": "undecided", "b": "rw"}
    assert data["pools"]["iram1"]["reach"] == {"a": "rw", "b": "rw"}


@pytest.mark.parametrize("device", ["", "GULL9"])
def test_pdsc_of_several_devices(device: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="device") as caught:
        imported(tmp_path, {"gull.pdsc": PDSC}, device)
    assert caught.value.faults[0].code == "E120"


def test_litex(tmp_path: Path) -> None:
    found = imported(tmp_path, {"csr.json": CSR_JSON.replace("536870912", "2684354560")})
    assert asked(found) == [
        *STACK,
        "memories.main_ram.size",
        "pools.sram.role",
        "pools.main_ram.role",
    ]
    data = chip(found)
    cpu = data["devices"]["cpu"]
    assert (cpu["core"], cpu["isa"], cpu["clock"]) == ("vexriscv", "rv32im", "48 MHz")
    assert [*data["memories"]] == ["rom", "sram", "main_ram"]
    assert data["pools"]["rom"]["reach"] == {"cpu": "ro"}
    assert "the file says 2560 MiB, for example 2 GiB, which is the most" in found.text
    assert "  # csr.json:19 memories.rom\n" in found.text


def test_two_files_are_one_chip(tmp_path: Path) -> None:
    found = imported(tmp_path, {"gull.pdsc": PDSC, "gull.svd": SVD}, "GULL1")
    data = chip(found)
    assert (data["soc"], [*data["devices"]]) == ("gull1", ["cpu", "dma1"])
    assert [*data["memories"]] == ["flash", "iram1"]
    assert data["pools"]["flash"]["reach"] == {"cpu": "ro", "dma1": "undecided"}
    assert len(found.left_out) == 1


def test_what_overlaps_is_left_out(tmp_path: Path) -> None:
    other = CSR_JSON.replace('"base": 0,', '"base": 268435472,')
    found = imported(tmp_path, {"csr.json": CSR_JSON, "other.json": other})
    assert [*chip(found)["memories"]] == ["rom", "sram", "main_ram"]
    (clash,) = (each for each in found.left_out if "overlaps" in each.why)
    assert (clash.what, "overlaps 'sram'" in clash.why) == ("memory rom at 0x10000010", True)


@pytest.mark.parametrize("prefix", ["ipxact", "spirit"])
def test_ipxact(prefix: str, tmp_path: Path) -> None:
    found = imported(tmp_path, {"skua.xml": IPXACT.replace("ipxact:", f"{prefix}:")})
    data = chip(found)
    assert data["devices"]["cortex_m3"]["core"] == "cortex_m3"
    assert data["devices"]["cortex_m3"]["isa"] == "armv7-m"
    assert data["memories"] == {
        "boot": {"origin": 0x1000, "size": "4 KiB", "kind": "rom"},
        "work": {"origin": 0x2000_0000, "size": "64 KiB", "kind": "ram"},
    }
    assert data["pools"]["work"]["reach"] == {"cortex_m3": "undecided", "dma": "undecided"}
    assert [each.what for each in found.left_out] == ["bank banked"]


def test_repl(tmp_path: Path) -> None:
    found = imported(tmp_path, {"tern.repl": REPL})
    assert asked(found) == [
        *("devices.cpu0.stack.memory", "devices.cpu0.stack.size"),
        *("devices.cpu1.core", "devices.cpu1.isa"),
        *("devices.cpu1.stack.memory", "devices.cpu1.stack.size"),
        "memories.window.kind",
        *("pools.sram.role", "pools.sram.reach.dma"),
        *("pools.tcm.role", "pools.tcm.reach.cpu1", "pools.tcm.reach.dma"),
        "pools.flash.reach.dma",
        *("pools.window.role", "pools.window.reach.cpu0", "pools.window.reach.cpu1"),
        "pools.window.reach.dma",
    ]
    data = chip(found)
    assert (data["devices"]["cpu0"]["core"], data["devices"]["cpu0"]["isa"]) == (
        "riscv",
        "rv32imac",
    )
    assert {name: each["origin"] for name, each in data["memories"].items()} == {
        **{"flash": 0x2000_0000, "tcm": 0x1000_0000, "window": 0x6000_0000},
        **{"sram": 0x80_0000, "sram_at_2": 0x8000_0000},
    }
    assert data["memories"]["sram_at_2"]["alias_of"] == "sram"
    assert "sram_at_2" not in data["pools"]
    assert data["memories"]["window"]["size"] == "64 KiB"
    assert [each.what for each in found.left_out] == [
        *("memory nowhere", "using other.repl", "1 other peripheral"),
    ]


BRACES = """cpu: CPU.CortexM @ sysbus { cpuType: "cortex-m33"; nvic: nvic }
local tcm: Antmicro.Renode.Peripherals.Memory.ArrayMemory @ sysbus 0x10000000 { size: 0x8000 }
sram: Memory.MappedMemory @ { sysbus 0x20000000; sysbus 0x30000000 } { size: 0x40000 }
flash: Memory.MappedMemory @ sysbus new Bus.BusPointRegistration {
address: 0x8000000;
cpu: cpu
} { size: 0x100000; init: { Fill "size: 1"; size: 5 } }
ram: Memory.MappedMemory @ sysbus new Bus.BusRangeRegistration { range: <0x40000, +0x20000> }
    /* size: 0x10 */ owner: new Other { size: 4 }
    init:
        size: 0x30
late: Memory.MappedMemory @ none
late: @ sysbus <0x60000, 0x70000> as "late"
extended: Memory.MappedMemory @ sysbus 0x70000 as "x" // { size: 0x9 }
sysbus: init: { Tag <0x50000000, 0x50000fff> "SRAM2" 0 ; SilenceRange <0x51000000 0x1000> }
extended: { size: 0x2000 }
elsewhere: { size: 0x2000 }
shown: Miscellaneous.Redirector @ sysbus 0x90000000 { redirectedAddress: 0x20000000 }
mram: Memory.MRAM @ sysbus 0xA0000000 { size: 0x1000 }
using "more.repl" prefixed "more_"
"""


def test_all_forms_of_a_platform(tmp_path: Path) -> None:
    """Braces, semicolons, updates and comments; what is inside of an attribute is not its own."""
    found = imported(tmp_path, {"tern.repl": BRACES})
    data = chip(found)
    assert data["devices"]["cpu"]["core"] == "cortex_m33"
    memories = {name: (it["origin"], it["size"]) for name, it in data["memories"].items()}
    assert memories == {
        "tcm": (0x1000_0000, "32 KiB"),
        "sram": (0x2000_0000, "256 KiB"),
        "sram_at_2": (0x3000_0000, "256 KiB"),
        "flash": (0x0800_0000, "1 MiB"),
        "ram": (0x4_0000, "128 KiB"),
        "late": (0x6_0000, "64 KiB"),
        "extended": (0x7_0000, "8 KiB"),
    }
    assert [each.what for each in found.left_out] == [
        *("memory shown at 0x90000000", "memory mram at 0xa0000000"),
        *("using more.repl", "what extends elsewhere", "1 other peripheral"),
    ]


def test_each_place_of_what_overlaps_is_named(tmp_path: Path) -> None:
    text = (
        "cpu: CPU.CortexM @ sysbus\none: Memory.MappedMemory @ sysbus 0x1000 { size: 0x4000 }\n"
        "two: Memory.MappedMemory @ { sysbus 0x2000; sysbus 0x9000 } { size: 0x4000 }\n"
    )
    found = imported(tmp_path, {"tern.repl": text})
    assert [*chip(found)["memories"]] == ["one"]
    assert {each.what for each in found.left_out} == {
        "memory two at 0x2000",
        "memory two at 0x9000",
    }


@pytest.mark.parametrize("open_one", ["{ size: 0x10", "/* size", "{ a: { b: c }"])
def test_what_nothing_closes_is_named(open_one: str, tmp_path: Path) -> None:
    text = f"cpu: CPU.CortexM @ sysbus\nram: Memory.MappedMemory @ sysbus 0 {open_one}\n"
    with pytest.raises(UsageError, match="nothing closes") as caught:
        imported(tmp_path, {"tern.repl": text})
    (fault,) = caught.value.faults
    assert fault.at
    assert fault.at.line == 2


def test_another_file_says_which_address_counts(tmp_path: Path) -> None:
    other = CSR_JSON.replace("268435456", str(0x8000_0000)).replace("8192", str(0x40000))
    found = imported(tmp_path, {"tern.repl": REPL, "csr.json": other})
    assert chip(found)["memories"]["sram"]["origin"] == 0x8000_0000


def test_a_format_is_told_behind_a_licence(tmp_path: Path) -> None:
    head, _, rest = SVD.partition("\n")
    assert imported(tmp_path, {"file.txt": f"{head}\n<!--{'licence ' * 1000}-->\n{rest}"}).questions


@pytest.mark.parametrize("name", FILES)
def test_a_format_is_told_by_content(name: str, tmp_path: Path) -> None:
    assert imported(tmp_path, {"file.txt": FILES[name]}, "GULL1").questions


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("nothing", "E139", "no format that is known"),
        (SVD[:400], "E138", "not valid XML: no element found"),
        (SVD.replace("0x40001000", "0x4000100Z"), "E138", "the address '0x4000100Z'"),
        (PDSC.replace("0x40000", "much"), "E138", "no start and size"),
        (CSR_JSON[:-4], "E138", "not valid JSON"),
        (CSR_JSON.replace("65536", "[]"), "E138", "no base and size that are numbers"),
    ],
)
def test_damage(text: str, code: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        imported(tmp_path, {"file.txt": text}, "GULL1")
    assert caught.value.faults[0].code == code
