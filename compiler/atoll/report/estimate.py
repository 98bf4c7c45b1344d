# SPDX-License-Identifier: Apache-2.0
"""`NetworkEstimate`: what a network should take on a chip, and its machine-readable form."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from atoll.cost.basis import MEASURED
from atoll.ir.busy import Bound
from atoll.report.result import nanoseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Bytes of one memory.

    Attributes:
        read: instructions included.
        written: bytes.
        cycles: of the host, that the memory's port needs for both.
        basis: what instructions that are read rest on.
    """

    memory: str
    read: int
    written: int
    cycles: int
    basis: str = MEASURED

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {
            "memory": self.memory,
            "read_bytes": self.read,
            "written_bytes": self.written,
            "cycles": self.cycles,
            "basis": self.basis,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerEstimate:
    """What one operator is expected to take, in cycles of the host.

    Attributes:
        devices: what runs it, and the further cores that make parts of it.
        begin: of its begin event, from that of the first operator.
        end: likewise of its end event.
        cycles: from begin to end if the host waits at once.
        basis: what the cycles rest on.
        bound: what decides.
        parts: what each part of its engine's work takes by itself, in cycles of the engine.
        traffic: by memory.
    """

    operator: str
    kind: str
    devices: tuple[str, ...]
    begin: int
    end: int
    cycles: int
    basis: str
    bound: Bound
    parts: Mapping[Bound, int] = field(default_factory=dict)
    traffic: tuple[Traffic, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {
            "operator": self.operator,
            "kind": self.kind,
            "device": self.devices[0],
            "helpers": list(self.devices[1:]),
            "begin": self.begin,
            "end": self.end,
            "cycles": self.cycles,
            "basis": self.basis,
            "bound": str(self.bound),
            "parts": {str(part): cycles for part, cycles in self.parts.items()},
            "memories": [each.as_json() for each in self.traffic],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkEstimate:
    """What a run is expected to take, in cycles of the host.

    Attributes:
        before: from reset until the first operator begins.
        network: from then until the last one has ended, as the schedule has them.
        sequential: the same with one device at a time.
        after: from then until the firmware's end.
        layers: in the order in which they begin.
        traffic: of all layers, by memory.
        host_clock: hertz.
        basis: what all these cycles rest on.
        notes: what a reader should know.
    """

    soc: str
    model: str
    before: int
    network: int
    sequential: int
    after: int
    layers: tuple[LayerEstimate, ...]
    traffic: tuple[Traffic, ...]
    host_clock: int
    basis: str
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """From reset to exit, which is the total of `atoll run`."""
        return self.before + self.network + self.after

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {
            "soc": self.soc,
            "model": self.model,
            "cycles": {
                "total": self.total,
                "before": self.before,
                "network": self.network,
                "after": self.after,
                "sequential": self.sequential,
                "basis": self.basis,
                "clock_hz": self.host_clock,
                "total_ns": nanoseconds(self.total, self.host_clock),
                "by_layer": [layer.as_json() for layer in self.layers],
                "by_memory": [each.as_json() for each in self.traffic],
            },
            "notes": list(self.notes),
        }
