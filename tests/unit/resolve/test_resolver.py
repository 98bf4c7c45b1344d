# SPDX-License-Identifier: Apache-2.0
"""Whole chips: the documented example, the shipped ones, and where each value came from."""

from pathlib import Path
from typing import Any

from atoll.description.template import starting_description
from atoll.resolve import load_soc
from atoll.resolve.soc import Dma

ROOT = Path(__file__).parents[3]


def example() -> str:
    """Return the YAML of the first code block of docs/description.md."""
    text = (ROOT / "docs" / "description.md").read_text()
    return text.partition("```yaml\n")[2].partition("```")[0]


def test_the_documented_example(tmp_path: Path) -> None:
    path = tmp_path / "example.yaml"
    path.write_text(example())
    soc = load_soc(path)
    dma = soc.device("dma")
    assert isinstance(dma, Dma)
    assert dma.moves == (("flash", "sram"), ("sram", "dtcm"))
    assert [device.name for device in soc.devices] == ["cpu", "npu", "dma"]
    assert soc.pool("private").region.size == 48 * 1024


def test_lagoon_holds_the_largest_network() -> None:
    soc = load_soc("lagoon")
    assert soc.pool("weights").region.size >= 300_000
    assert soc.pool("shared").region.size >= 2 * 55_296 + 27_648
    assert (soc.host_cpu.isa, soc.npus[0].params["input_lanes"]) == ("rv32imc", 8)


def test_atoll2_has_private_memories_and_other_addresses() -> None:
    one, two = load_soc("lagoon"), load_soc("atoll2")
    conv, depthwise = two.npus
    assert conv.params != depthwise.params
    assert not set(conv.runs) & set(depthwise.runs)
    assert two.pool("conv_private").reach[depthwise.name] == "none"
    assert two.pool("dw_private").reach[conv.name] == "none"
    origins = [{memory.origin for memory in soc.memories} for soc in (one, two)]
    registers = [{npu.registers.origin for npu in soc.npus} for soc in (one, two)]
    assert origins[0].isdisjoint(origins[1])
    assert registers[0].isdisjoint(registers[1])
    assert one.console != two.console


def test_the_template_is_a_chip(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(starting_description("mine"))
    assert load_soc(path).name == "mine"


def test_values_name_their_layer(chip: Any, chip_file: Any) -> None:
    layers = chip({"console": 0x9000_0000}, ("devices.npu.irq=9",)).layers
    assert layers["devices.npu.irq"] == "--set"
    assert layers["console"].startswith(f"{chip_file({})}:")
    assert layers["devices.cpu.toolchain"] == "built-in"
    assert layers["pools.shared.size"] == "derived"
    assert "reef.yaml:" in layers["devices.npu.params.weight_rows"]
    assert "extends" not in layers
    assert list(layers) == sorted(layers)


def test_entities_keep_their_place(chip: Any) -> None:
    soc = chip()
    for part in (*soc.devices, *soc.memories, *soc.pools):
        assert part.at is not None
        line = part.at.path.read_text().splitlines()[part.at.line - 1]
        assert line[part.at.column - 1 :] == f"{part.name}:"
