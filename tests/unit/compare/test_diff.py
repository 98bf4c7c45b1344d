# SPDX-License-Identifier: Apache-2.0
"""What `atoll diff` says: a sentence for each kind of change, of chips and of builds."""

import json
from pathlib import Path

import pytest
from tests.cached_chips import APART, SHARED_BY_REGISTERS

from atoll.artifacts.build_tree import MARKER, RESOLVED
from atoll.cli import main
from atoll.diagnostics.errors import UsageError
from atoll.resolve import load_soc
from atoll.resolve.export import to_json
from atoll_compare.changes import changes
from atoll_compare.chip_values import things_of
from atoll_compare.sides import things_at

CASES = {
    "memories.sram.size=512KiB": {
        "memory 'sram' grew from 256 KiB to 512 KiB",
        "pool 'shared' grew from 256 KiB to 512 KiB",
    },
    "memories.sram.origin=0x3000_0000": {
        "memory 'sram' moved from 0x20000000 to 0x30000000",
        "pool 'shared' moved from 0x20000000 to 0x30000000",
    },
    "pools.private.reach.npu=ro": {"pool 'private': 'npu' reaches it now, ro"},
    "pools.private.reach.npu=none": {"pool 'private': 'npu' reaches it no more, was rw"},
    "pools.private.reach.cpu=ro": {"pool 'private': 'cpu' has ro, had rw"},
    "pools.shared.alignment=32": {"pool 'shared': alignment grew from 16 B to 32 B"},
    "pools.shared.role=both": {"pool 'shared': role is both, was workspace"},
    "devices.npu.irq=4": {"device 'npu': irq is 4, was 3"},
    "devices.npu.params.input_lanes=4": {"device 'npu': params.input_lanes shrank from 8 to 4"},
    "devices.npu.clock=50 MHz": {"device 'npu': clock shrank from 100 MHz to 50 MHz"},
    "devices.cpu.cache={line: 32}": {
        "device 'cpu': cache.line is 32 B, was not there",
        "device 'cpu': cache.write_back is true, was not there",
    },
    "devices.cpu.cache={line: 32, size: 16 KiB, ways: 4}": {
        "device 'cpu': cache.line is 32 B, was not there",
        "device 'cpu': cache.write_back is true, was not there",
        "device 'cpu': cache.size is 16 KiB, was not there",
        "device 'cpu': cache.ways is 4, was not there",
    },
    "devices.cpu.stack.runs=worker": {
        "device 'cpu': stack.runs is worker, was the main stack",
        "device 'cpu': limits.max_stack_size shrank from 8 KiB to 4 KiB",
    },
    "soc=other": {"the chip: name is other, was lagoon"},
}

M7 = ("devices.cpu.core=cortex_m7", "devices.cpu.isa=armv7e-m+fp")
COMMON: dict[str, tuple[str, ...]] = {
    "pools.private.reach.npu=none": ("pools.private.reach.npu=rw",),
    "devices.cpu.stack.runs=worker": ("devices.cpu.stack.threads={worker: 4 KiB}",),
    "devices.cpu.cache={line: 32}": M7,
    "devices.cpu.cache={line: 32, size: 16 KiB, ways: 4}": M7,
}
"""What both chips have."""


def said(first: tuple[str, ...], second: tuple[str, ...]) -> set[str]:
    """Return the sentences about two variants of lagoon."""
    sides = (things_of(load_soc("lagoon", sets)) for sets in (first, second))
    return {change.text for change in changes(*sides)}


@pytest.mark.parametrize("override", CASES)
def test_one_change(override: str) -> None:
    common = COMMON.get(override, ())
    assert said(common, (*common, override)) == CASES[override]
    assert len(said((*common, override), common)) == len(CASES[override])
    assert said((*common, override), (*common, override)) == set()


def test_a_device_that_came_and_went() -> None:
    gone = ("devices.npu=null",)
    came = said(gone, ())
    assert "device 'npu' is new: npu" in came
    assert "pool 'shared': 'npu' reaches it now, rw" in came
    assert not any("'private'" in each for each in came)
    assert "device 'npu' is gone: npu" in said((), gone)


def build(folder: Path, offset: int, *overrides: str) -> Path:
    """Write what a build of one network leaves behind, as far as it is compared."""
    (folder / "net").mkdir(parents=True)
    (folder / MARKER).write_text("{}")
    (folder / RESOLVED).write_text(to_json(load_soc("lagoon", overrides)))
    buffer = {"pool": "shared", "offset_bytes": offset, "size_bytes": 64}
    plan = {"pools": {"shared": {"used_bytes": offset + 64}}, "buffers": {"image": buffer}}
    (folder / "net" / "plan.json").write_text(json.dumps(plan))
    return folder


def test_builds(tmp_path: Path) -> None:
    sides = build(tmp_path / "a", 0), build(tmp_path / "b", 64, "devices.npu.irq=4")
    assert {change.text for change in changes(*map(things_at, sides))} == {
        "device 'npu': irq is 4, was 3",
        "use of pool 'net.shared' grew from 64 B to 128 B",
        "buffer 'net.image' moved from shared, offset 0 to shared, offset 64",
    }


@pytest.mark.parametrize("damage", ['{"pools": 1}', "[", '{"pools": {}, "buffers": {"a": {}}}'])
def test_damaged_builds(damage: str, tmp_path: Path) -> None:
    folder = build(tmp_path / "a", 0)
    (folder / "net" / "plan.json").write_text(damage)
    with pytest.raises(UsageError) as caught:
        things_at(folder)
    assert caught.value.faults[0].code == "E096"
    (folder / RESOLVED).unlink()
    with pytest.raises(UsageError, match=r"resolved\.json"):
        things_at(folder)


@pytest.mark.parametrize(("second", "status"), [("lagoon", 0), ("atoll2", 1)])
def test_status(second: str, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "lagoon", second]) == 0
    assert main(["diff", "lagoon", second, "--exit-code"]) == status
    assert ("no difference\n" in capsys.readouterr().out) == (status == 0)


def test_set_changes_the_second(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "lagoon", "lagoon", "--set", "devices.npu.irq=4"]) == 0
    assert capsys.readouterr().out == "device 'npu': irq is 4, was 3\n"
    folder = build(tmp_path / "a", 0)
    assert main(["diff", "lagoon", str(folder), "--set", "devices.npu.irq=4"]) == 1
    assert "error[E090]: --set changes a chip, and '" in capsys.readouterr().err


def test_a_use_of_nothing_is_no_difference(tmp_path: Path) -> None:
    sides = build(tmp_path / "a", 0), build(tmp_path / "b", 0)
    plan = sides[1] / "net" / "plan.json"
    pools = {"shared": {"used_bytes": 64}, "private": {"used_bytes": 0}}
    plan.write_text(json.dumps({**json.loads(plan.read_text()), "pools": pools}))
    assert not tuple(changes(*map(things_at, sides)))


def test_a_cache_that_others_have_too() -> None:
    sides = (things_of(load_soc(SHARED_BY_REGISTERS, sets)) for sets in (APART, ()))
    assert {change.text for change in changes(*sides)} == {
        f"device 'cpu_{number}': cache.shared is l1, was not there" for number in (0, 1)
    }
