# SPDX-License-Identifier: Apache-2.0
"""Regions, stacks, limits and targets of a core, as a description has them."""

from collections.abc import Iterator, Mapping

from atoll.description.devices import CodeTarget, CoreLimits, Limits, Span, Stack
from atoll.description.undecided import UNDECIDED
from atoll.diagnostics.units import format_size


def span_text(span: Span, memories: Mapping[str, str]) -> str:
    """Return a region as a description has it."""
    memory = memories.get(span.memory or "", UNDECIDED)
    return f"{{memory: {memory}, size: {format_size(span.size) if span.size else UNDECIDED}}}"


def stack_text(stack: Stack | None, memories: Mapping[str, str]) -> str:
    """Return stacks as a description has them; `memories` has its name of each of the file's."""
    if stack is None:
        return f"{{memory: {UNDECIDED}, size: {UNDECIDED}}}"
    threads = ", ".join(f"{name}: {format_size(size)}" for name, size in stack.threads.items())
    words = [
        f"memory: {memories.get(stack.memory, UNDECIDED)}",
        f"size: {format_size(stack.size)}",
        f"interrupts: {format_size(stack.interrupts)}",
        *([f"threads: {{{threads}}}"] if threads else []),
        *([f"runs: {stack.runs}"] if stack.runs else []),
    ]
    return f"{{{', '.join(words)}}}"


def limits_text(limits: CoreLimits) -> str:
    """Return limits of stacks as a description has them, those of threads behind the core's."""
    words = [*_limits(limits)]
    threads = (f"{name}: {{{', '.join(_limits(each))}}}" for name, each in limits.threads.items())
    if limits.threads:
        words.append(f"threads: {{{', '.join(threads)}}}")
    return f"{{{', '.join(words)}}}"


def _limits(limits: Limits) -> Iterator[str]:
    for key in ("max_stack_alloca_size", "max_stack_size"):
        if (size := getattr(limits, key)) is not None:
            yield f"{key}: {format_size(size)}"
    if limits.use_backend_alloc_workspace is not None:
        yield f"use_backend_alloc_workspace: {str(limits.use_backend_alloc_workspace).lower()}"


def target_lines(targets: Mapping[str, CodeTarget]) -> Iterator[str]:
    """Yield targets as a description has them, without what is so by default."""
    for name, target in targets.items():
        said = target.model_dump(mode="json", exclude_defaults=True)
        words = (f"{key}: {str(value).lower()}" for key, value in said.items())
        yield f"{name}: {{{', '.join(words)}}}"
