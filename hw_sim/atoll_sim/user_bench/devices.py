# SPDX-License-Identifier: Apache-2.0
"""The devices of a chip as a bench has them: handles by documented names."""

from collections.abc import Iterator, Mapping
from typing import Any

from atoll.records import dataclass
from atoll_sim.user_bench.named import Named

SHARES = 256
"""Of so many cycles `Device.hold_up` states a share."""

MOST_SHARE = SHARES - 1
LONGEST_WAIT = 2**16 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """A port of an accelerator, with its signals as attributes: ``port.awvalid``.

    Attributes:
        name: such as ``m``, or ``control``.
        protocol: such as ``axi4``.
        prefix: how the names of its signals in `dut` begin, for ``from_prefix`` of a bus class.
        signals: handles by their names in the protocol.
        asks: names of the signals that the requester drives.
    """

    name: str
    protocol: str
    prefix: str
    signals: Mapping[str, Any]
    asks: frozenset[str]

    def __getattr__(self, name: str) -> Any:
        """Return the handle of a signal."""
        if name.startswith("_") or name not in self.signals:
            raise AttributeError(
                f"port '{self.name}' ({self.protocol}) has no signal '{name}';"
                f" it has {', '.join(self.signals)}"
            )
        return self.signals[name]

    def handshakes(self) -> Iterator[tuple[str, Any, Any]]:
        """Yield the channels of the port: name, what asks, what accepts."""
        names = _HANDSHAKES[self.protocol]
        for name, asks, takes in names:
            yield name, self.signals[asks], self.signals[takes]


_AXI = tuple((name, f"{name}valid", f"{name}ready") for name in ("ar", "r", "aw", "w", "b"))
_HANDSHAKES: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    "axi4": _AXI,
    "axi4_lite": _AXI,
    "obi": (("request", "req", "gnt"),),
    "apb": (("request", "penable", "pready"),),
    "wishbone": (("request", "stb", "ack"),),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A core, an accelerator or a DMA engine.

    Attributes:
        name: in the description.
        kind: such as ``npu``.
        ports: ports to memory by name; of an accelerator whose RTL is on the chip.
        control: its port of registers, or None.
        clock: of the ports, for monitors.
        reset: of the ports, low while it lasts.
        interrupt: the line at its core, or None.
        registers: bus addresses by name.
    """

    name: str
    kind: str
    ports: Mapping[str, Port]
    control: Port | None
    clock: Any
    reset: Any
    interrupt: Any
    registers: Mapping[str, int]
    _share: Any
    _wait: Any

    def hold_up(self, share: float = 0.0, cycles: int = 0) -> None:
        """Press back at the device's requests to the bus from now on; 0 and 0 end it.

        Args:
            share: of the bus's cycles, below 1, drawn at random, in which none is let through.
            cycles: of the bus that each request waits, 65,535 at most.

        Raises:
            ValueError: an argument is out of range.
        """
        if not 0 <= share < 1 or not 0 <= cycles <= LONGEST_WAIT:
            raise ValueError(
                f"hold_up takes a share from 0 up to, not including, 1, and 0 to {LONGEST_WAIT}"
                f" cycles, not {share} and {cycles}"
            )
        self._share.value = min(MOST_SHARE, round(share * SHARES))
        self._wait.value = cycles

    @classmethod
    def find(cls, dut: Any, plain: Mapping[str, Any]) -> "Device":
        """Return the device that JSON describes, with its handles in `dut`."""
        name = plain["name"]
        return cls(
            name=name,
            kind=plain["kind"],
            ports=Named(
                f"port of '{name}'", {each["name"]: _port(dut, each) for each in plain["ports"]}
            ),
            control=_port(dut, plain["control"]) if plain["control"] else None,
            clock=getattr(dut, plain["clock"]),
            reset=getattr(dut, plain["reset"]),
            interrupt=getattr(dut, plain["interrupt"]) if plain["interrupt"] else None,
            registers=Named(f"register of '{name}'", plain["registers"]),
            _share=getattr(dut, f"bench_{name}_share_i"),
            _wait=getattr(dut, f"bench_{name}_wait_i"),
        )


def _port(dut: Any, plain: Mapping[str, Any]) -> Port:
    signals = {name: getattr(dut, f"{plain['prefix']}_{name}") for name in plain["signals"]}
    return Port(
        name=plain["name"],
        protocol=plain["protocol"],
        prefix=plain["prefix"],
        signals=signals,
        asks=frozenset(plain["asks"]),
    )
