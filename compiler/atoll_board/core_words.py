# SPDX-License-Identifier: Apache-2.0
"""What a description says of a core's regions, limits and targets, in lines of its own notation.

No format that a chip is exported to has words for these. `atoll import` reads them again.
"""

from collections.abc import Iterator

from atoll.description.tree import BUILT_IN
from atoll.isa.code_target import CodeTarget, Optimise
from atoll.resolve.soc import Cpu, ThreadLimits
from atoll.resolve.stack_limits import ALLOCA, MAX_STACK_ALLOCA_SIZE, TOTAL


def core_words(core: Cpu) -> Iterator[tuple[str, str]]:
    """Yield ``code``, ``data``, ``stack`` and, if the core has any, ``limits`` and ``targets``."""
    for name, region in (("code", core.code), ("data", core.data)):
        yield name, f"{{memory: {region.memory}, size: {region.size}}}"
    threads = ", ".join(f"{each.name.split('.')[1]}: {each.size}" for each in core.threads)
    words = [
        f"memory: {core.stack.memory}",
        f"size: {core.stack.size}",
        f"interrupts: {core.interrupt_reserve}",
        *([f"threads: {{{threads}}}"] if threads else []),
        *([f"runs: {core.run_thread}"] if core.run_thread else []),
    ]
    yield "stack", f"{{{', '.join(words)}}}"
    if limits := ", ".join(_limits(core)):
        yield "limits", f"{{{limits}}}"
    if core.targets:
        targets = (f"{each.name}: {{{', '.join(_target(each))}}}" for each in core.targets)
        yield "targets", f"{{{', '.join(targets)}}}"


def _limits(core: Cpu) -> Iterator[str]:
    """Yield the limits that are not there by default; those of other threads where they differ."""
    main, *others = core.thread_limits
    alloca = main.alloca.value if main.alloca.layer != BUILT_IN else None
    usual = MAX_STACK_ALLOCA_SIZE if alloca is None else alloca
    yield from _of_stack(main, alloca)
    threads = {
        each.thread: ", ".join(
            _of_stack(each, each.alloca.value if each.alloca.value != usual else None)
        )
        for each in others
    }
    if any(threads.values()):
        words = (f"{name}: {{{limits}}}" for name, limits in threads.items() if limits)
        yield f"threads: {{{', '.join(words)}}}"


def _of_stack(limits: ThreadLimits, alloca: int | None) -> Iterator[str]:
    if alloca is not None:
        yield f"{ALLOCA}: {alloca}"
    if limits.total.key.endswith(f".{TOTAL}"):
        yield f"{TOTAL}: {limits.total.value}"


def _target(target: CodeTarget) -> Iterator[str]:
    yield f"isa: {target.instructions.name}"
    yield f"abi: {target.instructions.abi}"
    if target.optimise is not Optimise.SPEED:
        yield f"optimise: {target.optimise.value}"
    if target.generator:
        yield f"generator: {target.generator.value}"
    if not target.unit:
        yield "function_unit: false"
