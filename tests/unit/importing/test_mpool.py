# SPDX-License-Identifier: Apache-2.0
"""Memory-pool files of ST Edge AI become pools, and are written again as they were.

`ATOLL_IMPORT_FOLDER=FOLDER pytest tests/unit/importing/test_mpool.py -k folder` takes the files of
a folder through a description and back.
"""

import json
import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.unit.importing.reading import asked, chip, imported
from tests.unit.importing.vendor import MPOOL

from atoll.diagnostics.errors import AtollError, UsageError
from atoll.resolve import load_soc
from atoll.soc_checks import check_soc
from atoll_board.package import Board, package_files
from atoll_import.imported import import_files

_FOLDER = os.environ.get("ATOLL_IMPORT_FOLDER", "")
NPU_CLOCK = 10**9
HOST = (
    "soc=tern",
    "devices.cpu={kind: cpu, core: cortex_m55, isa: armv8.1-m.main+mve.fp+fp.dp}",
    "devices.cpu.stack={memory: tcm, size: 8 KiB}",
    "devices.cpu.code={memory: tcm, size: 64 KiB}",
    "memories.tcm={origin: 0x1000_0000, size: 128 KiB, kind: ram}",
    f"devices.npu.clock={NPU_CLOCK}",
)
"""What answers the questions about core and NPU."""


def pools(text: str) -> list[dict[str, Any]]:
    """Return the entries of the pools of a file."""
    found: list[dict[str, Any]] = json.loads(text)["memory"]["mempools"]
    return found


def pool(text: str, name: str) -> dict[str, Any]:
    """Return the entry of one pool."""
    (found,) = (each for each in pools(text) if each["name"] == name)
    return found


def answers(file: str, description: dict[str, Any]) -> tuple[str, ...]:
    """Return what sets all that a description leaves open, clocks by the file's own ratios."""
    ratios = {
        each["name"].lower().replace(" ", "_"): Fraction(str(each["prop"]["freqRatio"]))
        for each in pools(file)
    }
    of_pools = []
    for name, each in description["pools"].items():
        reach = "ro" if each["role"] == "constants" else "rw"
        of_pools += [
            f"pools.{name}.clock={round(NPU_CLOCK / ratios[name])}",
            f"pools.{name}.reach.cpu={reach}",
            *([f"pools.{name}.role=both"] if each["role"] == "undecided" else []),
        ]
    return (*HOST, *of_pools)


def written(path: Path, overrides: tuple[str, ...] = ()) -> str:
    """Import the file at `path`, answer, set `overrides`, and return what is written."""
    target = path.with_suffix(".yaml")
    target.write_text((found := import_files([path], target, "", "")).text)
    soc = load_soc(target, (*answers(path.read_text(), chip(found)), *overrides))
    ((_, entry),) = package_files(Board(soc=soc), ["mpool"])["mpool"].items()
    return entry.data.decode()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "tern.mpool").write_text(MPOOL)
    return tmp_path / "tern.mpool"


def test_what_a_file_says_of_pools(tmp_path: Path) -> None:
    """Rights, place, speed and order become keys of pools; the clock of the NPU is a question."""
    found = imported(tmp_path, {"tern.mpool": MPOOL})
    data = chip(found)
    assert data["mpool"]["device"] == "npu"
    assert data["memories"] == {
        "sram2": {"origin": 0x2010_0000, "size": "448 KiB", "kind": "ram", "width": 8},
        "spi2": {"origin": 0x7030_0000, "size": "61 MiB", "kind": "rom"},
        "spi1": {"origin": 0x9000_0000, "size": "16 MiB", "kind": "ram"},
    }
    each = data["pools"]
    assert {name: (it["memory"], it["role"], it["reach"]["npu"]) for name, it in each.items()} == {
        "npuram2": ("sram2", "workspace", "rw"),
        "octoflash": ("spi2", "constants", "ro"),
        "hyperram": ("spi1", "undecided", "rw"),
    }
    assert [it.get("preference", 0) for it in each.values()] == [0, 2, 1]
    assert [it.get("read_bandwidth") for it in each.values()] == [None, 1, 2]
    assert "that of npu divided by 1.25, for example 800 MHz" in found.text
    assert "devices.npu.clock" in asked(found)
    assert {it.what for it in found.left_out} == {
        "pool offRAM at 0x20000000",
        "pool ec pool at 0x0",
        "cache of the NPU",
    }


def test_pools_lie_in_the_memories_of_other_files(tmp_path: Path) -> None:
    memories = {
        "sram": {"base": 0x2000_0000, "size": 0x200_000, "type": "cached"},
        "half": {"base": 0x9080_0000, "size": 0x100_0000, "type": "cached"},
    }
    tables = {"csr_bases": {}, "csr_registers": {}, "constants": {}, "memories": memories}
    found = imported(tmp_path, {"csr.json": json.dumps(tables), "tern.mpool": MPOOL})
    data = chip(found)
    assert [*data["memories"]] == ["sram", "half", "spi2"]
    assert data["memories"]["sram"]["width"] == 8
    inside = data["pools"]["npuram2"]
    assert (inside["memory"], inside["offset"], inside["size"]) == ("sram", 0x10_0000, "448 KiB")
    (clash,) = (each for each in found.left_out if "outside" in each.why)
    assert (clash.what, "'half'" in clash.why) == ("pool hyperRAM at 0x90000000", True)


def test_a_file_comes_back(file: Path) -> None:
    assert json.loads(written(file)) == json.loads(MPOOL)


def test_the_description_decides_place_rights_and_speed(file: Path) -> None:
    """What it says is in the file, in the units of the file; what it does not say stays."""
    changes = (
        "pools.npuram2.size=256 KiB",
        "pools.npuram2.offset=64 KiB",
        "pools.octoflash.clock=250 MHz",
        "pools.hyperram.reach.npu=ro",
    )
    text = written(file, changes)
    first = pool(text, "npuRAM2")
    assert first["offset"] == {"value": "0x20110000", "magnitude": "BYTES"}
    assert first["size"] == {"value": "256", "magnitude": "KBYTES"}
    assert first["prop"] == pool(MPOOL, "npuRAM2")["prop"]
    assert pool(text, "octoFlash")["prop"]["freqRatio"] == 4
    assert pool(text, "hyperRAM")["prop"]["rights"] == "ACC_READ"


def test_pools_come_and_go(file: Path) -> None:
    """What the NPU does not reach is not there; a new pool has the words of the one as fast."""
    new = (
        "{memory: sram2, role: workspace, size: 64 KiB, clock: 800 MHz, reach: {cpu: rw, npu: rw}}"
    )
    text = written(file, ("pools.hyperram.reach.npu=none", f"pools.late={new}"))
    assert [each["name"] for each in pools(text)] == [
        "offRAM",
        "npuRAM2",
        "octoFlash",
        "ec pool",
        "late",
    ]
    late = pool(text, "late")
    assert late["fname"] == "LATE"
    assert late["prop"] == {
        "rights": "ACC_WRITE",
        "throughput": "HIGH",
        "latency": "LOW",
        "byteWidth": 8,
        "freqRatio": 1.25,
    }


def test_addresses_are_those_that_the_npu_sees(file: Path) -> None:
    text = written(file, ("memories.sram2.views={npu: 0x3010_0000}",))
    assert pool(text, "npuRAM2")["offset"]["value"] == "0x30100000"


def test_a_chip_without_such_a_file_has_none() -> None:
    assert package_files(Board(soc=load_soc("lagoon")), ["mpool"]) == {"mpool": {}}


def test_check_finds_what_the_emitter_would_refuse(file: Path) -> None:
    written(file)
    target = file.with_suffix(".yaml")
    overrides = answers(MPOOL, chip(import_files([file], target, "", "")))
    check_soc(load_soc(target, overrides), simulate=False)
    file.write_text(MPOOL.replace("ACC_READ", "ACC_RED", 1))
    with pytest.raises(AtollError) as caught:
        check_soc(load_soc(target, overrides), simulate=False)
    (fault,) = caught.value.faults
    assert (fault.code, fault.at and fault.at.line) == ("E138", 27)


def renamed(text: str) -> str:
    """Give two pools names that a description cannot tell apart."""
    return text.replace('"octoFlash"', '"NPU.RAM2"').replace('"npuRAM2"', '"NPU-RAM2"')


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text.replace('"mempools"', '"pools"'), "of no format that is known"),
        (lambda text: text.replace("[\n      {", '{"a": [\n      {', 1), "not valid JSON"),
        (lambda text: text.replace("ACC_WRITE", "ACC_BOTH", 1), "is not ACC_READ or ACC_WRITE"),
        (
            lambda text: text.replace('"0", "magnitude": "KBYTES"', '"0", "magnitude": "KB"'),
            "'size' of pool 'offRAM'",
        ),
        (lambda text: text.replace('"0x20100000"', '"-16"'), "'offset' of pool 'npuRAM2'"),
        (lambda text: text.replace('"byteWidth": 8', '"byteWidth": 0'), "'byteWidth'"),
        (
            lambda text: text.replace('"freqRatio": 2.5', '"freqRatio": NaN'),
            "a number that is none",
        ),
        (lambda text: text.replace('"freqRatio": 2.5', '"freqRatio": 0'), "'freqRatio'"),
        (lambda text: text.replace('"offRAM"', '"--"'), "no 'name' with a letter"),
        (renamed, "'NPU-RAM2' and 'NPU.RAM2' are one name"),
    ],
)
def test_damaged_files(change: Callable[[str], str], words: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=words):
        imported(tmp_path, {"tern.mpool": change(MPOOL)})


@pytest.mark.skipif(not _FOLDER, reason="ATOLL_IMPORT_FOLDER names no folder of files")
def test_the_files_of_a_folder_come_back(tmp_path: Path) -> None:
    found = sorted(Path(_FOLDER).rglob("*.mpool"))
    assert found
    for number, each in enumerate(found):
        copy = tmp_path / f"n{number}.mpool"
        copy.write_bytes(each.read_bytes())
        assert json.loads(written(copy)) == json.loads(copy.read_text()), each
