# SPDX-License-Identifier: Apache-2.0
"""One round reports all that is wrong, and nothing that only follows from something reported."""

import copy
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.effort import in_gate

from atoll.description.tree import plain
from atoll.description.yaml_text import read_yaml
from atoll.diagnostics.errors import AtollError
from atoll.resolve import load_soc

ROOT = Path(__file__).parents[3]
BAD = ROOT / "tests" / "bad"
CHIPS = ("lagoon", "atoll2", "twin")
NAMED = ("devices", "memories", "pools", "reach", "params", "threads", "soc", "version")

MANY = """\
soc: chip
version: 1
devices:
  cpu:
    kind: cpu
    isa: rv32imc
    paint: red
    stack: {memory: srm, size: 8 KiB}
    stack: {memory: sram, size: 8 KiB}
  npu: {kind: npu, accelerator: reff, registers: 0x4000_0010, irq: 3}
  dsp: {kind: dsp, isa: 7, stack: {memory: sram, size: 30}}
  gpu: {kind: npu, accelerator: reef, registers: 0x5000_0000, irq: 3, runs: [CONV_3D]}
memories:
  flash: {origin: 0x0, size: 1 MiB, kind: rom, width: 7}
  sram: {origin: 0x2000_0000, size: 256 KiB, kind: ram}
  alias: {origin: 0x2000_1000, size: 4 KiB, kind: ram}
pools:
  weights: {memory: flash, role: constants, reach: {cpu: ro, dsp: ro, npu: ro}}
  shared: {memory: sram, rol: workspace, others: rw, offset: 24, size: 4 KiB}
  fast: {memory: dtcm, role: workspace, others: rw}
host: cup
"""


def codes(text: str, folder: Path) -> list[str]:
    """Return ``code line`` of each fault of a description."""
    path = folder / "chip.yaml"
    path.write_text(text)
    with pytest.raises(AtollError) as caught:
        load_soc(path)
    assert all(fault.remedy for fault in caught.value.faults)
    return [f"{fault.code} {fault.at.line if fault.at else 0}" for fault in caught.value.faults]


def test_all_stages_report_in_one_round(tmp_path: Path) -> None:
    assert codes(MANY, tmp_path) == [
        "E011 7",
        "E020 8",
        "E004 9",
        "E022 10",
        "E038 10",
        "E044 10",
        "E012 11",
        "E068 11",
        "E035 11",
        "E023 12",
        "E012 14",
        "E031 16",
        "E033 18",
        "E011 19",
        "E035 19",
        "E020 20",
        "E021 21",
    ]


def some(data: Any) -> list[tuple[str, ...]]:
    """Return the paths of 20 keys of a document, all kinds among them."""
    return random.Random(data["soc"]).sample(list(leaves(data)), 20)


def leaves(data: Any, key: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of every key of a document."""
    for name, value in data.items():
        yield (*key, name)
        if isinstance(value, dict):
            yield from leaves(value, (*key, name))


def edited(data: Any, key: tuple[str, ...]) -> tuple[Any, Any]:
    """Return a copy of a document, and the mapping in it that holds `key`."""
    table = whole = copy.deepcopy(data)
    for name in key[:-1]:
        table = table[name]
    return whole, table


def faults_of(data: Any, folder: Path) -> tuple[str, ...]:
    """Return the messages of all faults of a document, none if it means a chip."""
    path = folder / "chip.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False))
    try:
        load_soc(path)
    except AtollError as error:
        return tuple(f"{fault.code} {fault.message}" for fault in error.faults)
    return ()


def document(name: str) -> Any:
    return plain(read_yaml(ROOT / "socs" / f"{name}.yaml"))


@pytest.mark.parametrize("chip", in_gate(CHIPS, -1))
def test_one_bad_value_is_one_fault(chip: str, tmp_path: Path) -> None:
    data = document(chip)
    for key in some(data):
        whole, table = edited(data, key)
        table[key[-1]] = [[]]
        faults = faults_of(whole, tmp_path)
        assert len(faults) == 1, (key, faults)
        assert faults[0][:4] in ("E012", "E015"), (key, faults)


@pytest.mark.parametrize("chip", in_gate(CHIPS, -1))
def test_one_misspelt_key_is_one_fault(chip: str, tmp_path: Path) -> None:
    data = document(chip)
    for key in some(data):
        if key[-2:-1] and key[-2] in NAMED:
            continue
        whole, table = edited(data, key)
        table[f"{key[-1][:-1]}"] = table.pop(key[-1])
        faults = faults_of(whole, tmp_path)
        assert len(faults) == 1, (key, faults)
        assert faults[0].startswith("E011"), (key, faults)


@pytest.mark.parametrize("chip", in_gate(CHIPS, -1))
def test_one_missing_key_is_one_fault_or_none(chip: str, tmp_path: Path) -> None:
    """A name that goes takes references with it; all else has a default or is one fault."""
    data = document(chip)
    for key in some(data):
        if key[-2:-1] and key[-2] in ("devices", "memories", "pools"):
            continue
        whole, table = edited(data, key)
        del table[key[-1]]
        assert len(faults_of(whole, tmp_path)) <= 1, key


@pytest.mark.parametrize("chip", in_gate(CHIPS, -1))
def test_no_bad_value_hides_what_is_wrong_elsewhere(chip: str, tmp_path: Path) -> None:
    data = document(chip)
    data["memories"]["twin_of_rom"] = {"origin": 64, "size": 64, "kind": "ram"}
    data["memories"]["rim"] = {"origin": 0xFFFF_FFF0, "size": 64, "kind": "ram"}
    whole_faults = set(faults_of(data, tmp_path))
    assert len(whole_faults) >= 1
    for key in some(data):
        if key == ("memories",) or key[:2] in (("memories", "rim"), ("memories", "twin_of_rom")):
            continue
        if key[0] == "devices" and key[2:] in ((), ("kind",), ("isa",)):
            continue  # it may be a core of 64 bits, which sees further
        whole, table = edited(data, key)
        table[key[-1]] = [[]]
        assert any("'rim' ends past" in fault for fault in faults_of(whole, tmp_path)), key


def test_a_bad_name_is_one_fault_wherever_it_is_used(tmp_path: Path) -> None:
    text = (ROOT / "socs" / "lagoon.yaml").read_text().replace("npu:", "Npu:")
    assert codes(text, tmp_path) == ["E014 14"]
    text = (ROOT / "socs" / "lagoon.yaml").read_text().replace("sram", "int")
    assert codes(text, tmp_path) == ["E014 25"]


def test_an_accelerator_hides_nothing_of_its_chip(tmp_path: Path) -> None:
    reef = (ROOT / "hw_sim" / "atoll_sim" / "engines" / "reef" / "reef.yaml").read_text()
    broken = reef.replace("asynchronous: true", "asynchronus: true").replace("ID: 0x00", "ID: 0x02")
    (tmp_path / "mine.yaml").write_text(broken)
    lagoon = (ROOT / "socs" / "lagoon.yaml").read_text()
    text = lagoon.replace("accelerator: reef", "accelerator: ./mine.yaml").replace(
        "irq: 3", "irq: 2"
    )
    found = codes(text, tmp_path)
    assert [code[:4] for code in found] == ["E044", "E038", "E011"]


def test_an_operator_below_a_misspelt_section_is_reported_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "chip.yaml"
    text = (ROOT / "socs" / "atoll2.yaml").read_text()
    text = text.replace("devices:", "devicec:", 1)
    path.write_text(text.replace("runs: [CONV_2D, FULLY", "runs: [LOG_SOFTMAX, FULLY", 1))
    with pytest.raises(AtollError) as caught:
        load_soc(path)
    assert [fault.code for fault in caught.value.faults] == ["E011", "E023"]
