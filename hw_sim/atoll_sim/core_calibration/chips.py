# SPDX-License-Identifier: Apache-2.0
"""The chips on which a core is measured: one that is made for it, or a user's own."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from atoll.diagnostics.errors import UsageError
from atoll.resolve import load_soc
from atoll.resolve.soc import Access, ResolvedSoc
from atoll.utils.files import write_text

NEAR, CODE, DATA = "all at once", "late code", "late data"
"""How memories answer: all in the next cycle, or that of code or those of data later."""

BESIDE, LATE_BESIDE = "constants beside code", "both late"
"""Constants are in the memory of code, which answers in the next cycle, or later."""

FAR_CODE, FAR_DATA = 8, 6
"""Latencies of late ones."""

_CHIP = """
soc: calibration
version: 1
devices:
  core: {{kind: cpu, core: {core}, isa: {isa}, code: {{memory: code, size: 512 KiB}},
    stack: {{memory: local, size: 16 KiB}}}}
memories:
  code: {{origin: 0x8000_0000, size: 1 MiB, kind: rom}}
  store: {{origin: 0x9000_0000, size: 1 MiB, kind: rom}}
  local: {{origin: 0xA000_0000, size: 128 KiB, kind: ram}}
  data: {{origin: 0xB000_0000, size: 1 MiB, kind: ram}}
pools:
  constants: {{memory: store, role: constants, reach: {{core: ro}}}}
  work: {{memory: data, role: workspace, reach: {{core: rw}}}}
host: core
"""


def made_chip(core: str, isa: str, folder: Path) -> ResolvedSoc:
    """Return a chip with code, constants and activations each in a memory of its own.

    Args:
        core: name of an installed core, or an absolute path of its description.
        isa: its instruction set.
        folder: takes the description of the chip.
    """
    path = folder / "calibration.yaml"
    write_text(path, _CHIP.format(core=json.dumps(core), isa=json.dumps(isa)))
    return load_soc(path)


LEAST_ROOM, ROOM_ALIGNMENT = 0x4_0000, 0x1000
"""Bytes that constants take beside code, if networks shall have room, and where these begin."""


def settings_of(soc: ResolvedSoc, *, cached: bool) -> Mapping[str, ResolvedSoc]:
    """Return a chip once for each way in which its memories answer.

    With an instruction cache, and where code's memory is no rom with room, no constants are beside
    code.

    Raises:
        UsageError: E240; its host does not have code, stack and data in memories of their own.
    """
    host, stacks = soc.host_cpu, {stack.memory for stack in soc.host_cpu.stacks}
    code, data = host.code.memory, {pool.region.memory for pool in soc.pools} - stacks
    if code in data | stacks or not data:
        mixed = f"memory '{code}' holds its code and data"
        raise UsageError(
            "E240",
            f"chip '{soc.name}' does not tell what '{host.name}' waits for:"
            f" {mixed if code in data | stacks else 'all data is where its stack is'}",
            remedy="give code, stack and pools memories of their own with --set, or leave --chip"
            " out",
        )
    late = {NEAR: {}, CODE: {code: FAR_CODE}, DATA: dict.fromkeys(data, FAR_DATA)}
    settings = {name: _answering(soc, latencies) for name, latencies in late.items()}
    if not cached and (moved := _with_constants_beside_code(soc)):
        beside = {BESIDE: {}, LATE_BESIDE: {code: FAR_CODE}}
        settings |= {name: _answering(moved, latencies) for name, latencies in beside.items()}
    return settings


def _with_constants_beside_code(soc: ResolvedSoc) -> ResolvedSoc | None:
    """Return a chip whose largest pool of constants is in the memory of code, None without room."""
    memory = soc.memory(soc.host_cpu.code.memory)
    pools = [
        pool
        for pool in soc.pools
        if pool.role == "constants" and pool.reach.get(soc.host, Access.NONE) is not Access.NONE
    ]
    taken = sorted(
        (region.origin, region.end) for region in soc.regions() if region.memory == memory.name
    )
    ends = [memory.origin, *(end for _, end in taken)]
    gaps = zip(ends, [*(origin for origin, _ in taken), memory.end], strict=True)
    begins = ((begin + -begin % ROOM_ALIGNMENT, end) for begin, end in gaps)
    size, origin = max((end - begin, begin) for begin, end in begins)
    if not pools or memory.kind != "rom" or size < LEAST_ROOM:
        return None
    largest = max(pools, key=lambda pool: pool.region.size)
    here = replace(largest.region, memory=memory.name, origin=origin, size=size)
    moved = replace(largest, region=here)
    return replace(soc, pools=tuple(moved if each is largest else each for each in soc.pools))


def _answering(soc: ResolvedSoc, latencies: Mapping[str, int]) -> ResolvedSoc:
    memories = (replace(each, read_latency=latencies.get(each.name, 1)) for each in soc.memories)
    return replace(soc, memories=tuple(memories))
