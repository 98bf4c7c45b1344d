# SPDX-License-Identifier: Apache-2.0
"""The constants of a self-test: inputs, weights and commands of engines, behind the networks'."""

from collections.abc import Mapping
from dataclasses import field

from atoll.bsp.interface import ModelInterface
from atoll.bsp.linker import unloadable
from atoll.codegen.pool_images import MODEL_ALIGNMENT
from atoll.reach.candidates import CONSTANT_ROLES, by_preference
from atoll.records import dataclass
from atoll.resolve.soc import Access, Device, Pool, ResolvedSoc


@dataclass(slots=True)
class Constants:
    """Bytes that the self-test's image has in pools.

    Attributes:
        soc: the chip.
        starts: bytes at the start of pools that networks' constants take.
        data: what is behind them, by pool.
    """

    soc: ResolvedSoc
    starts: Mapping[str, int]
    data: dict[str, bytearray] = field(default_factory=dict)

    def pool_for(self, device: Device) -> Pool | None:
        """Return the pool that `device` reads its constants from; None if there is none."""
        for pool in by_preference(self.soc):
            if (
                pool.role in CONSTANT_ROLES
                and pool.reach[device.name] is not Access.NONE
                and pool.provided == "internal"
                and not unloadable(pool, self.soc)
            ):
                return pool
        return None

    def put(self, pool: Pool, data: bytes, alignment: int = MODEL_ALIGNMENT) -> int:
        """Add bytes to a pool and return their address on the bus."""
        held = self.data.setdefault(pool.name, bytearray())
        origin = pool.region.origin + self.starts.get(pool.name, 0)
        held += bytes(-(origin + len(held)) % alignment)
        held += data
        return origin + len(held) - len(data)

    def end(self, pool: str) -> int:
        """Return how many bytes at the start of a pool are constants."""
        return self.starts.get(pool, 0) + len(self.data.get(pool, b""))


def constant_bytes(soc: ResolvedSoc, models: tuple[ModelInterface, ...]) -> dict[str, int]:
    """Return how many bytes at the start of each pool the constants of networks take."""
    taken: dict[str, int] = {}
    for model in models:
        for share in model.shares:
            pool = soc.pool(share.pool)
            if pool.role in CONSTANT_ROLES:
                step = max(pool.alignment, MODEL_ALIGNMENT)
                used = max(share.constants, share.workspace)
                taken[pool.name] = -(-(taken.get(pool.name, 0) + used) // step) * step
    return taken
