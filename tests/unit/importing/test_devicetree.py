# SPDX-License-Identifier: Apache-2.0
"""Devicetree blobs: what is read of trees of others, and what is refused."""

import random
import struct
from pathlib import Path

import pytest
from tests.unit.board.trees import blob, parsed, written
from tests.unit.importing.reading import asked, chip, imported
from tests.unit.importing.test_cases import CASES
from tests.unit.importing.test_mutated import ALL_MUTANTS, MUTANTS, judge

from atoll.diagnostics.errors import UsageError

FOREIGN = """/dts-v1/;
/ {
    #address-cells = <2>;
    #size-cells = <1>;
    model = "Gannet, board 2";
    interrupt-parent = <&gic>;
    cpus {
        #address-cells = <1>;
        #size-cells = <0>;
        cpu@0 { device_type = "cpu"; compatible = "arm,cortex-a53"; reg = <0>;
                clock-frequency = <1200000000>; };
        cpu@1 { device_type = "cpu"; compatible = "gannet,core"; reg = <1>; };
        cpu@2 { device_type = "cpu"; compatible = "gannet,core"; reg = <2>; status = "disabled"; };
    };
    memory@80000000 { device_type = "memory"; reg = <0 0x80000000 0x8000000>, <2 0 0x1000000>; };
    soc {
        compatible = "simple-bus";
        #address-cells = <1>;
        #size-cells = <1>;
        ranges = <0 0 0x40000000 0x100000>;
        gic: interrupt-controller@1000 { reg = <0x1000 0x1000>; interrupt-controller;
                                         #interrupt-cells = <3>; };
        sram@20000 { compatible = "mmio-sram"; reg = <0x20000 0x8000>; };
        dma-controller@3000 { reg = <0x3000 0x100>; #dma-cells = <1>; interrupts = <0 5 4>; };
        serial@4000 { reg = <0x4000 0x100>; };
        flash { sram@0 { compatible = "mmio-sram"; reg = <0 0 0x8000>; }; };
    };
};
"""


@pytest.fixture(scope="module")
def lagoon(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("lagoon")
    return blob(parsed(written("lagoon", "devicetree", folder) / "devicetree" / "lagoon.dts"))


def test_a_tree_of_others(tmp_path: Path) -> None:
    (tmp_path / "gannet.dts").write_text(FOREIGN)
    found = imported(tmp_path, {"gannet.dtb": blob(parsed(tmp_path / "gannet.dts"))})
    data = chip(found)
    assert data["soc"] == "gannet_board_2"
    assert data["devices"]["cpu_0"]["core"] == "cortex_a53"
    assert data["devices"]["cpu_0"]["clock"] == "1200 MHz"
    assert "devices.cpu_1.core" in asked(found)
    assert data["devices"]["dma_controller"] == {"kind": "master"}
    assert {name: each["origin"] for name, each in data["memories"].items()} == {
        "memory": 0x8000_0000,
        "sram": 0x4002_0000,
    }
    said = [(each.what, each.why) for each in found.left_out]
    assert (
        "memory memory at 0x200000000",
        "0x200000000 is beyond the address space of 32 bits",
    ) in said
    assert len({*data["devices"]}) == 3


@pytest.mark.parametrize(
    ("at", "value", "words"),
    [
        (0, 0xEDFE0DD0, "is of no format that is known"),
        (4, 0xFFFFFF, "of another version, or not whole"),
        (24, 99, "of another version, or not whole"),
        (8, 0xFFFF, "ends before its last node"),
        (64, 7, "has a token 7 at byte 64"),
    ],
)
def test_damage_is_named(lagoon: bytes, at: int, value: int, words: str, tmp_path: Path) -> None:
    data = bytearray(lagoon)
    struct.pack_into(">I", data, at, value)
    with pytest.raises(UsageError, match=words):
        imported(tmp_path, {"lagoon.dtb": bytes(data)})


def test_depth_is_bounded(tmp_path: Path) -> None:
    deep = struct.pack(">II", 1, 0x61000000) * 100_000
    head = struct.pack(">10I", 0xD00DFEED, 40 + len(deep), 40, 0, 40, 17, 16, 0, 0, len(deep))
    with pytest.raises(UsageError, match="too many nodes, or too deep"):
        imported(tmp_path, {"deep.dtb": head + deep})


def mutated(dice: random.Random, data: bytes) -> bytes:
    """Return a blob with a few bytes or cells replaced, or cut off."""
    mutant = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 4))):
        at = dice.randrange(len(mutant) // 4) * 4
        choice = dice.randrange(4)
        if choice == 0:
            mutant[at] = dice.randrange(256)
        elif choice == 1:
            cell = dice.choice((0, 1, 2, 3, 4, 9, 64, 2**31, 2**32 - 1))
            struct.pack_into(">I", mutant, at, cell)
        elif choice == 2:
            mutant[at : at + 4] = dice.choice((b"a\n: ", b'\xff\xfe#"', b"*/{}", b"\0\0\0\0"))
        else:
            del mutant[max(at, 64) :]
    return bytes(mutant)


def campaign(lagoon: bytes, folder: Path, count: int) -> None:
    """Import mutants; some are refused and some are not, or the mutations say nothing."""
    dice = random.Random("dtb 14")
    bases = [lagoon]
    for name in (each for each in CASES if each.endswith(".dts")):
        (folder / name).write_text(CASES[name])
        bases.append(blob(parsed(folder / name)))
    became = sum(
        judge(folder / "chip.dtb", mutated(dice, dice.choice(bases))) for _ in range(count)
    )
    assert 0 < became < count


def test_mutants(lagoon: bytes, tmp_path: Path) -> None:
    campaign(lagoon, tmp_path, MUTANTS)


@pytest.mark.slow
def test_many_mutants(lagoon: bytes, tmp_path: Path) -> None:
    campaign(lagoon, tmp_path, ALL_MUTANTS)
