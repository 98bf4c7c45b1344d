# SPDX-License-Identifier: Apache-2.0
"""Write the configuration of FreeRTOS, the glue, and the tasks.

Where the description has threads of the host, each is a task on the stack that is planned for it.
The application runs in the task of the thread that all networks run on, else in one of its own;
each network runs in the task of its thread.
"""

from collections.abc import Collection, Mapping

from atoll.bsp.application import run_values
from atoll.bsp.core_images import works_of
from atoll.records import dataclass
from atoll.resolve.soc import Cpu
from atoll_board.cortex_m import is_cortex_m
from atoll_board.devicetree.core_nodes import interrupt
from atoll_board.freertos.ports import port_of, why_not
from atoll_board.package import Board, Entry, generated_entry, users
from atoll_board.render import render

NETWORKS = "networks"
"""The task that has no thread of the description."""

_WORD = 4
_KIB = 1024
_MTIME, _MTIMECMP, _HALT = 0xBFF8, 0x4000, 0xC000
"""Registers of a core-local interruptor and of the bench, see docs/cores.md."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task, for the templates.

    Attributes:
        name: of the thread.
        runs: it runs the application.
        serves: it runs networks that the application of another task asks for.
        words: of its stack; 0 if the stack is the one of the linker script.
    """

    name: str
    runs: bool
    serves: bool = False
    words: int = 0


_LINES = 32
"""Interrupt lines that have a vector at least."""


def freertos_files(board: Board) -> Mapping[str, Entry]:
    """Return ``freertos/`` and the user's tasks; none if the kernel does not run on the host."""
    host = board.soc.host_cpu
    if why_not(host):
        return {}
    models = run_values(board.soc, board.models)["models"]
    tasks = tasks_of(host, [work.thread for work in works_of(board.soc, host, board.models)])
    values = {
        "host": host,
        "arm": is_cortex_m(host),
        "port": port_of(host),
        "tasks": tasks,
        "models": [each for each in models if each["work"].thread],
        "most_priorities": 2 + len(tasks),
        "lines": [(name, n, interrupt(host, n)[0]) for name, n in board.soc.irqs.items()],
        "inputs": max((_LINES, *(line + 1 for line in board.soc.irqs.values()))),
        "mtime": (host.spec.local or 0) + _MTIME,
        "mtimecmp": (host.spec.local or 0) + _MTIMECMP,
        "halt": (host.spec.local or 0) + _HALT,
    }
    own = {
        "FreeRTOSConfig.h": "FreeRTOSConfig.h",
        "atoll_freertos.c": "atoll_freertos.c",
        "atoll_freertos.cmake": "atoll_freertos.cmake",
        "libc/stdlib.h": "stdlib.h",
        "libc/string.h": "string.h",
        ("vectors_arm.c" if is_cortex_m(host) else "vectors_riscv.S"): (
            "vectors_arm.c" if is_cortex_m(host) else "vectors_riscv.S"
        ),
    }
    return {
        **{
            f"freertos/{path}": generated_entry(render(f"freertos/{template}", board, **values))
            for path, template in own.items()
        },
        "app/tasks.c": users(render("freertos/tasks.c", board, **values)),
    }


def tasks_of(core: Cpu, threads: Collection[str]) -> tuple[Task, ...]:
    """Return the tasks of a core: that of the application, and one for each other thread.

    Args:
        core: the host.
        threads: on which its networks run, "" for the main one.
    """
    names = [each.name.split(".")[1] for each in core.threads]
    (only,) = {*threads} if len({*threads}) == 1 else {core.run_thread if not threads else ""}
    tasks = tuple(
        Task(name=name, runs=name == only, serves=name in threads and name != only)
        for name in names
    )
    if only:
        return tasks
    words = (core.max_stack_alloca_size.value + _KIB) // _WORD
    own = NETWORKS
    while own in names:
        own += "_"
    return (Task(name=own, runs=True, words=words), *tasks)
