# SPDX-License-Identifier: Apache-2.0
"""GDB's remote protocol, as far as a test bench needs it: memory, watchpoints, running, monitor."""

import socket

PACKET = 1024
"""Bytes of memory in one packet: QEMU's buffer is 4 KiB, a byte takes two digits."""

_PC = 32
"""Number of RISC-V's program counter."""


class Gone(Exception):  # noqa: N818
    """The other side has ended."""


class Remote:
    """A connection to a stopped or running machine."""

    def __init__(self, connection: socket.socket) -> None:
        """Talk through a connected socket."""
        self._connection = connection
        self._heard = b""

    def read(self, address: int, size: int) -> bytes | None:
        """Return bytes of memory; None if there is none."""
        data = b""
        while len(data) < size:
            more = min(PACKET, size - len(data))
            answer = self._ask(f"m{address + len(data):x},{more:x}")
            if len(answer) != 2 * more:
                return None
            data += bytes.fromhex(answer)
        return data

    def write(self, address: int, data: bytes) -> bool:
        """Write bytes to memory; False if there is none."""
        parts = (range(at, min(at + PACKET, len(data))) for at in range(0, len(data), PACKET))
        return all(
            self._ask(f"M{address + p.start:x},{len(p):x}:{data[p.start : p.stop].hex()}") == "OK"
            for p in parts
        )

    def watch_writes(self, address: int, size: int, *, on: bool = True) -> None:
        """Have the core stop where it writes to `address`, or no longer."""
        self._accept(f"{'Z' if on else 'z'}2,{address:x},{size:x}")

    def stop_at(self, address: int) -> None:
        """Have the core stop in front of an instruction."""
        self._accept(f"Z0,{address:x},2")

    def monitor(self, command: str) -> str:
        """Return what QEMU's monitor says to a command."""
        said, answer = "", self._ask(f"qRcmd,{command.encode().hex()}")
        while answer.startswith("O") and answer != "OK":
            said += bytes.fromhex(answer[1:]).decode(errors="replace")
            answer = self._packet()
        return said

    def step(self) -> None:
        """Run one instruction."""
        self._ask("s")

    def steps_over(self, address: int, code: bytes, size: int) -> bool:
        """Tell whether a RISC-V core executes an instruction that is put at an address.

        `size` is that of the core's registers; one that it does not have leads to a trap.
        """
        self._ask("qXfer:features:read:target.xml:0,10")  # else QEMU tells nothing of registers
        self.write(address, code)
        self._accept(f"P{_PC:x}={address.to_bytes(size, 'little').hex()}")
        self.step()
        after = bytes.fromhex(self._ask(f"p{_PC:x}"))
        return int.from_bytes(after, "little") == address + len(code)

    def go(self) -> int | None:
        """Run on; return the watched address that the core writes to, else None."""
        _, watched, rest = self._ask("c").partition("watch:")
        return int(rest.partition(";")[0], 16) if watched else None

    def _accept(self, packet: str) -> None:
        answer = self._ask(packet)
        assert answer == "OK", f"QEMU answers '{packet}' with '{answer}'"

    def _ask(self, packet: str) -> str:
        self._send(packet)
        return self._packet()

    def _send(self, packet: str) -> None:
        data = packet.encode()
        try:
            self._connection.sendall(b"$%s#%02x" % (data, sum(data) & 0xFF))
        except OSError as fault:
            raise Gone from fault

    def _packet(self) -> str:
        """Return the next packet."""
        while (end := self._heard.find(b"#", self._heard.find(b"$") + 1)) < 0 or (
            len(self._heard) < end + 3
        ):
            try:
                more = self._connection.recv(1 << 16)
            except ConnectionError as fault:
                raise Gone from fault
            if not more:
                raise Gone
            self._heard += more
        data = self._heard[self._heard.find(b"$") + 1 : end]
        self._heard = self._heard[end + 3 :]
        self._connection.sendall(b"+")
        return data.decode()
