# SPDX-License-Identifier: Apache-2.0
"""What a description says of a core's regions and targets, in lines of its own notation.

No format that a chip is exported to has words for these. `atoll import` reads them again.
"""

from collections.abc import Iterator

from atoll.isa.code_target import CodeTarget, Optimise
from atoll.resolve.soc import Cpu


def core_words(core: Cpu) -> Iterator[tuple[str, str]]:
    """Yield ``code``, ``data``, ``stack`` and, if the core has any, ``targets``."""
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
    if core.targets:
        targets = (f"{each.name}: {{{', '.join(_target(each))}}}" for each in core.targets)
        yield "targets", f"{{{', '.join(targets)}}}"


def _target(target: CodeTarget) -> Iterator[str]:
    yield f"isa: {target.instructions.name}"
    yield f"abi: {target.instructions.abi}"
    if target.optimise is not Optimise.SPEED:
        yield f"optimise: {target.optimise.value}"
    if target.generator:
        yield f"generator: {target.generator.value}"
    if not target.unit:
        yield "function_unit: false"
