# SPDX-License-Identifier: Apache-2.0
"""All that a chip's self-test tries, in the order in which it does, and the constants for it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from atoll.bsp.core_images import image_cores
from atoll.bsp.interface import ModelInterface
from atoll.codegen.pool_images import far_pools
from atoll.records import dataclass
from atoll.resolve.memory_views import on_bus
from atoll.resolve.soc import Access, Cpu, Engine, Master, Pool, ResolvedSoc
from atoll_selftest.constants import Constants, constant_bytes
from atoll_selftest.engine_tests import EngineTest, Untried, engine_tests
from atoll_selftest.places import March, Place, access_of, address_from, marches, places

TAG = 0x5E1F0000
"""What the host writes to the probed word of place n, less n, before any core reads it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreMarch:
    """A march of a core, where the core sees the words.

    Attributes:
        banks: of the memory.
        width: bytes of a bank's word.
        memory_origin: where the core sees the memory's first byte.
    """

    core: str
    pool: str
    memory: str
    begin: int
    end: int
    banks: int
    width: int
    memory_origin: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreAccess:
    """An access of a core to the probed word of a place.

    Attributes:
        number: of the place, among all places of the chip.
        address: where the core sees the word.
        readable: the core may read it.
        tagged: the host wrote the place's tag there before.
    """

    core: str
    place: str
    number: int
    access: Access
    allowed: bool
    readable: bool
    address: int
    tagged: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfTest:
    """A chip's self-test.

    Attributes:
        marches, accesses: of all cores with an image, the host's first.
        engines: known answers and accesses of engines.
        untried: what is left out.
        networks: names of the networks that run at the end.
        constants: bytes behind the networks' constants, by pool.
        starts: offset in the pool at which they begin.
    """

    marches: tuple[CoreMarch, ...]
    accesses: tuple[CoreAccess, ...]
    engines: tuple[EngineTest, ...]
    untried: tuple[Untried, ...]
    networks: tuple[str, ...]
    constants: Mapping[str, bytes] = field(default_factory=dict)
    starts: Mapping[str, int] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many lines of results the image prints."""
        return len(self.marches) + len(self.accesses) + len(self.engines) + len(self.networks)


def self_test(soc: ResolvedSoc, models: Sequence[ModelInterface] = ()) -> SelfTest:
    """Return the self-test of a chip whose firmware has some networks.

    Raises:
        AtollError: E041, E110 to E112; the emitter of an accelerator fails.
    """
    far = {name: core.name for core in image_cores(soc) for name in far_pools(soc, core.name)}
    soc = replace(soc, pools=tuple(pool for pool in soc.pools if pool.name not in far))
    starts = constant_bytes(soc, tuple(models))
    begins = dict(starts)
    for _ in range(2):  # the second time constants have their room
        constants = Constants(soc, starts)
        tests = tuple(engine_tests(soc, constants, begins))
        begins = {pool.name: constants.end(pool.name) for pool in soc.pools}
    cores = image_cores(soc)
    return SelfTest(
        marches=tuple(each for core in cores for each in _marches(soc, core, begins)),
        accesses=tuple(_accesses(soc, cores)),
        engines=tuple(each for each in tests if isinstance(each, EngineTest)),
        untried=(
            *_silent(soc),
            *_hidden_places(soc, cores),
            *_far_pools(far),
            *(each for each in tests if isinstance(each, Untried)),
        ),
        networks=tuple(model.name for model in models),
        constants={name: bytes(data) for name, data in constants.data.items()},
        starts={name: starts.get(name, 0) for name in constants.data},
    )


def _silent(soc: ResolvedSoc) -> Iterator[Untried]:
    images = {core.name for core in image_cores(soc)}
    for device in soc.devices:
        if isinstance(device, Master):
            yield Untried(what=device.name, why="nothing can make it access memory")
        elif not isinstance(device, Engine) and device.name not in images:
            yield Untried(what=device.name, why="it has no image: the host cannot ask it")


def _hidden_places(soc: ResolvedSoc, cores: Sequence[Cpu]) -> Iterator[Untried]:
    for core in cores:
        hidden = [f"'{place.name}'" for place in places(soc) if _is_hidden(soc, core, place)]
        if hidden:
            yield Untried(
                what=f"accesses of {core.name} to {', '.join(hidden)}",
                why="it sees another memory at their addresses",
            )


def _far_pools(cores: Mapping[str, str]) -> Iterator[Untried]:
    """Yield the pools that are left out; `cores` says for each who sees it past 4 GiB."""
    for pool, core in sorted(cores.items()):
        why = f"{core} sees it past 4 GiB, and the self-test has 32-bit addresses"
        yield Untried(what=f"pool '{pool}'", why=why)


def _is_hidden(soc: ResolvedSoc, core: Cpu, place: Place) -> bool:
    """Tell whether a core sees something else where the bus has a place."""
    return on_bus(soc, core.name, address_from(soc, core, place.probe)) != place.probe


def _marches(soc: ResolvedSoc, core: Cpu, taken: dict[str, int]) -> Iterator[CoreMarch]:
    for each in marches(soc, core, taken):
        yield _as_seen(soc, core, each)


def _as_seen(soc: ResolvedSoc, core: Cpu, march: March) -> CoreMarch:
    memory = soc.memory(march.pool.region.memory)
    begin = address_from(soc, core, march.begin)
    return CoreMarch(
        core=core.name,
        pool=march.pool.name,
        memory=memory.name,
        begin=begin,
        end=address_from(soc, core, march.end - 1) + 1,
        banks=memory.banks,
        width=memory.width,
        memory_origin=(begin - march.begin + memory.origin) % 2**32,
    )


def _accesses(soc: ResolvedSoc, cores: Sequence[Cpu]) -> Iterator[CoreAccess]:
    """Yield all reads before the first write: no tag is gone before it is read."""
    for access in (Access.READ, Access.WRITE):
        for core in cores:
            for number, place in enumerate(places(soc)):
                granted = access_of(soc, core, place)
                if _is_hidden(soc, core, place):
                    continue
                if place.read_alone and (granted is not Access.NONE or access is Access.WRITE):
                    continue
                yield CoreAccess(
                    core=core.name,
                    place=place.name,
                    number=number,
                    access=access,
                    allowed=granted in (Access.WRITE, access),
                    readable=granted is not Access.NONE,
                    address=address_from(soc, core, place.probe),
                    tagged=is_tagged(soc, place),
                )


def is_tagged(soc: ResolvedSoc, place: Place) -> bool:
    """Say whether the host can leave a tag at a place where nothing else is."""
    return bool(place.pool) and _free(soc, place.pool)


def _free(soc: ResolvedSoc, pool: Pool | None) -> bool:
    return (
        pool is not None
        and pool.role == "workspace"
        and pool.reach[soc.host] is Access.WRITE
        and soc.memory(pool.region.memory).kind == "ram"
    )
