# SPDX-License-Identifier: Apache-2.0
"""The operators that Atoll compiles, and on a chip the devices that run them."""

import inspect
from collections.abc import Iterator, Mapping

from atoll.ops.kind import OperatorKind
from atoll.ops.registry import KINDS
from atoll.records import dataclass
from atoll.resolve.soc import Npu, ResolvedSoc
from atoll.resolve.tables import Table

RUN = {
    "IF": "one truth value; branches without states, unless it is a constant",
    "WHILE": "as many turns as constants say, with fixed shapes",
}
"""What becomes the operators that it runs (docs/operators.md), and what a model may ask of it."""

Limits = Mapping[str, tuple[int | None, int | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportedOperator:
    """A kind of operator that model files hold.

    Attributes:
        operator: what a TFLite file calls it.
        kind: what graphs call it, "" if they have what it runs.
        accepts: what a model may ask of it.
        devices: those of a chip that run it, with the features that each limits.
    """

    operator: str
    kind: str
    accepts: str
    devices: Mapping[str, Limits]

    def as_json(self) -> dict[str, object]:
        """Return the same for machines."""
        devices = {
            device: {
                name: {"min": least, "max": most} for name, (least, most) in sorted(limits.items())
            }
            for device, limits in self.devices.items()
        }
        return {
            "operator": self.operator,
            "kind": self.kind,
            "accepts": self.accepts,
            "devices": devices,
        }


def supported_operators(soc: ResolvedSoc | None) -> tuple[SupportedOperator, ...]:
    """Return all kinds that files hold, other packages' too, in the order of their names."""
    kinds = ((name, KINDS.get(name)) for name in KINDS.names())
    found = (
        SupportedOperator(
            operator=kind.tflite.code,
            kind=name,
            accepts=_accepts(kind),
            devices=dict(_devices(name, kind, soc)) if soc else {},
        )
        for name, kind in kinds
        if kind.tflite
    )
    run = (
        SupportedOperator(operator=code, kind="", accepts=accepts, devices={})
        for code, accepts in RUN.items()
    )
    return tuple(sorted((*found, *run), key=lambda each: each.operator))


def operator_tables(
    found: tuple[SupportedOperator, ...], soc: ResolvedSoc | None
) -> tuple[Table, ...]:
    """Return one line for each operator, and one for each limit of a device of a chip."""
    what = Table(
        key="operators",
        title=f"Operators of TFLite models{f' on {soc.name}' if soc else ''}",
        columns=("operator", *(("runs on",) if soc else ()), "a model may have it with"),
        rows=tuple(
            (
                each.operator,
                *((", ".join(each.devices) or _nowhere(each),) if soc else ()),
                each.accepts,
            )
            for each in found
        ),
    )
    limits = Table(
        key="limits",
        title="Limits of accelerators",
        columns=("device", "operator", "limits"),
        rows=tuple(
            (device, each.operator, ", ".join(_limit(*limit) for limit in limits.items()))
            for each in found
            for device, limits in each.devices.items()
            if limits
        ),
    )
    return what, limits


def _nowhere(operator: SupportedOperator) -> str:
    return "-" if operator.kind else "what it is made of"


def _accepts(kind: OperatorKind) -> str:
    """Return the first sentence of what a kind's `check` says about itself."""
    text = (inspect.getdoc(kind.check) or "").partition("\n\n")[0].replace("\n", " ")
    return text.removeprefix("Accept ").rstrip(".")


def _devices(name: str, kind: OperatorKind, soc: ResolvedSoc) -> Iterator[tuple[str, Limits]]:
    if kind.on_cores:
        yield from ((core.name, {}) for core in soc.cpus)
    for device in soc.npus:
        yield from _of_accelerator(name, device)


def _of_accelerator(kind: str, npu: Npu) -> Iterator[tuple[str, Limits]]:
    """Yield an accelerator that runs a kind, with the limits that its parameters do not settle."""
    for support in npu.spec.operators:
        limits = {name: each for name, each in support.limits.items() if name not in npu.params}
        settled = support.limits.keys() - limits.keys()
        able = all(_within(npu.params[name], support.limits[name]) for name in settled)
        if support.kind == kind and kind in npu.runs and able:
            yield npu.name, limits


def _within(value: int, limit: tuple[int | None, int | None]) -> bool:
    least, most = limit
    return (least is None or value >= least) and (most is None or value <= most)


def _limit(name: str, limit: tuple[int | None, int | None]) -> str:
    least, most = limit
    if least == most:
        return f"{name} {least}"
    if least is None:
        return f"{name} <= {most}"
    return f"{name} >= {least}" if most is None else f"{name} {least}..{most}"
