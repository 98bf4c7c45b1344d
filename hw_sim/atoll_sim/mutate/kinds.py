# SPDX-License-Identifier: Apache-2.0
"""Every kind of planted fault, and how to draw any number of different ones."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import zip_longest
from random import Random

from atoll.records import dataclass
from atoll_sim.campaign.trials import rotate
from atoll_sim.mutate import (
    aliases,
    commands,
    firewall,
    linker,
    mailboxes,
    plan,
    program,
    streams,
    tiles,
)
from atoll_sim.mutate.mutant import Mutant, Right

TRIES = 60
"""Times that a kind may draw nothing new before it counts as exhausted."""

Maker = Callable[[Right, Random], Mutant | None]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of fault, and the part of the build that it is planted in."""

    area: str
    make: Maker


KINDS: Mapping[str, Kind] = {
    "moved": Kind("plan", plan.move_buffer),
    "shifted": Kind("plan", plan.shift_buffer),
    "misaligned": Kind("plan", plan.misalign_buffer),
    "overlapping": Kind("plan", plan.overlap_buffers),
    "wrong pool": Kind("plan", plan.wrong_pool),
    "early free": Kind("plan", plan.early_free),
    "output freed early": Kind("plan", plan.output_freed_early),
    "shrunk": Kind("plan", plan.shrink_buffer),
    "alias taken for memory": Kind("plan", aliases.alias_taken_for_memory),
    "tile moved": Kind("plan", tiles.tile_moved),
    "dropped copy": Kind("program", program.drop_copy),
    "dropped operator": Kind("program", program.drop_operator),
    "dropped wait": Kind("program", program.drop_wait),
    "swapped operators": Kind("program", program.swap_steps),
    "wrong operand": Kind("program", program.wrong_operand),
    "double buffer swapped early": Kind("program", streams.swap_early),
    "wrong command list": Kind("commands", program.wrong_list),
    "wrong address": Kind("commands", commands.wrong_address),
    "wrong size": Kind("commands", commands.wrong_size),
    "flipped bit": Kind("commands", commands.flip_bit),
    "dropped command": Kind("commands", commands.drop_command),
    "halo short": Kind("commands", tiles.halo_short),
    "other view": Kind("commands", commands.other_view),
    "shifted pool": Kind("linker", linker.shift_pool),
    "overlapping data": Kind("linker", linker.data_over),
    "stack short": Kind("linker", linker.short_stack),
    "stack moved": Kind("linker", linker.move_stack),
    "truncated constant": Kind("linker", linker.truncate_constant),
    "damaged constant": Kind("linker", linker.damage_constant),
    "truncated section": Kind("linker", linker.truncate_section),
    "moved section": Kind("linker", linker.move_section),
    "code copied wrongly": Kind("linker", linker.code_copied_wrongly),
    "word lost": Kind("mailbox", mailboxes.word_lost),
    "wrong word": Kind("mailbox", mailboxes.wrong_word),
    "word not awaited": Kind("mailbox", mailboxes.not_awaited),
    "word not obeyed": Kind("mailbox", mailboxes.not_obeyed),
    "answer too early": Kind("mailbox", mailboxes.answer_too_early),
    "answer lost": Kind("mailbox", mailboxes.answer_lost),
    "other half written": Kind("mailbox", mailboxes.other_half_written),
    "mailbox elsewhere": Kind("mailbox", mailboxes.mailbox_elsewhere),
    "shrunk window": Kind("firewall", firewall.shrink_window),
    "moved window": Kind("firewall", firewall.move_window),
    "closed window": Kind("firewall", firewall.close_window),
    "open firewalls": Kind("firewall", firewall.open_firewalls),
}


def draw_mutants(
    right: Right, count: int, seed: int, first: int = 0, kinds: Mapping[str, Kind] = KINDS
) -> tuple[Mutant, ...]:
    """Draw `count` different faults, of each kind as many as of any other as far as it has so many.

    The same build, count and seed give the same mutants; fewer only if all kinds are exhausted.
    Kinds take turns area by area, so that few mutants are in all parts of a build; with `first`
    kinds skipped, several builds that share a small number do not all get the same ones.
    """
    names = rotate(_in_turn(kinds), first)
    streams = {name: _different(name, kinds[name].make, right, seed) for name in names}
    found: list[Mutant] = []
    while streams and len(found) < count:
        for name, mutant in _one_of_each(streams):
            if mutant is None:
                del streams[name]
            else:
                found.append(mutant)
    return tuple(found[:count])


def _one_of_each(
    streams: Mapping[str, Iterator[Mutant]],
) -> Iterator[tuple[str, Mutant | None]]:
    """Yield a mutant of each kind; where there is none, the next kind of its area comes early."""
    waiting = list(streams)
    while waiting:
        name = waiting.pop(0)
        mutant = next(streams[name], None)
        if mutant is None:
            area = KINDS[name].area
            same = [other for other in waiting if KINDS[other].area == area][:1]
            waiting = same + [other for other in waiting if other not in same]
        yield name, mutant


def _in_turn(kinds: Mapping[str, Kind]) -> list[str]:
    """Return all kinds, the first of every area, then the second of every area, and so on."""
    areas: dict[str, list[str]] = {}
    for name, kind in kinds.items():
        areas.setdefault(kind.area, []).append(name)
    rounds = zip_longest(*areas.values())
    return [name for turn in rounds for name in turn if name is not None]


def _different(name: str, make: Maker, right: Right, seed: int) -> Iterator[Mutant]:
    random = Random(f"{seed}:{right.compiled.soc.name}:{right.compiled.graph.name}:{name}")
    seen: set[int] = set()
    failures = 0
    while failures < TRIES:
        mutant = make(right, random)
        if mutant is None or (content := _content(mutant)) in seen:
            failures += 1
            continue
        failures = 0
        seen.add(content)
        yield replace(mutant, kind=name)


def _content(mutant: Mutant) -> int:
    """Return the same number for faults that differ in nothing but their words."""
    built = mutant.built
    places = tuple(sorted((p.buffer, p.pool, p.offset) for p in built.plan.placements.values()))
    commands = tuple(built.commands.items())
    steps = built.module.entry.steps
    windows = tuple(mutant.windows.items())
    return hash((places, commands, steps, mutant.script, mutant.sources, mutant.image, windows))
