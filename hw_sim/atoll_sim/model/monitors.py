# SPDX-License-Identifier: Apache-2.0
"""The C++ side of a running model, seen from Python inside it: memories, events, access log.

Only a process of the simulator has these functions; `main.cpp`, `backdoor.cpp` and
`monitor.cpp` define them.
"""

import ctypes

from atoll.protocol import Request
from atoll.records import dataclass
from atoll_sim.protocol.records import COUNT, EVENT, HEAT, LINE, OCCASION, SPAN, EventKind
from atoll_sim.shadow.memory import Shadow


@dataclass(frozen=True, slots=True)
class Event:
    """Something that the firmware did, or that befell it.

    Attributes:
        value: the word written; for `EventKind.TRAP` the number of the master.
    """

    cycle: int
    kind: EventKind
    value: int


class Model:
    """The model of this process.

    Attributes:
        shadow: what holds its accesses against the contract that it was started with.
    """

    def __init__(self, library: ctypes.CDLL | None = None) -> None:
        self._library = library or ctypes.CDLL(None)
        self._library.atoll_cycle.restype = ctypes.c_uint64
        for name in (
            *("atoll_events", "atoll_counts", "atoll_spans"),
            *("atoll_lines", "atoll_occasions", "atoll_heat", "atoll_text"),
        ):
            getattr(self._library, name).restype = ctypes.c_size_t
        self._library.atoll_shadow_of_model.restype = ctypes.c_void_p
        self.shadow = Shadow(self._library, self._library.atoll_shadow_of_model())

    def cycle(self) -> int:
        """Return the clock cycles since the start."""
        return int(self._library.atoll_cycle())

    def load(self, image: str) -> bool:
        """Write the image file to the memories; False if it does not fit."""
        return bool(self._library.atoll_load_image(image.encode()))

    def peek(self, address: int, size: int) -> bytes:
        """Return bytes of one memory without simulated time.

        Raises:
            IndexError: they are not all in one memory.
        """
        data = ctypes.create_string_buffer(size)
        self._check(
            self._library.atoll_peek(ctypes.c_uint32(address), ctypes.c_size_t(size), data),
            address,
            size,
        )
        return data.raw

    def poke(self, address: int, data: bytes) -> None:
        """Write bytes to one memory without simulated time.

        Raises:
            IndexError: they are not all in one memory.
        """
        size = len(data)
        self._check(
            self._library.atoll_poke(ctypes.c_uint32(address), ctypes.c_size_t(size), data),
            address,
            size,
        )

    def set_request(self, value: Request) -> None:
        """Set what the firmware reads in the console's REQUEST."""
        self._library.atoll_set_request(ctypes.c_uint32(value))

    def events(self, since: int) -> list[Event]:
        """Return the events from number `since` on."""
        records = self._records("atoll_events", EVENT.size)[since * EVENT.size :]
        return [
            Event(each["cycle"], EventKind(each["kind"]), each["value"])
            for each in EVENT.unpack(records)
        ]

    def close_phase(self) -> None:
        """Count what was touched since the last TRACE event as a phase of its own."""
        self._library.atoll_close_phase()

    def end_devices(self) -> None:
        """Say which accelerators have not ended what they were started for."""
        self._library.atoll_end_devices()

    def counts(self) -> bytes:
        """Return a `COUNT` for each phase, master, kind of access and memory."""
        return self._records("atoll_counts", COUNT.size)

    def spans(self) -> bytes:
        """Return a `SPAN` for bytes that a master touched in one way in a phase."""
        return self._records("atoll_spans", SPAN.size)

    def lines(self) -> bytes:
        """Return a `LINE` for each time that an interrupt line rose or fell."""
        return self._records("atoll_lines", LINE.size)

    def occasions(self) -> bytes:
        """Return an `OCCASION` for each accelerator and rule that it could have broken."""
        return self._records("atoll_occasions", OCCASION.size)

    def heat(self) -> bytes:
        """Return a `HEAT` for each place at which bytes were moved."""
        return self._records("atoll_heat", HEAT.size)

    def text(self) -> str:
        """Return what the firmware printed."""
        return self._records("atoll_text", 1).decode(errors="replace")

    def _records(self, function: str, size: int) -> bytes:
        first = ctypes.c_void_p()
        count = getattr(self._library, function)(ctypes.byref(first))
        return ctypes.string_at(first, count * size) if count else b""

    def _check(self, good: int, address: int, size: int) -> None:
        if not good:
            raise IndexError(f"no memory holds the {size} bytes at {address:#010x}")
