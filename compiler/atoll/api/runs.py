# SPDX-License-Identifier: Apache-2.0
"""What a run proved and measured."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rich.console import RenderableType

from atoll.api.notebook import Row, html_table, plain_text
from atoll.api.samples import Array
from atoll.memory.problem import MemoryPlan
from atoll.report.result import LayerCycles, Mismatch, RunReport, Violation
from atoll.report.text import render

_CYCLES = {
    "rtl": "measured in RTL",
    "iss": "counted: what the cores' descriptions say that an instruction takes",
    "qemu": "counted: one cycle an instruction",
}
"""What the cycles of a run rest on, by who plays the cores."""


@dataclass(frozen=True, slots=True)
class NetworkRun:
    """What one network did, held against reference and plan.

    Attributes:
        passed: bit-exact, and no access broke the plan.
        bit_exact: every tensor of every sample equals Atoll's reference.
        layers_compared: tensors held against the reference, over all samples.
        accesses: bus accesses held against the plan; 0 where the cores tell none.
        violations: accesses that broke it.
        mismatches: tensors that differ.
        total_cycles: of the host, from reset to exit; None where no clock ran.
        total_cycles_basis: how they were found, or why they are not known.
        host_clock_hz: the clock in which all cycles are counted.
        outputs: of each sample, by tensor.
    """

    soc: str
    network: str
    cpu: str
    accelerator: str
    samples: int
    passed: bool
    bit_exact: bool
    layers_compared: int
    accesses: int
    violations: tuple[Violation, ...]
    mismatches: tuple[Mismatch, ...]
    total_cycles: int | None
    total_cycles_basis: str
    host_clock_hz: int
    notes: tuple[str, ...]
    outputs: tuple[Mapping[str, Array], ...] = field(repr=False)
    _report: RunReport = field(repr=False)
    _plan: MemoryPlan = field(repr=False)

    def rows(self) -> list[Row]:
        """Return the operators of the first sample; cycles are None where no clock ran."""
        return [_row(each, known=self.total_cycles is not None) for each in self._report.by_layer]

    def stack_rows(self) -> list[Row]:
        """Return the stack of each core; what was not measured is None."""
        return [{"core": name, **use.as_json()} for name, use in self._report.stack.items()]

    def text(self, *, brief: bool = False, columns: int | None = None) -> str:
        """Return what ``atoll run`` prints; `brief` leaves out memory map and layer table."""
        return plain_text(self.rich(brief=brief), columns)

    def rich(self, *, brief: bool = False) -> RenderableType:
        """Return the same for a console of the package `rich`."""
        return render(self._report, self._plan, brief=brief)

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll run --json`` prints of one network."""
        return self._report.as_json() | {"dataset": None}

    def _repr_html_(self) -> str:
        verdict = "passed" if self.passed else "failed"
        title = f"{self.network} on {self.soc}, cores by {self.cpu}: {verdict}"
        found = [*map(str, self.mismatches), *map(str, self.violations)]
        return html_table(title, self.rows(), (*found, *(f"note: {each}" for each in self.notes)))


@dataclass(frozen=True, slots=True)
class Run:
    """What the networks of a firmware did in turn."""

    networks: tuple[NetworkRun, ...]

    @property
    def passed(self) -> bool:
        """All of them are right."""
        return all(each.passed for each in self.networks)

    @property
    def network(self) -> NetworkRun:
        """The only network.

        Raises:
            ValueError: there are several.
        """
        (one,) = self.networks
        return one

    def rows(self) -> list[Row]:
        """Return the operators of all networks."""
        return [{"network": each.network, **row} for each in self.networks for row in each.rows()]

    def text(self, *, brief: bool = False, columns: int | None = None) -> str:
        """Return what ``atoll run`` prints."""
        return "".join(each.text(brief=brief, columns=columns) for each in self.networks)

    def to_json(self) -> dict[str, Any] | list[dict[str, Any]]:
        """Return an object as ``atoll run --json`` prints it, or a list for several networks."""
        objects = [each.to_json() for each in self.networks]
        return objects if len(objects) > 1 else objects[0]

    def __iter__(self) -> Iterator[NetworkRun]:
        return iter(self.networks)

    def _repr_html_(self) -> str:
        return "".join(each._repr_html_() for each in self.networks)


def network_run(
    report: RunReport, plan: MemoryPlan, outputs: tuple[Mapping[str, Array], ...]
) -> NetworkRun:
    """Return a report as callers see it."""
    clocked = report.total_cycles > 0
    unknown = f"unknown: no clock runs where '{report.cpu}' plays the cores"
    return NetworkRun(
        soc=report.soc,
        network=report.model,
        cpu=report.cpu,
        accelerator=report.accelerator,
        samples=report.samples,
        passed=report.passed,
        bit_exact=report.bit_exact,
        layers_compared=report.layers_compared,
        accesses=report.accesses,
        violations=report.violations,
        mismatches=report.mismatches,
        total_cycles=report.total_cycles if clocked else None,
        total_cycles_basis=_basis(report) if clocked else unknown,
        host_clock_hz=report.host_clock,
        notes=report.notes,
        outputs=outputs,
        _report=report,
        _plan=plan,
    )


def _basis(report: RunReport) -> str:
    models = ", accelerators by their models" if "model" in report.accelerator else ""
    return _CYCLES.get(report.cpu, report.cpu) + models


def _row(layer: LayerCycles, *, known: bool) -> Row:
    return {
        "operator": layer.operator,
        "kind": layer.kind,
        "device": layer.device,
        "helpers": list(layer.helpers),
        "begin_cycle": layer.begin if known else None,
        "end_cycle": layer.end if known else None,
        "cycles": layer.cycles if known else None,
        "worked_cycles": layer.worked if known else None,
        "estimated_cycles": layer.estimate,
        "basis": layer.basis,
        "instructions": layer.instructions,
        "time_ns": layer.nanoseconds if known else None,
    }
