"""Build the executable of one module of RTL, under cocotb's own main."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import cocotb_tools.config

from atoll_sim.build.verilator import Design, built
from atoll_sim.chip.sources import RTL
from atoll_sim.protocol.systemverilog import PACKAGE, protocol_package

MAIN = Path(cocotb_tools.config.share_dir) / "lib" / "verilator" / "verilator.cpp"
# Everything else stays free for Verilator to optimise.
PORTS_VISIBLE = '`verilator_config\npublic_flat_rw -module "{}" -var "*"\n'


def build_module(
    module: str,
    rtl: Sequence[Path],
    parameters: Mapping[str, int],
    generated: Mapping[str, str],
) -> Path:
    """Return the executable of `module`, from the cache if it was built before.

    Args:
        module: the top level.
        rtl: sources, packages before their users.
        parameters: of the module.
        generated: text of more sources by name.

    Raises:
        ToolchainError: a tool is missing or fails.
    """
    settings = (f"-G{name}={value}" for name, value in sorted(parameters.items()))
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
        flags=("-Wall", *settings),
        compiler_flags="-std=c++20",
        make_flags=("OPT_FAST=-O1",),
    )
    return built(design, "models/")
