# SPDX-License-Identifier: Apache-2.0
"""Faults of networks in stripes: rows in a wrong place, and rows that are left out at a border."""

from dataclasses import replace
from random import Random

from atoll.codegen.commands import encode, pad_lists
from atoll.driver.pipeline import Compiled
from atoll.ir.graph import Graph, Operator
from atoll.ops.registry import kind_of
from atoll.resolve.memory_views import device_address
from atoll.resolve.soc import Engine
from atoll_sim.mutate.mutant import Mutant, Right, move_buffers


def tile_moved(right: Right, random: Random) -> Mutant | None:
    """Put some rows of a buffer some rows too high or too low; the contract stays."""
    compiled = right.compiled
    parts = compiled.module.entry.parts
    if not parts:
        return None
    part = random.choice(parts)
    shape = compiled.graph.tensor(part.name).shape
    row = part.size // shape[1] if len(shape) == 4 else 1
    rows = random.choice((-2, -1, 1, 2))
    place = compiled.plan.placements[part.name]
    wrong = replace(place, offset=place.offset + rows * row)
    if not 0 <= wrong.offset <= compiled.soc.pool(place.pool).room - part.size:
        return None
    sentence = f"'{part.name}' is {abs(rows)} rows {'below' if rows < 0 else 'above'} its place"
    mutant = right.mutant(part.name, sentence)
    return replace(mutant, built=move_buffers(compiled, [wrong]))


def halo_short(right: Right, random: Random) -> Mutant | None:
    """Let an operator take padding for the first row that it shares with the stripe before."""
    compiled = right.compiled
    found = [op for op in compiled.graph.operators if _has_halo(op, compiled)]
    if not found:
        return None
    op = random.choice(found)
    data = _shorten(op, compiled)
    name = compiled.jobs[op.name].commands
    if data is None or len(data) != compiled.jobs[op.name].commands_size:
        return None
    commands = {**compiled.commands, **pad_lists({name: data}, {op.name: compiled.jobs[op.name]})}
    mutant = right.mutant(name, f"'{op.name}' takes its first row for padding")
    return replace(mutant, built=replace(compiled, commands=commands))


def _has_halo(op: Operator, compiled: Compiled) -> bool:
    """Tell whether an engine runs a stripe of an operator that reads rows of others' stripes."""
    if not isinstance(compiled.soc.device(op.device), Engine) or "pad_top" not in op.attributes:
        return False
    x = compiled.graph.tensor(op.inputs[0])
    inside = bool(x.rows_of) and x.first_row > 0 and not op.attributes["pad_top"]
    return inside and kind_of(op).features(op, compiled.graph)["kernel_h"] > 1


def _shorten(op: Operator, compiled: Compiled) -> bytes | None:
    """Return the commands of an operator that reads one row less and pads one more."""
    graph, engine = compiled.graph, compiled.soc.device(op.device)
    assert isinstance(engine, Engine)
    x = graph.tensor(op.inputs[0])
    shape = (x.shape[0], x.shape[1] - 1, *x.shape[2:])
    row = x.size // x.shape[1]
    attributes = {**op.attributes, "pad_top": op.integer("pad_top") + 1}
    short = Graph(
        graph.name,
        tuple(replace(each, shape=shape) if each is x else each for each in graph.tensors),
        graph.operators,
        graph.inputs,
        graph.outputs,
    )

    def address(name: str) -> int:
        buffer = graph.buffer(name) if name in graph.by_name else name
        at = compiled.plan.address(compiled.copies.get(buffer, buffer))
        return device_address(compiled.soc, engine.name, at) + (row if name == x.name else 0)

    job, wrong = compiled.jobs[op.name], replace(op, attributes=attributes)
    return encode(wrong, short, engine, job, address, compiled.splits)
