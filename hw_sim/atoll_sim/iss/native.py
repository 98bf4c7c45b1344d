# SPDX-License-Identifier: Apache-2.0
"""The C++ side of an instruction-set simulation, seen from Python: time, accesses, what it saw."""

import ctypes
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

from atoll.cost.counted import CLASSES
from atoll.isa.instruction_set import Family
from atoll.protocol import Request
from atoll.resolve.soc import Access, Cache, Cpu, ResolvedSoc
from atoll_sim.host.memory import Accessed, HostMemory
from atoll_sim.iss.clock import CoreClock
from atoll_sim.iss.rules import Span, extensions_of
from atoll_sim.model.monitors import Model
from atoll_sim.protocol.records import ERASED_ROM, LINE, UNWRITTEN_RAM, EventKind
from atoll_sim.shadow import memory as shadow
from atoll_sim.shadow.library import shared_library
from atoll_sim.trace.simulation import Buffer, Turn

HERE = Path(__file__).parent
MODEL = HERE.parent / "model"
SOURCES = (
    *(HERE / name for name in ("iss.cpp", "caches.cpp", "data_cache.cpp", "function_unit.cpp")),
    MODEL / "monitor.cpp",
    *shadow.SOURCES,
)
OWN_HEADERS = (
    *("counted_cache", "data_cache", "instruction_class", "instruction_needs", "iss"),
    "protection",
)
HEADERS = (
    *shadow.HEADERS,
    *(HERE / f"{name}.h" for name in OWN_HEADERS),
    *(MODEL / name for name in ("backdoor.h", "memory_map.h", "monitor.h")),
)
LITTER = b"\xa5"
LEAST_BEAT, MOST_BEAT = 8, 64


class CoreState(ctypes.Structure):
    """The head of `Core` in iss.h."""

    _fields_ = (
        ("time", ctypes.c_uint64),
        ("deadline", ctypes.c_uint64),
        ("instructions", ctypes.c_uint64),
        ("refused", ctypes.c_uint32),
        ("size", ctypes.c_uint32),
        ("address", ctypes.c_uint64),
        *((name, ctypes.c_uint32) for name in ("why", "aligned", "floats", "until")),
        ("ran", ctypes.c_uint64 * len(CLASSES)),
        ("lines", ctypes.c_uint64),
    )


class IssModel(Model):
    """The chip's memories and what happened on it; one at a time in a process.

    Attributes:
        soc: the chip.
        caller: the core that inputs come from and outputs go to, if it has a data cache.
        reads_as_caller: bytes are peeked as that core would load them.
        shared: a core of each data cache that several share, and what they see through it.
        line_changes: the rows of `lines`.
        hooks: what Unicorn calls for each block, access, and access that cannot be made.
        execute: what it calls for each instruction of a function unit.
        memory: of the chip, as the image finds it: see docs/platform.md.
        request: what the firmware reads in the console's REQUEST.
    """

    def __init__(self, soc: ResolvedSoc, table: bytes = b"", evictions: int = 0) -> None:
        """Begin anew.

        Args:
            soc: the chip.
            table: packed contract that accesses are held against; none are, if it is empty.
            evictions: seed of the moments at which dirty lines leave data caches; with 0 they stay.

        Raises:
            ToolchainError: there is no C++ compiler.
        """
        self.library = ctypes.CDLL(str(shared_library("iss", SOURCES, HEADERS, shadow.GENERATED)))
        super().__init__(self.library)
        self.library.atoll_iss_core.restype = ctypes.POINTER(CoreState)
        self.soc = soc
        self.execute = self.library.atoll_iss_execute
        self.memory = HostMemory(soc)
        self.caller: CoreState | None = None
        self.reads_as_caller = False
        self.shared: dict[str, tuple[CoreState, HostMemory]] = {}
        self.line_changes: list[tuple[int, int, int]] = []
        self._evictions = evictions
        self.request = Request.NONE
        self.library.atoll_iss_begin(ctypes.c_uint32(len(soc.devices)))
        for each in (memory for memory in soc.memories if memory.low):
            span = ctypes.c_uint32(each.low.start), ctypes.c_uint32(len(each.low))
            pointer = ctypes.c_void_p(self.memory.pointer(each.low.start))
            self.library.atoll_iss_memory(*span, pointer, ctypes.c_uint32(_pattern(each.kind)))
        library = self.library
        self.hooks = (
            library.atoll_iss_block,
            library.atoll_iss_access,
            library.atoll_iss_invalid,
        )
        watched = self.library.atoll_iss_watch(table, ctypes.c_size_t(len(table) // 4))
        assert watched, "the packed contract is damaged"

    def restart(self) -> None:
        """Have accesses judged as from the chip's start again, and cores get other caches."""
        self.shared.clear()
        self.library.atoll_iss_restart()

    def peek(self, address: int, size: int) -> bytes:
        """Return bytes of one memory, and in their place what a cache has still to write there."""
        data = ctypes.create_string_buffer(size)
        span = (ctypes.c_uint32(address), ctypes.c_uint32(size))
        if self.caller is not None and self.reads_as_caller:
            self.library.atoll_iss_load(ctypes.byref(self.caller), *span, data)
        else:
            self.library.atoll_iss_peek(*span, data)
        return data.raw

    def poke(self, address: int, data: bytes) -> None:
        """Write bytes to one memory, as the caller would."""
        numbers = (ctypes.c_uint32(address), ctypes.c_uint32(len(data)))
        if self.caller is None:
            self.library.atoll_iss_poke(*numbers, data)
        else:
            self.library.atoll_iss_store(ctypes.byref(self.caller), *numbers, data)

    def load_records(self, image: bytes) -> None:
        """Write the records (address, size, bytes) of an image to the memories."""
        at = 0
        while at < len(image):
            address, size = struct.unpack_from("<II", image, at)
            self.poke(address, image[at + 8 : at + 8 + size])
            at += 8 + size

    def set_request(self, value: Request) -> None:
        """Set what the firmware reads in the console's REQUEST."""
        self.request = value

    def lines(self) -> bytes:
        """See `Model`."""
        return LINE.pack(self.line_changes)

    def add_core(
        self,
        master: int,
        engine: Sequence[int],
        costs: Sequence[int],
        cpu: Cpu,
        registers: Sequence[int],
    ) -> CoreState:
        """Return a new core.

        Args:
            master: its number.
            engine: addresses of Unicorn's functions that stop an engine, and read and write a
                register of it.
            costs: cycles of each class of instructions; see `costs`.
            cpu: its description.
            registers: Unicorn's numbers of what an exception leaves as it was, the program counter
                last.
        """
        instructions = cpu.instructions
        words = (ctypes.c_uint32 * len(costs))(*costs)
        functions = (ctypes.c_void_p * len(engine))(*engine)
        number = ctypes.c_uint32(master)
        encoding = instructions.bits if instructions.family is Family.RISCV else 0
        numbers = (ctypes.c_int * len(registers))(*registers)
        has = (ctypes.c_uint32(extensions_of(cpu)), numbers, ctypes.c_uint32(len(registers)))
        made = self.library.atoll_iss_core(number, functions, words, encoding, *has)
        state: CoreState = made.contents
        return state

    def protect(self, core: CoreState, spans: Sequence[Span], rest: int, *, whole: bool) -> None:
        """Hold a core's accesses against spans, of which the first that has an address decides.

        Args:
            core: whose.
            spans: with rights.
            rest: rights where no span is.
            whole: an aligned access must not reach from one span into another.
        """
        numbers = [n for each in spans for n in (each.first, each.last, each.rights)]
        words = (ctypes.c_uint32 * len(numbers))(*numbers)
        count = ctypes.c_uint32(len(spans))
        self.library.atoll_iss_protect(
            ctypes.byref(core), words, count, ctypes.c_uint32(rest), int(whole)
        )

    def undo(self, core: CoreState, engine: object) -> None:
        """Undo what a core did since an access of it was refused; `engine` is its Unicorn."""
        self.library.atoll_iss_undo(ctypes.byref(core), engine)

    def set_clock(self, core: CoreState, clock: CoreClock) -> None:
        """Let a core, of which all times are its own cycles, log in cycles of the host."""
        numbers = (ctypes.c_uint64(clock.own), ctypes.c_uint64(clock.host))
        self.library.atoll_iss_clock(ctypes.byref(core), *numbers)

    def give_cache(self, core: CoreState, cache: Cache) -> None:
        """Give a core a data cache, which is off, and works on no memory yet."""
        numbers = (ctypes.c_uint32(cache.line), int(cache.write_back))
        seed = ctypes.c_uint32(self._evictions)
        self.library.atoll_iss_cache(ctypes.byref(core), *numbers, seed)

    def share_cache(self, core: CoreState, other: CoreState) -> None:
        """Give a core the data cache that another one has."""
        self.library.atoll_iss_share_cache(ctypes.byref(core), ctypes.byref(other))

    def cover(self, core: CoreState, span: range, view: int) -> None:
        """Let a core's cache work on bytes; `view` is where the host has what the core sees."""
        numbers = (ctypes.c_uint32(span.start), ctypes.c_uint32(len(span)))
        self.library.atoll_iss_cover(ctypes.byref(core), *numbers, ctypes.c_void_p(view))

    def turn_cache_on(self, core: CoreState, *, forgotten: bool) -> None:
        """Let a core use its cache; unless `forgotten`, it holds what nobody stored."""
        self.library.atoll_iss_cache_on(ctypes.byref(core), int(forgotten))

    def maintain(self, core: CoreState, address: int, *, cleans: bool) -> None:
        """Let a core clean, or invalidate, the line of an address."""
        self.library.atoll_iss_maintain(ctypes.byref(core), ctypes.c_uint32(address), int(cleans))

    def litter(self, turn: Turn) -> None:
        """Leave the caller's cache as another network would that ran before, on the same pools.

        Lines of operators' results are dirty with other bytes, but where inputs and states are.
        """
        cpu = self.soc.host_cpu
        if self.caller is None or cpu.cache is None or not cpu.cache.write_back:
            return
        line = cpu.cache.line
        free = [
            range(-(-pool.region.origin // line), pool.heap_origin // line)
            for pool in self.soc.pools
            if pool.role == "workspace" and pool.reach[cpu.name] is Access.WRITE
        ]
        filled = {at for each in (*turn.inputs, *turn.states) for at in _lines(each, line)}
        made = {at for each in turn.snapshots.values() for one in each for at in _lines(one, line)}
        for at in sorted(made - filled):
            if any(at in span for span in free):
                self.poke(at * line, LITTER * line)

    def give_npu_cache(self, cache: Cache, spans: Iterable[tuple[range, int]]) -> int:
        """Give an accelerator a data cache, and return its number.

        It works on spans, and holds there what nobody stored; with each comes where the host has
        what the accelerator sees.
        """
        numbers = (ctypes.c_uint32(cache.line), int(cache.write_back))
        number = self.library.atoll_iss_npu_cache(*numbers, ctypes.c_uint32(self._evictions))
        for span, view in spans:
            ends = map(ctypes.c_uint32, (number, span.start, len(span)))
            self.library.atoll_iss_npu_cover(*ends, ctypes.c_void_p(view))
        self.library.atoll_iss_npu_cache_on(ctypes.c_uint32(number))
        return int(number)

    def maintain_npu(self, number: int, address: int, *, cleans: bool) -> None:
        """Clean, or invalidate, the line of a byte of the bus in the cache of an accelerator."""
        self.library.atoll_iss_npu_maintain(*map(ctypes.c_uint32, (number, address)), int(cleans))

    def load_as_npu(self, number: int, address: int, size: int) -> bytes:
        """Return bytes of one memory as the accelerator with a cache reads them."""
        data = ctypes.create_string_buffer(size)
        numbers = map(ctypes.c_uint32, (number, address, size))
        self.library.atoll_iss_npu_load(*numbers, data)
        return data.raw

    def store_as_npu(self, number: int, address: int, data: bytes) -> None:
        """Write bytes of one memory as it does."""
        numbers = map(ctypes.c_uint32, (number, address, len(data)))
        self.library.atoll_iss_npu_store(*numbers, data)

    def engine_begins(self) -> None:
        """Tell caches that an engine is about to access memory."""
        self.library.atoll_iss_engine_begins()

    def engine_wrote(self, span: range) -> None:
        """Tell caches what an engine wrote."""
        numbers = (ctypes.c_uint32(span.start), ctypes.c_uint32(len(span)))
        self.library.atoll_iss_engine_wrote(*numbers)

    def add_window(self, core: CoreState, span: range, *, writes: bool) -> None:
        """Let a core read, or write, a span of addresses."""
        first, last = ctypes.c_uint32(span.start), ctypes.c_uint32(span.stop - 1)
        self.library.atoll_iss_window(ctypes.byref(core), first, last, int(writes))

    def add_view(self, core: CoreState, seen: int, span: range, *, hides: bool) -> None:
        """Let a core see a span from the address `seen` on; if that hides it, nowhere else."""
        numbers = map(ctypes.c_uint32, (span.start, len(span), hides))
        self.library.atoll_iss_view(ctypes.byref(core), ctypes.c_uint64(seen), *numbers)

    def count_fetches(self, core: CoreState, size: int, line: int) -> None:
        """Count lines that come into a core's instruction cache from now on: `CoreState.lines`."""
        numbers = map(ctypes.c_uint32, (size, line))
        self.library.atoll_iss_fetches(ctypes.byref(core), *numbers)

    def count_touches(self, core: CoreState, spans: Sequence[range]) -> None:
        """Count a core's accesses of spans from now on; the first that has an address counts."""
        numbers = [number for each in spans for number in (each.start, len(each))]
        words = (ctypes.c_uint32 * len(numbers))(*numbers)
        self.library.atoll_iss_touches(ctypes.byref(core), words, ctypes.c_uint32(len(spans)))

    def touches(self, core: CoreState, number: int) -> Sequence[tuple[int, ...]]:
        """Return what was counted of each of the spans.

        That is how often the core read and wrote it, and the lines that came into its data cache
        and became dirty there.
        """
        found = (ctypes.c_uint64 * (4 * number))()
        self.library.atoll_iss_touched(ctypes.byref(core), found)
        return [tuple(found[first : first + 4]) for first in range(0, len(found), 4)]

    def count_lines(self, core: CoreState, cache: Cache, spans: Iterable[range]) -> None:
        """Count lines of a core's data cache from now on; it works on `spans`."""
        assert cache.ways
        numbers = map(ctypes.c_uint32, (cache.line, cache.ways, cache.sets))
        self.library.atoll_iss_lines(ctypes.byref(core), *numbers, int(cache.write_back))
        for each in spans:
            ends = map(ctypes.c_uint32, (each.start, each.stop - 1))
            self.library.atoll_iss_lines_of(ctypes.byref(core), *ends)

    def uncount(self, core: CoreState, address: int) -> None:
        """Take back what was counted for instructions from `address` on: they did not run."""
        self.library.atoll_iss_left(ctypes.byref(core), ctypes.c_uint64(address))

    def at(self, cycle: int) -> None:
        """Set the time of what happens next."""
        self.library.atoll_iss_at(ctypes.c_uint64(cycle))

    def log_event(self, kind: EventKind, value: int) -> None:
        """Log something that a core did to the console, or that befell it."""
        if kind is EventKind.TRAP:
            self.library.atoll_saw_trap(ctypes.c_uint32(value))
        else:
            self.library.atoll_saw_event(ctypes.c_uint32(kind), ctypes.c_uint32(value))

    def log_engine(self, master: int, each: Accessed) -> None:
        """Log an engine's access."""
        beat = min(max(each.beat, LEAST_BEAT), MOST_BEAT)
        numbers = (master, each.kind.number, each.span.start, len(each.span), beat)
        self.library.atoll_iss_engine(*map(ctypes.c_uint32, numbers))

    def log_refusal(self, master: int, number: int, address: int) -> None:
        """Log that a firewall kept back an engine's access; `number` is that of its kind."""
        numbers = map(ctypes.c_uint32, (master, number, address & ~7))
        self.library.atoll_saw_blocked(*numbers, ctypes.c_uint64(1 << (address & 7)))


def _lines(buffer: Buffer, line: int) -> range:
    return range(buffer.address // line, -(-(buffer.address + buffer.size) // line))


def _pattern(kind: str) -> int:
    return ERASED_ROM if kind == "rom" else UNWRITTEN_RAM
