# SPDX-License-Identifier: Apache-2.0
"""Kernels that are made in objects of their own, since one compiler run has one of each thing.

Those are kernels as C among LLVM's, and those of another calling convention. Their object becomes
a part of their core's, so a firmware sees one object of a network for each core.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import groupby

from atoll.codegen.core_steps import functions_on
from atoll.ir.tir import IRModule, PrimFunc
from atoll.ir.walk import callees
from atoll.isa.code_target import CodeTarget, Generator
from atoll.records import dataclass
from atoll.resolve.se_scope import code_target
from atoll.resolve.soc import Cpu, ResolvedSoc

PREFIX = "atoll_kernel_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """Kernels of one target of a core.

    Attributes:
        target: what they are made for.
        core: as the target sees it.
        functions: the kernels and all that they call, callees first.
        in_c: they are made as C.
    """

    target: CodeTarget
    core: Cpu
    functions: tuple[PrimFunc, ...]
    in_c: bool


def name_apart(module: IRModule, soc: ResolvedSoc, generator: Generator) -> IRModule:
    """Return the module with names for all that is made apart which no other network has.

    `generator` makes all code whose target says nothing else.
    """
    names = {
        function.name: f"{PREFIX}{module.name}_{function.name}"
        for core in (soc.host_cpu, *soc.remote_cpus)
        for function in functions_on(module, core.name)
        if is_apart(function, core, generator) and not function.name.startswith(PREFIX)
    }
    if not names:
        return module
    functions = tuple(
        replace(each, name=names.get(each.name, each.name)) for each in module.functions
    )
    steps = tuple(
        step.with_calls(
            tuple(
                replace(call, function=names.get(call.function, call.function))
                for call in step.calls
            )
        )
        for step in module.entry.steps
    )
    return replace(module, functions=functions, entry=replace(module.entry, steps=steps))


def is_apart(function: PrimFunc, core: Cpu, generator: Generator) -> bool:
    """Tell whether a kernel of a core is made apart from the core's own code."""
    target = code_target(core, function.target)
    if target is None:
        return False
    return _in_c(target, generator) or target.instructions.abi != core.instructions.abi


def apart_on(module: IRModule, core: Cpu, generator: Generator) -> Iterator[Apart]:
    """Yield what is made apart of a core, target by target."""
    functions = functions_on(module, core.name)
    kernels = [each for each in functions if is_apart(each, core, generator)]
    for text, group in groupby(sorted(kernels, key=lambda k: k.target), lambda k: k.target):
        target = code_target(core, text)
        assert target is not None
        own = tuple(group)
        yield Apart(
            target=target,
            core=core.for_target(target.name),
            functions=_with_callees(functions, own),
            in_c=_in_c(target, generator),
        )


def together_on(
    module: IRModule, core: Cpu, generator: Generator
) -> tuple[tuple[PrimFunc, ...], tuple[PrimFunc, ...]]:
    """Return the functions of a core that are made together, and those that are only declared."""
    functions = functions_on(module, core.name)
    apart = tuple(each for each in functions if is_apart(each, core, generator))
    if not apart:
        return functions, ()
    kept = tuple(each for each in functions if each not in apart and not each.result)
    return _with_callees(functions, kept), apart


def kernels_of(module: IRModule, core: Cpu) -> Mapping[str, tuple[PrimFunc, ...]]:
    """Return the kernels of a core by the name of the target that they are made for."""
    found: dict[str, list[PrimFunc]] = {}
    for function in functions_on(module, core.name):
        if target := code_target(core, function.target):
            found.setdefault(target.name, []).append(function)
    return {name: tuple(found[name]) for name in sorted(found)}


def _with_callees(
    functions: tuple[PrimFunc, ...], kernels: tuple[PrimFunc, ...]
) -> tuple[PrimFunc, ...]:
    needed, found = {each.name for each in kernels}, list[PrimFunc]()
    for function in reversed(functions):
        if function.name in needed:
            needed.update(callees(function))
            found.append(function)
    return tuple(reversed(found))


def _in_c(target: CodeTarget, generator: Generator) -> bool:
    """C is apart among objects of LLVM; among C, what has a target needs flags of its own."""
    return generator is Generator.C or target.generator is Generator.C
