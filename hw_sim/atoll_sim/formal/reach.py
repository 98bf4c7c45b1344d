# SPDX-License-Identifier: Apache-2.0
"""State who reaches what on a chip, for a proof that its interconnect grants that and no more."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from atoll.api.proofs import SECONDS, BrokenAccess, DeviceProof, Granted, ReachProof
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.progress import current
from atoll.records import dataclass
from atoll.resolve.soc import Access, Cpu, Device, Engine, ResolvedSoc
from atoll.utils.scratch import temporary_folder
from atoll_sim.chip.checks import check_addresses
from atoll_sim.chip.chip_parts import Chip
from atoll_sim.chip.generate import (
    BENCH_SOURCES,
    BUS_SOURCES,
    environment_of,
    generate,
    in_order,
)
from atoll_sim.chip.memory_map import Windows, windows_of
from atoll_sim.chip.plan import plan_chip
from atoll_sim.chip.sources import RTL
from atoll_sim.formal.prove import REMEDY, Design, Verdict, available, decide

STAND_INS = Path(__file__).with_name("rtl")
TOP = "atoll_reach"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a device sees a memory or a part of it.

    Attributes:
        offset: of the first byte, in the memory.
    """

    seen: range
    offset: int


@dataclass(frozen=True, slots=True)
class Port:
    """Expressions for the signals with which a device asks a target, and hears from it.

    Attributes:
        place: of the bytes that it asks for, in the target.
    """

    valid: str
    place: str
    we: str
    wdata: str
    be: str
    ready: str
    rvalid: str
    rdata: str
    owed: str


@dataclass(frozen=True, slots=True)
class Reached:
    """A memory or a register block at the bus, with all places at which a device sees it.

    Attributes:
        bits: of a place in it.
        facts: expressions that are true of what was built.
    """

    name: str
    label: str
    bits: int
    places: tuple[Place, ...]
    port: Port
    facts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reach:
    """What one device may touch, and what there is to touch."""

    name: str
    grants: tuple[Granted, ...]
    targets: tuple[Reached, ...]


def prove_all(
    soc: ResolvedSoc,
    seconds: int = SECONDS,
    shown: Callable[[DeviceProof], None] | None = None,
    *,
    wrong: Windows | None = None,
) -> ReachProof:
    """Prove of each device that it reaches what its description grants, and no more.

    Args:
        soc: the chip. Its cores and accelerators need no RTL.
        seconds: what one question may take.
        shown: is called with each device as soon as it is decided.
        wrong: windows that are not those of `soc`, for a proof that must fail.

    Raises:
        UsageError: E252; no tools are installed.
        SimulationError: as `atoll_sim.chip.plan.plan_chip`; E253, past 4 GiB.
        ToolchainError: as `atoll_sim.formal.prove.decide`.
    """
    if not available():
        raise UsageError("E252", "proofs need pyosys, which is not installed", remedy=REMEDY)
    chip = plan_proof(soc)
    decided: list[DeviceProof] = []
    with temporary_folder() as folder:
        files = write_chip(chip, folder)
        for master in chip.masters:
            current()(f"proving what {master.name} reaches")
            reach = reach_of(soc, master.index, master.name)
            verdict = decide(design_of(chip, reach, folder, files, wrong), seconds=seconds)
            decided.append(_proof(chip, reach, verdict))
            if shown:
                shown(decided[-1])
    return ReachProof(soc=soc.name, devices=tuple(decided))


def write_chip(chip: Chip, folder: Path) -> tuple[Path, ...]:
    """Write a chip to a folder; return its sources in order, with those that are not generated."""
    made = {name: text for name, text in generate(chip).items() if name.endswith(".sv")}
    for name, text in made.items():
        (folder / name).write_text(text)
    return in_order(made, _shipped_sources(), folder)


def design_of(
    chip: Chip, reach: Reach, folder: Path, files: Sequence[Path], wrong: Windows | None = None
) -> Design:
    """Return what is to be proven of one device; its specification is written beside the chip."""
    top = folder / f"{TOP}.sv"
    top.write_text(specify(chip, reach, wrong))
    return Design(top=TOP, sources=(*files, top), includes=(RTL,), reset="rst_ni", own=False)


def _proof(chip: Chip, reach: Reach, verdict: Verdict) -> DeviceProof:
    return DeviceProof(
        name=reach.name,
        grants=reach.grants,
        proven=verdict.proven if verdict.decided else None,
        broken=_broken_access(chip, reach.name, verdict),
        seconds=verdict.seconds,
    )


def _broken_access(chip: Chip, device: str, verdict: Verdict) -> BrokenAccess | None:
    if verdict.cycle is None:
        return None
    beat, taking_part, write = (
        verdict.inputs[f"{device}_{name}"][verdict.cycle] for name in ("beat", "be", "we")
    )
    first = max(0, (taking_part & -taking_part).bit_length() - 1)
    return BrokenAccess(
        rule=verdict.refuted[0].replace("_", " "),
        address=beat * chip.data_bytes + first,
        size=taking_part.bit_length() - first,
        write=bool(write),
        cycle=verdict.cycle,
    )


def plan_proof(soc: ResolvedSoc) -> Chip:
    """Decide what a proof is about: the interconnect, with whatever asks and answers around it.

    Software interrupts, which are no part of what a description grants, are left out.
    """
    check_addresses(soc)
    chip = plan_chip(replace(soc, devices=tuple(map(_without_signals, soc.devices))))
    lines = dict(enumerate(chip.lines.values()))
    return replace(chip, lines=lines, exported=True, proven=True)


def _without_signals(device: Device) -> Device:
    return replace(device, signals=None) if isinstance(device, Cpu) else device


def specify(chip: Chip, reach: Reach, wrong: Windows | None = None) -> str:
    """Return the specification of one device, in SystemVerilog."""
    template = environment_of("atoll_sim.formal").get_template("reach.sv.j2")
    return template.render(
        chip=chip, device=reach, windows={**windows_of(chip.soc), **(wrong or {})}
    )


def _shipped_sources() -> tuple[Path, ...]:
    stand_ins = sorted(STAND_INS.glob("*.sv"))
    left_out = {f"{name}.sv" for name in BENCH_SOURCES} | {path.name for path in stand_ins}
    names = [f"{name}.sv" for name in (*BUS_SOURCES, "atoll_view", "atoll_mailbox")]
    return (*(RTL / name for name in names if name not in left_out), *stand_ins)


def reach_of(soc: ResolvedSoc, index: int, name: str) -> Reach:
    """Return what a device may touch, by the description."""
    device = soc.device(name)
    return Reach(name, tuple(_grants(soc, device)), tuple(_targets(soc, device, index)))


def _grants(soc: ResolvedSoc, device: Device) -> Iterator[Granted]:
    """Yield what a device may touch: pools by their reach, a core also its own regions.

    The host loads code of some cores, and shares their mailboxes in memory.
    """
    if isinstance(device, Engine) and device.spec.fed:
        return
    reach = {pool.name: pool.reach[device.name] for pool in soc.pools}
    held = {cpu.code.name for cpu in soc.cpus if cpu.is_held and device.name == soc.host}
    own = isinstance(device, Cpu) and device.loader
    for region in soc.regions():
        owner, _, kind = region.name.rpartition(".")
        if region.name in reach:
            access = reach[region.name]
        elif region.name in held or (kind == "mailbox" and device.name == soc.host):
            access = Access.WRITE
        elif owner.partition(".")[0] != device.name:
            access = Access.NONE
        elif kind == "load" or (kind == "code" and own != "copy"):
            access = Access.READ
        else:
            access = Access.WRITE
        if access is Access.NONE:
            continue
        memory = soc.memory(region.memory)
        for place in _places(soc, device, region.memory):
            first = max(region.origin - memory.origin, place.offset)
            end = min(region.end - memory.origin, place.offset + len(place.seen))
            if first < end:
                at = place.seen.start - place.offset
                yield _make_grant(region.name, range(at + first, at + end), access is Access.WRITE)
    for block, registers in _registers(soc, device):
        yield _make_grant(block, registers, write=True)


def _make_grant(name: str, seen: range, write: bool) -> Granted:
    return Granted(name=name, first=seen.start, last=seen.stop - 1, write=write)


def _registers(soc: ResolvedSoc, device: Device) -> Iterator[tuple[str, range]]:
    """Yield the register blocks that a device may touch, where it sees them."""
    if device.name == soc.host:
        for name, block in soc.register_blocks.items():
            yield f"registers of {name}", block.device_range(device.name)
        half = soc.console.size // 2
        yield "console", range(soc.console.origin, soc.console.origin + half)
        yield "guard", range(soc.console.origin + half, soc.console.end)
    elif isinstance(device, Cpu) and device.mailbox:
        yield "mailbox", device.mailbox.device_range(device.name)


def _places(soc: ResolvedSoc, device: Device, memory: str) -> Iterator[Place]:
    found = soc.memory(memory)
    seen = found.device_range(device.name)
    yield Place(seen[: len(found.low)], 0)
    for alias in soc.aliases:
        if alias.memory == memory and device.name in alias.devices:
            yield Place(alias.device_range(device.name), alias.byte - found.origin)


def _targets(soc: ResolvedSoc, device: Device, index: int) -> Iterator[Reached]:
    for memory in soc.memories:
        at = f"u_chip.u_{memory.name}_memory"
        signals = {name: f"{at}.{name}_i[{index}]" for name in ("valid", "we", "wdata", "be")}
        answers = {name: f"{at}.{name}_o[{index}]" for name in ("ready", "rvalid", "rdata")}
        yield Reached(
            name=f"memory '{memory.name}'",
            label=f"memory_{memory.name}",
            bits=32,
            places=tuple(_places(soc, device, memory.name)),
            port=Port(
                **signals,
                **answers,
                place=f"{at}.addr_i[{index}] - {at}.origin_i",
                owed=f"{at}.gen_port[{index}].u_port.owed_q",
            ),
            facts=(
                f"{at}.SizeBytes >= {len(memory.low)}",
                f"{at}.Writable == 1'b{int(memory.kind != 'rom')}",
            ),
        )
    for number, (name, seen) in enumerate(_registers(soc, device)):
        port, bits = _register_port(soc, device, name.removeprefix("registers of "))
        yield Reached(name, f"block_{number}", bits, (Place(seen, 0),), port)


def _register_port(soc: ResolvedSoc, device: Device, block: str) -> tuple[Port, int]:
    """Return what asks a register block for a device, and the bits of a place in it."""
    own = block == "mailbox"
    bus = f"u_chip.box_{device.name}" if own else f"u_chip.reg_{block}"
    answers = {each: f"{bus}_{each}" for each in ("valid", "ready", "rvalid", "rdata")}
    side, owed = "", answers["rvalid"]
    if block in ("console", "guard"):
        at = f"u_chip.u_{block}"
    elif block in {engine.name for engine in soc.engines}:
        at = f"u_chip.u_{block}_registers"
        owed = f"{at}.u_port.owed_q"
    else:
        at = f"u_chip.u_{device.name if own else block}_mailbox"
        side = "core_" if own else "host_"
    asked = {name: f"{at}.{side}{name}_i" for name in ("we", "wdata", "be")}
    place = f"{at}.{side}addr_i"
    return Port(**answers, **asked, place=place, owed=owed), 11 if block == "guard" else 12
