# SPDX-License-Identifier: Apache-2.0
"""The C that ships with Atoll: the runtime, and the drivers of the chip's devices."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from atoll import protocol
from atoll.bsp.headers import MAILBOX_DRIVERS, drivers
from atoll.bsp.interface import ModelInterface
from atoll.bsp.missing_driver import missing_drivers
from atoll.bsp.program_driver import SHARED, program_drivers
from atoll.bsp.render import FOLDER, render
from atoll.diagnostics.errors import Fault, ToolchainError
from atoll.resolve.soc import Engine, ResolvedSoc

STATUS = "atoll_status.h"


def driver_files(
    soc: ResolvedSoc, models: Sequence[ModelInterface], origins: Mapping[str, int]
) -> Mapping[str, str]:
    """Return the runtime and the drivers that the chip needs.

    Raises:
        ToolchainError: E071, a driver that the BSP does not have.
    """
    check_drivers(soc)
    paths = [*(FOLDER / "runtime").iterdir()]
    played = program_drivers(soc)
    made = {**played, **missing_drivers(soc)}
    names = {name for name in drivers(soc) if f"{name}.c" not in made} | (
        {SHARED} if played else set()
    )
    own = {npu.spec.driver: Path(npu.spec.driver_path) for npu in soc.engines if _is_own(npu)}
    places = {name: own.get(name, FOLDER / "drivers" / f"{name}.c") for name in sorted(names)}
    paths += [path.with_suffix(end) for path in places.values() for end in (".c", ".h")]
    return {**protocol_headers(), **{path.name: path.read_text() for path in paths}, **made}


def protocol_headers() -> Mapping[str, str]:
    """Write the headers with the numbers of `atoll.protocol`, the same on every chip."""
    tables = {
        "console": protocol.ConsoleRegister,
        "guard": protocol.GuardRegister,
        "request": protocol.Request,
        "event": protocol.TraceEvent,
    }
    bits = {"operator_bits": protocol.OPERATOR_BITS, "device_bits": protocol.DEVICE_BITS}
    return {
        "atoll_protocol.h": render("atoll_protocol.h", enums=tables, **bits),
        STATUS: render(STATUS, codes=tuple(protocol.Status)),
    }


def check_drivers(soc: ResolvedSoc) -> None:
    """Refuse engines whose driver is not there.

    Raises:
        ToolchainError: E071.
    """
    shipped = {path.stem for path in (FOLDER / "drivers").glob("*.c")}
    known = sorted(shipped - {*MAILBOX_DRIVERS, SHARED})
    faults = [fault for npu in soc.engines if _is_own(npu) for fault in _own_faults(npu, shipped)]
    faults += (
        Fault(
            code="E071",
            message=f"no C driver '{npu.spec.driver}' for '{npu.name}'",
            at=npu.spec.places.get("driver") or npu.at,
            remedy=f"let accelerator '{npu.spec.name}' name one of {', '.join(known)}",
        )
        for npu in soc.engines
        if npu.spec.program is None and not npu.spec.undriven
        if npu.spec.driver not in known and not _is_own(npu)
    )
    if faults:
        raise ToolchainError.all(faults)


def _is_own(engine: Engine) -> bool:
    """Tell whether the author of an accelerator wrote its driver."""
    return bool(engine.spec.driver_path) and engine.spec.program is None


def _own_faults(engine: Engine, shipped: Collection[str]) -> Iterator[Fault]:
    spec, path = engine.spec, Path(engine.spec.driver_path)
    at = spec.places.get("driver") or engine.at
    if spec.driver in shipped:
        what = f"the driver of '{engine.name}' is called '{spec.driver}', as one of Atoll's"
        yield Fault(code="E071", message=what, at=at, remedy="give the file another name")
    for each in (path, path.with_suffix(".h")):
        if not each.is_file():
            what = f"no C driver for '{engine.name}': '{each}' is not there"
            remedy = "correct the path; the header lies beside the driver"
            yield Fault(code="E071", message=what, at=at, remedy=remedy)
