# SPDX-License-Identifier: Apache-2.0
"""What a run proved and measured."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from rich.console import Group, RenderableType

from atoll.api.accuracy import Accuracy
from atoll.api.notebook import Row, html_table, plain_text
from atoll.api.samples import Array
from atoll.api.together import Together
from atoll.memory.problem import MemoryPlan
from atoll.records import dataclass
from atoll.report.oracle import OracleVerdict
from atoll.report.result import LayerCycles, Mismatch, RunReport, Violation
from atoll.report.text import render

_CYCLES = {
    "rtl": "measured in RTL",
    "iss": "counted: what descriptions say that an instruction takes, not the core's time",
    "board": "measured on the board, by its own counter; between runs nothing is counted",
    "qemu": "counted: one cycle an instruction, not the core's time",
}
"""What the cycles of a run rest on, by who plays the cores."""


@dataclass(frozen=True, slots=True)
class NetworkRun:
    """What one network did, held against reference and plan.

    Attributes:
        passed: bit-exact, and no access broke the plan; an oracle agrees, and the chip made the
            bytes that this computer made of a dataset.
        bit_exact: every tensor of every sample equals Atoll's reference.
        layers_compared: tensors held against the reference, over all samples.
        accesses: bus accesses held against the plan; 0 where the cores tell none.
        violations: accesses that broke it.
        mismatches: tensors that differ.
        total_cycles: of the host, from reset to exit; None where no clock ran.
        total_cycles_basis: how they were found, or why they are not known.
        host_clock_hz: the clock in which all cycles are counted.
        outputs: of each sample that ran on the chip, by tensor.
        accuracy: what the network made of a dataset; None if there was none.
        oracle: what another implementation makes of the model file; None if it was not asked.
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
    accuracy: Accuracy | None = field(repr=False)
    oracle: OracleVerdict | None = field(repr=False)
    _report: RunReport = field(repr=False)
    _plan: MemoryPlan = field(repr=False)

    def rows(self) -> list[Row]:
        """Return the operators of the first sample; cycles are None where no clock ran."""
        return [_row(each, known=self._report.clocked) for each in self._report.by_layer]

    def stack_rows(self) -> list[Row]:
        """Return the stack of each core; what was not measured is None."""
        return [{"core": name, **use.as_json()} for name, use in self._report.stack.items()]

    def text(self, *, brief: bool = False, columns: int | None = None) -> str:
        """Return what ``atoll run`` prints; `brief` leaves out memory map and layer table."""
        return plain_text(self.rich(brief=brief), columns)

    def rich(self, *, brief: bool = False) -> RenderableType:
        """Return the same for a console of the package `rich`."""
        found = render(self._report, self._plan, brief=brief)
        return Group(found, self.accuracy.rich()) if self.accuracy else found

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll run --json`` prints of one network."""
        dataset = self.accuracy.to_json() if self.accuracy else None
        return self._report.as_json() | {"dataset": dataset}

    def _repr_html_(self) -> str:
        verdict = "passed" if self.passed else "failed"
        title = f"{self.network} on {self.soc}, cores by {self.cpu}: {verdict}"
        found = [*map(str, self.mismatches), *map(str, self.violations)]
        return html_table(title, self.rows(), (*found, *(f"note: {each}" for each in self.notes)))


class Run(Together[NetworkRun]):
    """What the networks of a firmware did in turn."""

    __slots__ = ()

    @property
    def passed(self) -> bool:
        """All of them are right."""
        return all(each.passed for each in self.networks)

    def text(self, *, brief: bool = False, columns: int | None = None) -> str:
        """Return what ``atoll run`` prints."""
        return "".join(each.text(brief=brief, columns=columns) for each in self.networks)


def network_run(
    report: RunReport,
    plan: MemoryPlan,
    outputs: tuple[Mapping[str, Array], ...],
    accuracy: Accuracy | None,
) -> NetworkRun:
    """Return a report as callers see it."""
    clocked = report.clocked
    unknown = f"unknown: no clock runs where '{report.cpu}' plays the cores"
    if report.relinked:
        unknown = f"unknown: QEMU's machine '{report.relinked.machine}' is not the chip"
    return NetworkRun(
        soc=report.soc,
        network=report.model,
        cpu=report.cpu,
        accelerator=report.accelerator,
        samples=report.samples,
        passed=report.passed and (accuracy is None or accuracy.passed),
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
        accuracy=accuracy,
        oracle=report.oracle,
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
