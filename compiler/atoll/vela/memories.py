# SPDX-License-Identifier: Apache-2.0
"""What Vela is told of a chip: the NPU, and the memories behind its two ports."""

from atoll.diagnostics.errors import PlacementError
from atoll.reach.candidates import CONSTANT_ROLES, WORKSPACE_ROLES, pools_for
from atoll.records import dataclass
from atoll.resolve.soc import Access, Npu, Pool, ResolvedSoc
from atoll.vela.speeds import PORT_BYTES, Port, area_speed, speed_of_pool

NAME = "Atoll"
KIND = "ethos_u"
"""The kind of operators that such an NPU runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VelaTarget:
    """An NPU and its memories in Vela's words.

    Attributes:
        npu: the instance.
        accelerator: Vela's name, such as ``ethos-u55-128``.
        config: text of a vela.ini with a system and a memory mode called `NAME`.
        arena: the pool with most room that the NPU writes.
        constants: the preferred pool for constants that it reads.
        workspaces: the pools that it writes.
    """

    npu: Npu
    accelerator: str
    config: str
    arena: Pool
    constants: Pool
    workspaces: tuple[Pool, ...]

    @property
    def cache(self) -> Pool | None:
        """Return the pool that the NPU writes in another memory; None if not just one is."""
        arena = self.arena.region.memory
        others = [each for each in self.workspaces if each.region.memory != arena]
        return others[0] if len(others) == 1 else None

    @property
    def is_together(self) -> bool:
        """Return whether constants are in the memory of the arena."""
        return self.arena.region.memory == self.constants.region.memory


def port_of(npu: Npu) -> Port:
    """Return the data port of an Ethos-U."""
    return Port(PORT_BYTES.get(npu.spec.name, 8), npu.clock)


def npu_of(soc: ResolvedSoc) -> Npu | None:
    """Return the first NPU that runs what Vela compiles; None if the chip has none."""
    return next((npu for npu in soc.npus if KIND in npu.runs), None)


def target_of(soc: ResolvedSoc, npu: Npu) -> VelaTarget:
    """Describe `npu` and the pools that it reaches to Vela.

    The arena is the pool with most room that the NPU writes, constants are in the preferred pool
    for them that it reads.

    Raises:
        PlacementError: E144; the host does not read such a pool for constants, or sees one
            elsewhere than the NPU.
    """
    workspaces = _pools(soc, npu, Access.WRITE)
    arena = max(workspaces, key=lambda pool: pool.room)
    constants = _pools(soc, npu, Access.READ)
    if hidden := [pool for pool in constants if pool.reach[soc.host] is Access.NONE]:
        raise PlacementError(
            "E144",
            f"'{npu.name}' reads pool '{hidden[0].name}' and '{soc.host}' does not, where Arm's"
            " driver reads what Vela's commands begin with",
            at=hidden[0].at,
            remedy=f"write '{soc.host}: ro' into the 'reach' of pool '{hidden[0].name}'",
        )
    product = npu.spec.name.replace("ethos_u", "ethos-u")
    return VelaTarget(
        npu=npu,
        accelerator=f"{product}-{npu.params['macs']}",
        config=_config(soc, npu, arena, constants[0]),
        arena=arena,
        constants=constants[0],
        workspaces=workspaces,
    )


def _pools(soc: ResolvedSoc, npu: Npu, need: Access) -> tuple[Pool, ...]:
    """Return the pools that the NPU reaches for a purpose; every chip has one for each (E036)."""
    roles = WORKSPACE_ROLES if need is Access.WRITE else CONSTANT_ROLES
    pools = tuple(soc.pool(name) for name in pools_for(soc, {npu.name: need}, roles, 1))
    for pool in pools:
        memory = soc.alias_for(pool.region) or soc.memory(pool.region.memory)
        if memory.device_range(npu.name) != memory.device_range(soc.host):
            raise PlacementError(
                "E144",
                f"'{npu.name}' sees memory '{memory.name}' elsewhere than '{soc.host}' does, and"
                " Arm's driver hands on the host's addresses",
                at=npu.at,
                remedy=f"remove the view of '{npu.name}', or its reach of pool '{pool.name}'",
            )
    return pools


def _config(soc: ResolvedSoc, npu: Npu, arena: Pool, constants: Pool) -> str:
    together = arena.region.memory == constants.region.memory
    rom = soc.memory(constants.region.memory).kind == "rom"
    second = "OffChipFlash" if rom else "OnChipFlash"
    lines = [
        f"[System_Config.{NAME}]",
        f"core_clock={float(npu.clock):g}",
        "axi0_port=Sram",
        f"axi1_port={'Sram' if together else second}",
        *_speed("Sram", soc, npu, arena),
        *(() if together else _speed(second, soc, npu, constants)),
        "",
        f"[Memory_Mode.{NAME}]",
        f"const_mem_area={'Axi0' if together else 'Axi1'}",
        "arena_mem_area=Axi0",
        "cache_mem_area=Axi0",
        f"arena_cache_size={arena.room}",
    ]
    return "\n".join(lines) + "\n"


def _speed(name: str, soc: ResolvedSoc, npu: Npu, pool: Pool) -> list[str]:
    """Say how fast the NPU's port reaches a pool, in cycles of the NPU and bytes of its port."""
    speed = area_speed(speed_of_pool(soc, pool), port_of(npu))
    assert speed.clock_scale is not None
    return [
        f"{name}_clock_scale={float(speed.clock_scale):g}",
        f"{name}_burst_length={speed.burst}",
        f"{name}_read_latency={speed.read_latency}",
        f"{name}_write_latency={speed.write_latency}",
    ]
