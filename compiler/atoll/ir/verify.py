# SPDX-License-Identifier: Apache-2.0
"""Check that a loop program keeps the rules of its language; every pass leaves it valid."""

from collections.abc import Iterator

from atoll.diagnostics.errors import Fault
from atoll.ir.faults import ProgramError, ill_formed
from atoll.ir.tir import IRModule, PrimFunc
from atoll.ir.verify_entry import entry_faults
from atoll.ir.verify_function import function_faults


def verify(module: IRModule, accepted: IRModule | None = None) -> None:
    """Accept a well-formed module.

    Names are unique and defined before they are used, types agree, accesses keep to their
    direction, divisors are positive, no access is certain to be out of bounds, every buffer of
    the entry has a candidate pool, and steps read what was written.

    Args:
        module: any.
        accepted: one that was well-formed; the functions of it are not read again.

    Raises:
        ProgramError: E078; all broken rules.
    """
    faults = [*_functions(module, accepted), *entry_faults(module)]
    if faults:
        raise ProgramError.all(faults)


def _functions(module: IRModule, accepted: IRModule | None) -> Iterator[Fault]:
    known = {*_with_library(accepted)} if accepted else set[tuple[int, ...]]()
    defined: dict[str, PrimFunc] = {}
    for function, what in zip(module.functions, _with_library(module), strict=True):
        if function.name in defined:
            yield ill_formed(f"function '{function.name}'", "is defined twice")
        if what not in known:
            yield from function_faults(function, defined)
        defined[function.name] = function


def _with_library(module: IRModule) -> Iterator[tuple[int, ...]]:
    """Yield what tells each function apart, and the functions of scalars that it may call."""
    library: tuple[int, ...] = ()
    for function in module.functions:
        yield id(function), *library
        if function.result:
            library = *library, id(function)
