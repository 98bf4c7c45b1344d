# SPDX-License-Identifier: Apache-2.0
"""State who reaches what on a chip, for a proof that its interconnect grants that and no more."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from atoll.records import dataclass
from atoll.resolve.soc import Access, Cpu, Device, Engine, ResolvedSoc
from atoll.utils.scratch import temporary_folder
from atoll_sim.chip.chip_parts import Chip
from atoll_sim.chip.generate import BENCH_SOURCES, BUS_SOURCES, environment_of, generate
from atoll_sim.chip.memory_map import Windows, windows_of
from atoll_sim.chip.plan import plan_chip
from atoll_sim.chip.sources import RTL
from atoll_sim.formal.prove import SECONDS, Design, Verdict, decide

STAND_INS = Path(__file__).with_name("rtl")
TOP = "atoll_reach"


@dataclass(frozen=True, slots=True)
class Grant:
    """Bytes that a device may read, or also write.

    Attributes:
        name: of the pool, region or registers.
        seen: the addresses at which it sees them.
    """

    name: str
    seen: range
    write: bool


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
    """Expressions for the signals with which a device asks a target, and hears from it."""

    valid: str
    ready: str
    rvalid: str
    rdata: str
    owed: str
    addr: str = ""
    we: str = ""
    wdata: str = ""
    be: str = ""


@dataclass(frozen=True, slots=True)
class Reached:
    """A memory or a register block at the bus, with all places at which a device sees it."""

    name: str
    label: str
    memory: bool
    origin: int
    places: tuple[Place, ...]
    port: Port


@dataclass(frozen=True, slots=True)
class Reach:
    """What one device may touch, and what there is to touch."""

    name: str
    grants: tuple[Grant, ...]
    targets: tuple[Reached, ...]


def prove_reach(
    soc: ResolvedSoc, *, wrong: Windows | None = None, seconds: int = SECONDS
) -> Iterator[tuple[str, Verdict]]:
    """Yield of each device whether it reaches what its description grants, and no more.

    Args:
        soc: the chip. Its cores and accelerators need no RTL.
        wrong: windows that are not those of `soc`, for a proof that must fail.
        seconds: what one question may take.

    Raises:
        SimulationError: as `atoll_sim.chip.plan.plan_chip`.
        ToolchainError: as `atoll_sim.formal.prove.decide`.
    """
    chip = plan_proof(soc)
    with temporary_folder() as folder:
        made = [folder / name for name in generate(chip) if name.endswith(".sv")]
        for path in made:
            path.write_text(generate(chip)[path.name])
        packages = [path for path in made if path.stem.endswith("_pkg")]
        modules = [path for path in made if path not in packages]
        for master in chip.masters:
            top = folder / f"{TOP}.sv"
            top.write_text(specify(chip, _reach(soc, master.index, master.name), wrong))
            design = Design(
                top=TOP,
                sources=(*packages, *_shipped(), *modules, top),
                includes=(RTL,),
                reset="rst_ni",
                own=False,
            )
            yield master.name, decide(design, seconds=seconds)


def plan_proof(soc: ResolvedSoc) -> Chip:
    """Decide what a proof is about: the interconnect, with whatever asks and answers around it."""
    chip = plan_chip(soc)
    lines = dict(enumerate(chip.lines.values()))
    return replace(chip, lines=lines, exported=True, proven=True)


def specify(chip: Chip, reach: Reach, wrong: Windows | None = None) -> str:
    """Return the specification of one device, in SystemVerilog."""
    template = environment_of("atoll_sim.formal").get_template("reach.sv.j2")
    return template.render(
        chip=chip, device=reach, windows={**windows_of(chip.soc), **(wrong or {})}
    )


def _shipped() -> tuple[Path, ...]:
    stand_ins = sorted(STAND_INS.glob("*.sv"))
    left_out = {f"{name}.sv" for name in BENCH_SOURCES} | {path.name for path in stand_ins}
    names = [f"{name}.sv" for name in (*BUS_SOURCES, "atoll_view", "atoll_mailbox")]
    return (*(RTL / name for name in names if name not in left_out), *stand_ins)


def _reach(soc: ResolvedSoc, index: int, name: str) -> Reach:
    device = soc.device(name)
    return Reach(name, tuple(_grants(soc, device)), tuple(_targets(soc, device, index)))


def _grants(soc: ResolvedSoc, device: Device) -> Iterator[Grant]:
    """Yield what a device may touch, where it sees it: pools by their reach, a core's own regions."""
    if isinstance(device, Engine) and device.spec.fed:
        return
    reach = {pool.name: pool.reach[device.name] for pool in soc.pools}
    held = {cpu.code.name for cpu in soc.cpus if cpu.is_held and device.name == soc.host}
    own = isinstance(device, Cpu) and device.loader
    for region in soc.regions():
        owner, _, kind = region.name.rpartition(".")
        if region.name in reach:
            access = reach[region.name]
        elif region.name in held:
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
                yield Grant(region.name, range(at + first, at + end), access is Access.WRITE)
    for block, registers in _registers(soc, device):
        yield Grant(block, registers, write=True)


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
    yield Place(found.device_range(device.name), 0)
    for alias in soc.aliases:
        if alias.memory == memory and device.name in alias.devices:
            yield Place(alias.device_range(device.name), alias.byte - found.origin)


def _targets(soc: ResolvedSoc, device: Device, index: int) -> Iterator[Reached]:
    for memory in soc.memories:
        at = f"u_chip.u_{memory.name}_memory"
        signals = {name: f"{at}.{name}_i[{index}]" for name in ("valid", "addr", "we", "wdata", "be")}
        answers = {name: f"{at}.{name}_o[{index}]" for name in ("ready", "rvalid", "rdata")}
        yield Reached(
            name=f"memory '{memory.name}'",
            label=f"memory_{memory.name}",
            memory=True,
            origin=memory.origin,
            places=tuple(_places(soc, device, memory.name)),
            port=Port(**signals, **answers, owed=f"{at}.gen_port[{index}].u_port.owed_q"),
        )
    engines = {engine.name for engine in soc.engines}
    for number, (name, seen) in enumerate(_registers(soc, device)):
        block = name.removeprefix("registers of ")
        signal = f"u_chip.box_{device.name}" if block == "mailbox" else f"u_chip.reg_{block}"
        ports = {each: f"{signal}_{each}" for each in ("valid", "ready", "rvalid", "rdata")}
        owed = f"u_chip.u_{block}_registers.owed_q" if block in engines else ports["rvalid"]
        port = Port(**ports, owed=owed)
        yield Reached(name, f"block_{number}", False, 0, (Place(seen, 0),), port)
