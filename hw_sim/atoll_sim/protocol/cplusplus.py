# SPDX-License-Identifier: Apache-2.0
"""Write enumerations and records as C++."""

from collections.abc import Iterable, Mapping
from enum import Enum, IntEnum

from atoll import protocol
from atoll_sim.protocol import records
from atoll_sim.protocol.layout import Layout, Number

PROTOCOL = "protocol.h"


def protocol_header() -> str:
    """Write ``protocol.h``: the console's protocol, and what the model logs."""
    console = (
        constants(operator_bits=protocol.OPERATOR_BITS, device_bits=protocol.DEVICE_BITS),
        enumeration(protocol.Request),
        enumeration(protocol.TraceEvent),
        _TRACE_WORD,
    )
    record = (
        constants(
            reset_cycles=records.RESET_CYCLES,
            unwritten_ram=records.UNWRITTEN_RAM,
            erased_rom=records.ERASED_ROM,
            after_run=records.AFTER_RUN,
            heat_bytes=records.HEAT_BYTES,
            access_kinds=len(records.KINDS),
        ),
        enumeration(records.EventKind),
        enumeration(records.AccessKind),
        *map(
            structure,
            (
                *(records.EVENT, records.COUNT, records.LINE),
                *(records.OCCASION, records.HEAT, records.SPAN),
            ),
        ),
    )
    return header({"console": console, "record": record})


_TRACE_WORD = """\
// The parts of a word of TRACE.
constexpr uint32_t operator_of(uint32_t word) { return word & ((1U << kOperatorBits) - 1); }
constexpr uint32_t device_of(uint32_t word) {
  return word >> kOperatorBits & ((1U << kDeviceBits) - 1);
}
constexpr uint32_t event_of(uint32_t word) { return word >> (kOperatorBits + kDeviceBits); }
"""


def header(namespaces: Mapping[str, Iterable[str]]) -> str:
    """Write a header of namespaces, each with its declarations."""
    lines = ["// Made by atoll_sim.protocol; edits are lost.", "#pragma once", ""]
    lines += ["#include <cstdint>", "#include <vector>"]
    for name, parts in namespaces.items():
        lines += ["", f"namespace {name} {{", "", "\n".join(parts), f"}}  // namespace {name}"]
    return "\n".join(lines) + "\n"


def constants(**values: int) -> str:
    """Declare constants; ``after_run`` is called ``kAfterRun``."""
    return "".join(
        f"constexpr uint32_t {enumerator(name)} = {_literal(value)};\n"
        for name, value in values.items()
    )


def enumeration(table: type[Enum]) -> str:
    """Declare the members of `table`, which have a value or the number of their place."""
    rows = {each.name: (_value(each, place), "") for place, each in enumerate(table)}
    return enumerators(table.__name__, table.__doc__ or "", rows)


def enumerators(name: str, doc: str, rows: Mapping[str, tuple[int, str]]) -> str:
    """Declare an enumeration of numbers by name, each with its words."""
    lines = [f"// {doc}", f"enum {name} : uint32_t {{"]
    for member, (value, words) in rows.items():
        lines.append(_comment(f"  {enumerator(member)} = {value},", words))
    return "\n".join([*lines, "};", ""])


def structure(layout: Layout) -> str:
    """Declare a record, and assert that it has no gaps."""
    lines = [f"// {layout.doc}", f"struct {layout.name} {{"]
    for name, field in layout.fields.items():
        lines.append(_comment(f"  {field.type.name} {name};", field.doc))
    lines += ["};", f"static_assert(sizeof({layout.name}) == {layout.size});", ""]
    return "\n".join(lines)


def sections(table: Mapping[str, Layout | Number]) -> str:
    """Declare what is read section by section, by a reader that knows how to read one."""
    lines = ["// The sections of a table, in their order.", "struct Sections {"]
    lines += [f"  std::vector<{each.name}> {name};" for name, each in table.items()]
    lines += [
        "",
        "  // Read all; false as soon as `reader` cannot.",
        "  template <typename Reader>",
        "  bool read(Reader& reader) {",
        "    return " + " &&\n           ".join(f"reader.section({name})" for name in table) + ";",
        "  }",
        "};",
        "",
    ]
    return "\n".join(lines)


def enumerator(name: str) -> str:
    """Return the C++ name of a number: ``READ_ONLY`` becomes ``kReadOnly``."""
    return "k" + upper_camel(name)


def upper_camel(name: str) -> str:
    """Return ``READ_ONLY`` as ``ReadOnly``."""
    return "".join(part.capitalize() for part in name.split("_"))


def _value(member: Enum, place: int) -> int:
    return int(member) if isinstance(member, IntEnum) else place


def _literal(value: int) -> str:
    return str(value) if value < 2**16 else f"0x{value:08x}"


def _comment(text: str, words: str) -> str:
    return f"{text}  // {words}" if words else text
