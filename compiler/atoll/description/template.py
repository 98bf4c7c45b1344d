# SPDX-License-Identifier: Apache-2.0
"""The description that ``atoll new NAME`` starts a chip with."""

import re
from collections.abc import Iterator
from json import dumps

from pydantic import TypeAdapter, ValidationError

from atoll.description.fields import Name
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.units import format_size
from atoll.records import dataclass

_PLAIN = re.compile(r"[A-Za-z0-9_./-]+")
_SPACES = {"rom": 0x0000_0000, "ram": 0x2000_0000}
"""Where memories without an origin begin, one after the other."""

_REGISTERS, _MAILBOXES, _PAGE = 0x4000_0000, 0x4002_0000, 0x1000
_FIRST_LINE = 3

_HEAD = """\
# yaml-language-server: $schema=./soc.schema.json
# {what}.
# Sizes and clocks carry units; names are lower-case letters, digits and _. See 'atoll check
# FILE', 'atoll explain FILE', which shows all that follows, and docs/description.md for each key.
soc: {name}
version: 1

devices:
"""
_HOST = """\
  {name}:
    kind: cpu
    isa: {isa}
    core: {core}  # an installed one, or the path of your own YAML
    clock: 100 MHz
    # Interrupt handlers use the part of the stack called 'interrupts'.
    stack: {{memory: {memory}, size: 8 KiB, interrupts: 512 B}}
    # Kernel-local buffers up to this size may live on the stack.
    limits: {{max_stack_alloca_size: 1 KiB}}
"""
_HELPER = """\
  {name}:
    kind: dsp  # a core that is not the host
    isa: {isa}
    core: {core}
    clock: 100 MHz
    stack: {{memory: {memory}, size: 4 KiB, interrupts: 512 B}}
    mailbox: {mailbox:#011_x}  # the host has it run operators through it
    irq: {irq}
"""
_NPU = """\
  {name}:
    kind: npu
    accelerator: {accelerator}  # an installed one, or the path of your own YAML{params}
    registers: {registers:#011_x}  # 4 KiB of registers at the host
    irq: {irq}
    clock: 100 MHz
    # runs: [CONV_2D]  # narrows the operators; by default all that the accelerator can
"""
_PARAMS = {"reef": "\n    params: {input_lanes: 8, output_lanes: 8}"}
_DMA = """\
  {name}:
    kind: dma
    engine: {engine}
    registers: {registers:#011_x}
    irq: {irq}
    clock: 100 MHz
    moves: [{moves}]  # [from memory, to memory]
"""
_POOLS = """\

# Buffers live in pools. Each pool says of every device whether it may read (ro), read and write
# (rw) or not touch it at all (none): by name in 'reach', and of all that 'reach' does not name in
# 'others'. A pool without a size takes what is left of its memory.
pools:
"""
_TAIL = "\nhost: {host}  # starts everything; the first CPU by default\n"


@dataclass(frozen=True, slots=True)
class CorePart:
    """A core and its instruction set."""

    core: str
    isa: str


@dataclass(frozen=True, slots=True)
class MemoryPart:
    """A memory; without an `origin` it lies behind the last one of its kind."""

    name: str
    kind: str
    size: int
    origin: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a chip starts with; the first core is the host."""

    cores: tuple[CorePart, ...] = (CorePart("picorv32", "rv32imc"),)
    accelerators: tuple[str, ...] = ("reef",)
    engines: tuple[str, ...] = ()
    memories: tuple[MemoryPart, ...] = (
        MemoryPart("flash", "rom", 1 << 20),
        MemoryPart("sram", "ram", 256 << 10),
    )


USUAL = Parts()


def starting_description(name: str, parts: Parts = USUAL) -> str:
    """Return a commented description of a small chip called `name`, ready to build.

    Raises:
        UsageError: E099, `name` cannot name a chip.
    """
    try:
        TypeAdapter(Name).validate_python(name)
    except ValidationError as error:
        expectation = error.errors()[0]["msg"]
        raise UsageError(
            "E099",
            f"'{name}' cannot name a chip: it must be {expectation}",
            remedy="choose a name such as my_chip",
        ) from error
    return "".join(
        (
            _HEAD.format(name=name, what=_what(parts)),
            *_devices(parts),
            "\nmemories:\n",
            *_memories(parts),
            _POOLS,
            *_pools(parts),
            _TAIL.format(host=_names("cpu", len(parts.cores))[0]),
        )
    )


def _what(parts: Parts) -> str:
    counts = (
        (len(parts.cores), "core"),
        (len(parts.accelerators), "accelerator"),
        (len(parts.engines), "DMA engine"),
        (sum(each.kind == "rom" for each in parts.memories), "ROM"),
        (sum(each.kind == "ram" for each in parts.memories), "RAM"),
    )
    *some, last = [f"{count} {what}{'s' * (count > 1)}" for count, what in counts if count]
    return f"A chip with {', '.join(some)} and {last}"


def _devices(parts: Parts) -> Iterator[str]:
    stacks = next((each.name for each in parts.memories if each.kind == "ram"), "sram")
    cores, lines = _names("cpu", len(parts.cores)), iter(range(_FIRST_LINE, 256))
    for number, (name, each) in enumerate(zip(cores, parts.cores, strict=True)):
        words = {"name": name, "isa": _word(each.isa), "core": _word(each.core), "memory": stacks}
        if number == 0:
            yield _HOST.format(**words)
        else:
            box = _MAILBOXES + (number - 1) * _PAGE
            yield _HELPER.format(**words, mailbox=box, irq=next(lines))
    pages = iter(range(_REGISTERS, _MAILBOXES, _PAGE))
    npus = _names("npu", len(parts.accelerators))
    for name, accelerator in zip(npus, parts.accelerators, strict=True):
        block = {"registers": next(pages), "irq": next(lines)}
        params = _PARAMS.get(accelerator, "")
        yield _NPU.format(name=name, accelerator=_word(accelerator), params=params, **block)
    memories = [each.name for each in parts.memories]
    rams = [each.name for each in parts.memories if each.kind == "ram"]
    moves = ", ".join(f"[{one}, {two}]" for one in memories for two in rams if one != two)
    for name, engine in zip(_names("dma", len(parts.engines)), parts.engines, strict=True):
        block = {"registers": next(pages), "irq": next(lines)}
        yield _DMA.format(name=name, engine=_word(engine), moves=moves, **block)


def _memories(parts: Parts) -> Iterator[str]:
    free = dict(_SPACES)
    for each in parts.memories:
        step = 1 << (each.size - 1).bit_length()
        begin = -(-free[each.kind] // step) * step
        origin = begin if each.origin is None else each.origin
        if each.origin is None:
            free[each.kind] = begin + each.size
        speed = "width: 4, read_latency: 2" if each.kind == "rom" else "width: 8, banks: 4"
        size = format_size(each.size)
        about = f"origin: {origin:#011_x}, size: {size}, kind: {each.kind}, {speed}"
        yield f"  {each.name}: {{{about}}}\n"


def _pools(parts: Parts) -> Iterator[str]:
    """Yield a pool for each memory; the first ROM has the constants, or else the largest RAM."""
    counts = (("cpu", parts.cores), ("npu", parts.accelerators), ("dma", parts.engines))
    devices = [name for stem, each in counts for name in _names(stem, len(each))]
    memories = parts.memories
    rom = next((each for each in memories if each.kind == "rom"), None)
    rams = [each for each in memories if each.kind == "ram"]
    if rom:
        yield f"  weights: {{memory: {rom.name}, role: constants, others: ro}}\n"
    largest = max(rams, key=lambda each: each.size, default=None)
    for number, each in enumerate(rams):
        name = "shared" if number == 0 else each.name
        role = "both" if not rom and each is largest else "workspace"
        after = f", preference: {number}" if number else ""
        reach = f"reach: {{{', '.join(f'{device}: rw' for device in devices)}}}, others: none"
        yield f"  {name}: {{memory: {each.name}, role: {role}, {reach}{after}}}\n"


def _names(stem: str, count: int) -> list[str]:
    return [stem if number == 0 else f"{stem}{number + 1}" for number in range(count)]


def _word(text: str) -> str:
    """Return a word as YAML."""
    return text if _PLAIN.fullmatch(text) else dumps(text)
