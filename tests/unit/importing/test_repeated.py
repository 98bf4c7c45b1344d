# SPDX-License-Identifier: Apache-2.0
"""Arrays, absent elements and maps of single cores; what is a guess is said as one."""

from pathlib import Path

import pytest
from tests.unit.importing.reading import asked, chip, imported
from tests.unit.importing.repeated import (
    REPEATED,
    absent,
    array,
    block,
    component,
    memory_map,
    parameters,
)

from atoll.description.undecided import UNDECIDED
from atoll.diagnostics.errors import UsageError
from atoll_import.expressions import value_of
from atoll_import.imported import Imported


def read(name: str, folder: Path) -> Imported:
    """Import a file."""
    return imported(folder, {name: REPEATED[name]})


def origins(found: Imported) -> dict[str, int | str]:
    """Return where the memories are."""
    return {name: each["origin"] for name, each in chip(found)["memories"].items()}


def left_out(found: Imported) -> dict[str, str]:
    """Return what is left out, with the reason."""
    return {each.what: each.why for each in found.left_out}


def one_map(*blocks: str, more: str = "") -> str:
    """Return a component of one map."""
    return component(2014, f"<memoryMaps>{memory_map('bus', *blocks)}</memoryMaps>", more)


def test_every_element_of_an_array_is_a_memory(tmp_path: Path) -> None:
    found = read("arrays.xml", tmp_path)
    assert origins(found) == {
        **{"grid_0_0": 0x1_0000, "grid_0_1": 0x1_2000, "grid_1_0": 0x1_4000, "grid_1_1": 0x1_6000},
        **{"row_0": 0x8_0000, "row_1": 0x8_1000, "row_2": 0x8_2000},
        **{"one_0": 0x9_0000, "one_1": 0x9_2000, "two": 0x9_3000},
    }
    devices = chip(found)["devices"]
    assert [name for name, each in devices.items() if each["kind"] == "master"] == [
        *("dma_0", "dma_1")
    ]
    out = left_out(found)
    assert "the state 'reset' alone" in out["memory shown at 0x0"]
    assert "type definitions" in out["memoryMap lib_map"]
    assert "type definitions" in out["addressBlock other at 0x50000000"]


@pytest.mark.parametrize(
    ("counts", "code"),
    [
        *((("5000",), "E138"), (("K",), "E187"), (("0",), "E138"), (("64", "65"), "E138")),
        *((("-1", "10 ** 12"), "E138"), (("10 ** 12",), "E138")),
    ],
)
def test_arrays_without_a_size(counts: tuple[str, ...], code: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=code):
        imported(tmp_path, {"a.xml": one_map(block("ram", "0", "4096", array(*counts)))})


def test_no_memory_is_below_address_0(tmp_path: Path) -> None:
    found = imported(tmp_path, {"a.xml": one_map(block("ram", "-4096", "4096"))})
    assert "beyond the address space" in left_out(found)["memory ram at -0x1000"]
    with pytest.raises(UsageError, match="E138"):
        imported(tmp_path, {"a.xml": one_map(block("ram", "0", "-4096"))})


def test_units_are_expressions(tmp_path: Path) -> None:
    found = read("units.xml", tmp_path)
    memories = chip(found)["memories"]
    assert {name: (each["origin"], each["size"]) for name, each in memories.items()} == {
        "ram": (0x2000_1000, "16 KiB"),
        "rom": (UNDECIDED, "24 KiB"),
    }
    assert "at 0xc0000000 of words" in found.text
    assert left_out(found)["memory tag at 0x10000"] == "an address counts 12 bits"


def test_units_without_a_value_are_refused(tmp_path: Path) -> None:
    text = one_map(block("ram", "0", "4096"), "<addressUnitBits>AUB</addressUnitBits>")
    with pytest.raises(UsageError, match=r"E187\]: 'addressUnitBits' of 'bus' is 'AUB'"):
        imported(tmp_path, {"a.xml": text})


def test_what_is_not_present_is_named(tmp_path: Path) -> None:
    found = read("present.xml", tmp_path)
    assert origins(found) == {"ram": 0x2000_0000, "here": 0x9_0000}
    assert {
        each: why.partition(" is ")[0] for each, why in left_out(found).items()
    } == dict.fromkeys(
        (
            *("memory rom at 0x10000000", "memory gone at 0x90000"),
            *("memory window at 0x50000000", "memory hidden at 0x70000000"),
        ),
        "its isPresent",
    )
    assert [*chip(found)["devices"]] == ["cortex_m3"]


def test_whether_it_is_present_has_to_be_known(tmp_path: Path) -> None:
    text = one_map(block("ram", "0", "4096", absent("WITH_RAM")))
    with pytest.raises(UsageError, match=r"E187\]: 'isPresent' of 'ram' is 'WITH_RAM'"):
        imported(tmp_path, {"a.xml": text})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("3 == 3", 1), ("3 != 3", 0), ("2 < 3 && 3 >= 3", 1), ("!(1 || 0)", 0), ("1 > 2", 0)),
        *(("-7 / 2", -3), ("-7 % 2", -1), ("7 / -2", -3), ("1 | 2 == 2", 1), ("6 & 3 == 3", 0)),
        *(("1 << 2 < 5", 1), ("2 <= 1 ? 4 : 8", 8), ("false", 0)),
    ],
)
def test_comparisons(text: str, value: int) -> None:
    assert value_of(text, {"false": "0"}) == value


def test_a_name_that_two_parameters_have_means_none(tmp_path: Path) -> None:
    both = (
        parameters(one="4096", two="8192").replace("one_name", "SIZE").replace("two_name", "SIZE")
    )
    with pytest.raises(UsageError, match="E187"):
        imported(tmp_path, {"a.xml": one_map(block("ram", "0", "SIZE"), more=both)})


def test_what_cores_see_at_one_address_are_views(tmp_path: Path) -> None:
    found = read("cores.pdsc", tmp_path)
    memories = chip(found)["memories"]
    views = {name: (each["origin"], each.get("views")) for name, each in memories.items()}
    assert views == {
        "itcm": (UNDECIDED, {"cm7": 0}),
        "tcm": (UNDECIDED, {"cm7": 0x1000_0000}),
        "own": (UNDECIDED, {"cm4": 0x1000_0000}),
        "shared": (0x2400_0000, None),
        "sram2": (0x3000_0000, {"cm4": 0}),
    }
    assert not left_out(found)
    assert chip(found)["pools"]["shared"]["reach"] == {"cm7": "rw", "cm4": "rw"}
    examples = [each.example for each in found.questions if each.key[-1] == "origin"]
    assert len({*examples}) == len(examples) == 3


def test_what_a_core_has_for_itself_is_no_other_cores(tmp_path: Path) -> None:
    """Two local maps have a memory of one name, size and address: they are two."""
    found = read("local.xml", tmp_path)
    views = [(it["origin"], it.get("views")) for it in chip(found)["memories"].values()]
    assert views == [
        *((0, None), (0x2000_0000, None)),
        *((UNDECIDED, {"cortex_m3": 0}), (UNDECIDED, {"cortex_m4": 0})),
    ]
    assert "taken for" in left_out(found)["memory ram at 0x30000000"]


def test_maps_of_cores_in_renode_are_views(tmp_path: Path) -> None:
    memories = chip(read("own.repl", tmp_path))["memories"]
    assert {name: each.get("views") for name, each in memories.items()} == {
        **{"main": None, "ram0": {"cpu0": 0}, "ram1": {"cpu1": 0}},
    }


def test_an_alias_before_its_memory_is_no_question(tmp_path: Path) -> None:
    found = read("aliases.pdsc", tmp_path)
    memories = chip(found)["memories"]
    assert {name: it["alias_of"] for name, it in memories.items() if "alias_of" in it} == {
        **{"rom_s": "rom_ns", "ring_s": "ring_ns", "lost": UNDECIDED, "ram_sbus": UNDECIDED},
        "half": "ring_ns",
    }
    assert {"rom_ns", "ring_ns", "twice", "twice_2"} <= chip(found)["pools"].keys()
    assert [key for key in asked(found) if key.startswith("memories.")] == [
        *("memories.half.offset", "memories.ram_sbus.alias_of", "memories.lost.alias_of"),
    ]
    assert "0" in [each.example for each in found.questions if each.key[-1] == "offset"]


def test_twins_of_an_svd_need_evidence(tmp_path: Path) -> None:
    found = read("twins.svd", tmp_path)
    masters = [name for name, each in chip(found)["devices"].items() if each["kind"] == "master"]
    assert masters == [
        *("dma0", "dma1_ns", "dma2_ns", "dma3_ns", "dma3_s", "dma4_ns", "dma4_s", "sec_dma0"),
    ]
    out = left_out(found)
    for name in ("DMA1", "DMA2"):
        (why,) = (out[each] for each in out if each.startswith(f"master {name}_S "))
        assert f"but for bit 28, are as of '{name}_NS'" in why
        assert "taken for" in why


def test_examples_say_no_less_than_the_file(tmp_path: Path) -> None:
    found = read("own.repl", tmp_path)
    examples = {".".join(each.key[1:]): each.example for each in found.questions}
    assert examples["cpu0.isa"] == "rv64gcv"
    assert examples["cpu1.isa"] == "rv32imafc"
    assert "Atoll's core lacks zba" in found.text
    assert "Atoll's core lacks d" in found.text


def test_an_example_is_no_other_core(tmp_path: Path) -> None:
    found = read("own.repl", tmp_path)
    examples = {".".join(each.key[1:]): each.example for each in found.questions}
    assert examples["cpu2.core"] == "./cortex_r5.yaml"
    assert examples["cpu3.core"] == "./cortex_m1.yaml"
    assert examples["cpu3.isa"] == "armv6-m"
    assert "the file says cortex-m1, which Atoll has not" in found.text
    assert "one of armv7-r; Atoll generates no code for it" in found.text
