# SPDX-License-Identifier: Apache-2.0
"""What the model logs while firmware runs, and the numbers that its C++, RTL and Python share."""

from enum import IntEnum, StrEnum

from atoll_sim.protocol.layout import U32, U64, Field, record

RESET_CYCLES = 2
"""How long a bench holds reset; the chip's synchroniser adds two."""

UNWRITTEN_RAM, ERASED_ROM = 0xDB, 0xFF
"""What memories hold before the image is loaded: see docs/platform.md."""

HEAT_BYTES = 64
"""Of a memory, from its origin on, are counted together; no beat is larger."""

AFTER_RUN = 0xFFFF_FFFF
"""In the place of an operator's number: when the run has ended."""


class EventKind(IntEnum):
    """What an event is about."""

    UART = 0
    EXIT = 1
    TRACE = 2
    RESULT = 3
    TRAP = 4
    RESTS = 5


class AccessKind(StrEnum):
    """What a master did with the bytes it touched; numbered in this order."""

    READ = "read"
    WRITE = "write"
    FETCH = "fetch"

    @property
    def number(self) -> int:
        """Its number in records."""
        return KINDS.index(self)


KINDS = tuple(AccessKind)

EVENT = record(
    "Event",
    "Something that the firmware did, or that befell it.",
    cycle=U64,
    kind=U32,
    value=Field(U32, "word written; number of the master for kTrap"),
)

COUNT = record(
    "Count",
    "What one master moved in a memory since the TRACE event before the end of the phase.",
    phase=U32,
    master=U32,
    kind=U32,
    memory=Field(U32, "its first address"),
    accesses=Field(U64, "of this kind to all memories"),
    bytes=U64,
    last=Field(U64, "cycle of the last of them"),
)

LINE = record(
    "Line",
    "An interrupt line has risen or fallen; at reset all are low.",
    cycle=U64,
    line=Field(U32, "its place in `Chip.interrupts`"),
    high=U32,
)

OCCASION = record(
    "Occasion",
    "How often an accelerator could have broken one of the rules of its ports.",
    master=U32,
    rule=Field(U32, "n of An"),
    count=U64,
)

HEAT = record(
    "Heat",
    "What all masters moved in HEAT_BYTES of a memory in a run, without instructions fetched.",
    address=Field(U32, "the first of them"),
    run=U32,
    read=U64,
    written=U64,
)

SPAN = record(
    "Span",
    "Bytes from `start` up to, not including, `end`, that one master touched in a phase.",
    phase=U32,
    master=U32,
    kind=U32,
    start=U32,
    end=U64,
)
