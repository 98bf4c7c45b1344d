# SPDX-License-Identifier: Apache-2.0
"""What networks are expected to take, before anything is built."""

from collections.abc import Sequence
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import Any

from rich.console import RenderableType

from atoll.api.chips import SocSource, load_soc
from atoll.api.compilation import Compilation
from atoll.api.driver import Compiled, at_speeds_of
from atoll.api.notebook import Row, html_table, plain_text
from atoll.api.together import Together
from atoll.api.traces import require_trace, write_estimate_trace
from atoll.cost.estimate import LayerEstimate
from atoll.cost.estimate import NetworkEstimate as Found
from atoll.records import dataclass
from atoll.report.estimate_text import render_estimate
from atoll.report.estimates import estimates_of


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryTraffic:
    """What crosses the port of a memory.

    Attributes:
        read_bytes: instructions included.
        port_cycles: of the host, that the port needs for all bytes.
        basis: what instructions that are read rest on.
    """

    memory: str
    read_bytes: int
    written_bytes: int
    port_cycles: int
    basis: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorEstimate:
    """What one operator is expected to take, in cycles of the host.

    Attributes:
        devices: what runs it, and the further cores that make parts of it.
        begin_cycle: counted from the begin of the first operator.
        end_cycle: likewise.
        estimated_cycles: if the host waits at once.
        basis: what the cycles rest on.
        bound_by: what decides: compute, a memory, the driver, a core.
        energy_pj: what devices and memories take for it; None if that is not known.
    """

    operator: str
    kind: str
    devices: tuple[str, ...]
    begin_cycle: int
    end_cycle: int
    estimated_cycles: int
    basis: str
    bound_by: str
    energy_pj: int | None
    traffic: tuple[MemoryTraffic, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class NetworkEstimate:
    """What one network is expected to take.

    Attributes:
        estimated_cycles: of the host, from the first operator to the last.
        total_cycles: from reset to exit.
        basis: what the cycles rest on.
        host_clock_hz: the clock in which they are counted.
        operators: in the order in which they begin.
        notes: what a reader should know.
        energy_pj: from the first operator to the last, static where that is stated; None if it is
            not known.
        energy_lacks: keys of the description, and hits in data caches, without which it is not
            known.
        energy_without: keys of static power that are not stated, and so not in it.
        area_um2: of devices and memories; None if it is not known.
    """

    soc: str
    network: str
    estimated_cycles: int
    total_cycles: int
    basis: str
    host_clock_hz: int
    operators: tuple[OperatorEstimate, ...] = field(repr=False)
    notes: tuple[str, ...]
    energy_pj: int | None
    energy_lacks: tuple[str, ...]
    energy_without: tuple[str, ...]
    area_um2: int | None
    _found: Found = field(repr=False)

    @property
    def energy_basis(self) -> str:
        """What `energy_pj` rests on; "" if the chip states none."""
        return self._found.energy.basis if self._found.energy else ""

    def rows(self) -> list[Row]:
        """Return the operators, with the bytes of each memory in columns of their own."""
        rows = [_row(each) for each in self.operators]
        if self._found.energy is None:
            for row in rows:
                del row["energy_pj"]
        return rows

    def text(self, columns: int | None = None) -> str:
        """Return what ``atoll estimate`` prints of it."""
        return plain_text(self.rich(), columns)

    def rich(self) -> RenderableType:
        """Return the same for a console of the package `rich`."""
        return render_estimate(self._found)

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll estimate --json`` prints of one network."""
        return self._found.as_json()

    def _repr_html_(self) -> str:
        title = f"{self.network} on {self.soc}: {self.estimated_cycles:,} cycles ({self.basis})"
        return html_table(title, self.rows(), self.notes)


class Estimate(Together[NetworkEstimate]):
    """What the networks of a firmware are expected to take."""

    __slots__ = ()


def estimate(
    compilation: Compilation,
    *,
    soc: SocSource | None = None,
    trace: Path | str | None = None,
) -> Estimate:
    """Estimate cycles and traffic of compiled networks; nothing is built.

    Args:
        compilation: what `compile` returned.
        soc: a chip that differs in speed alone: in clocks, widths, latencies or banks; or in energy
            and area. Placement, plan and commands stay those of the compilation; if `compile` would
            make others for this chip, a note says so.
        trace: show what is expected in this file, for Perfetto.

    Raises:
        UsageError: E090, E092, E231; there can be no trace.
        ValueError: `soc` differs in more than speed.

    >>> import atoll
    >>> made = atoll.compile("lagoon", "examples/01_digits/digits_int8.tflite")
    >>> atoll.estimate(made).network.basis
    'measured'
    >>> slower = made.soc.with_({"memories.flash.read_latency": 6})
    >>> atoll.estimate(made, soc=slower).network.notes
    ()
    """
    traced = require_trace(trace)
    models: Sequence[Compiled] = compilation._compiled
    notes: Sequence[str] = ()
    if soc is not None:
        models, notes = at_speeds_of(models, load_soc(soc))
    found = Estimate(tuple(_network(each, notes) for each in estimates_of(models)))
    if traced is not None:
        write_estimate_trace(traced, models, [each.to_json() for each in found])
    return found


def _network(made: Found, notes: Sequence[str]) -> NetworkEstimate:
    found = replace(made, notes=(*made.notes, *notes))
    energy, area = found.energy, found.area
    energies = {each.operator: each.total for each in energy.layers} if energy else {}
    return NetworkEstimate(
        soc=found.soc,
        network=found.model,
        estimated_cycles=found.network,
        total_cycles=found.total,
        basis=found.basis,
        host_clock_hz=found.host_clock,
        operators=tuple(_operator(layer, energies.get(layer.operator)) for layer in found.layers),
        notes=found.notes,
        energy_pj=energy.total if energy else None,
        energy_lacks=energy.lacks if energy else (),
        energy_without=energy.without if energy else (),
        area_um2=area.total if area else None,
        _found=found,
    )


def _operator(layer: LayerEstimate, energy: int | None) -> OperatorEstimate:
    return OperatorEstimate(
        operator=layer.operator,
        kind=layer.kind,
        devices=layer.devices,
        begin_cycle=layer.begin,
        end_cycle=layer.end,
        estimated_cycles=layer.cycles,
        basis=layer.basis,
        bound_by=str(layer.bound),
        energy_pj=energy,
        traffic=tuple(
            MemoryTraffic(
                memory=each.memory,
                read_bytes=each.read,
                written_bytes=each.written,
                port_cycles=each.cycles,
                basis=each.basis,
            )
            for each in layer.traffic
        ),
    )


def _row(operator: OperatorEstimate) -> Row:
    row = asdict(operator) | {"devices": " + ".join(operator.devices)}
    del row["traffic"]
    for each in operator.traffic:
        row[f"{each.memory}_read_bytes"] = each.read_bytes
        row[f"{each.memory}_written_bytes"] = each.written_bytes
    return row
