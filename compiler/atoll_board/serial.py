# SPDX-License-Identifier: Apache-2.0
"""The image that serves a host over a serial line."""

from collections.abc import Iterator, Mapping

from atoll import protocol
from atoll.bsp.application import run_values
from atoll.bsp.build_digest import build_digest
from atoll.isa.instruction_set import Family
from atoll.resolve.soc import Cpu
from atoll_board.package import Board, Entry, generated_entry, users
from atoll_board.render import BY_BSP, render
from atoll_board.sources import library_sources

FOLDER = "serial"
OWN = "app/serial.c"
"""The user's: where bytes go, and what counts cycles."""

_HEADER = "atoll_serial.h"
_COUNTERS = ("armv7-m", "armv7e-m", "armv8-m.main", "armv8.1-m.main")
"""Architectures whose DWT may count cycles."""


def serial_files(board: Board) -> Mapping[str, Entry]:
    """Return ``serial/`` and the user's ``app/serial.c`` if the package has such an image."""
    if board.uart is None:
        return {}
    return {
        f"include/{_HEADER}": generated_entry(
            _render(
                board,
                _HEADER,
                protocol=protocol,
                models=board.models,
                operators=max((len(each.graph.operators) for each in board.networks), default=1),
            )
        ),
        f"{FOLDER}/protocol.c": generated_entry(_render(board, "protocol.c", by=BY_BSP)),
        f"{FOLDER}/networks.c": generated_entry(
            _render(
                board,
                "networks.c",
                digest=build_digest(board.soc, board.parts),
                stacks=tuple(_stacks(board.soc.host_cpu)),
                **run_values(board.soc, board.models),
            )
        ),
        f"{FOLDER}/main.c": generated_entry(_render(board, "main.c", by=BY_BSP)),
        OWN: users(
            _render(board, "board.c", uart=board.uart, counter=_counter(board.soc.host_cpu))
        ),
    }


def serial_sources(board: Board) -> tuple[str, ...]:
    """Return the generated sources of the image, by their paths."""
    own = tuple(f"{FOLDER}/{name}.c" for name in ("main", "protocol", "networks"))
    return (*library_sources(board, board.soc.host_cpu), *own)


def _render(board: Board, name: str, **values: object) -> str:
    return render(f"serial/{name}", board, **values)


def _stacks(host: Cpu) -> Iterator[str]:
    """Yield what begins the linker's symbols of each stack, in the order of `Cpu.stacks`."""
    yield "atoll_stack"
    yield from (f"atoll_{stack.name.split('.')[1]}_stack" for stack in host.threads)


def _counter(host: Cpu) -> str:
    """Return what counts the core's cycles; "" if nothing does that is known."""
    match host.instructions.family:
        case Family.RISCV:
            return "mcycle" if host.spec.traps else "cycle"
        case Family.THUMB if host.isa.partition("+")[0] in _COUNTERS:
            return "dwt"
    return ""
