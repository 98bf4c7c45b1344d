# SPDX-License-Identifier: Apache-2.0
"""What joins Arm's driver of the Ethos-U, which is not part of the package, to an image."""

from collections.abc import Mapping

from atoll.resolve.soc import Engine, ResolvedSoc
from atoll_board.package import Board, Entry, generated_entry
from atoll_board.render import render

DRIVER = "ethos_u"

_LIBC: Mapping[str, tuple[str, ...]] = {
    "assert.h": ("#define assert(condition) ((void)0)",),
    "inttypes.h": (
        "#include <stdint.h>",
        "",
        *(
            f'#define PRI{kind}{bits} "{length}{kind}"'
            for bits, length in ((32, "l"), (64, "ll"))
            for kind in "dux"
        ),
    ),
    "stdio.h": (
        "#define stderr ((void *)0)",
        "#define stdout ((void *)0)",
        "int fprintf(void *stream, const char *format, ...);",
    ),
    "stdlib.h": (
        "#include <stddef.h>",
        "",
        "void *malloc(size_t size);",
        "void free(void *memory);",
    ),
    "string.h": (
        "#include <stddef.h>",
        "",
        "void *memcpy(void *restrict to, const void *restrict from, size_t size);",
        "void *memset(void *to, int value, size_t size);",
    ),
    "sys/types.h": ("#include <stddef.h>", "", "typedef long ssize_t;"),
}
"""The lines of each header; nothing of it is called but what src/memory.c defines."""


def npus_of(soc: ResolvedSoc) -> tuple[Engine, ...]:
    """Return the engines that Arm's driver drives."""
    return tuple(engine for engine in soc.engines if engine.spec.driver == DRIVER)


def ethos_u_files(board: Board) -> Mapping[str, Entry]:
    """Return ``ethos_u/``; nothing if the chip has no Ethos-U."""
    npus = npus_of(board.soc)
    if not npus:
        return {}
    values = {
        "host": board.soc.host_cpu,
        "npus": npus,
        "arch": npus[0].spec.name.removeprefix("ethos_"),
        "macs": npus[0].params["macs"],
    }
    cmake = render("ethos_u/atoll_ethos_u.cmake", board, **values)
    headers = {
        f"ethos_u/libc/{header}": generated_entry(
            render("ethos_u/libc.h", board, header=header, lines=lines)
        )
        for header, lines in _LIBC.items()
    }
    return {"ethos_u/atoll_ethos_u.cmake": generated_entry(cmake), **headers}
