# SPDX-License-Identifier: Apache-2.0
"""What `benchmarks.vendor_files` finds where a description and a vendor's file differ."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from benchmarks.vendor_files import (
    LIST,
    CoreKind,
    Held,
    Place,
    Side,
    compare,
    is_noticed,
    plant,
    side_of_description,
    side_of_file,
)
from benchmarks.vendor_readers import read

from atoll.resolve import load_soc

DOCS = Path(__file__).parents[2] / "docs"


def place(name: str, start: int, size: int, **more: Any) -> Place:
    usual: dict[str, Any] = {"memory": name, "writable": True}
    return Place(name=name, start=start, size=size, **(usual | more))


OURS = Side(
    places=(
        place("flash", 0x0, 0x1000, writable=False),
        place("sram", 0x2000, 0x800),
        place("sram_s", 0x12000, 0x800, memory="sram"),
        place("own of m4", 0x9000, 0x100, memory="own", viewer="m4"),
        place("own", 0x8000, 0x100),
    ),
    cores={"m4": CoreKind(core="cortex_m4", isas=("armv7e-m+fp",), clock=100)},
    devices={"dma": 0x4000, "npu": None},
    steps=(0x5000,),
)
THEIRS = Side(
    places=(
        place("LOW", 0x0, 0x400, writable=False),
        place("HIGH", 0x400, 0xC00, writable=None),
        place("RAM", 0x2000, 0x800),
        place("RAM", 0x12000, 0x800),
        place("OWN", 0x8000, 0x100),
        place("OWN", 0x9000, 0x100, viewer="m4"),
    ),
    cores={"m4": CoreKind(core="cortex_m4", isas=("armv7e-m", "armv7e-m+fp"))},
    devices={"dma": 0x4000, "npu": 0x6000},
    registers={0x5000: "RCC.GCR"},
)


def abouts(ours: Side, theirs: Side) -> list[str]:
    return [each.about for each in compare(ours, theirs)]


def with_place(index: int, **more: Any) -> Side:
    places = [*THEIRS.places]
    places[index] = replace(places[index], **more)
    return replace(THEIRS, places=tuple(places))


def test_sides_that_say_the_same_do_not_differ() -> None:
    assert abouts(OURS, THEIRS) == []
    assert abouts(OURS, Side()) == [], "a file that says nothing"


@pytest.mark.parametrize(
    ("theirs", "found"),
    [
        (with_place(1, size=0xB00), ["memory flash"]),
        (with_place(1, size=0xD00), ["their HIGH"]),
        (with_place(0, writable=True), ["kind of flash"]),
        (with_place(3, memory="other"), ["alias sram_s"]),
        (with_place(4, memory="LOW", byte=0x8000), ["alias own"]),
        (with_place(5, viewer="m7"), ["memory own of m4", "their OWN of m7"]),
        (replace(THEIRS, cores={"m7": CoreKind()}), ["core m4", "their core m7"]),
        (replace(THEIRS, cores={"m4": CoreKind(core="cortex_m7")}), ["core m4"]),
        (
            replace(THEIRS, cores={"m4": CoreKind(isas=("armv7-m",), clock=99)}),
            ["isa of m4", "clock of m4"],
        ),
        (
            replace(THEIRS, devices={"dma": 0x4004, "x": 0}),
            ["device dma", "device npu", "their device x"],
        ),
        (replace(THEIRS, registers={0x5004: "RCC.CR"}), ["step 0x5000"]),
    ],
)
def test_each_kind_of_difference_is_found(theirs: Side, found: list[str]) -> None:
    assert abouts(OURS, theirs) == found


def test_bytes_that_are_missing_are_told() -> None:
    (one,) = compare(OURS, with_place(1, start=0x500, size=0xA00))
    spans = "0x00000400 to 0x000004ff, 0x00000f00 to 0x00000fff"
    assert one.text == f"not in the file: {spans}, 512 of its 4,096 bytes"


HEADER = """
#define RAM_BASE_S  0x30000000UL /* secure */
#define RAM_BASE    (RAM_BASE_S - 0x10000000)
`define RAM_END     32'h2000_8000
#define DMA_BASE    _u(0x50000000)
ROM_LENGTH = 0x1000;
"""
SCRIPT = """
MEMORY
{
    RAM(rwx) : ORIGIN =  0x20000000, LENGTH = 16k
    FLASH (rx) : ORIGIN = 0x10000000, LENGTH = 2 * 1024 * 1024 /* all */
    heap : ORIGIN = START, LENGTH = 4
}
"""


@pytest.mark.parametrize(
    ("text", "entry", "places", "devices"),
    [
        (
            HEADER,
            {
                "reader": "constants",
                "memories": {
                    "RAM": {"start": "RAM_BASE", "end": "RAM_END", "others": ["RAM_BASE_S"]},
                    "ROM": {"start": "RAM_BASE - ROM_LENGTH", "size": "ROM_LENGTH"},
                },
                "devices": {"dma": "DMA_BASE"},
            },
            [
                ("RAM", 0x20000000, 0x8000, None),
                ("RAM", 0x30000000, 0x8000, None),
                ("ROM", 0x1FFFF000, 0x1000, None),
            ],
            {"dma": 0x50000000},
        ),
        (
            SCRIPT,
            {"reader": "linker"},
            [("RAM", 0x20000000, 0x4000, True), ("FLASH", 0x10000000, 0x200000, False)],
            {},
        ),
        (
            '{"soc": {"l2": {"base": "0x1C000000", "size": "0x80000"}}}',
            {"reader": "ranges", "only": ["soc.l2"]},
            [("soc.l2", 0x1C000000, 0x80000, None)],
            {},
        ),
    ],
)
def test_values_come_from_the_file(
    tmp_path: Path,
    text: str,
    entry: Mapping[str, Any],
    places: list[tuple[str, int, int, bool | None]],
    devices: Mapping[str, int],
) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    side = side_of_file(read(path, entry), entry)
    assert [(each.name, each.start, each.size, each.writable) for each in side.places] == places
    assert side.devices == devices


def test_a_description_has_its_aliases_and_views() -> None:
    side = side_of_description(load_soc("imxrt1176"))
    assert {(each.name, each.start, each.viewer) for each in side.places} >= {
        ("cm4_system", 0x20220000, ""),
        ("cm4_system of cm4", 0x20000000, "cm4"),
    }
    assert side.cores["cm7"].isas == ("armv7e-m+fp.dp",)
    assert side_of_description(load_soc("stm32h747")).steps == (0x580244A0,)


def test_what_nobody_explains_and_what_is_not_there_are_faults() -> None:
    group: dict[str, Any] = {"about": ["memory flash", "their X"], "why": "on purpose"}
    entry = {"differences": [group]}
    found = tuple(compare(OURS, replace(with_place(1, size=0xB00), devices={"dma": 0x4000})))
    held = Held(chip="tiny", entry=entry, ours=OURS, theirs=THEIRS, found=found)
    assert [*held.faults()] == [
        "not explained: device npu",
        "no such difference: their X",
        "memory flash, their X: 256 bytes differ, not as explained",
    ]
    group["bytes"] = 256
    assert len([*held.faults()]) == 2


def test_wrong_places_are_planted_where_a_file_can_tell() -> None:
    found = tuple(compare(OURS, with_place(1, size=0xB00)))
    held = Held(chip="tiny", entry={}, ours=OURS, theirs=with_place(1, size=0xB00), found=found)
    wrong = dict(plant([held]))
    assert len(wrong) == 2 * (len(OURS.places) - 1), "no file has all of the flash"
    assert all(is_noticed(side, [held]) for side in wrong.values())
    assert not is_noticed(OURS, [held])


def test_the_table_has_each_file_of_the_list() -> None:
    rows = [line for line in (DOCS / "chips.md").read_text("utf-8").splitlines() if "|" in line]
    chips = yaml.safe_load(LIST.read_text("utf-8"))["chips"]
    files = [(each["chip"], entry) for each in chips for entry in each["files"]]
    assert len({chip for chip, _ in files}) >= 15
    for chip, entry in files:
        version = entry.get("version") or entry["commit"][:10]
        file = f"`{entry['path']}`, {version} |"
        (row,) = [
            row
            for row in rows
            if file in row
            and f"`{Path(chip).stem}`" in row.split("|")[1]
            and ("/" in chip) == ("](" in row.split("|")[1])
        ]
        assert all(group["why"] in row for group in entry.get("differences", ()))
