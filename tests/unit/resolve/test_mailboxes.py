# SPDX-License-Identifier: Apache-2.0
"""A second core: never the host by default, and reached through its mailbox."""

from typing import Any

import pytest

from atoll.resolve.explain import explain
from atoll.resolve.mailbox import SIZE
from atoll.resolve.soc import Access, Registers

DSP = {"kind": "dsp", "isa": "rv32im", "stack": {"memory": "sram", "size": "1 KiB"}}
BOX = {"mailbox": 0x4002_0000, "irq": 5}


def with_dsp(**more: Any) -> dict[str, Any]:
    """Return the changes that add a dsp, whose name sorts before the CPU's."""
    reach = {"pools.weights.reach.a": "ro", "pools.shared.reach.a": "rw"}
    return {"devices.a": DSP | more, **reach}


def test_d2_a_dsp_is_numbered_with_the_cores_after_every_cpu(chip: Any) -> None:
    soc = chip(with_dsp(**BOX))
    assert [(d.name, d.kind, d.device_type, d.device_id) for d in soc.devices] == [
        ("cpu", "cpu", 1, 0),
        ("a", "dsp", 1, 1),
        ("npu", "npu", 12, 0),
    ]


def test_s5_a_dsp_is_the_host_only_where_it_is_named(chip: Any) -> None:
    assert chip(with_dsp(**BOX)).host == "cpu"
    other = with_dsp() | {"devices.cpu.mailbox": 0x4002_0000, "devices.cpu.irq": 5}
    soc = chip({**other, "host": "a"})
    assert (soc.host, soc.default_device) == ("a", "a")
    box = Registers(origin=0x4002_0000, size=SIZE)
    assert (soc.device("cpu").mailbox, soc.device("cpu").irq) == (box, 5)


def test_s5_a_dsp_with_a_mailbox_may_be_the_default_device(chip: Any) -> None:
    assert chip({**with_dsp(**BOX), "default_device": "a"}).default_device == "a"


def test_the_host_reaches_every_mailbox_and_the_owner_its_own(chip: Any) -> None:
    second = {"devices.b": DSP | {"mailbox": 0x4003_0000, "irq": 6}}
    reach = {"pools.weights.reach.b": "ro", "pools.shared.reach.b": "rw"}
    soc = chip({**with_dsp(**BOX), **second, **reach})
    mine, other = (soc.device(name).mailbox for name in ("a", "b"))
    seen = {device.name: dict(soc.windows(device)) for device in soc.devices}
    assert {name for name, windows in seen.items() if mine in windows} == {"cpu", "a"}
    assert {name for name, windows in seen.items() if other in windows} == {"cpu", "b"}
    assert seen["a"][mine] is Access.WRITE
    assert set(soc.registers_of(soc.device("npu"))) == set()


def test_only_the_host_and_the_owner_reach_a_mailbox_in_memory(chip: Any) -> None:
    second = {"devices.b": DSP | {"mailbox": "sram"}}
    reach = {"pools.weights.reach.b": "ro", "pools.shared.reach.b": "rw"}
    soc = chip({**with_dsp(mailbox="sram"), **second, **reach})
    boxes = {name: soc.device(name).shared_mailbox for name in ("a", "b")}
    for name, box in boxes.items():
        assert (box.memory, box.size, box.origin % 64) == ("sram", 128, 0)
        windows = {each.name: dict(soc.windows(each)) for each in soc.devices}
        assert {each for each, found in windows.items() if box in found} == {"cpu", name}
        assert windows[name][box] is Access.WRITE
    assert {core.name for core in soc.remote_cpus} == {"a", "b"}
    assert soc.irqs.keys() == {"npu"}


def test_a_core_without_a_mailbox_is_described_and_has_no_layer_of_one(chip: Any) -> None:
    soc = chip(with_dsp())
    assert (soc.device("a").mailbox, soc.device("a").irq) == (None, None)
    assert not any(key.endswith((".mailbox", "a.irq")) for key in soc.layers)
    assert "chip.yaml:" in chip(with_dsp(**BOX)).layers["devices.a.mailbox"]


def test_explain_shows_the_mailbox(chip: Any) -> None:
    tables = {table.key: table for table in explain(chip(with_dsp(**BOX)))}
    text = str(tables["devices"])
    assert "picorv32 rv32im, zig, mailbox at 0x40020000, irq 5" in text
    rows = [list(map(str, row)) for row in tables["address_map"].rows]
    assert ["0x40020000", "0x40020fff", "4 KiB", "a.mailbox", "registers"] in rows


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mailbox": 0x4002_0000}, "E039 core 'a' has 'mailbox' and no 'irq'"),
        ({"irq": 5}, "E039 core 'a' has 'irq' and no 'mailbox'"),
        (BOX | {"irq": 3}, "E044 'a' and 'npu' both use interrupt 3"),
        (BOX | {"irq": 2}, "E044 interrupt 2 of 'a' is no line"),
        (BOX | {"mailbox": 0x4000_0000}, "E031 the register block of 'npu' at 0x40000000 overlaps"),
        (BOX | {"mailbox": 0x4002_0010}, "E038 the mailbox of 'a' is at 0x40020010"),
    ],
)
def test_a_mailbox_that_cannot_be(refused: Any, changes: dict[str, int], message: str) -> None:
    (fault,) = refused(with_dsp(**changes))
    assert fault.startswith(message)


def test_the_host_has_no_mailbox(refused: Any) -> None:
    faults = refused({"devices.cpu.mailbox": 0x4002_0000, "devices.cpu.irq": 5})
    assert [fault.split(":")[0] for fault in faults] == ["E039 'cpu' is the host"]
