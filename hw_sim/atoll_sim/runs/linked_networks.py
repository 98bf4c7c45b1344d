# SPDX-License-Identifier: Apache-2.0
"""What a run of linked images has to know of the networks in them, and whether it is told."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from atoll.diagnostics.errors import Fault, UsageError
from atoll.driver.pipeline import Compiled
from atoll.ir.tir import EngineAction
from atoll.resolve.memory_views import device_address
from atoll.resolve.soc import Engine, ResolvedSoc
from atoll_image.elf import ElfImage, read_image
from atoll_sim.engines.calls import learns, model_of
from atoll_sim.trace.contents import contents_of


def check_networks(
    soc: ResolvedSoc,
    models: Sequence[Compiled],
    elves: Sequence[Path],
    *,
    modelled: Collection[str],
    cores_in_rtl: bool,
) -> None:
    """Refuse images of which it is not known what accelerators compute for them.

    Args:
        soc: the chip.
        models: the networks that are said to be in the images.
        elves: the images, the host's first.
        modelled: the accelerators that software plays.
        cores_in_rtl: the cores, which reach registers of accelerators in RTL, are RTL as well.

    Raises:
        UsageError: E177, there are no `models`, and an accelerator needs some; E178, they are not
            those of the images; E141, the host's image cannot be read.
    """
    if models:
        faults = tuple(_different(models, read_image(elves[0])))
    else:
        faults = tuple(_unknown(soc, modelled, cores_in_rtl=cores_in_rtl))
    if faults:
        raise UsageError.all(faults)


def _unknown(soc: ResolvedSoc, modelled: Collection[str], *, cores_in_rtl: bool) -> Iterator[Fault]:
    for engine in soc.engines:
        if why := _needs(engine, modelled=engine.name in modelled, cores_in_rtl=cores_in_rtl):
            yield Fault(
                code="E177",
                message=f"what '{engine.name}' of '{soc.name}' computes is not known: {why}",
                at=engine.at,
                remedy="name the networks of the images with '--network MODEL', or write"
                " '--accelerator none' if they use no accelerator",
            )


def _needs(engine: Engine, *, modelled: bool, cores_in_rtl: bool) -> str:
    """Return why an accelerator is not played without its networks; "" if it is."""
    spec = engine.spec
    if spec.program and (modelled or not cores_in_rtl):
        return f"the registers of '{spec.name}' are played by the operators of a network"
    if not modelled:
        return ""
    if not spec.model:
        return f"'{spec.name}' has no model of its commands, and is played by its operators"
    if learns(model_of(engine)):
        return f"the model of '{spec.name}' is told which operator a list is of"
    return ""


def _different(models: Sequence[Compiled], image: ElfImage) -> Iterator[Fault]:
    """Yield a fault for each network with commands that are not where they are planned."""
    for compiled in models:
        contents = contents_of(compiled)
        for step in compiled.module.entry.steps:
            if not isinstance(step.action, EngineAction):
                continue
            bus = compiled.plan.address(step.action.commands)
            seen = device_address(compiled.soc, compiled.soc.host, bus)
            if not _holds(image, seen, contents[step.action.commands]):
                name = compiled.graph.operators[step.number].name
                yield Fault(
                    code="E178",
                    message=f"the image has no commands of '{name}' of network"
                    f" '{compiled.graph.name}' at {seen:#010x}",
                    remedy="name the networks that it was made of, in their order, and give the"
                    " options that `atoll bsp` or `atoll build` got",
                )
                break


def _holds(image: ElfImage, address: int, data: bytes) -> bool:
    """Say whether an image has bytes at an address, once it runs."""
    return any(
        each.begin <= address and each.data[address - each.begin :].startswith(data)
        for each in image.sections
    )
