# SPDX-License-Identifier: Apache-2.0
"""Where the plan has the buffers of a model, as C names; constants lie in a struct of each pool."""

from collections.abc import Iterator, Mapping, Sequence

from atoll.codegen.c.words import TYPES, identifier
from atoll.codegen.parameter_record import SECTION, parameter_record
from atoll.codegen.pool_images import (
    MODEL_ALIGNMENT,
    behind,
    far_pools,
    pool_images,
    pool_symbol,
    split_images,
)
from atoll.ir.scalars import Type
from atoll.ir.tir import Constant, IRModule
from atoll.memory.problem import MemoryPlan, PoolSpace
from atoll.resolve.soc import ResolvedSoc

_IN_LINE = 16
_GAP = "uint8_t"


def place(buffer: str) -> str:
    """Name the address of a buffer."""
    return f"AT_{buffer}"


def host_pools(
    module: IRModule, plan: MemoryPlan, soc: ResolvedSoc, commands: Mapping[str, bytes]
) -> Iterator[str]:
    """Yield the declarations of the pools that the host's part of a model uses."""
    images, given = split_images(pool_images(module, plan, commands), soc)
    if record := parameter_record(module, plan, soc, given):
        yield _record(module.name, record)
    types, far = _element_types(module), far_pools(soc, soc.host)
    used = {placement.pool for placement in plan.placements.values()}
    for space in (each for each in plan.problem.pools if each.name in used):
        start, symbol = behind(space, soc), f"atoll_pool_{space.name}"
        held = [each for each in module.entry.constants if _pool(plan, each.name) == space.name]
        if space.name in images:
            symbol, start = pool_symbol(module.name, space, soc), 0
            size = len(images[space.name])
            yield _image(symbol, space, soc, plan, held, types, commands, size)
        elif space.name in far:
            symbol = _at(far[space.name])
        else:
            yield f"extern uint8_t {symbol}[];\n"
        constants = {each.name for each in held} if space.name in images else set()
        yield "".join(
            f"#define {place(name)} {symbol}.{identifier(name)}\n"
            if name in constants
            else _offset(name, symbol, start + where.offset, whole=space.name in images)
            for name, where in sorted(plan.placements.items())
            if where.pool == space.name
        )


def foreign_pools(
    plan: MemoryPlan, soc: ResolvedSoc, core: str, buffers: Sequence[str]
) -> Iterator[str]:
    """Yield the declarations of what another core than the host sees of some buffers."""
    far = far_pools(soc, core)
    by_pool: dict[str, list[str]] = {}
    for buffer in dict.fromkeys(buffers):
        by_pool.setdefault(_pool(plan, buffer), []).append(buffer)
    for pool, names in sorted(by_pool.items()):
        symbol, origin = f"atoll_pool_{pool}", soc.pool(pool).region.origin
        if pool in far:
            symbol = _at(far[pool])
        else:
            yield f"extern uint8_t {symbol}[];\n"
        yield "".join(_offset(name, symbol, plan.address(name) - origin) for name in names)


def _at(address: int) -> str:
    """Write an address that no symbol reaches."""
    return f"((uint8_t *)(uintptr_t)UINT64_C({address:#x}))"


def _record(network: str, record: bytes) -> str:
    """Define what `atoll check-image` reads of the arrays that the application defines."""
    return (
        "#if defined(__GNUC__)\n"
        f'__attribute__((used, section("{SECTION}")))\n'
        f"static const uint8_t {network}_parameter_record[] = {{\n{in_lines(record)}}};\n"
        "#endif\n"
    )


def _offset(name: str, symbol: str, offset: int, *, whole: bool = False) -> str:
    base = f"((uint8_t *)&{symbol})" if whole else symbol
    return f"#define {place(name)} ({base} + {offset}u)\n"


def _pool(plan: MemoryPlan, buffer: str) -> str:
    return plan.placements[buffer].pool


def _element_types(module: IRModule) -> Mapping[str, Type]:
    """Return how kernels read the constants that only one type of element is read from."""
    found: dict[str, set[Type]] = {}
    for call in (call for step in module.entry.steps for call in step.calls):
        kernel = module.by_name[call.function]
        for name, parameter in zip(call.arguments, kernel.buffers, strict=True):
            found.setdefault(name, set()).add(parameter.type)
    return {name: types.pop() for name, types in found.items() if len(types) == 1}


def _image(
    symbol: str,
    space: PoolSpace,
    soc: ResolvedSoc,
    plan: MemoryPlan,
    constants: Sequence[Constant],
    types: Mapping[str, Type],
    commands: Mapping[str, bytes],
    size: int,
) -> str:
    """Define the constants of one pool, each at its offset."""
    members, values, at = [], [], 0
    for constant in sorted(constants, key=lambda each: plan.placements[each.name].offset):
        name, offset = identifier(constant.name), plan.placements[constant.name].offset
        if offset > at:
            members.append(f"  {_GAP} atoll_gap_{at}[{offset - at}];\n")
        kind = types.get(constant.name)
        width = kind.bytes if kind else 1
        assert not offset % width
        members.append(f"  {TYPES[kind] if kind else _GAP} {name}[{constant.size // width}];\n")
        data = commands[constant.name] if constant.data is None else constant.data
        values.append(f"  .{name} = {{\n{_numbers(data, kind)}  }},\n")
        at = offset + constant.size
    if size > at:
        members.append(f"  {_GAP} atoll_gap_{at}[{size - at}];\n")
    rom = soc.memory(soc.pool(space.name).region.memory).kind == "rom"
    alignment = max(
        space.alignment,
        1 if symbol.startswith("atoll_") else MODEL_ALIGNMENT,
        *(
            plan_buffer.alignment
            for plan_buffer in plan.problem.buffers
            if _pool(plan, plan_buffer.name) == space.name
        ),
    )
    const = "const " if rom else ""
    return (
        f"{const}struct {symbol}_image {{\n{''.join(members)}}} "
        f'{symbol} ATOLL_IN_POOL("{space.name}", {alignment}) = {{\n{"".join(values)}}};\n'
    )


def in_lines(data: bytes) -> str:
    """Return the initializers of an array of bytes, some in a line."""
    return _numbers(data, None)


def _numbers(data: bytes, kind: Type | None) -> str:
    """Return the initializers of an array, some in a line."""
    width = kind.bytes if kind else 1
    words = [
        int.from_bytes(data[at : at + width], "little", signed=kind is not None)
        for at in range(0, len(data), width)
    ]
    texts = [_number(word, kind) for word in words]
    return "".join(
        f"    {', '.join(texts[at : at + _IN_LINE])},\n" for at in range(0, len(texts), _IN_LINE)
    )


def _number(word: int, kind: Type | None) -> str:
    if kind is Type.I32 and word == -(1 << 31):
        return "INT32_MIN"
    if kind is Type.I64:
        return "INT64_MIN" if word == -(1 << 63) else f"INT64_C({word})"
    return str(word)
