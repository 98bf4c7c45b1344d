# SPDX-License-Identifier: Apache-2.0
"""Write the Zephyr module: metadata, board, SoC, bindings, library and sample.

Source: Zephyr 4.1, "Modules", "Board Porting Guide", "SoC Porting Guide" (hardware model 2).
"""

from collections.abc import Iterator, Mapping

from atoll.bsp.application import run_values
from atoll.bsp.core_images import works_of
from atoll.bsp.linker import POOL_SECTION, POOL_SYMBOL, copied_pools, pool_sections
from atoll.records import dataclass
from atoll.resolve.soc import Cpu, ResolvedSoc
from atoll_board.cortex_m import is_cortex_m
from atoll_board.devicetree.core_nodes import interrupt
from atoll_board.devicetree.node import source
from atoll_board.package import Board, Entry, generated_entry, users
from atoll_board.render import opening_sentence, render
from atoll_board.sources import library_sources, objects, user_sources
from atoll_board.zephyr.bindings import binding_files
from atoll_board.zephyr.tree import core_tree, region_name
from atoll_board.zephyr.zephyr_cores import (
    KIB,
    code_of,
    interrupts,
    ram_of,
    rom_start,
    selects,
    settings,
    why_not,
)

_OF_LIBC = "src/memory.c"
"""What Zephyr's C library has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A core with a board target, for the templates; sizes are in KiB."""

    core: Cpu
    symbol: str
    architecture: str
    selects: tuple[str, ...]
    settings: tuple[str, ...]
    interrupts: int
    rom_start: int
    ram: int
    flash: int


def zephyr_files(board: Board) -> Mapping[str, Entry]:
    """Return ``zephyr/``; of a chip on which Zephyr does not run, a README that says why."""
    soc = board.soc
    reasons = [(core, why_not(soc, core)) for core in soc.cpus]
    targets = tuple(_target(soc, core) for core, why in reasons if not why)
    values = {
        "chip": chip_name(soc),
        "cores": targets,
        "host": next((each for each in targets if each.core.name == soc.host), None),
        "missing": tuple((core, why) for core, why in reasons if why),
        "remote": tuple(core.name for core in soc.remote_cpus),
        "arm": is_cortex_m(soc.host_cpu),
    }
    files = dict(_text(board, "README.md", "README.md", **values))
    if targets:
        files |= dict(_module(board, values))
        files |= {path: entry for each in targets for path, entry in _board(board, each, values)}
        files |= binding_files(board, tuple(each.core for each in targets))
    if values["host"]:
        files |= dict(_library(board, values))
    return {f"zephyr/{path}": entry for path, entry in files.items()}


def chip_name(soc: ResolvedSoc) -> str:
    """Return the name of a chip's module, board and SoC."""
    return f"atoll_{soc.name.lower()}"


def _target(soc: ResolvedSoc, core: Cpu) -> Target:
    return Target(
        core=core,
        symbol=f"SOC_{chip_name(soc)}_{core.name}".upper(),
        architecture="arm" if is_cortex_m(core) else "riscv",
        selects=selects(core),
        settings=settings(core),
        interrupts=interrupts(core),
        rom_start=rom_start(core),
        ram=ram_of(soc, core)[1] // KIB,
        flash=code_of(soc, core).size // KIB,
    )


def _text(board: Board, path: str, template: str, **values: object) -> Iterator[tuple[str, Entry]]:
    yield path, generated_entry(render(f"zephyr/{template}", board, **values))


def _module(board: Board, values: Mapping[str, object]) -> Iterator[tuple[str, Entry]]:
    chip = values["chip"]
    soc, own = f"soc/atoll/{chip}", f"boards/atoll/{chip}"
    for path, template in {
        "module.yml": "module.yml",
        "Kconfig": "Kconfig",
        "CMakeLists.txt": "CMakeLists.txt",
        f"{own}/board.yml": "board.yml",
        f"{own}/Kconfig.{chip}": "Kconfig.board",
        f"{soc}/soc.yml": "soc.yml",
        f"{soc}/soc.h": "soc.h",
        f"{soc}/CMakeLists.txt": "soc_cmake",
        f"{soc}/Kconfig": "Kconfig.select",
        f"{soc}/Kconfig.soc": "Kconfig.soc",
        f"{soc}/Kconfig.defconfig": "Kconfig.defconfig",
        "dts/bindings/vendor-prefixes.txt": "vendor-prefixes.txt",
    }.items():
        yield from _text(board, path, template, **values, **_parts(board))


def _board(board: Board, each: Target, values: Mapping[str, object]) -> Iterator[tuple[str, Entry]]:
    chip = values["chip"]
    path = f"boards/atoll/{chip}/{chip}_{chip}_{each.core.name}"
    tree = source(core_tree(board.soc, each.core), opening_sentence(board))
    yield f"{path}.dts", generated_entry(tree)
    yield from _text(board, f"{path}.yaml", "board_twister", each=each, **values)
    yield from _text(board, f"{path}_defconfig", "board_defconfig", each=each, **values)


def _parts(board: Board) -> Mapping[str, object]:
    """Return the sources and objects of the host's library."""
    host = board.soc.host_cpu
    own = (*library_sources(board, host), *user_sources(board, host)[1:])
    return {
        "sources": [path for path in own if path.endswith(".c") and path != _OF_LIBC],
        "objects": tuple(objects(board, host)),
    }


def _library(board: Board, values: Mapping[str, object]) -> Iterator[tuple[str, Entry]]:
    soc = board.soc
    host = soc.host_cpu
    models = run_values(soc, board.models)["models"]
    works = works_of(soc, host, board.models)
    lines = [(name, line, interrupt(host, line)[0]) for name, line in soc.irqs.items()]
    origins = {symbol: at for part in board.parts for symbol, at in part.origins.items()}
    pools = {
        "pools": soc.pools,
        "constants": tuple(pool for pool in soc.pools if pool.holds_constants),
        "copied": copied_pools(soc),
        "given": tuple(
            pool
            for pool in soc.pools
            if pool.provided == "application" and not pool.holds_constants
        ),
        "section": POOL_SECTION,
        "sections": pool_sections,
        "symbol": POOL_SYMBOL,
        "origins": sorted(origins.items()),
        "region_name": region_name,
        "lines": lines,
        "models": [each for each in models if each["work"].thread],
        "stacks": sorted({(w.thread, w.stack.size) for w in works if w.thread}),
    }
    for path, template in {
        "atoll_pools.ld": "atoll_pools.ld",
        "src/atoll_zephyr.c": "atoll_zephyr.c",
        "samples/networks/CMakeLists.txt": "sample_cmake",
        "samples/networks/prj.conf": "prj.conf",
        "samples/networks/sample.yaml": "sample.yaml",
    }.items():
        yield from _text(board, path, template, **values, **pools)
    main = render("zephyr/main.c", board, **values)
    yield "samples/networks/src/main.c", users(main)
