# SPDX-License-Identifier: Apache-2.0
"""Accesses that no register of an accelerator allows, as far as its description tells."""

from collections.abc import Iterator

from atoll.program.steps import MOVES, Program, Step, Verb, all_steps
from atoll.records import dataclass
from atoll.resolve.engine_parts import identity_of
from atoll.resolve.soc import AcceleratorSpec, Engine

WORD_BYTES = 4
LISTS_READ = ("STATUS", "ERROR", "FAULT_ADDRESS", "COMPLETED")
"""What the driver of command lists only reads (docs/accelerators.md)."""

_ERRORS = {
    "axi4_lite": ("s_axil_rresp_o", "s_axil_bresp_o"),
    "apb": ("s_apb_pslverr_o", "s_apb_pslverr_o"),
    "obi": ("s_obi_err_o", "s_obi_err_o"),
    "wishbone": ("s_wb_err_o", "s_wb_err_o"),
}
"""By the protocol of the registers: the ports that tell that a read, and a write, failed."""


@dataclass(frozen=True, slots=True)
class Barred:
    """An access that is to be answered with an error: a write, or else a read."""

    offset: int
    write: bool


def tells_errors(spec: AcceleratorSpec, *, write: bool) -> bool:
    """Tell whether the module can answer a write, or a read, with an error."""
    port = _ERRORS[spec.ports.control][write]
    return spec.rtl_ports.get(port, port) is not None


def unanswerable(spec: AcceleratorSpec) -> str:
    """Return which accesses the module has no port to answer with an error, "" if there are none.

    They are not tried.
    """
    words = {write: tells_errors(spec, write=write) for write in (False, True)}
    silent = [("reads", "writes")[write] for write, told in words.items() if not told]
    return " and ".join(silent)


def barred_accesses(engine: Engine) -> tuple[Barred, ...]:
    """Return accesses that nothing allows: writes of what is only read, and offsets between.

    Those that the module has no port to answer with an error are left out.
    """
    spec = engine.spec
    only_read = sorted({spec.registers[name] for name in _only_read(engine)})
    accesses = [Barred(offset, write=True) for offset in only_read]
    for offset in _between(spec, engine.registers.size):
        accesses += [Barred(offset, write=write) for write in (False, True)]
    return tuple(each for each in accesses if tells_errors(spec, write=each.write))


def _only_read(engine: Engine) -> Iterator[str]:
    """Yield registers that the driver reads and never writes."""
    yield from identity_of(engine)
    program = engine.spec.program
    if program is None:
        yield from LISTS_READ
        return
    steps = [*_steps(program)]
    written = {step.name for step in steps if step.verb in (Verb.WRITE, Verb.PUSH)}
    read = [step.name for step in steps if step.verb in (Verb.WAIT, Verb.POP)]
    read += [failure.register for failure in program.failures]
    yield from (name for name in read if name not in written)


def _steps(program: Program) -> Iterator[Step]:
    for steps in (program.open, program.close, program.abort, program.clear):
        yield from all_steps(steps)
    for steps in program.runs.values():
        yield from all_steps(steps)


def _between(spec: AcceleratorSpec, size: int) -> tuple[int, ...]:
    """Return a few offsets without a register, first to last, in a window of `size` bytes.

    All are in reach of an address that has just the bits to tell the registers apart: with no more
    of them, those beyond are the same registers again. Behind a window that rises it is not known
    where it ends.
    """
    offsets = sorted({*spec.registers.values()})
    end = min(size, 1 << (offsets[-1] + WORD_BYTES - 1).bit_length())
    rising = {
        spec.registers[step.name]
        for step in (_steps(spec.program) if spec.program else ())
        if step.verb in MOVES and step.rises
    }
    free = [
        offset
        for low, high in zip(offsets, (*offsets[1:], end), strict=True)
        if low not in rising
        for offset in range(low + WORD_BYTES, high, WORD_BYTES)
    ]
    free = [*range(0, offsets[0], WORD_BYTES), *free]
    return tuple(sorted({free[0], free[len(free) // 2], free[-1]})) if free else ()
