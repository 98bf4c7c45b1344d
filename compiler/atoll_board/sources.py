# SPDX-License-Identifier: Apache-2.0
"""The sources of every image, its linker script, the networks' objects, and a first application."""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from atoll.bsp.application import run_values
from atoll.bsp.c_names import c_name
from atoll.bsp.render import BY_BUILD
from atoll.resolve.soc import Cpu
from atoll_board.package import Board, Entry, generated_entry, users
from atoll_board.render import BY_BSP, render

APPLICATION = "main.c"
HOOKS = {"console.c": "board.c", "guard.c": "guard.c"}
"""Sources that meet the board, and what the user's copies of them are called."""

_SAME_FOR_ALL = f"/* Made {BY_BSP} */\n"
"""In front of sources that are the same for every chip."""


def linker_files(board: Board) -> Mapping[str, Entry]:
    """Return ``linker/``: a linker script for each image."""
    return _generated_files(board, "linker", ".ld")


def header_files(board: Board) -> Mapping[str, Entry]:
    """Return ``include/``: devices, memories, pools, registers, and each network's functions."""
    return _generated_files(board, "include", ".h")


def startup_files(board: Board) -> Mapping[str, Entry]:
    """Return the assembly in ``src/``: reset, vectors and traps."""
    return _generated_files(board, "src", ".S")


def driver_files(board: Board) -> Mapping[str, Entry]:
    """Return the C in ``src/``, drivers and runtime, and whatever else images are made of."""
    return _generated_files(board, "src", *(_suffixes(board) - {".ld", ".h", ".S"}))


def application_files(board: Board) -> Mapping[str, Entry]:
    """Return the user's ``app/``: an application that runs the examples, and what meets the board.

    The examples are headers, and Atoll's.
    """
    application = render(APPLICATION, board, **run_values(board.soc, board.models))
    return {
        f"app/{APPLICATION}": users(application),
        **{f"app/{own}": users(board.texts[name]) for name, own in HOOKS.items()},
        **dict(_examples(board)),
    }


def _examples(board: Board) -> Iterator[tuple[str, Entry]]:
    for example in board.examples:
        name = c_name(example.name)
        text = render("example.h", board, example=example, prefix=name.upper())
        yield f"include/{name}_example.h", generated_entry(text)


def model_files(board: Board) -> Mapping[str, Entry]:
    """Return ``models/``: the object of each network for each core."""
    return {
        path: Entry(data=code)
        for core in board.cores
        for path, code in objects(board, core).items()
    }


def objects(board: Board, core: Cpu) -> Mapping[str, bytes]:
    """Return the objects of the networks for a core, by their path."""
    return {
        f"models/{core.name}/{c_name(part.interface.name)}.o": part.codes()[core.name]
        for part in board.parts
    }


def library_sources(board: Board, core: Cpu) -> tuple[str, ...]:
    """Return the paths of the generated C and assembly files of a core's image."""
    return tuple(f"src/{name}" for name in board.sources(core) if not _is_users(name))


def user_sources(board: Board, core: Cpu) -> tuple[str, ...]:
    """Return the paths of the user's files of a core's image; the host alone has some."""
    if core.name != board.soc.host:
        return ()
    return (f"app/{APPLICATION}", *(f"app/{name}" for name in HOOKS.values()))


def _suffixes(board: Board) -> set[str]:
    return {PurePosixPath(name).suffix for name in board.texts}


def _generated_files(board: Board, folder: str, *suffixes: str) -> Mapping[str, Entry]:
    return {
        f"{folder}/{name}": generated_entry(_mark_owner(text))
        for name, text in board.texts.items()
        if PurePosixPath(name).suffix in suffixes and not _is_users(name)
    }


def _mark_owner(text: str) -> str:
    """Say whose a file is; what `atoll build` makes says so of itself."""
    told = text.replace(BY_BUILD, BY_BSP, 1)
    return told if told != text else _SAME_FOR_ALL + text


def _is_users(name: str) -> bool:
    return name == APPLICATION or name in HOOKS
