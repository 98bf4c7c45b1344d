# SPDX-License-Identifier: Apache-2.0
"""What the simulator asks of an accelerator's own code (docs/accelerators.md)."""

from typing import Protocol

from atoll.ir.graph import Graph, Operator
from atoll.records import dataclass


class BusFault(Exception):  # noqa: N818 - the bus says "fault" to any access, reads included
    """An access that the bus answers with an error.

    Attributes:
        address: first byte that could not be accessed.
        decode: nothing is there (DECERR), rather than an error of what is there (SLVERR).
    """

    def __init__(self, address: int, decode: bool) -> None:
        super().__init__(f"{'DECERR' if decode else 'SLVERR'} at {address:#010x}")
        self.address = address
        self.decode = decode


class Bus(Protocol):
    """Memory as the accelerator reaches it. Both methods may raise `BusFault`."""

    def read(self, address: int, size: int) -> bytes:
        """Return `size` bytes."""
        ...

    def write(self, address: int, data: bytes) -> None:
        """Store `data`."""
        ...


class Device(Protocol):
    """Registers at some cores; times are cycles of the host."""

    def read(self, offset: int, core: str, now: int) -> int:
        """Return a register.

        Raises:
            BusFault: none can be read there.
        """
        ...

    def write(self, offset: int, value: int, core: str, now: int) -> None:
        """Write a register.

        Raises:
            BusFault: none can be written there.
        """
        ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """The ERROR, FAULT_ADDRESS and COMPLETED registers after a list has ended."""

    error: int
    fault_address: int
    completed: int


class Learning(Protocol):
    """What a model also has if it needs to know what its lists are for."""

    def learn(self, list_address: int, op: Operator, graph: Graph) -> None:
        """Hear, before a run, of the list at an address as the engine sees it."""
        ...


class Sealing(Protocol):
    """What an emitter also has if its commands carry a check, such as a CRC."""

    def sealed(self, command: bytes) -> bytes:
        """Return one command with its check made anew; all other bytes stay."""
        ...
