# SPDX-License-Identifier: Apache-2.0
"""What stands in a package for the driver of an accelerator that nobody has said how to drive."""

from collections.abc import Mapping
from dataclasses import replace

from atoll.bsp.program_driver import HOOKS
from atoll.bsp.render import opening_sentence, render
from atoll.resolve.soc import Device, Engine, ResolvedSoc


def without_assumptions(soc: ResolvedSoc) -> ResolvedSoc:
    """Return the chip without the registers and drivers that only its simulation has."""
    return replace(soc, devices=tuple(map(_as_described, soc.devices)))


def missing_drivers(soc: ResolvedSoc) -> Mapping[str, str]:
    """Return the files of drivers that are missing, by name; an image that calls one is not linked.

    Args:
        soc: what `without_assumptions` returned; others have no such driver.
    """
    specs = {engine.spec.name: engine.spec for engine in soc.engines}
    return {
        f"{spec.driver}{end}": render(
            f"missing{end}",
            made_from=opening_sentence(soc),
            name=name,
            driver=spec.driver,
            hooks=HOOKS,
        )
        for name, spec in sorted(specs.items())
        if spec.driver == _driver(name) and spec.undriven
        for end in (".h", ".c")
    }


def undriven_engines(soc: ResolvedSoc) -> tuple[Engine, ...]:
    """Return the engines of which the description does not say how they are driven."""
    return tuple(engine for engine in soc.engines if engine.spec.undriven)


def _as_described(device: Device) -> Device:
    if not isinstance(device, Engine) or not device.spec.undriven:
        return device
    spec = replace(device.spec, registers={}, driver=_driver(device.spec.name))
    return replace(device, spec=spec)


def _driver(name: str) -> str:
    return f"drive_{name}"
