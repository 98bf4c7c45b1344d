"""Check that a loop program keeps the rules of its language; every pass leaves it valid."""

from collections.abc import Iterator

from atoll.errors import Fault
from atoll.ir.faults import ProgramError, ill_formed
from atoll.ir.tir import IRModule, PrimFunc
from atoll.ir.verify_entry import entry_faults
from atoll.ir.verify_function import function_faults


def verify(module: IRModule) -> None:
    """Accept a well-formed module.

    Names are unique and defined before they are used, types agree, accesses keep to their
    direction, divisors are positive, no access is certain to be out of bounds, every buffer of
    the entry has a candidate pool, and steps read what was written.

    Raises:
        ProgramError: E078; all broken rules.
    """
    faults = [*_functions(module), *entry_faults(module)]
    if faults:
        raise ProgramError.all(faults)


def _functions(module: IRModule) -> Iterator[Fault]:
    defined: dict[str, PrimFunc] = {}
    for function in module.functions:
        if function.name in defined:
            yield ill_formed(f"function '{function.name}'", "is defined twice")
        yield from function_faults(function, defined)
        defined[function.name] = function
