"""The C that ships with Atoll: the runtime, and the drivers of the chip's devices."""

from collections.abc import Mapping, Sequence

from atoll import protocol
from atoll.bsp.headers import MAILBOX_DRIVER, drivers
from atoll.bsp.interface import ModelInterface
from atoll.bsp.program_driver import SHARED, program_drivers
from atoll.bsp.render import FOLDER, render
from atoll.errors import Fault, ToolchainError
from atoll.resolve.soc import ResolvedSoc

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
    made = program_drivers(soc)
    names = {name for name in drivers(soc) if f"{name}.c" not in made} | (
        {SHARED} if made else set()
    )
    paths += [FOLDER / "drivers" / f"{name}{end}" for name in sorted(names) for end in (".c", ".h")]
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
    known = sorted(shipped - {MAILBOX_DRIVER, SHARED})
    faults = tuple(
        Fault(
            code="E071",
            message=f"no C driver '{npu.spec.driver}' for '{npu.name}'",
            at=npu.spec.places.get("driver") or npu.at,
            remedy=f"let accelerator '{npu.spec.name}' name one of {', '.join(known)}",
        )
        for npu in soc.engines
        if npu.spec.program is None and npu.spec.driver not in known
    )
    if faults:
        raise ToolchainError.all(faults)
