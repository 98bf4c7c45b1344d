# SPDX-License-Identifier: Apache-2.0
"""Instances of cores: what a chip may ask of each, and what all of a kind have in common."""

from collections.abc import Iterator
from dataclasses import replace
from typing import get_args

from atoll.description.core import EXTRAS, LOCAL_SIZE, Core, CycleClass, Interrupts
from atoll.description.core_files import CoreDescription
from atoll.description.devices import Cache, Cpu
from atoll.description.faults import note
from atoll.description.fields import BandOf
from atoll.description.remedies import remove, write_pair
from atoll.diagnostics.errors import SourceLoc
from atoll.isa.find import NAMES, USUAL, instruction_set
from atoll.resolve.code_targets import check_targets
from atoll.resolve.draft import Draft
from atoll.resolve.mailbox import LINE
from atoll.resolve.rtl_files import locate_beside, rtl_keys, rtl_parts
from atoll.resolve.soc import CoreSpec
from atoll.resolve.specs import BesideCode, InstructionCache, ProtectionUnit, Timing

MAINTAINED = {"armv": "scb", "rv32": "zicbom", "rv64": "zicbom"}
"""How the data cache of a core is maintained, by the begin of its instruction set."""

WORLDS = ("armv8-m", "armv8.1-m")
"""How instruction sets begin whose cores may have the Security Extension."""

SAU_GRANULE = 32
"""Bytes that a Security Attribution Unit tells apart."""

_OF_ITS_FILE = "; or let the core's file say 'cache'"

WITHOUT_ZICBOM = ("picorv32", "vexriscv")
"""Interrupt controllers of cores that have no instructions to maintain a data cache."""


def check_core(draft: Draft, name: str, cpu: Cpu) -> None:
    """Note an instruction set or a mailbox that a core cannot have."""
    description = draft.description.cores.get(name)
    core = description.model if description else None
    if not draft.knows("devices", name, "isa"):
        pass
    elif not NAMES.fullmatch(cpu.isa):
        draft.faults.add(
            "E040",
            f"no back end generates code for '{cpu.isa}', the instruction set of '{name}'",
            at=draft.where.at("devices", name, "isa"),
            remedy=f"use one of {', '.join(core.isas if core else USUAL)}",
        )
    elif core and cpu.isa not in core.isas:
        draft.faults.add(
            "E040",
            f"core '{core.core}' of '{name}' cannot run '{cpu.isa}'",
            at=draft.where.at("devices", name, "isa"),
            remedy=f"use one of {', '.join(core.isas)}",
        )
    elif draft.knows("devices", name, "abi"):
        _check_abi(draft, name, cpu)
    if draft.knows("devices", name, "isa") and NAMES.fullmatch(cpu.isa):
        check_targets(draft, name, cpu)
    if core and cpu.protection and core.protection is None:
        draft.faults.add(
            "E106",
            f"core '{core.core}' of '{name}' has no memory protection",
            at=draft.where.at("devices", name, "protection"),
            remedy="write 'protection: false', or name another core",
        )
    if core and cpu.cache and not (cpu.cache.maintenance or _is_maintained(core, cpu)):
        draft.faults.add(
            "E107",
            f"core '{core.core}' of '{name}' has no way to maintain a data cache with '{cpu.isa}'",
            at=draft.where.at("devices", name, "cache"),
            remedy=remove("devices", name, "cache")
            + ", or write 'maintenance': the registers that do"
            + ("" if core.interrupts.controller in WITHOUT_ZICBOM else _OF_ITS_FILE),
        )
    if cpu.world and draft.knows("devices", name, "isa") and not cpu.isa.startswith(WORLDS):
        draft.faults.add(
            "E282",
            f"'{name}' runs '{cpu.isa}', which has no secure and non-secure worlds",
            at=draft.where.at("devices", name, "world"),
            remedy=remove("devices", name, "world"),
        )
    if cpu.cache is not None:
        _check_sets(draft, name, cpu.cache)
    if (own := cpu.instruction_cache) and own.size % own.line:
        lines = max(1, own.size // own.line)
        draft.faults.add(
            "E250",
            f"the instruction cache of '{name}' has no whole number of lines of {own.line} bytes",
            at=draft.where.at("devices", name, "instruction_cache", "size"),
            remedy=write_pair(("devices", name, "instruction_cache", "size"), lines * own.line)
            + ", for example",
        )
    if cpu.instruction_cache and core and core.timing and core.timing.instruction_cache:
        draft.faults.add(
            "E251",
            f"the file of core '{core.core}' of '{name}' already says how it keeps instructions",
            at=draft.where.at("devices", name, "instruction_cache"),
            remedy=remove("devices", name, "instruction_cache"),
        )
    if core and isinstance(cpu.mailbox, int) and LINE not in lines_of(core.interrupts):
        draft.faults.add(
            "E044",
            f"core '{core.core}' of '{name}' has no interrupt line {LINE} for its mailbox",
            at=draft.where.at("devices", name, "mailbox"),
            remedy="name another core, or let the host alone be of this kind",
        )


def _is_maintained(core: Core, cpu: Cpu) -> bool:
    if core.interrupts.controller in WITHOUT_ZICBOM:
        return False
    return core.cache is not None and core.cache == MAINTAINED.get(cpu.isa[:4])


def _check_sets(draft: Draft, name: str, cache: Cache) -> None:
    """Note a data cache of which only half is said, or that has no whole power of two of sets."""
    if (cache.size is None) is not (cache.ways is None):
        said, lacks = ("ways", "size") if cache.size is None else ("size", "ways")
        draft.faults.add(
            "E250",
            f"the data cache of '{name}' has '{said}' and no '{lacks}'",
            at=draft.where.at("devices", name, "cache", said),
            remedy=remove("devices", name, "cache", said) + f", or write '{lacks}' too",
        )
    elif cache.size is not None and cache.ways is not None:
        each = cache.line * cache.ways
        sets, rest = divmod(cache.size, each)
        if rest or sets.bit_count() != 1:
            right = each * 2 ** max(0, sets.bit_length() - 1)
            draft.faults.add(
                "E250",
                f"the data cache of '{name}' has no power of two of sets of {cache.ways} lines of "
                f"{cache.line} bytes",
                at=draft.where.at("devices", name, "cache", "size"),
                remedy=write_pair(("devices", name, "cache", "size"), right) + ", for example",
            )


def _check_abi(draft: Draft, name: str, cpu: Cpu) -> None:
    abis = instruction_set(cpu.isa).abis
    if cpu.abi is not None and cpu.abi not in abis:
        draft.faults.add(
            "E040",
            f"instruction set '{cpu.isa}' of '{name}' has no calling convention '{cpu.abi}'",
            at=draft.where.at("devices", name, "abi"),
            other=note(draft.where.at("devices", name, "isa"), "the instruction set is given here"),
            remedy=f"use one of {', '.join(abis)}, or leave it out",
        )


def lines_of(interrupts: Interrupts) -> range:
    """Return the interrupt lines that devices may use."""
    return range(interrupts.first, interrupts.last + 1)


def spec_of(description: CoreDescription) -> CoreSpec:
    """Return what all instances of a core have in common."""
    model, beside = description.model, description.path.parent
    return CoreSpec(
        name=model.core,
        isas=model.isas,
        first_line=model.interrupts.first,
        last_line=model.interrupts.last,
        bus_error_line=model.interrupts.bus_error,
        controller=model.interrupts.controller,
        cycles={str(name): cycles for name, cycles in model.cycles.items()},
        timing=_timing_of(model),
        reset_offset=model.reset.offset,
        code_alignment=model.reset.alignment,
        local=model.local,
        cache=model.cache,
        traps=model.bus_errors == "traps",
        misaligned=model.misaligned,
        protection=_unit_of(model),
        unit_port=model.function_unit or "",
        uncached=model.uncached,
        startup=locate_beside(model.startup or "", beside),
        asleep=model.asleep,
        **rtl_parts(model.rtl, beside),
        rtl_parameters=model.rtl.parameters if model.rtl else {},
        waves=model.rtl.waves if model.rtl else {},
        places=dict(_places(description)),
    )


def with_instruction_cache(spec: CoreSpec, model: Cpu) -> CoreSpec:
    """Return what an instance is, whose chip says what its core's file leaves open."""
    if model.instruction_cache is None or spec.timing is None:
        return spec
    said = model.instruction_cache
    cache = InstructionCache(size=said.size, line=said.line)
    return replace(spec, timing=replace(spec.timing, cache=cache))


def _timing_of(core: Core) -> Timing | None:
    if (timing := core.timing) is None:
        return None
    cycles = {str(name): 0.0 if name in EXTRAS else 1.0 for name in get_args(CycleClass)}
    cycles |= {str(name): each for name, each in timing.cycles.items()}
    cache, beside = timing.instruction_cache, timing.beside_code
    return Timing(
        basis=timing.basis,
        cycles=cycles,
        waits={str(name): each for name, each in timing.waits.items()},
        data_waits={str(name): each for name, each in timing.data_waits.items()},
        cache=InstructionCache(**cache.model_dump()) if cache else None,
        beside_code=BesideCode(**beside.model_dump()) if beside else None,
        band=band_of(timing.band),
        simulated_band=band_of(timing.simulated_band),
    )


def band_of(described: BandOf | None) -> tuple[float, float] | None:
    """Return how far estimates may be below and above, as shares; None if nobody said."""
    return (described.low, described.high) if described else None


def _unit_of(core: Core) -> ProtectionUnit | None:
    if (unit := core.protection) is None:
        return None
    return ProtectionUnit(unit=unit.unit, regions=unit.regions, granule=unit.granule)


def local_of(core: Core | CoreSpec) -> range:
    """Return the addresses that a core keeps to itself."""
    return range(0) if core.local is None else range(core.local, core.local + LOCAL_SIZE)


def _places(description: CoreDescription) -> Iterator[tuple[str, SourceLoc]]:
    for key in (("startup",), *rtl_keys(description.model.rtl)):
        if at := description.where.at(*key):
            yield ".".join(key), at
