# SPDX-License-Identifier: Apache-2.0
"""Build the executable of one module of RTL, under cocotb's own main."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import cocotb_tools.config

from atoll_sim.build.verilator import Design, build_executable
from atoll_sim.chip.sources import RTL
from atoll_sim.protocol.systemverilog import PACKAGE, protocol_package

MAIN = Path(cocotb_tools.config.share_dir) / "lib" / "verilator" / "verilator.cpp"
# Everything else stays free for Verilator to optimise.
PORTS_VISIBLE = '`verilator_config\npublic_flat_rw -module "{}" -var "*"\n'


def build_module(
    module: str,
    rtl: Sequence[Path],
    parameters: Mapping[str, int | str],
    generated: Mapping[str, str],
    *,
    packages: Mapping[str, str] | None = None,
    rtl_includes: Sequence[Path] = (),
    flags: Sequence[str] = ("-Wall",),
) -> Path:
    """Return the executable of `module`, from the cache if it was built before.

    Args:
        module: the top level.
        rtl: sources, packages before their users.
        parameters: of the module, with their values in SystemVerilog.
        generated: text of more sources by name.
        packages: version of each Python package that brings some of `rtl`.
        rtl_includes: folders in them with what these include.
        flags: of Verilator.

    Raises:
        ToolchainError: a tool is missing or fails.
    """
    design = Design(
        top=module,
        what=f"'{module}'",
        rtl=tuple(rtl),
        generated={
            **generated,
            "visible.vlt": PORTS_VISIBLE.format(module),
            PACKAGE: protocol_package(),
        },
        cplusplus=(MAIN,),
        headers=tuple(RTL.glob("*.svh")),
        includes=(RTL,),
        packages=packages or {},
        rtl_includes=tuple(rtl_includes),
        parameters=parameters,
        flags=tuple(flags),
        compiler_flags="-std=c++20",
        optimisation="-O1",
    )
    return build_executable(design, "models/")
