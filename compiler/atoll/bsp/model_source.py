# SPDX-License-Identifier: Apache-2.0
"""Compile the C of a model with the compiler of a core."""

from atoll.bsp.calling_convention import check_convention
from atoll.bsp.toolchain import SPEED, find_toolchain
from atoll.resolve.soc import Cpu
from atoll.utils.kept import keep_made, name_of
from atoll.utils.scratch import temporary_folder


def compile_model(
    source: str, core: Cpu, toolchain: str | None = None, level: str = SPEED
) -> bytes:
    """Return the object file of one model for one core.

    Args:
        source: C99.
        core: that runs it.
        toolchain: see `link_firmware`.
        level: what the compiler strives for.

    Raises:
        ToolchainError: E070 to E072, a tool is missing or refused its input; E124, what it made
                has another calling convention.
    """
    tools = find_toolchain(core, toolchain, level=level)

    def compile_source() -> bytes:
        with temporary_folder() as folder:
            (folder / "model.c").write_text(source, encoding="utf-8")
            target = folder / "model.o"
            tools.compile("model.c", target, folder=folder)
            return target.read_bytes()

    code = keep_made(
        f"machine_code/{name_of(tools.identity, *tools.flags, source)}", compile_source
    )
    check_convention(code, "model.c", core)
    return code
