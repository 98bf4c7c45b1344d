# SPDX-License-Identifier: Apache-2.0
"""The SVD, read by a parser that is not ours: the registers that the headers have."""

import re
from pathlib import Path
from typing import Any

import pytest
from cmsis_svd.parser import SVDParser

from atoll.resolve import load_soc
from atoll_board.package import Board, package_files

DATA = Path(__file__).parents[2] / "data"
CHIPS = ["lagoon", "atoll2", "twin", "quad", str(DATA / "shore.yaml"), str(DATA / "bay.yaml")]


def files(soc: str, *overrides: str) -> dict[str, str]:
    """Return the texts of the SVD and the headers by their file's name."""
    made = package_files(Board(soc=load_soc(soc, overrides)), ["svd", "headers"])
    return {
        path.rpartition("/")[2]: entry.data.decode()
        for each in made.values()
        for path, entry in each.items()
    }


def numbers(text: str) -> dict[str, int]:
    """Return the macros of a header that are numbers."""
    found = re.findall(r"^#define (\w+) (?:UINT32_C\()?(0x[0-9A-F]+|\d+)\)?$", text, re.M)
    return {name: int(value, 0) for name, value in found}


@pytest.mark.parametrize("soc", CHIPS)
def test_registers_are_those_of_the_headers(soc: str, tmp_path: Path) -> None:
    texts = files(soc)
    chip = load_soc(soc)
    (tmp_path / "chip.svd").write_text(texts[f"{chip.name}.svd"])
    device: Any = SVDParser.for_xml_file(tmp_path / "chip.svd").get_device(
        xml_validation=True, schema_version_detection=False
    )
    macros = numbers(texts["atoll_devices.h"])
    found = {each.name: each for each in device.peripherals}
    assert found["atoll_console"].base_address == macros["ATOLL_CONSOLE_ORIGIN"]
    assert found["atoll_guard"].base_address == macros["ATOLL_GUARD_ORIGIN"]
    for each in chip.devices:
        registers = macros.get(f"ATOLL_DEVICE_{each.name.upper()}_REGISTERS")
        assert (registers is not None) == (each.name in found), each.name
        if registers is None:
            continue
        peripheral = found[each.name]
        assert peripheral.base_address == registers
        (interrupt,) = peripheral.interrupts
        assert interrupt.value == macros[f"ATOLL_DEVICE_{each.name.upper()}_IRQ"]
    for engine in chip.engines:
        prefix = f"ATOLL_{engine.spec.name.upper()}_REGISTER_"
        offsets = {name: value for name, value in macros.items() if name.startswith(prefix)}
        assert offsets == {
            f"{prefix}{register.name}": register.address_offset
            for register in found[engine.name].registers
        }


@pytest.mark.parametrize(
    ("core", "isa", "named", "floats", "bits"),
    [
        ("cortex_m33", "armv8-m.main+dsp+fp", "CM33", "true", 3),
        ("cortex_m33", "armv8-m.main+dsp", "CM33", "false", 3),
        ("cortex_m0plus", "armv6-m", "CM0PLUS", "false", 2),
        ("cortex_m23", "armv8-m.base", "CM23", "false", 2),
    ],
)
def test_a_cortex_m_is_named(core: str, isa: str, named: str, floats: str, bits: int) -> None:
    text = files("lagoon", f"devices.cpu.core={core}", f"devices.cpu.isa={isa}")["lagoon.svd"]
    assert f"<name>{named}</name>" in text
    assert f"<fpuPresent>{floats}</fpuPresent>" in text
    assert f"<nvicPrioBits>{bits}</nvicPrioBits>" in text
