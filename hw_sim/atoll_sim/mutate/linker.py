# SPDX-License-Identifier: Apache-2.0
"""Faults in what the linker and the loader put where: regions, stacks, constants, sections."""

from dataclasses import replace
from random import Random

from atoll.bsp.linker import linker_script
from atoll.resolve.memory_views import as_seen_by, device_address
from atoll.resolve.soc import ResolvedSoc
from atoll_sim.mutate.mutant import Mutant, Right
from atoll_sim.simulate.firmware import Segment

STACK_TOP = "  atoll_stack_top = ORIGIN(stack) + LENGTH(stack);"
STACK_ALIGNMENT = 16
STEPS = (-64, -16, -4, 4, 16, 64)
POOL = "pool_"
"""Stands before the name of a pool in linker scripts."""
POOL_STEPS = (-256, -128, -64, 64, 128, 256)


def shift_pool(right: Right, random: Random) -> Mutant | None:
    """Let the linker take a pool to begin a little lower or higher."""
    pool = random.choice(_host_view(right).pools)
    now = pool.region.origin + random.choice(POOL_STEPS)
    if now < 0:
        return None
    what = f"the linker takes pool '{pool.name}' to begin at {now:#010x}"
    return region_elsewhere(right, f"{POOL}{pool.name}", pool.region.origin, now, what)


def data_over(right: Right, random: Random) -> Mutant | None:
    """Let the linker put the host's data over buffers, over the stack, or past its region."""
    compiled = right.compiled
    cpu, plan = _host_view(right).host_cpu, compiled.plan
    constants = {constant.name for constant in compiled.module.entry.constants}
    targets = {
        f"over '{name}'": device_address(compiled.soc, cpu.name, plan.address(name))
        for name in plan.placements.keys() - constants
    }
    targets["over the stack"] = cpu.stack.end - random.randrange(16, right.stack)
    targets["past its region"] = cpu.data.end - random.choice((0, 16, 32))
    targets["below its region"] = cpu.data.origin - random.choice((16, 32, 48))
    what = random.choice(sorted(targets))
    origin = targets[what] // STACK_ALIGNMENT * STACK_ALIGNMENT
    return region_elsewhere(right, "data", cpu.data.origin, origin, f"the host's data lies {what}")


def short_stack(right: Right, random: Random) -> Mutant | None:
    """Begin the stack with less room below than the run needs."""
    stack = _host_view(right).host_cpu.stack
    left = random.randrange(1, max(2, right.stack // STACK_ALIGNMENT)) * STACK_ALIGNMENT
    sentence = f"the stack has {left} of the {right.stack} B that the run uses"
    return _stack(right, stack.origin + left, sentence)


def move_stack(right: Right, random: Random) -> Mutant | None:
    """Begin the stack somewhere else in RAM."""
    soc = _host_view(right)
    low = random.choice([each.low for each in soc.memories if each.kind != "rom" and each.low])
    top = low.start + random.randrange(1, len(low) // STACK_ALIGNMENT) * STACK_ALIGNMENT
    stack = soc.host_cpu.stack
    if stack.origin < top <= stack.end:
        return None
    return _stack(right, top, f"the stack begins at {top:#010x} instead of {stack.end:#010x}")


def truncate_constant(right: Right, random: Random) -> Mutant | None:
    """Leave the last bytes of a constant out of the image."""
    name, address, size = _constant(right, random)
    count = random.randrange(1, size // 2 + 2) if size > 1 else 1
    sentence = f"'{name}' lacks its last {count} of {size} B"
    return _image(right, name, sentence, _cut(right.segments, address + size - count, count))


def damage_constant(right: Right, random: Random) -> Mutant | None:
    """Flip one bit of a constant in the image."""
    name, address, size = _constant(right, random)
    at, bit = address + random.randrange(size), random.randrange(8)
    sentence = f"bit {bit} of byte {at - address} of '{name}' is flipped"
    return _image(right, name, sentence, _flip(right.segments, at, bit))


def truncate_section(right: Right, random: Random) -> Mutant | None:
    """Leave the last bytes of a section out of the image."""
    segment = random.choice(right.segments)
    count = random.randrange(1, len(segment.data) // 2 + 2)
    sentence = f"the section at {segment.address:#010x} lacks its last {count} B"
    found = _cut(right.segments, segment.end - count, count)
    return _image(right, f"{segment.address:#010x}", sentence, found)


def move_section(right: Right, random: Random) -> Mutant | None:
    """Load a section a little lower or higher than it is linked for."""
    segment = random.choice(right.segments)
    now = segment.address + random.choice(STEPS)
    others = [each for each in right.segments if each is not segment]
    if now < 0 or any(o.address < now + len(segment.data) and now < o.end for o in others):
        return None
    found = tuple(replace(s, address=now) if s is segment else s for s in right.segments)
    sentence = f"the section at {segment.address:#010x} is loaded at {now:#010x}"
    return _image(right, f"{segment.address:#010x}", sentence, found)


CODE_END = "    atoll_code_end = .;"
CODE_LOAD = "  atoll_code_load = LOADADDR(.text);"


def code_copied_wrongly(right: Right, random: Random) -> Mutant | None:
    """Let start-up code leave the last words of the host's code, or copy it from elsewhere."""
    cpu, name = right.compiled.soc.host_cpu, "atoll_code"
    if cpu.load is None:
        return None
    if random.random() < 1 / 2:
        count = 4 * random.randrange(1, 64)
        sentence = f"start-up code copies the last {count} B of '{cpu.code.name}' no longer"
        return _make_mutant(right, name, sentence, (CODE_END, f"{CODE_END[:-1]} - {count};"))
    step = random.choice(STEPS)
    sentence = f"start-up code copies '{cpu.code.name}' from {step:+} B beside where it is loaded"
    wrong = f"{CODE_LOAD[:-1]} + {step};" if step > 0 else f"{CODE_LOAD[:-1]} - {-step};"
    return _make_mutant(right, name, sentence, (CODE_LOAD, wrong))


def _host_view(right: Right) -> ResolvedSoc:
    """Return the chip as the host sees it, whose addresses the script has."""
    return as_seen_by(right.compiled.soc, right.compiled.soc.host)


def _constant(right: Right, random: Random) -> tuple[str, int, int]:
    constant = random.choice(right.compiled.module.entry.constants)
    return constant.name, right.compiled.plan.address(constant.name), constant.size


def _image(
    right: Right, subject: str, sentence: str, segments: tuple[Segment, ...]
) -> Mutant | None:
    if segments == right.segments:
        return None
    return replace(right.mutant(subject, sentence), image=segments)


def _cut(segments: tuple[Segment, ...], address: int, count: int) -> tuple[Segment, ...]:
    """Leave `count` bytes at `address` out."""
    found: list[Segment] = []
    for each in segments:
        if not each.address <= address < each.end:
            found.append(each)
            continue
        at = address - each.address
        parts = ((each.address, each.data[:at]), (address + count, each.data[at + count :]))
        found += [replace(each, address=origin, data=data) for origin, data in parts if data]
    return tuple(found)


def _flip(segments: tuple[Segment, ...], address: int, bit: int) -> tuple[Segment, ...]:
    found = list(segments)
    for index, each in enumerate(segments):
        if each.address <= address < each.end:
            data = bytearray(each.data)
            data[address - each.address] ^= 1 << bit
            found[index] = replace(each, data=bytes(data))
    return tuple(found)


def region_elsewhere(right: Right, name: str, was: int, now: int, sentence: str) -> Mutant | None:
    """Begin a region of the host's linker script at `now` instead of at `was`."""
    text = linker_script(_host_view(right))
    line = next(line for line in text.splitlines() if line.startswith(f"  {name} ("))
    wrong = line.replace(f"ORIGIN = 0x{was:08X}", f"ORIGIN = 0x{now:08X}")
    if wrong == line:
        return None
    return _make_mutant(right, name, sentence, (line, wrong))


def _stack(right: Right, top: int, sentence: str) -> Mutant:
    wrong = f"  atoll_stack_top = 0x{top:08X};"
    return _make_mutant(right, right.compiled.soc.host_cpu.stack.name, sentence, (STACK_TOP, wrong))


def _make_mutant(right: Right, subject: str, sentence: str, edit: tuple[str, str]) -> Mutant:
    return replace(right.mutant(subject, sentence), script=(edit,))
