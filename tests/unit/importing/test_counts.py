# SPDX-License-Identifier: Apache-2.0
"""Every memory of a file is imported, or named as left out with its address.

`ATOLL_IMPORT_FOLDER=FOLDER pytest tests/unit/importing/test_counts.py -k folder` holds the files
of a folder likewise; of a PDSC each device.
"""

import os
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.unit.importing.counters import SUFFIXES, Found, memories_of
from tests.unit.importing.test_cases import CASES

from atoll_import.merge import merge
from atoll_import.reader import read_file
from atoll_import.reserved import without_reserved

_LEFT_OUT = re.compile(r"memory (.*) at (0x[0-9a-f]+)")
_FOLDER = os.environ.get("ATOLL_IMPORT_FOLDER", "")


def named_by_atoll(path: Path, device: str) -> tuple[set[Found], set[Found]]:
    """Return the memories that are imported or left out; first by one address, then by all."""
    facts = without_reserved(merge([read_file(path, "", device)[1]]))
    found = [_LEFT_OUT.fullmatch(each.what) for each in facts.left_out]
    out = {(each[1], int(each[2], 16)) for each in found if each}
    ours = {(_of_part(each.name), each.origin) for each in facts.memories}
    every = {
        (_of_part(each.name), at)
        for each in facts.memories
        for at in (each.origin, *each.others, *(view for _, view in each.views))
    }
    return ours | out, every | out


def _of_part(name: str) -> str:
    """Return the name of a memory of which one is a part beside reserved bytes."""
    return re.sub(r" \d+$", "", name)


def differences(path: Path, device: str = "") -> tuple[set[Found], set[Found]]:
    """Return the memories of a file that an import loses, and those that it invents."""
    known = memories_of(path, device)
    ours, every = named_by_atoll(path, device)
    return known - every, ours - known


def devices_of(path: Path) -> list[str]:
    """Return the devices that a file describes; one without a name if it is no pack."""
    if path.suffix != ".pdsc":
        return [""]
    devices = ElementTree.parse(path).getroot().find("devices")
    assert devices is not None
    levels = (*devices.iter("device"), *devices.iter("variant"))
    return [each.get("Dname") or each.get("Dvariant") or "" for each in levels]


@pytest.mark.parametrize("name", CASES)
def test_own_files(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(CASES[name])
    known = {device: memories_of(path, device) for device in devices_of(path)}
    assert any(known.values())
    assert [differences(path, device) for device in known] == [(set(), set())] * len(known)


@pytest.mark.skipif(not _FOLDER, reason="ATOLL_IMPORT_FOLDER names no folder of files")
def test_the_files_of_a_folder() -> None:
    wrong, count = {}, 0
    for path in sorted(each for each in Path(_FOLDER).rglob("*") if each.suffix in SUFFIXES):
        for device in devices_of(path):
            count += 1
            lost, invented = differences(path, device)
            if lost or invented:
                wrong[f"{path.name} {device}"] = lost, invented
    assert count
    assert not wrong
