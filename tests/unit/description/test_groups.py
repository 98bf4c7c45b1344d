# SPDX-License-Identifier: Apache-2.0
"""Groups of devices: the chip that one stands for, what wins over it, and where its faults are."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import atoll
from atoll.description.groups import expand_groups, groups_of
from atoll.description.tree import plain
from atoll.description.yaml_text import parse_yaml
from atoll.diagnostics.errors import AtollError
from atoll.resolve import load_soc

SEEN = 0x4000_0000
CORE: dict[str, Any] = {
    "kind": "cpu",
    "isa": "rv32imc",
    "stack": {"memory": "sram", "size": "8 KiB"},
    "mailbox": "sram",
}
CHIP: dict[str, Any] = {
    "soc": "chip",
    "version": 1,
    "host": "core",
    "devices": {"core": {**CORE, "count": 3}, "core_1": {"clock": "50 MHz"}},
    "memories": {
        "flash": {"origin": 0, "size": "1 MiB", "kind": "rom"},
        "sram": {
            "origin": 0x2000_0000,
            "size": "1 MiB",
            "kind": "ram",
            "views": {"core": 0x4000_0000},
        },
    },
    "pools": {
        "weights": {"memory": "flash", "role": "constants", "reach": {"core": "ro"}},
        "shared": {"memory": "sram", "role": "workspace", "reach": {"core": "rw", "core_2": "ro"}},
    },
}
HOST = {key: value for key, value in CORE.items() if key != "mailbox"}
WRITTEN: dict[str, Any] = {
    **CHIP,
    "host": "core_0",
    "devices": {"core_0": HOST, "core_1": {**CORE, "clock": "50 MHz"}, "core_2": CORE},
    "memories": {
        **CHIP["memories"],
        "sram": {
            **CHIP["memories"]["sram"],
            "views": dict.fromkeys(("core_0", "core_1", "core_2"), SEEN),
        },
    },
    "pools": {
        "weights": {
            **CHIP["pools"]["weights"],
            "reach": dict.fromkeys(("core_0", "core_1", "core_2"), "ro"),
        },
        "shared": {
            **CHIP["pools"]["shared"],
            "reach": {"core_0": "rw", "core_1": "rw", "core_2": "ro"},
        },
    },
}


def expanded(chip: dict[str, Any]) -> Any:
    return plain(expand_groups(parse_yaml(yaml.safe_dump(chip), Path("chip.yaml"))))


def saved(chip: dict[str, Any], folder: Path) -> Path:
    path = folder / "chip.yaml"
    path.write_text(json.dumps(chip))
    return path


def test_a_group_is_its_devices() -> None:
    assert expanded(CHIP) == WRITTEN


def test_a_chip_with_a_group_is_that_with_its_devices(tmp_path: Path) -> None:
    one, other = (load_soc(saved(chip, tmp_path)) for chip in (CHIP, WRITTEN))
    for part in ("devices", "memories", "pools"):
        places = r"(line|column)=\d+|\S+chip\.yaml:\d+:\d+"
        parts = [re.sub(places, "", repr(getattr(soc, part))) for soc in (one, other)]
        assert parts[0] == parts[1]
    assert (one.host, one.default_device) == (other.host, other.default_device)


@given(
    st.dictionaries(st.sampled_from(["a", "b", "c"]), st.integers(1, 16) | st.none(), min_size=1),
    st.sampled_from(["a", "b", "c", None]),
)
def test_no_group_is_left_and_nothing_is_lost(
    counts: dict[str, int | None], host: str | None
) -> None:
    devices = {
        name: {"kind": "cpu", "mailbox": "ram", "label": name.upper()}
        | ({"count": count} if count else {})
        for name, count in counts.items()
    }
    found = expanded({"devices": devices, **({"host": host} if host else {})})
    names = {
        f"{name}_{number}" if count else name: count
        for name, count in counts.items()
        for number in range(count or 1)
    }
    assert found["devices"].keys() == names.keys()
    assert groups_of(parse_yaml(yaml.safe_dump(found), Path("chip.yaml"))) == {}
    of_groups = {name for name, count in names.items() if count}
    without = {name for name in of_groups if "mailbox" not in found["devices"][name]}
    assert len(without) <= 1
    assert {each["label"] for each in found["devices"].values()} == {n.upper() for n in names}


@pytest.mark.parametrize("host", ["first", None])
def test_the_first_cpu_of_all_is_the_host(host: str | None) -> None:
    devices = {"z": {"kind": "cpu"}, "first": {"kind": "cpu", "count": 2, "mailbox": "ram"}}
    chip = {"devices": devices} | ({"host": host} if host else {})
    found = expanded(chip)["devices"]
    assert found["first_0"] == {"kind": "cpu"}
    assert found["first_1"] == {"kind": "cpu", "mailbox": "ram"}


def test_sets_are_of_a_group_or_of_one_device(tmp_path: Path) -> None:
    path = saved(CHIP, tmp_path)
    settings = (
        "devices.core.count=4",
        "devices.core.stack.size=4 KiB",
        "devices.core_2.stack.size=16 KiB",
        "devices.core_2.clock=25 MHz",
        "pools.weights.reach.core_3=none",
    )
    for soc in (load_soc(path, settings), atoll.load_soc(path).with_(settings)._resolved):
        assert [each.name for each in soc.cpus] == ["core_0", "core_1", "core_2", "core_3"]
        assert [each.stack.size for each in soc.cpus] == [4096, 4096, 16384, 4096]
        assert [each.clock for each in soc.cpus] == [10**8, 5 * 10**7, 25 * 10**6, 10**8]
    slower = atoll.load_soc(path).with_(settings).with_(["devices.core_0.clock=20 MHz"])
    assert slower._resolved.cpus[0].clock == 20 * 10**6
    both = slower.with_(["devices.core.clock=10 MHz"])
    assert [each.clock for each in both._resolved.cpus] == [2 * 10**7, 5 * 10**7, 25 * 10**6, 10**7]
    with pytest.raises(AtollError, match=r"there is no 'devices\.core_7'"):
        load_soc(path, ["devices.core_7.clock=1 MHz"])
