# SPDX-License-Identifier: Apache-2.0
"""Instances of accelerators: their parameters, and the operators that each may run."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from atoll.description.accelerator import Accelerator, Operator
from atoll.description.accelerator_files import AcceleratorDescription
from atoll.description.devices import Dma, Engine
from atoll.description.faults import nearest
from atoll.description.patterns import read_pattern
from atoll.diagnostics.errors import SourceLoc
from atoll.program.expressions import ExpressionError, parse, value_of
from atoll.resolve.core_instances import band_of
from atoll.resolve.draft import Draft
from atoll.resolve.engine_parts import RECORDS
from atoll.resolve.programs import program_of
from atoll.resolve.rtl_files import entry_beside, locate_beside, rtl_keys, rtl_parts
from atoll.resolve.soc import AcceleratorSpec, OperatorSupport
from atoll.resolve.specs import DataPort, LayoutRule, PackedConstant, Ports, Tuning

_DRIVEN_BY = {"registers", "systemrdl", "program", "driver", "rtl", "emitter"}
"""Keys of which one says how an accelerator is driven, if all else is left out."""


def check_accelerators(draft: Draft) -> None:
    """Note parameters and operators that an instance cannot have."""
    for name, npu, spec in draft.engines():
        if _check_params(draft, name, npu, spec.model):
            _check_peak(draft, name, npu, spec)
        if not draft.knows("devices", name, "kind"):
            continue
        for index, word in enumerate(npu.runs or ()):
            if isinstance(npu, Dma) and word not in spec.model.operators:
                draft.faults.add(
                    "E023",
                    f"'{spec.model.accelerator}' of '{name}' is no DMA engine: it does not copy",
                    at=draft.where.at("devices", name, "engine"),
                    remedy="name an engine that runs COPY, such as ripple",
                )
            elif word.upper() not in spec.model.operators:
                draft.faults.add(
                    "E023",
                    f"accelerator '{spec.model.accelerator}' of '{name}' does not run '{word}'",
                    at=draft.where.at("devices", name, "runs", str(index)),
                    remedy=f"use some of {', '.join(sorted(spec.model.operators))}",
                )


def params_of(npu: Engine, accelerator: Accelerator) -> dict[str, int]:
    """Return every parameter of an instance by name, sorted."""
    defaults = {name: value.default for name, value in accelerator.parameters.items()}
    return dict(sorted((defaults | npu.params).items()))


def operators_of(npu: Engine, accelerator: Accelerator) -> tuple[str, ...]:
    """Return the operator kinds that an instance may run, sorted."""
    return tuple(sorted({word.lower() for word in npu.runs or accelerator.operators}))


def spec_of(description: AcceleratorDescription) -> AcceleratorSpec:
    """Return what all instances of an accelerator have in common."""
    return _spec(description, Path.cwd())


@lru_cache(maxsize=64)
def _spec(description: AcceleratorDescription, _folder: Path) -> AcceleratorSpec:
    """Make it once of a description; paths in it are relative to the working directory."""
    model, folder = description.model, description.path.parent
    rtl = model.rtl
    return AcceleratorSpec(
        name=model.accelerator,
        operators=tuple(
            _support(kind, model.operators[kind], folder) for kind in sorted(model.operators)
        ),
        registers=dict(sorted(model.registers.map.items(), key=lambda item: item[1])),
        macs_per_cycle=model.macs_per_cycle or "",
        ports=_ports(model),
        program=program_of(model),
        **rtl_parts(rtl, folder),
        rtl_ports=rtl.ports if rtl else {},
        rtl_ties=rtl.ties if rtl else {},
        rtl_parameters=rtl.parameters if rtl else None,
        emitter=entry_beside(model.emitter, folder) or RECORDS,
        model=entry_beside(model.model, folder),
        driver=f"drive_{model.accelerator}" if model.program else Path(model.driver).stem,
        driver_path=locate_beside(model.driver, folder) if "/" in model.driver else "",
        undriven=not _DRIVEN_BY & model.model_fields_set,
        asynchronous=model.asynchronous and bool(model.ports.data),
        timing={
            kind.lower(): Tuning(each.factor, each.offset, band_of(each.band))
            for kind, each in (model.timing.operators.items() if model.timing else ())
        },
        timed_params={name: each.default for name, each in model.parameters.items()}
        | (model.timing.params if model.timing else {}),
        addresses=model.addresses,
        places=dict(_places(description)),
    )


def _support(kind: str, operator: Operator, folder: Path) -> OperatorSupport:
    return OperatorSupport(
        kind=kind.lower(),
        limits={
            feature: (limit.min, limit.max) for feature, limit in sorted(operator.limits.items())
        },
        cost=operator.cost or "",
        values=dict(operator.values),
        constants=tuple(
            PackedConstant(
                name=name,
                pack=entry_beside(packed.pack, folder),
                layout=packed.layout,
                alignment=packed.alignment,
            )
            for name, packed in operator.constants.items()
        ),
        layouts={
            name: LayoutRule(
                order=each.order, block=each.block or "1", row=each.row, patches=each.patches
            )
            for name, each in operator.layouts.items()
        },
        reference=entry_beside(operator.reference, folder),
        model=entry_beside(operator.model, folder),
        pattern=read_pattern(operator.pattern),
    )


def _ports(model: Accelerator) -> Ports:
    return Ports(
        control=model.ports.control,
        data=tuple(
            DataPort(name=name, protocol=port.protocol, bytes=port.bytes or "")
            for name, port in model.ports.data.items()
        ),
        interrupt=model.ports.interrupt,
    )


def _places(description: AcceleratorDescription) -> Iterator[tuple[str, SourceLoc]]:
    model, where = description.model, description.where
    for key in (("emitter",), ("model",), ("driver",), *rtl_keys(model.rtl)):
        if at := where.at(*key):
            yield ".".join(key), at
    for key in (
        ("registers", "map"),
        ("addresses",),
        ("macs_per_cycle",),
        ("program",),
        *(("operators", kind) for kind in model.operators),
        *(
            ("operators", kind, "constants", name)
            for kind, operator in model.operators.items()
            for name in operator.constants
        ),
    ):
        if at := where.key_at(*key):
            yield ".".join(key), at


def _check_params(draft: Draft, name: str, npu: Engine, accelerator: Accelerator) -> bool:
    """Note parameters that an instance cannot have; tell whether all are known and right."""
    params = params_of(npu, accelerator)
    if not draft.knows("devices", name, "params"):
        return False
    right = True
    for key, value in params.items():
        parameter = accelerator.parameters.get(key)
        objection = parameter.objection(value, params) if parameter else ""
        right &= parameter is not None and not objection
        if parameter is None:
            draft.faults.add(
                "E024",
                f"accelerator '{accelerator.accelerator}' of '{name}' has no parameter '{key}'",
                at=draft.where.key_at("devices", name, "params", key),
                remedy=nearest(key, accelerator.parameters),
            )
        elif objection:
            draft.faults.add(
                "E045",
                f"parameter '{key}' of '{name}' must be {objection}; it is {value}",
                at=draft.where.at("devices", name, "params", key),
                remedy=_instead(key, params, accelerator),
            )
    return right


def _check_peak(draft: Draft, name: str, npu: Engine, spec: AcceleratorDescription) -> None:
    """Note that the most that an instance multiplies in a cycle has no value."""
    if spec.model.macs_per_cycle is None:
        return
    try:
        macs = value_of(parse(spec.model.macs_per_cycle), params_of(npu, spec.model))
        wrong = "" if macs > 0 else f"is {macs}"
    except ExpressionError as fault:
        wrong = str(fault)
    if wrong:
        draft.faults.add(
            "E162",
            f"'macs_per_cycle' of accelerator '{spec.model.accelerator}' {wrong}, for '{name}'",
            at=spec.where.key_at("macs_per_cycle"),
            remedy="write a formula that is 1 or more, or leave it out",
        )


def _instead(key: str, params: Mapping[str, int], accelerator: Accelerator) -> str:
    parameter = accelerator.parameters[key]
    floor = max((params.get(name, 0) for name in parameter.at_least), default=0)
    candidates = [*(parameter.choices or ()), parameter.default, floor]
    if parameter.power_of_two and params[key] > 0:
        candidates.append(1 << params[key].bit_length() - 1)
    candidates += [bound for bound in (parameter.min, parameter.max) if bound is not None]
    for value in sorted(candidates, key=lambda value: (abs(value - params[key]), value)):
        if parameter.objection(value, params) is None:
            return f"write '{key}: {value}' under 'params'"
    return f"no value of '{key}' fits the others; change those"
