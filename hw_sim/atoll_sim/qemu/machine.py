# SPDX-License-Identifier: Apache-2.0
"""A machine of QEMU as a process of its own, stopped and watched through GDB's remote protocol."""

import re
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from atoll.diagnostics.errors import SimulationError
from atoll.protocol import ConsoleRegister, GuardRegister, Request
from atoll.resolve.memory_views import as_seen_by, device_address
from atoll.resolve.soc import Memory, ResolvedSoc
from atoll.utils.children import LIMIT_VARIABLE, Child, start, time_limit
from atoll_sim.model.monitors import Event
from atoll_sim.protocol.records import EventKind
from atoll_sim.qemu.machines import core_options
from atoll_sim.qemu.remote import Gone, Remote
from atoll_sim.qemu.supported import program_of
from atoll_sim.simulate.firmware import Segment

WORD = 4
LOG = "qemu.log"
HOST = 0
"""Number of the only master."""
_MANY = ("qemu-system-aarch64",)
"""Programs whose machines have several cores and sound; time is recorded of one core alone."""

_UNWRITTEN = bytes.fromhex("cedec05e")
"""What a register of the console holds until the core has written to it."""

_COUNT = re.compile(r"instruction count = (\d+)")
_EVENTS = {
    ConsoleRegister.UART_TX: EventKind.UART,
    ConsoleRegister.EXIT: EventKind.EXIT,
    ConsoleRegister.TRACE: EventKind.TRACE,
    ConsoleRegister.RESULT: EventKind.RESULT,
}


@contextmanager
def machine(soc: ResolvedSoc, elf: Path, folder: Path, seconds: float) -> Iterator["Machine"]:
    """Start QEMU with a firmware, stopped at reset, and end it with the block.

    Raises:
        SimulationError: E088, it takes longer than `seconds`; E104, QEMU ends by itself.
    """
    ours, theirs = socket.socketpair()
    command = command_of(soc, elf, theirs.fileno())
    with (
        ours,
        (folder / LOG).open("w") as log,
        start(
            command,
            folder=folder,
            seconds=seconds,
            stdout=log,
            stderr=log,
            files=[theirs.fileno()],
        ) as child,
    ):
        theirs.close()
        try:
            yield Machine(soc, Remote(ours))
        except Gone as fault:
            raise _end_error(soc, child, folder, seconds) from fault


def command_of(soc: ResolvedSoc, elf: Path, connection: int) -> Sequence[str]:
    """Return how QEMU is called.

    Instructions are counted by its recording of time (`-icount`), of which nothing is kept.
    """
    program = program_of(soc)
    image = ["-kernel", str(elf.absolute())]
    if program != "qemu-system-arm":
        image = ["-bios", "none", "-device", f"loader,file={elf.absolute()},cpu-num=0"]
    alone = ["-smp", "1", "-audiodev", "none,id=quiet"] if program in _MANY else []
    return [
        *(program, "-machine", soc.qemu_machine, *core_options(soc.host_cpu), *alone, *image),
        *("-nodefaults", "-display", "none", "-serial", "none", "-monitor", "none", "-S"),
        *("-icount", "shift=0,rr=record,rrfile=/dev/null"),
        *("-chardev", f"socket,id=bench,fd={connection}", "-gdb", "chardev:bench"),
    ]


def _end_error(soc: ResolvedSoc, child: Child, folder: Path, seconds: float) -> SimulationError:
    child.wait()
    if child.over:
        limit = time_limit(seconds)
        return SimulationError(
            "E088",
            f"the simulation took more than {limit:g} s of wall-clock time",
            remedy=f"allow more time with {LIMIT_VARIABLE}={2 * limit:g}",
        )
    lines = (folder / LOG).read_text(errors="replace").strip().splitlines()
    said = next((line for line in lines if "warning:" not in line), "nothing")
    return SimulationError(
        "E104",
        f"QEMU's machine '{soc.qemu_machine}' broke off; it said: {said}",
        remedy=f"correct 'qemu.machine' ('{program_of(soc)} -machine help' lists them), or the"
        " memories of the chip",
    )


class _Nobody:
    """Nothing holds the accesses of a machine of QEMU against the contract."""

    def findings(self) -> tuple[bytes, int]:
        """Return none."""
        return b"", 0


class Machine:
    """A machine that runs firmware; see `atoll_sim.simulate.serve.Served`.

    Attributes:
        shadow: finds nothing: no access is seen.
    """

    def __init__(self, soc: ResolvedSoc, remote: Remote) -> None:
        self.shadow = _Nobody()
        self._soc = as_seen_by(soc, soc.host)
        self._seen = partial(device_address, soc, soc.host)
        self._remote = remote
        self._events: list[Event] = []
        self._text = ""

    def cycle(self) -> int:
        """Return how many instructions the core ran; each takes one cycle here."""
        found = _COUNT.search(self._remote.monitor("info replay"))
        assert found, "QEMU does not count instructions"
        return int(found[1])

    def peek(self, address: int, size: int) -> bytes:
        """Return bytes of the bus."""
        data = self._remote.read(self._seen(address), size)
        if data is None:
            raise self._no_memory(address, "")
        return data

    def poke(self, address: int, data: bytes) -> None:
        """Write bytes of the bus."""
        if not self._remote.write(self._seen(address), data):
            raise self._no_memory(address, "")

    def set_request(self, value: Request) -> None:
        """Set what the firmware reads in the console's REQUEST."""
        self.poke(self._console(ConsoleRegister.REQUEST), value.to_bytes(WORD, "little"))

    def events(self, since: int) -> Sequence[Event]:
        """Return the events from number `since` on."""
        return self._events[since:]

    def close_phase(self) -> None:
        """Accesses are not counted."""

    def end_devices(self) -> None:
        """The rules of ports are for accelerators in RTL."""

    def counts(self) -> bytes:
        """Return that no access was counted."""
        return b""

    def spans(self) -> bytes:
        """Return that none was seen."""
        return b""

    def lines(self) -> None:
        """Nobody sees interrupt lines."""

    def occasions(self) -> bytes:
        """Return that no rule of a port is watched."""
        return b""

    def heat(self) -> bytes:
        """Return that no byte was seen."""
        return b""

    def text(self) -> str:
        """Return what the firmware printed."""
        return self._text

    def prepare(self, segments: Sequence[Segment], trap: int | None) -> None:
        """Hold the machine's memories against the chip's, and watch the console.

        Args:
            segments: what the firmware loads.
            trap: where a core that traps ends.

        Raises:
            SimulationError: E103, the machine has no memory where the chip has it.
        """
        for memory in self._soc.memories:
            if memory.kind == "ram":
                touched = memory.low or range(memory.origin, memory.end)
                self._check_ram(touched.start, memory)
                self._check_ram(touched.stop - WORD, memory)
        for segment in segments:
            if self._remote.read(segment.address, len(segment.data)) != segment.data:
                raise self._no_memory(segment.address, ", where the firmware has bytes")
        console = self._soc.console
        self._check_ram(console.origin, None)
        self.poke(console.origin, bytes(console.size))
        for address in (*map(self._console, _EVENTS), self._guard()):
            self._remote.watch_writes(address, WORD)
        if trap is not None:
            self._remote.stop_at(trap)

    def run_on(self) -> None:
        """Run until there is an event, or a write to forget.

        QEMU stops in front of the write: the core does it with the watch lifted.
        """
        written = self._remote.go()
        if written is not None:
            self._write(written)
        else:
            self._events.append(Event(self.cycle(), EventKind.TRAP, HOST))

    def _write(self, address: int) -> None:
        if address != self._guard():
            self.poke(address, _UNWRITTEN)
        self._remote.watch_writes(address, WORD, on=False)
        self._remote.step()
        self._remote.watch_writes(address, WORD)
        if self.peek(address, WORD) == _UNWRITTEN:
            return  # an interrupt came instead: the store is still to come
        if address == self._guard():
            self.poke(address, bytes(WORD))  # it forgets; no firewall keeps anything back
            return
        value = int.from_bytes(self.peek(address, WORD), "little")
        kind = _EVENTS[ConsoleRegister(address - self._soc.console.origin)]
        if kind is EventKind.UART:
            self._text += chr(value & 0xFF)
        self._events.append(Event(self.cycle(), kind, value))

    def _console(self, register: ConsoleRegister) -> int:
        return self._soc.console.origin + register

    def _guard(self) -> int:
        return self._soc.guard.origin + GuardRegister.STATUS

    def _check_ram(self, address: int, memory: Memory | None) -> None:
        before = self._remote.read(address, WORD)
        other = bytes(byte ^ 0xFF for byte in before or b"")
        written = self._remote.write(address, other) and self._remote.read(address, WORD) == other
        if before is None or not written:
            what = f"memory '{memory.name}'" if memory else "the console"
            raise self._no_memory(address, f", where the chip has {what}", memory)
        self._remote.write(address, before)

    def _no_memory(self, address: int, where: str, memory: Memory | None = None) -> SimulationError:
        return SimulationError(
            "E103",
            f"QEMU's machine '{self._soc.qemu_machine}' has no memory at {address:#010x}{where}",
            at=memory.at if memory else None,
            remedy="move it to where the machine has RAM, or name another machine",
        )
