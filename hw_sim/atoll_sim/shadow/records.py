# SPDX-License-Identifier: Apache-2.0
"""What the shadow memory reads and writes: the sections of a packed contract, and findings."""

from collections.abc import Mapping
from enum import IntEnum

from atoll_sim.protocol.cplusplus import (
    constants,
    enumeration,
    enumerators,
    header,
    sections,
    structure,
)
from atoll_sim.protocol.layout import U32, U64, Field, Layout, Number, record
from atoll_sim.shadow.rules import RULES

RECORDS = "shadow_records.h"
MAGIC, VERSION = int.from_bytes(b"ATOL", "little"), 10
NONE = 0xFFFF_FFFF
NEVER = 0xFFFF_FFFE


class BufferKind(IntEnum):
    """What a buffer is; from kCode on it has an owner for good."""

    WORKSPACE = 0
    CONSTANT = 1
    HEAP = 2
    CODE = 3
    INBOX = 4
    DATA = 5
    STACK = 6
    BEYOND_STACK = 7


class Port(IntEnum):
    """Bits: the caller fills a buffer, or takes it; or it lives from run to run."""

    INPUT = 1
    OUTPUT = 2
    STATE = 4


HEAD = record(
    "Head",
    "What a table begins with; its sections follow, a count and so many records each.",
    magic=U32,
    version=U32,
    host=Field(U32, "number of the master"),
)

MASTER = record(
    "Master",
    "A device that makes accesses.",
    beat=Field(U32, "reads show whole beats of so many bytes; 1: exactly what is read"),
)

SPAN = record("Span", "Bytes in a row.", origin=U32, size=U32)

POOL = record(
    "Pool",
    "Where buffers may lie, and who reaches it: one bit per master.",
    span=SPAN,
    readers=U32,
    writers=U32,
)

BUFFER = record(
    "Buffer",
    "Bytes of one buffer, or of a part of a core's region.",
    span=SPAN,
    alignment=U32,
    kind=U32,
    owner=Field(U32, "master of code, data and stacks; else number of the model"),
    ports=U32,
    last=Field(
        U32,
        "operator that ends its lifetime; kNoWord: the caller reads it after the run, or it never"
        " ends; kNever: nobody reads it, it is dead as a run begins",
    ),
)

MODEL = record("Model", "A network.", first=Field(U32, "operator 0"), count=U32)

OPERATOR = record(
    "Operator",
    "An operator; its buffers are positions in `lists`.",
    master=Field(U32, "kNoWord: no such operator"),
    reads=U32,
    read_count=U32,
    writes=U32,
    write_count=U32,
    overlaps=Field(U32, "pairs: a written buffer, the one it may overlap"),
    overlap_count=U32,
    source=Field(U32, "of a copy, else kNoWord"),
    destination=U32,
    part=Field(U32, "what another core does of the same operator at the same time, else kNoWord"),
)

CONTENT = record("Content", "What a constant must hold.", buffer=U32, crc=U32)

FILLED = record(
    "Filled",
    "Bytes that are written at start, before the writer does anything for a network.",
    span=SPAN,
    writer=Field(U32, "master"),
    code=Field(U32, "buffer of the code that is brought there, else kNoWord"),
    size=Field(U32, "bytes of it that are known; 0: none"),
    crc=U32,
)

SUCCESSION = record(
    "Succession",
    "An operator that a master begins by itself, as it reads the first of its commands.",
    master=U32,
    address=Field(U32, "of that command"),
    model=U32,
    ended=Field(U32, "word of TRACE that tells the end of the operator before"),
    begun=Field(U32, "likewise, of its own begin"),
)


class Action(IntEnum):
    """What an access to a register of an accelerator means."""

    START = 0
    DONE = 1
    CLEAR = 2
    ENABLE = 3
    ABORT = 4
    RESET = 5
    FIXED = 6
    COUNT = 7
    COMPLETED = 8
    NEUTRAL = 9
    READABLE = 10
    BUSY = 11
    NO_READ = 12
    NO_WRITE = 13


class Interrupt(IntEnum):
    """What kind of interrupt an accelerator has."""

    NOTHING = 0
    LEVEL = 1
    EDGE = 2


DEVICE = record(
    "Device",
    "An accelerator whose driver is known.",
    master=U32,
    origin=Field(U32, "of its registers"),
    interrupt=U32,
    queued=Field(U32, "it takes commands while it works"),
    enabled=Field(U32, "its interrupt is on without more ado"),
    patience=Field(U32, "cycles of the host in which its line follows what changes it"),
)

REGISTER = record(
    "Register",
    "What an access to a register means whose value has `value` under `mask`.",
    master=U32,
    action=U32,
    offset=U32,
    mask=U32,
    value=U32,
)

SECTIONS: Mapping[str, Layout | Number] = {
    "masters": MASTER,
    "memories": SPAN,
    "pools": POOL,
    "buffers": BUFFER,
    "models": MODEL,
    "operators": OPERATOR,
    "filled": FILLED,
    "contents": CONTENT,
    "successions": SUCCESSION,
    "devices": DEVICE,
    "registers": REGISTER,
    "lists": U32,
}
"""Of a table, in their order."""

FINDING = record(
    "Finding",
    "The first access that broke `rule` for this buffer and operator, and how many did. Buffers and"
    " operators are numbers of the table plus 1; 0 is none.",
    cycle=U64,
    count=U64,
    rule=U32,
    master=U32,
    kind=U32,
    address=U32,
    size=U32,
    buffer=U32,
    other=Field(U32, "whose value is in the way, or was expected"),
    op=U32,
    run=Field(U32, "runs begun before it"),
    refused=Field(U32, "the firewall kept it back"),
    writer=Field(U32, "master plus 1 that wrote what is there, 0 if that is not known"),
    reserved=U32,
)


def records_header() -> str:
    """Write ``shadow_records.h``."""
    rules = {rule.symbol: (number, rule.name) for number, rule in enumerate(RULES)}
    tables = (
        MASTER,
        SPAN,
        POOL,
        BUFFER,
        MODEL,
        OPERATOR,
        CONTENT,
        FILLED,
        SUCCESSION,
        DEVICE,
        REGISTER,
    )
    parts = (
        constants(magic=MAGIC, version=VERSION, no_word=NONE, never=NEVER, rules=len(RULES)),
        enumeration(BufferKind),
        enumeration(Port),
        enumeration(Action),
        enumeration(Interrupt),
        enumerators("Rule", "What can be wrong.", rules),
        *map(structure, (HEAD, *tables, FINDING)),
        sections(SECTIONS),
    )
    return header({"shadow": parts})
