# SPDX-License-Identifier: Apache-2.0
"""The CMake project: an image for each core, with GCC, clang or zig, and presets for them."""

import json
from collections.abc import Iterator, Mapping

from atoll.bsp.clang import Clang
from atoll.bsp.core_image import IMAGE_SECTION
from atoll.bsp.core_images import elf_names, script_name
from atoll.bsp.gcc import LIBRARY, Gcc
from atoll.bsp.missing_driver import undriven_engines
from atoll.bsp.zig import Zig
from atoll.diagnostics.errors import ToolchainError
from atoll.records import dataclass
from atoll.resolve.memory_views import core_as_it_sees
from atoll.resolve.soc import Cpu
from atoll_board.ethos_u import npus_of
from atoll_board.freertos.ports import why_not
from atoll_board.package import Board, Entry, generated_entry, users
from atoll_board.render import render
from atoll_board.selftest import SCRIPT, selftest_sources
from atoll_board.serial import serial_sources
from atoll_board.sources import library_sources, objects, user_sources

_LLD = ("clang", "zig")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tool:
    """How one CMake toolchain makes the image of a core.

    Attributes:
        name: of the toolchain file and the preset.
        compile: options of the compiler.
        link: options of what links: GCC's driver, or LLD itself.
        libraries: what is linked last.
    """

    name: str
    compile: tuple[str, ...]
    link: tuple[str, ...]
    libraries: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _SelfTest:
    """What the self-test's image of a core is made of."""

    elf: str
    script: str
    sources: tuple[str, ...]
    host: bool
    cached: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Serial:
    """What the host's image that serves the serial protocol is made of."""

    elf: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Image:
    """What an image is made of, for the template."""

    core: str
    elf: str
    script: str
    sources: tuple[str, ...]
    objects: tuple[str, ...]
    selftest: "_SelfTest | None"
    serial: "_Serial | None"
    tools: tuple[_Tool, ...]


def cmake_files(board: Board) -> Mapping[str, Entry]:
    """Return the project, whose ``CMakeLists.txt`` is the user's, and a README."""
    images = tuple(_images(board))
    names = sorted({tool.name for image in images for tool in image.tools})
    kernel = not why_not(board.soc.host_cpu)
    held = [core_as_it_sees(board.soc, each) for each in board.cores if each.is_held]
    return {
        "CMakeLists.txt": users(render("CMakeLists.txt", board, own=tuple(_own(board)))),
        "CMakePresets.json": generated_entry(_presets(names)),
        "README.md": generated_entry(
            render(
                "README.md",
                board,
                images=images,
                presets=names,
                kernel=kernel,
                npus=npus_of(board.soc),
                undriven=sorted({each.spec.name for each in undriven_engines(board.soc)}),
            )
        ),
        "cmake/atoll.cmake": generated_entry(
            render("atoll.cmake", board, images=images, ethos_u=npus_of(board.soc), held=held)
        ),
        **(
            {
                "cmake/atoll_image_source.cmake": generated_entry(
                    render("atoll_image_source.cmake", board, section=IMAGE_SECTION)
                )
            }
            if held
            else {}
        ),
        **{
            f"cmake/{name}.cmake": generated_entry(
                render(f"{name if name in _LLD else 'gcc'}.cmake", board, program=name)
            )
            for name in names
        },
        **libraries(board),
    }


def libraries(board: Board) -> Mapping[str, Entry]:
    """Return the compiler's run-time library of each core, for linkers that bring none."""
    return {
        f"lib/{core.name}/compiler_rt.o": Entry(data=Zig(core.instructions).library())
        for core in board.cores
    }


def _own(board: Board) -> Iterator[tuple[str, tuple[str, ...]]]:
    for core in board.cores:
        yield core.name, user_sources(board, core)


def _images(board: Board) -> Iterator[_Image]:
    for core, elf in zip(board.cores, elf_names(board.soc), strict=True):
        yield _Image(
            core=core.name,
            elf=elf,
            script=f"linker/{script_name(board.soc, core)}",
            sources=library_sources(board, core),
            objects=tuple(objects(board, core)),
            selftest=_self_test(board, core, elf) if board.selftest else None,
            serial=_serial(board, elf) if board.uart and core.name == board.soc.host else None,
            tools=tuple(_tools(core)),
        )


def _self_test(board: Board, core: Cpu, elf: str) -> _SelfTest:
    host = core.name == board.soc.host
    return _SelfTest(
        elf=elf.replace(".elf", ".selftest.elf"),
        script=SCRIPT if host else f"linker/{script_name(board.soc, core)}",
        sources=selftest_sources(board, core),
        host=host,
        cached=board.soc.maintains_cache(core),
    )


def _serial(board: Board, elf: str) -> _Serial:
    return _Serial(elf=elf.replace(".elf", ".serial.elf"), sources=serial_sources(board))


def _tools(core: Cpu) -> Iterator[_Tool]:
    """Yield the toolchains that know the core."""
    instructions = core.instructions
    runtime = f"lib/{core.name}/compiler_rt.o"
    zig, gcc = Zig(instructions), Gcc(instructions)
    if target := instructions.gcc:
        yield _Tool(
            name=target.program, compile=gcc.flags, link=gcc.link_flags, libraries=(LIBRARY,)
        )
    lld = zig.link_flags
    yield _Tool(name="zig", compile=zig.flags, link=lld, libraries=(runtime,))
    try:
        flags = Clang(instructions).flags
    except ToolchainError:
        return
    yield _Tool(name="clang", compile=flags, link=lld, libraries=(runtime,))


def _presets(names: list[str]) -> str:
    """Return a configure and a build preset for each toolchain."""
    configure = [
        {
            "name": name,
            "displayName": f"Build with {name}",
            "binaryDir": f"${{sourceDir}}/build/{name}",
            "toolchainFile": f"${{sourceDir}}/cmake/{name}.cmake",
        }
        for name in names
    ]
    build = [{"name": name, "configurePreset": name} for name in names]
    data = {
        "version": 3,
        "cmakeMinimumRequired": {"major": 3, "minor": 21, "patch": 0},
        "configurePresets": configure,
        "buildPresets": build,
    }
    return json.dumps(data, indent=2) + "\n"
