# SPDX-License-Identifier: Apache-2.0
"""Every number and record that languages share comes from one table."""

import re
import shutil
import struct
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from atoll.protocol import ConsoleRegister, GuardRegister, Request, Status, Trace, TraceEvent
from atoll.resolve import load_soc, mailbox
from atoll_sim.build.model import design_of
from atoll_sim.chip.plan import plan_chip
from atoll_sim.protocol import records
from atoll_sim.protocol.cplusplus import enumerator, protocol_header
from atoll_sim.protocol.layout import U32, Layout
from atoll_sim.protocol.records import COUNT, EVENT, AccessKind, EventKind
from atoll_sim.protocol.systemverilog import protocol_package
from atoll_sim.shadow import memory, rules
from atoll_sim.shadow import records as shadow_records
from atoll_sim.shadow.records import BUFFER, FINDING, POOL, BufferKind, records_header

ROOT = Path(__file__).parents[3]
TABLE = ROOT / "compiler" / "atoll" / "protocol.py"
# Members of plain enumerations, and names of constants.
NUMBERED = re.compile(r"enum (?!class)[^{;]*\{([^}]*)\}|(?:constexpr|localparam)[^=;]*?(\w+)\s*=")


def rows_of(section: str) -> Mapping[str, int]:
    """Return the numbers that the tables of a section of docs/platform.md give by name."""
    text = (ROOT / "docs" / "platform.md").read_text().partition(f"\n## {section}\n")[2]
    rows = re.findall(r"^\| (0x\w+|\d+) \| (\w+) \|", text.partition("\n## ")[0], re.M)
    return {name: int(number, 0) for number, name in rows}


def test_the_document_has_the_numbers_of_the_table() -> None:
    console = {
        each.name: each.value for table in (ConsoleRegister, Request, TraceEvent) for each in table
    }
    assert rows_of("Console registers") == console
    guard = {each.name: each.value for each in GuardRegister if each is not GuardRegister.FIRST}
    assert rows_of("Guard registers") == guard
    text = (ROOT / "docs" / "platform.md").read_text()
    assert f"| 0x{GuardRegister.FIRST:03X} + 8 i | ADDRESS |" in text
    assert rows_of("Mailboxes") == {**mailbox.REGISTERS, **mailbox.RELEASE}
    assert f"reads 0x{mailbox.ID:08X}".lower() in text.lower()


def test_documents_give_statuses_their_numbers() -> None:
    documents = "".join(path.read_text() for path in (ROOT / "docs").glob("*.md"))
    named = re.findall(r"`ATOLL_ERROR_(\w+)` \((-\d+)\)", documents)
    assert {name for name, _ in named} >= {"VIOLATION", "BUS"}
    assert all(Status[name] == int(number) for name, number in named)
    assert len({status.value for status in Status}) == len(Status)


def test_a_word_of_trace_has_the_bits_of_the_document() -> None:
    text = (ROOT / "docs" / "platform.md").read_text()
    assert "[15:0] operator number, [23:16] device ordinal, [31:24] event" in text
    trace = Trace(TraceEvent.RUN_END, operator=0xABCD, device=0x12)
    assert trace.word() == 0x0512_ABCD
    assert Trace.of(trace.word()) == trace


@pytest.mark.parametrize("name", ["EVENT", "COUNT", "SPAN"])
def test_a_changed_record_changes_the_header_and_the_model(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout: Layout = getattr(records, name)
    before = protocol_header()
    turned = replace(layout, fields=dict(reversed([*layout.fields.items()])))
    monkeypatch.setattr(records, name, turned)
    assert protocol_header() != before
    first, field = next(iter(turned.fields.items()))
    assert f"struct {layout.name} {{\n  {field.type.name} {first};" in protocol_header()
    assert turned.code == layout.code[::-1]


def test_a_rule_more_is_a_number_more(monkeypatch: pytest.MonkeyPatch) -> None:
    more = (replace(rules.RULES[0], symbol="ODD_DAY", name="odd day"), *rules.RULES)
    monkeypatch.setattr(shadow_records, "RULES", more)
    text = records_header()
    assert f"constexpr uint32_t kRules = {len(more)};" in text
    assert "  kOddDay = 0,  // odd day\n  kNoBuffer = 1," in text


def test_every_build_has_the_headers() -> None:
    for faults in (False, True):
        chip = replace(plan_chip(load_soc("lagoon")), faults=faults)
        design = design_of(chip, None)
        assert design.common_headers["protocol.h"] == protocol_header()
        assert design.common_headers["shadow_records.h"] == records_header()
        assert design.generated["atoll_protocol_pkg.sv"] == protocol_package()


def offsets(layout: Layout, space: str) -> Iterator[str]:
    """Yield assertions that C++ has the fields where Python has them."""
    at = 0
    for name, field in layout.fields.items():
        yield f"static_assert(offsetof({space}::{layout.name}, {name}) == {at});"
        at += struct.calcsize(f"<{field.type.code}")


def test_c_plus_plus_has_every_field_and_number_in_its_place(tmp_path: Path) -> None:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    lines = ['#include "shadow.h"', "#include <cstddef>"]
    lines += [line for each in (EVENT, COUNT, records.SPAN) for line in offsets(each, "record")]
    lines += [line for each in (POOL, BUFFER, FINDING) for line in offsets(each, "shadow")]
    numbers = {
        **{f"console::{enumerator(each.name)}": each.value for each in (*Request, *TraceEvent)},
        **{f"record::{enumerator(each.name)}": each.value for each in EventKind},
        **{f"shadow::{enumerator(each.name)}": each.number for each in AccessKind},
        **{f"shadow::{enumerator(each.name)}": each.value for each in BufferKind},
        **{f"shadow::{enumerator(each.symbol)}": place for place, each in enumerate(rules.RULES)},
    }
    lines += [f"static_assert({name} == {value});" for name, value in numbers.items()]
    word = Trace(TraceEvent.READY, operator=7, device=3).word()
    for part, value in (("event", 3), ("device", 3), ("operator", 7)):
        lines.append(f"static_assert(console::{part}_of({word}) == {value});")
    (tmp_path / "layout.cpp").write_text("\n".join(lines))
    for name, text in memory.GENERATED.items():
        (tmp_path / name).write_text(text)
    command = [compiler, "-std=c++20", "-fsyntax-only", f"-I{tmp_path}", f"-I{memory.HERE}"]
    subprocess.run([*command, str(tmp_path / "layout.cpp")], check=True)


def test_a_row_must_name_the_fields_of_its_record() -> None:
    assert EVENT.row(value=3, kind=2, cycle=1) == (1, 2, 3)
    with pytest.raises(AssertionError, match="Event"):
        EVENT.row(value=3, cycle=1)
    assert POOL.pack([POOL.row(span=(1, 2), readers=3, writers=4)]) == U32.pack([1, 2, 3, 4])
    assert [*EVENT.unpack(EVENT.pack([(1, 2, 3)]))] == [{"cycle": 1, "kind": 2, "value": 3}]


def product_files(*patterns: str) -> Iterator[Path]:
    for room in (ROOT / "compiler", ROOT / "hw_sim"):
        yield from (path for pattern in patterns for path in room.rglob(pattern))


def test_no_c_or_rtl_numbers_the_protocol_again() -> None:
    tables = (TraceEvent, Request, EventKind, AccessKind, BufferKind)
    members = {each.name for table in tables for each in table} - {"NONE"}
    shared = {
        *map(enumerator, (*members, *(rule.symbol for rule in rules.RULES))),
        *(f"ATOLL_EVENT_{each.name}" for each in TraceEvent),
        *(f"ATOLL_REQUEST_{each.name}" for each in Request),
        *re.findall(r"(\w+) = \d", protocol_package()),
    }
    for path in product_files("*.cpp", "*.h", "*.c", "*.sv", "*.j2"):
        for listed, name in NUMBERED.findall(path.read_text()):
            again = shared & {*re.findall(r"\w+", listed), name}
            assert not again, f"{path}: {again}"


def test_no_python_numbers_or_unpacks_events_again() -> None:
    events = "|".join(each.name for each in TraceEvent if "_" in each.name)
    again = re.compile(rf"^ *(?:\w+, )*(?:{events})\b[\w, ]*=|\w [<>]{{2}} 24\b", re.M)
    assert again.search(TABLE.read_text())
    for path in product_files("*.py"):
        if path != TABLE and "engines" not in path.parts:
            assert not again.search(path.read_text()), path
