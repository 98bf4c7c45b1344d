# SPDX-License-Identifier: Apache-2.0
"""Write the numbers that the RTL shares as a SystemVerilog package."""

from collections.abc import Mapping
from enum import IntEnum

from atoll.protocol import ConsoleRegister, GuardRegister
from atoll.resolve import mailbox
from atoll_sim.protocol.records import AccessKind, EventKind

PACKAGE = "atoll_protocol_pkg.sv"
_HEAD = """\
`timescale 1ns / 1ps

// Numbers that RTL, firmware and the simulator share. Made by atoll_sim.protocol; edits are lost.
package atoll_protocol_pkg;
"""


def protocol_package() -> str:
    """Write ``atoll_protocol_pkg.sv``."""
    identity = {"IDENTITY": f"32'h{mailbox.ID:08x}"}
    tables = (
        _offsets("console", ConsoleRegister.__members__, 12),
        _offsets("guard", GuardRegister.__members__, 11),
        _offsets("mailbox", mailbox.registers_of(held=True), 12),
        _enumeration("mailbox", identity, "mailbox_identity_e", "logic [31:0]"),
        _kinds("event", {each.name: each.value for each in EventKind}),
        _kinds("access", {each.name: each.number for each in AccessKind}),
    )
    return "\n".join([_HEAD, *tables, "endpackage", ""])


def _offsets(prefix: str, registers: Mapping[str, int] | Mapping[str, IntEnum], bits: int) -> str:
    rows = {name: f"{bits}'h{offset:03x}" for name, offset in registers.items()}
    return _enumeration(prefix, rows, f"{prefix}_register_e", f"logic [{bits - 1}:0]")


def _kinds(prefix: str, kinds: Mapping[str, int]) -> str:
    rows = {name: str(value) for name, value in kinds.items()}
    return _enumeration(prefix, rows, f"{prefix}_kind_e", "int unsigned")


def _enumeration(prefix: str, rows: Mapping[str, str], name: str, base: str) -> str:
    members = [
        "    "
        + "".join(part.capitalize() for part in f"{prefix}_{member}".split("_"))
        + f" = {text}"
        for member, text in rows.items()
    ]
    return f"  typedef enum {base} {{\n" + ",\n".join(members) + f"\n  }} {name};\n"
