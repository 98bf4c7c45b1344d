"""Check that a loop program keeps the rules of its language; every pass leaves it valid."""

from collections.abc import Iterator

from atoll.errors import Fault
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
    known = {*map(id, accepted.functions)} if accepted and _same_library(module, accepted) else {}
    defined: dict[str, PrimFunc] = {}
    for function in module.functions:
        if function.name in defined:
            yield ill_formed(f"function '{function.name}'", "is defined twice")
        if id(function) not in known:
            yield from function_faults(function, defined)
        defined[function.name] = function


def _same_library(module: IRModule, accepted: IRModule) -> bool:
    """Tell whether two modules have the same functions of scalars, which others call."""
    libraries = [[id(each) for each in m.functions if each.result] for m in (module, accepted)]
    return libraries[0] == libraries[1]
