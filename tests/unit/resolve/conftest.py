# SPDX-License-Identifier: Apache-2.0
"""A small chip that the tests of the resolver change in one place each."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from atoll.diagnostics.errors import AtollError
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc

CHIP: dict[str, Any] = {
    "soc": "chip",
    "version": 1,
    "devices": {
        "cpu": {"kind": "cpu", "isa": "rv32imc", "stack": {"memory": "sram", "size": "8 KiB"}},
        "npu": {"kind": "npu", "accelerator": "reef", "registers": 0x4000_0000, "irq": 3},
    },
    "memories": {
        "flash": {"origin": 0, "size": "1 MiB", "kind": "rom"},
        "sram": {"origin": 0x2000_0000, "size": "256 KiB", "kind": "ram"},
    },
    "pools": {
        "weights": {"memory": "flash", "role": "constants", "reach": {"cpu": "ro", "npu": "ro"}},
        "shared": {"memory": "sram", "role": "workspace", "reach": {"cpu": "rw", "npu": "rw"}},
    },
}

Changes = dict[str, object]
Chip = Callable[..., ResolvedSoc]
Refused = Callable[..., list[str]]


def changed(changes: Changes) -> dict[str, Any]:
    """Return the chip with each dotted key set, or deleted where the value is None."""
    chip = copy.deepcopy(CHIP)
    for key, value in changes.items():
        *path, last = key.split(".")
        table = chip
        for name in path:
            table = table.setdefault(name, {})
        if value is None:
            del table[last]
        else:
            table[last] = copy.deepcopy(value)
    return chip


@pytest.fixture
def chip_file(tmp_path: Path) -> Callable[[Changes], Path]:
    """Write the changed chip to a file."""

    def write(changes: Changes) -> Path:
        path = tmp_path / "chip.yaml"
        path.write_text(yaml.safe_dump(changed(changes), sort_keys=False))
        return path

    return write


@pytest.fixture
def chip(chip_file: Callable[[Changes], Path]) -> Chip:
    """Resolve the changed chip."""

    def load(changes: Changes | None = None, overrides: tuple[str, ...] = ()) -> ResolvedSoc:
        return load_soc(chip_file(changes or {}), overrides)

    return load


@pytest.fixture
def refused(chip: Chip) -> Refused:
    """Return ``code message`` of every fault of the changed chip."""

    def load(changes: Changes, overrides: tuple[str, ...] = ()) -> list[str]:
        with pytest.raises(AtollError) as caught:
            chip(changes, overrides)
        assert all(fault.remedy for fault in caught.value.faults)
        return [f"{fault.code} {fault.message}" for fault in caught.value.faults]

    return load
