# SPDX-License-Identifier: Apache-2.0
"""resolved.json holds the whole chip and nothing that depends on how the YAML was laid out."""

import json
from typing import Any

import pytest

from atoll.diagnostics.errors import UsageError
from atoll.resolve import load_soc
from atoll.resolve.export import from_json, to_json, without_positions

DMA = {"kind": "dma", "engine": "ripple", "registers": 0x4001_0000, "irq": 4}
DSP: dict[str, object] = {"kind": "dsp", "isa": "rv32im", "mailbox": 0x4002_0000, "irq": 5}
DSP |= {"stack": {"memory": "sram", "size": 4096}}


@pytest.mark.parametrize("name", ["lagoon", "atoll2", "twin"])
def test_round_trip_of_shipped_chips(name: str) -> None:
    soc = load_soc(name)
    again = from_json(to_json(soc))
    assert again == soc
    assert repr(again) == repr(soc)


def test_round_trip_of_every_kind_of_device(chip: Any) -> None:
    soc = chip(
        {
            "devices.dma": {**DMA, "moves": [["flash", "sram"]]},
            "devices.dsp": DSP,
            "pools.weights.reach": {"cpu": "ro", "npu": "ro", "dma": "ro", "dsp": "ro"},
            "pools.shared.reach": {"cpu": "rw", "npu": "rw", "dma": "rw", "dsp": "rw"},
        }
    )
    assert from_json(to_json(soc)) == soc
    assert from_json(to_json(without_positions(soc))) == without_positions(soc)


def test_without_positions_names_files_only(chip: Any) -> None:
    soc = chip({"limits.max_stack_size": 4096}, ("devices.npu.irq=7",))
    bare = without_positions(soc)
    assert bare.layers["soc"].endswith("chip.yaml")
    assert bare.layers["devices.npu.irq"] == "--set"
    assert bare.host_cpu.max_stack_size.layer.endswith("chip.yaml")
    assert {device.at for device in bare.devices} == {None}
    assert {memory.at for memory in bare.memories} == {None}
    assert {pool.at for pool in bare.pools} == {None}
    assert bare != soc
    assert without_positions(bare) == bare


def damaged(change: Any) -> str:
    """Return the JSON of lagoon after `change` to its data."""
    document = json.loads(to_json(load_soc("lagoon")))
    change(document)
    return json.dumps(document)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        '{"format": 1}',
        "[" * 100_000,
        damaged(lambda document: document.update(format=2)),
        damaged(lambda document: document["soc"].pop("host")),
        damaged(lambda document: document["soc"].update(host=3)),
        damaged(lambda document: document["soc"].update(devices={})),
        damaged(lambda document: document["soc"]["devices"][0].update(kind="gpu")),
        damaged(lambda document: document["soc"]["devices"][0].update(clock=True)),
        damaged(lambda document: document["soc"]["pools"][0].update(reach=[])),
        damaged(lambda document: document["soc"]["pools"][0]["reach"].update(cpu="wr")),
    ],
)
def test_damaged_json_is_a_fault(text: str) -> None:
    with pytest.raises(UsageError, match="no resolved chip") as caught:
        from_json(text)
    assert caught.value.faults[0].code == "E009"
