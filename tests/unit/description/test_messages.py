# SPDX-License-Identifier: Apache-2.0
"""Every fault of a document is told in the user's terms, at its place."""

from pathlib import Path

import pytest

from atoll.description.chip import Soc
from atoll.description.messages import validate
from atoll.description.tree import SourceMap
from atoll.description.yaml_text import parse_yaml
from atoll.diagnostics.errors import AtollError

LAGOON = (Path(__file__).parents[3] / "socs" / "lagoon.yaml").read_text()


def faults(text: str) -> list[tuple[str, str]]:
    """Return (code, message) of every fault of a document."""
    with pytest.raises(AtollError) as caught:
        validate(Soc, SourceMap(parse_yaml(text, Path("chip.yaml"))))
    assert all(fault.remedy and fault.at for fault in caught.value.faults)
    assert "pydantic" not in str(caught.value)
    return [(fault.code, fault.message) for fault in caught.value.faults]


def edited(old: str, new: str) -> list[tuple[str, str]]:
    """Return the faults of lagoon after one edit."""
    assert old in LAGOON
    return faults(LAGOON.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "code", "message"),
    [
        ("    registers: 0x4000_0000\n", "", "E010", "'devices.npu' has no 'registers'"),
        ("soc: lagoon", "", "E010", "the description has no 'soc'"),
        ("    kind: npu\n", "", "E010", "'devices.npu' has no 'kind'"),
        ("irq: 3", "irq: 3\n    ira: 4", "E011", "'devices.npu' has no key 'ira'"),
        ("irq: 3", "irq: true", "E012", "'devices.npu.irq' must be a whole number, at least 0 and"
         " at most 1023, not true"),
        ("irq: 3", "irq: 3.0", "E012", "'devices.npu.irq' must be a whole number, at least 0 and"
         " at most 1023, not 3.0"),
        ("registers: 0x4000_0000", "registers:", "E012", "'devices.npu.registers' must be an"
         " address such as 0x4000_0000, not empty"),
        ("kind: npu", "kind: [npu]", "E012", "'devices.npu.kind' must be one of 'cpu', 'dsp',"
         " 'npu', 'dma', 'master', not '['npu']'"),
        ("1 MiB", "1 MB", "E012", "'memories.flash.size' must be a size such as 64 KiB,"
         " not '1 MB'"),
        ("1 MiB", "0.3 B", "E012", "'memories.flash.size' must be a size such as 64 KiB,"
         " not '0.3 B'"),
        ("48 KiB", "5 GiB", "E012", "'pools.private.size' must be a size such as 64 KiB,"
         " at least 1 B and at most 4 GiB, not '5 GiB'"),
        ("100 MHz", "0", "E012", "'devices.cpu.clock' must be a frequency such as 100 MHz,"
         " at least 1 and at most 100000000000, not 0"),
        ("0x2000_0000", "0x1_0000_0000_0000", "E012", "'memories.sram.origin' must be an address"
         " such as 0x4000_0000, at least 0 and at most 281474976710655, not 281474976710656"),
        ("banks: 4", "banks: 3", "E012", "'memories.sram.banks' must be a power of two,"
         " at least 1 and at most 16, not 3"),
        ("npu: none", "npu: no", "E012", "'pools.private.reach.npu' must be 'rw', 'ro' or 'none',"
         " not 'no'"),
        ("host: cpu", "host: cpu\nlimits: 3", "E012", "'limits' must be a mapping, written as"
         " 'key: value' lines, not 3"),
        ("version: 1", "version: 2", "E015", "version 2 of the format is not known"),
        ("version: 1", "version: true", "E015", "version true of the format is not known"),
    ],
)  # fmt: skip
def test_one_edit_is_one_fault(old: str, new: str, code: str, message: str) -> None:
    assert edited(old, new) == [(code, message)]


def test_a_document_that_is_no_mapping() -> None:
    assert faults("[1, 2]") == [
        (
            "E012",
            "the description must be a mapping, written as 'key: value' lines, not a list of 2",
        )
    ]


@pytest.mark.parametrize(
    ("moves", "message"),
    [
        ("[]", "moves' must be a collection of at least 1, not a list of 0"),
        ("[[a]]", "moves.0' must be a pair of names such as [flash, sram], not a list of 1"),
        ("[[a, b], [a, b, c]]", "moves.1' must be a pair of names such as [flash, sram],"
         " not a list of 3"),
        ("[3]", "moves.0' must be a pair of names such as [flash, sram], not 3"),
        ("3", "moves' must be a list, written as [a, b], not 3"),
        ("[[a, 3]]", "moves.0.1' must be a name of at most 32 of a-z, 0-9 and _,"
         " starting with a letter, not 3"),
    ],
)  # fmt: skip
def test_moves_are_pairs(moves: str, message: str) -> None:
    dma = f"  dma: {{kind: dma, engine: e, registers: 0x4001_0000, irq: 4, moves: {moves}}}\n"
    (found,) = edited("\nmemories:", f"{dma}\nmemories:")
    assert found == ("E012", f"'devices.dma.{message}")


def test_long_values_are_clipped() -> None:
    (found,) = edited("soc: lagoon", f"soc: {'x' * 5000}")
    assert len(found[1]) < 200


def test_faults_come_by_place_and_are_bounded() -> None:
    pools = "".join(f"  p{index}: {{}}\n" for index in range(60))
    with pytest.raises(AtollError) as caught:
        validate(
            Soc, SourceMap(parse_yaml(LAGOON.replace("pools:\n", "pools:\n" + pools), Path("c")))
        )
    found = caught.value.faults
    lines = [fault.at.line for fault in found if fault.at]
    assert lines == sorted(lines)
    assert len(found) == 101
    assert (found[-1].code, found[-1].message) == ("E016", "20 more faults are not shown")
