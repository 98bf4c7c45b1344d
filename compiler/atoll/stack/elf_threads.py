# SPDX-License-Identifier: Apache-2.0
"""On whose stacks functions of a linked image are called, and on whose they should be."""

from collections.abc import Iterable, Iterator, Mapping

from atoll.diagnostics.errors import Fault
from atoll.resolve.soc import Cpu, Region
from atoll.stack.elf_stack import Program

STACK_OF = "atoll_stack_of_"
"""Begins the name of a symbol that ends with a function; its value is the top of its stack."""


def intended_stacks(program: Program) -> Mapping[int, int]:
    """Return for each function that does a model's work the top of the stack it should be on."""
    named = (
        (program.address_of(name.removeprefix(STACK_OF)), top)
        for name, top in program.code.symbols.items()
        if name.startswith(STACK_OF)
    )
    return {address: top for address, top in named if address is not None}


def stacks_of_calls(program: Program, roots: Iterable[int], main: int) -> Mapping[int, set[int]]:
    """Return the tops of the stacks on which each function is called.

    Args:
        program: the image, whose `depth` was asked for every root.
        roots: addresses of what begins on the main stack.
        main: the top of that.
    """
    found: dict[int, set[int]] = {}
    waiting = [(root, main) for root in roots]
    while waiting:
        address, top = waiting.pop()
        if top in found.setdefault(address, set()):
            continue
        found[address].add(top)
        waiting += ((target, other or top) for target, other in program.callees(address))
    return found


def misplaced_calls(program: Program, roots: Iterable[int], core: Cpu) -> Iterator[Fault]:
    """Yield E201 for each model whose work an image calls on another stack than planned.

    Args:
        program: the image, whose `depth` was asked for every root.
        roots: addresses of what begins on the main stack.
        core: whose image it is, as it sees its stacks.
    """
    main = core.stack.end if program.top is None else program.top
    calls = stacks_of_calls(program, roots, main)
    for address, intended in intended_stacks(program).items():
        right = _stack(core, intended)
        for top in sorted(calls.get(address, set()) - {intended}):
            name, wrong = program.name(address), _stack(core, top)
            callers = sorted(_callers(program, calls, address, top))
            named = " and ".join(f"'{caller}'" for caller, _ in callers)
            message = (
                f"{named} calls '{name}' on {_place(wrong, top)}; the plan has it "
                f"on {_place(right, intended)}"
            )
            thread = right and _thread(right)
            switch = f"{name}_on_{thread}" if thread else name
            wrongly = [f"'{caller}'" for caller, switches in callers if switches and thread]
            remedies = []
            if wrongly:
                end = _symbol(program, intended)
                remedies.append(f"let {' and '.join(wrongly)} set the stack pointer to {end}")
            if len(wrongly) < len(callers):
                remedies.append(f"call '{switch}' from code on '{core.stack.name}'")
            remedy = ", and ".join(remedies)
            yield Fault(code="E201", message=message, at=core.at, remedy=remedy)


def _callers(
    program: Program, calls: Mapping[int, set[int]], address: int, top: int
) -> Iterator[tuple[str, bool]]:
    """Yield (name, whether it switches to that stack itself) of what calls a function there."""
    for caller, tops in calls.items():
        for target, other in program.callees(caller):
            if target == address and (other == top or (other is None and top in tops)):
                yield program.name(caller), other is not None


def _symbol(program: Program, top: int) -> str:
    """Return the name of the end of a stack."""
    return f"'{program.stack_ends[top]}'" if top in program.stack_ends else f"{top:#010x}"


def _stack(core: Cpu, top: int) -> Region | None:
    return next((stack for stack in core.stacks if stack.end == top), None)


def _place(stack: Region | None, top: int) -> str:
    return f"'{stack.name}'" if stack else f"a stack that ends at {top:#010x}, which is no stack"


def _thread(stack: Region) -> str:
    return ".".join(stack.name.split(".")[1:-1])
