# SPDX-License-Identifier: Apache-2.0
"""Steps name fields of registers, of the YAML or of SystemRDL, in the place of masks."""

from pathlib import Path

import pytest

from atoll.description.accelerator_files import load_accelerator
from atoll.diagnostics.errors import DescriptionError
from atoll.program.expressions import value_of
from atoll.program.steps import Program, Step
from atoll.resolve.programs import program_of

HEAD = """\
accelerator: mine
version: 1
ports: {control: apb, data: {}, interrupt: none}
operators: {ADD: {cost: 1}}
"""
REGISTERS = """\
registers:
  size: 4 KiB
  map: {CONTROL: 0x00, STATUS: 0x04}
  fields: {CONTROL: {START: 0, MODE: [4, 6]}, STATUS: {BUSY: 0, REASON: [8, 11]}}
"""
PROGRAM = """\
program:
  run:
    - {write: CONTROL.MODE, value: 3 + elements}
    - {wait: STATUS.REASON, equals: 5}
    - {wait: STATUS, mask: 0x1, equals: 0}
  errors:
    - {read: STATUS.REASON, means: it failed}
"""
RDL = """\
addrmap mine {
  reg { field { sw = w; hw = r; } START[0:0]; field { sw = w; hw = r; } MODE[6:4]; } control @ 0;
  reg { field { sw = r; hw = w; } BUSY[0:0]; field { sw = r; hw = w; } REASON[11:8]; } status @ 4;
};
"""


def program(folder: Path, text: str) -> Program:
    (folder / "mine.yaml").write_text(text)
    found = program_of(load_accelerator(folder / "mine.yaml", None).model)
    assert found
    return found


def written(step: Step, elements: int) -> int:
    return value_of(step.expressions[0], {"elements": elements})


@pytest.mark.parametrize("rdl", [False, True])
def test_fields_become_masks(tmp_path: Path, rdl: bool) -> None:
    (tmp_path / "mine.rdl").write_text(RDL)
    made = program(tmp_path, HEAD + ("systemrdl: ./mine.rdl\n" if rdl else REGISTERS) + PROGRAM)
    mode, reason, busy = made.runs["add"]
    assert mode.name == "CONTROL"
    assert [written(mode, 0), written(mode, 4), written(mode, 5)] == [0x30, 0x70, 0x00]
    assert (reason.name, reason.mask, reason.equals) == ("STATUS", 0xF00, 0x500)
    assert (busy.name, busy.mask, busy.equals) == ("STATUS", 1, 0)
    assert [(each.register, each.mask) for each in made.failures] == [("STATUS", 0xF00)]


def test_a_long_formula_of_a_field(tmp_path: Path) -> None:
    longest = " + ".join(["elements"] * 36)
    text = PROGRAM.replace("3 + elements", longest)
    assert 380 < len(longest) <= 400
    made = program(tmp_path, HEAD + REGISTERS + text)
    assert written(made.runs["add"][0], 1) == (36 << 4) & 0x70


MISTAKES = {
    "field": ("CONTROL.MODE", "CONTROL.MODUS", "E161", "has no field 'MODUS'"),
    "register": ("CONTROL.MODE", "CONTROLS.MODE", "E161", "no register 'CONTROLS'"),
    "register of fields": ("{CONTROL: {START", "{CONTROLS: {START", "E161", "no register"),
    "mask": ("REASON, equals: 5", "REASON, mask: 1, equals: 5", "E160", "takes no 'mask'"),
    "equals": ("equals: 5", "equals: 16", "E160", "has 4 bits and cannot be 16"),
    "error mask": ("REASON, means", "REASON, mask: 1, means", "E160", "needs no mask"),
    "error register": ("{read: STATUS.REASON", "{read: STATUS", "E160", "which bits of 'STATUS'"),
    "bits": ("[8, 11]", "[11, 8]", "E012", "the lowest and the highest"),
    "too high": ("[8, 11]", "32", "E012", "a bit from 0 to 31"),
    "form": ("STATUS.REASON, equals", "STATUS.REASON.LOW, equals", "E012", "a field of one"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told(name: str, tmp_path: Path) -> None:
    old, new, code, told = MISTAKES[name]
    text = HEAD + REGISTERS + PROGRAM
    assert text.count(old) == 1
    (tmp_path / "mine.yaml").write_text(text.replace(old, new))
    with pytest.raises(DescriptionError) as caught:
        load_accelerator(tmp_path / "mine.yaml", None)
    assert code in {fault.code for fault in caught.value.faults}
    assert told in str(caught.value), str(caught.value)
    assert all(fault.remedy for fault in caught.value.faults)
