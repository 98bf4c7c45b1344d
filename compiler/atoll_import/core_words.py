# SPDX-License-Identifier: Apache-2.0
"""Regions, targets and loader of a core, which our own exports have in a description's words."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from atoll.description.devices import CodeTarget, Loader, Span, Stack
from atoll.description.fields import ChipName
from atoll.description.tree import plain
from atoll.description.undecided import UNDECIDED
from atoll.description.yaml_text import parse_yaml
from atoll.diagnostics.errors import DescriptionError
from atoll.diagnostics.units import format_size

_WORDS = re.compile(r"[\w{}:, .-]{2,2000}", re.ASCII)
_SPAN = TypeAdapter(Span)
_STACK = TypeAdapter(Stack)
_TARGETS: TypeAdapter[dict[str, CodeTarget]] = TypeAdapter(dict[ChipName, CodeTarget])
_LOADER: TypeAdapter[Loader] = TypeAdapter(Loader)


def loader_of(said: str) -> str:
    """Return a loader that a description can name, "" for anything else."""
    return str(_valid(_LOADER, said) or "")


def span_of(said: str) -> Span | None:
    """Return a region of code or data, None if there is none."""
    found: Span | None = _valid(_SPAN, _read(said))
    return found


def stack_of(said: str) -> Stack | None:
    """Return the stacks that a file speaks of, None if it speaks of none."""
    found: Stack | None = _valid(_STACK, _read(said))
    return found


def targets_of(said: str) -> Mapping[str, CodeTarget]:
    """Return the targets that a file speaks of."""
    return _valid(_TARGETS, _read(said)) or {}


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


def target_lines(targets: Mapping[str, CodeTarget]) -> Iterator[str]:
    """Yield targets as a description has them, without what is so by default."""
    for name, target in targets.items():
        said = target.model_dump(mode="json", exclude_defaults=True)
        words = (f"{key}: {str(value).lower()}" for key, value in said.items())
        yield f"{name}: {{{', '.join(words)}}}"


def _read(said: str) -> object:
    if not _WORDS.fullmatch(said):
        return None
    try:
        return plain(parse_yaml(said, Path()))
    except DescriptionError:
        return None


def _valid(adapter: TypeAdapter[Any], said: object) -> Any:
    try:
        return adapter.validate_python(said)
    except ValidationError:
        return None
