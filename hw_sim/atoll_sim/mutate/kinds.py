"""Every kind of planted fault, and how to draw any number of different ones."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random

from atoll_sim.mutate import commands, firewall, linker, plan, program
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
    "moved": Kind("plan", plan.moved),
    "shifted": Kind("plan", plan.shifted),
    "misaligned": Kind("plan", plan.misaligned),
    "overlapping": Kind("plan", plan.overlapping),
    "wrong pool": Kind("plan", plan.wrong_pool),
    "early free": Kind("plan", plan.early_free),
    "output freed early": Kind("plan", plan.output_freed_early),
    "shrunk": Kind("plan", plan.shrunk),
    "dropped copy": Kind("program", program.dropped_copy),
    "dropped operator": Kind("program", program.dropped_operator),
    "dropped wait": Kind("program", program.dropped_wait),
    "swapped operators": Kind("program", program.swapped),
    "wrong operand": Kind("program", program.wrong_operand),
    "wrong command list": Kind("commands", program.wrong_list),
    "wrong address": Kind("commands", commands.wrong_address),
    "wrong size": Kind("commands", commands.wrong_size),
    "flipped bit": Kind("commands", commands.flipped_bit),
    "dropped command": Kind("commands", commands.dropped_command),
    "shifted pool": Kind("linker", linker.shifted_pool),
    "overlapping data": Kind("linker", linker.data_over),
    "stack short": Kind("linker", linker.short_stack),
    "stack moved": Kind("linker", linker.moved_stack),
    "truncated constant": Kind("linker", linker.truncated_constant),
    "damaged constant": Kind("linker", linker.damaged_constant),
    "truncated section": Kind("linker", linker.truncated_section),
    "moved section": Kind("linker", linker.moved_section),
    "shrunk window": Kind("firewall", firewall.shrunk_window),
    "moved window": Kind("firewall", firewall.moved_window),
    "closed window": Kind("firewall", firewall.closed_window),
    "open firewalls": Kind("firewall", firewall.open_firewalls),
}


def draw_mutants(right: Right, count: int, seed: int) -> tuple[Mutant, ...]:
    """Draw `count` different faults, of each kind as many as of any other as far as it has so many.

    The same build, count and seed give the same mutants; fewer only if all kinds are exhausted.
    """
    streams = [_different(name, kind.make, right, seed) for name, kind in KINDS.items()]
    found: list[Mutant] = []
    while streams and len(found) < count:
        left = []
        for stream in streams:
            mutant = next(stream, None)
            if mutant is not None:
                found.append(mutant)
                left.append(stream)
        streams = left
    return tuple(found[:count])


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
    return hash((places, commands, steps, mutant.script, mutant.image, mutant.windows))
