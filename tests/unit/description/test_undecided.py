# SPDX-License-Identifier: Apache-2.0
"""A value that is undecided: what the message asks for, wherever it stands."""

from pathlib import Path

import pytest

from atoll.description.template import starting_description
from atoll.description.undecided import questions_of
from atoll.diagnostics.errors import AtollError
from atoll.resolve import load_soc

CORE = "{kind: cpu, isa: rv32imc, stack: {memory: sram, size: 8 KiB}}"
WANTS = {
    "soc": "write 'soc: my_chip', for example",
    "devices": f"write 'devices: {{cpu: {CORE}}}', for example",
    "devices.cpu.kind": "write 'kind: cpu', or dsp",
    "devices.cpu.core": "write 'core: picorv32', for example",
    "devices.cpu.clock": "remove 'devices.cpu.clock'",
    "devices.npu": f"write 'npu: {CORE}', for example",
    "memories": "write 'memories: {sram: {origin: 0x2000_0000, size: 256 KiB, kind: ram}}',"
    " for example",
    "memories.sram.kind": "write 'kind: ram', or rom",
    "pools": "write 'pools: {sram: {memory: sram, role: workspace}}', for example",
    "pools.shared.reach": "remove 'pools.shared.reach'",
    "pools.shared.reach.npu": "write 'npu: rw', or ro or none",
    "pools.shared.others": "write 'others: rw', or ro or none",
}


def nested(key: str) -> str:
    """Return YAML with an undecided value at a dotted key."""
    names = key.split(".")
    lines = [f"{'  ' * depth}{name}:" for depth, name in enumerate(names)]
    return "\n".join(lines) + " undecided\n"


@pytest.mark.parametrize("key", WANTS)
def test_what_a_question_wants(key: str) -> None:
    (question,) = questions_of(nested(key), Path("chip.yaml"))
    assert (".".join(question.key), question.wants) == (key, WANTS[key])


def test_all_questions_are_named_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "chip.yaml"
    path.write_text(starting_description("chip").replace("rw", "undecided"))
    with pytest.raises(AtollError) as caught:
        load_soc(path)
    faults = caught.value.faults
    assert [fault.code for fault in faults] == ["E137"] * 2
    lines = path.read_text().splitlines()
    assert all(fault.at and "undecided" in lines[fault.at.line - 1] for fault in faults)


def test_an_answer_may_come_from_a_layer_on_top(tmp_path: Path) -> None:
    path = tmp_path / "chip.yaml"
    path.write_text(starting_description("chip").replace("8 KiB", "undecided"))
    assert load_soc(path, ["devices.cpu.stack.size=4KiB"]).host_cpu.stack.size == 4096
