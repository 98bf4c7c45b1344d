# SPDX-License-Identifier: Apache-2.0
"""The self-test's image of each core: sources, linker script, and what it has in pools."""

from collections.abc import Iterator, Mapping

from atoll.bsp.application import core_main, run_values
from atoll.bsp.core_images import own_sources
from atoll.bsp.linker import POOL_SECTION, linker_script
from atoll.isa.instruction_set import Family
from atoll.records import dataclass
from atoll.resolve.memory_views import as_seen_by, device_address
from atoll.resolve.soc import Access, Cpu
from atoll_board.package import Board, Entry, generated_entry
from atoll_board.render import BY_BSP, render
from atoll_board.sources import library_sources
from atoll_selftest.engine_tests import EngineTest
from atoll_selftest.plan import TAG, CoreAccess, SelfTest, self_test

FOLDER = "selftest"
SCRIPT = f"{FOLDER}/selftest.ld"
_HEADER = "atoll_selftest.h"
_SYMBOL = "atoll_selftest_in_"
_PROBES = {Family.THUMB: "probe_thumb.S", Family.AARCH64: "probe_a64.S"}
_LINE = 16  # bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Access:
    """A `CoreAccess`, for the template."""

    core: str
    place: str
    address: int
    writes: bool
    allowed: bool
    readable: bool
    tagged: bool
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """A `atoll_selftest.steps.Step`, its data by number."""

    action: str
    engine: str
    address: int
    count: int
    first: int
    last: int
    block: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _EngineTest:
    """An `EngineTest`, for the template."""

    engine: str
    kind: str
    about: str
    allowed: bool
    steps: tuple[_Step, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tests:
    """A `SelfTest`, for the template."""

    count: int
    marches: tuple[object, ...]
    accesses: tuple[_Access, ...]
    engines: bool


def selftest_files(board: Board) -> Mapping[str, Entry]:
    """Return ``selftest/`` if the package has a self-test: an image for each core."""
    if not board.selftest:
        return {}
    tests = self_test(board.soc, board.models)
    by = {"by": BY_BSP}
    probes = {probe_of(core) for core in board.cores}
    return {
        f"include/{_HEADER}": generated_entry(render(_HEADER, board, **by)),
        f"{FOLDER}/main.c": generated_entry(_main(board, tests)),
        f"{FOLDER}/core.c": generated_entry(render("selftest_core.c", board, **by)),
        **{
            f"{FOLDER}/{each}": generated_entry(render(f"selftest_{each}", board, **by))
            for each in probes
        },
        **{
            f"{FOLDER}/{own_sources(core)[1]}": generated_entry(
                core_main(board.soc, core, board.models, selftest=True)
            )
            for core in board.cores[1:]
        },
        f"{FOLDER}/constants.c": generated_entry(_constants(board, tests)),
        SCRIPT: generated_entry(_script(board, tests)),
    }


def probe_of(core: Cpu) -> str:
    """Name the source with single accesses of a core."""
    if (own := _PROBES.get(core.instructions.family)) is not None:
        return own
    return "probe_riscv.S" if core.spec.traps or core.protected else "probe_plain.c"


def selftest_sources(board: Board, core: Cpu) -> tuple[str, ...]:
    """Return the generated sources of a core's self-test image, by their paths."""
    library = library_sources(board, core)
    shared = (f"{FOLDER}/core.c", f"{FOLDER}/{probe_of(core)}")
    if core.name == board.soc.host:
        return (*library, f"{FOLDER}/main.c", f"{FOLDER}/constants.c", *shared)
    main = own_sources(core)[1]
    rest = tuple(path for path in library if path != f"src/{main}")
    return (*rest, f"{FOLDER}/{main}", *shared)


def _main(board: Board, tests: SelfTest) -> str:
    blocks: dict[bytes, int] = {}
    made = tuple(_engine_test(each, blocks) for each in tests.engines)
    return render(
        "selftest_main.c",
        board,
        tests=_Tests(
            count=tests.count,
            marches=tests.marches,
            accesses=tuple(_access(each, board) for each in tests.accesses),
            engines=bool(tests.engines),
        ),
        tag=TAG,
        remote=board.soc.remote_cpus,
        shared=[core for core in board.soc.remote_cpus if core.shared_mailbox],
        drivers=[each for each in board.soc.engines if not each.spec.undriven],
        cached=board.soc.host_cpu.cache is not None,
        blocks=[tuple(_lines(data)) for data in blocks],
        engine_tests=made,
        **run_values(board.soc, board.models),
    )


def _access(each: CoreAccess, board: Board) -> _Access:
    return _Access(
        core=each.core,
        place=each.place,
        address=each.address,
        writes=each.access is Access.WRITE,
        allowed=each.allowed,
        readable=each.readable,
        tagged=each.tagged,
        number=each.number,
    )


def _engine_test(test: EngineTest, blocks: dict[bytes, int]) -> _EngineTest:
    verb = "write" if test.access is Access.WRITE else "read"
    about = f" operator={test.operator}" if test.operator else f" place={test.place}"
    return _EngineTest(
        engine=test.engine,
        kind="known" if test.operator else verb,
        about=about,
        allowed=test.allowed,
        steps=tuple(
            _Step(
                action=str(step.action),
                engine=step.engine,
                address=step.address,
                count=step.count,
                first=step.judged.start,
                last=step.judged.stop - 1 if step.judged else 0,
                block=blocks.setdefault(step.data, len(blocks)) if step.data else -1,
            )
            for step in test.steps
        ),
    )


def _constants(board: Board, tests: SelfTest) -> str:
    """Write the C of what lies behind the networks' constants in each pool."""
    pools = [
        (name, f"{_SYMBOL}{name}", f"{POOL_SECTION}{name}.{FOLDER}", tuple(_lines(data)))
        for name, data in tests.constants.items()
    ]
    return render("selftest_constants.c", board, pools=pools)


def _script(board: Board, tests: SelfTest) -> str:
    soc = board.soc
    origins = {symbol: at for part in board.parts for symbol, at in part.origins.items()}
    for name, start in tests.starts.items():
        at = soc.pool(name).region.origin + start
        origins[f"{_SYMBOL}{name}"] = device_address(soc, soc.host, at)
    behind = dict.fromkeys(tests.constants, FOLDER)
    return linker_script(as_seen_by(soc, soc.host), origins, behind, board.models)


def _lines(data: bytes) -> Iterator[str]:
    """Yield lines of C with so many bytes each."""
    for start in range(0, len(data), _LINE):
        yield ", ".join(f"0x{byte:02X}" for byte in data[start : start + _LINE])
