# SPDX-License-Identifier: Apache-2.0
"""The tables tell what the chip is; text and data say the same."""

import json
from itertools import pairwise
from typing import Any

from atoll.resolve import load_soc
from atoll.resolve.explain import explain, summary
from atoll.resolve.tables import as_data, as_text


def test_every_subject_has_a_table() -> None:
    tables = explain(load_soc("atoll2"))
    assert [table.key for table in tables] == [
        "devices",
        "memories",
        "aliases",
        "views",
        "pools",
        "speeds",
        "scopes",
        "address_map",
        "reach",
        "reach_layers",
        "stacks",
        "protection",
        "targets",
        "accelerators",
        "layers",
    ]


def test_summary_is_the_start_of_explain() -> None:
    soc = load_soc("lagoon")
    assert explain(soc)[:5] == summary(soc)


def test_text_is_aligned() -> None:
    text = as_text(summary(load_soc("lagoon")))
    assert text.startswith("Devices of lagoon\n")
    head, line, *rows = text.splitlines()[1:5]
    columns = [head.index(each) for each in ("kind", "loader", "is", "note")]
    starts = [*columns, len(line)]
    cells = [[row[a:b].strip() for a, b in pairwise(starts)] for row in rows]
    assert [each[1:] for each in cells] == [
        ["xip", "picorv32 rv32imc, zig", "host, default device"],
        ["none", "reef at 0x40000000, irq 3", ""],
    ]
    assert all(line[at - 1] == " " != line[at] for at in columns)
    assert not any(line.endswith(" ") for line in text.splitlines())


def test_data_is_json_with_the_same_rows() -> None:
    soc = load_soc("atoll2")
    data: Any = json.loads(json.dumps(as_data(soc, explain(soc))))
    assert (data["soc"], data["host"], data["default_device"]) == ("atoll2", "cpu", "cpu")
    assert data["reach"][0] == {
        "pool": "conv_private",
        "access": {"cpu": "rw", "npu_conv": "rw", "npu_dw": "none"},
    }
    assert {row["limit"]: row["size_bytes"] for row in data["stacks"]} == {
        "size": 6144,
        "interrupts": 512,
        "max_stack_alloca_size": 512,
        "max_stack_size": 6144,
    }


def test_the_address_map_is_sorted_and_gives_every_region() -> None:
    soc = load_soc("atoll2")
    table = next(table for table in explain(soc) if table.key == "address_map")
    rows: Any = table.as_data()
    begins = [row["first_address"] for row in rows]
    assert begins == sorted(begins)
    names = {row[3] for row in table.rows}
    assert names >= {region.name for region in soc.regions()} | {"console", "npu_dw.registers"}


def test_a_dma_engine_is_shown(chip: Any) -> None:
    dma = {"kind": "dma", "engine": "ripple", "registers": 0x4001_0000, "irq": 4}
    soc = chip(
        {
            "devices.dma": {**dma, "moves": [["flash", "sram"]]},
            "pools.weights.reach.dma": "ro",
            "pools.shared.reach.dma": "rw",
        }
    )
    assert "ripple at 0x40010000, irq 4" in as_text(explain(soc))
