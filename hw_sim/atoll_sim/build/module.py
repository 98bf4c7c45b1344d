# SPDX-License-Identifier: Apache-2.0
"""Build the executable of one module of RTL, under cocotb's own main."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import field
from functools import partial
from pathlib import Path
from types import MappingProxyType

import cocotb_tools.config

from atoll.records import dataclass
from atoll.resolve.soc import ResolvedSoc
from atoll_sim.build.verilate import Harmless
from atoll_sim.build.verilator import RTL_IO, Blame, Design, build_executable
from atoll_sim.chip.blame import blame_devices
from atoll_sim.chip.file_list import include_files
from atoll_sim.chip.rtl_cores import package_includes, package_sources, package_versions
from atoll_sim.chip.sources import (
    RTL,
    Rtl,
    compiled_sources,
    has_case_pragmas,
    included_files,
    keyword_files,
    rtl_defines,
    rtl_includes,
    rtl_sources,
)
from atoll_sim.protocol.systemverilog import PACKAGE, protocol_package

MAIN = Path(cocotb_tools.config.share_dir) / "lib" / "verilator" / "verilator.cpp"
_NONE: Mapping[str, str] = MappingProxyType({})
# Everything else stays free for Verilator to optimise.
PORTS_VISIBLE = '`verilator_config\npublic_flat_rw -module "{}" -var "*"\n'


@dataclass(frozen=True, slots=True, kw_only=True)
class Others:
    """Sources that others wrote: of these, a warning does not stop the build.

    Attributes:
        packages: version of each Python package that brings some.
        folders: with what these include.
        included: files that these include and that may change.
        defines: macros.
        blame: see `build_executable`.
        harmless: see `Design`.
    """

    packages: Mapping[str, str] = field(default_factory=dict)
    folders: tuple[Path, ...] = ()
    included: tuple[Path, ...] = ()
    defines: Mapping[str, str] = field(default_factory=dict)
    blame: Blame = nullcontext
    harmless: Harmless = lambda _: False


def build_module(
    module: str,
    rtl: Sequence[Path],
    parameters: Mapping[str, int | str],
    generated: Mapping[str, str],
    *,
    others: Others | None = None,
    flags: Sequence[str] = ("-Wall",),
) -> Path:
    """Return the executable of `module`, from the cache if it was built before.

    Args:
        module: the top level.
        rtl: sources, packages before their users.
        parameters: of the module, with their values in SystemVerilog.
        generated: text of more sources by name.
        others: what is known of those sources that others wrote; None if Atoll's authors wrote all.
        flags: of Verilator.

    Raises:
        ToolchainError: a tool is missing or fails.
    """
    of = others or Others()
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
        common=(RTL_IO,),
        headers=tuple(RTL.glob("*.svh")),
        includes=(RTL,),
        packages=of.packages,
        rtl_includes=of.folders,
        included=of.included,
        defines=of.defines,
        tolerant=others is not None,
        harmless=of.harmless,
        parameters=parameters,
        flags=tuple(flags),
        compiler_flags="-std=c++20",
        optimisation="-O1",
    )
    return build_executable(design, "models/", blame=of.blame)


def build_alone(
    spec: Rtl,
    module: str,
    soc: ResolvedSoc,
    *,
    beside: Sequence[Path] = (),
    parameters: Mapping[str, str] = _NONE,
    texts: Mapping[str, str] = _NONE,
    harmless: Harmless = lambda _: False,
) -> Path:
    """Build `module` with the RTL of a description, outside a chip, and return its executable.

    Args:
        spec: the description.
        module: the top.
        soc: has the part, for faults that name it.
        beside: RTL that ships.
        parameters: of the top.
        texts: generated sources by name.
        harmless: see `Design`.
    """
    own, folders = rtl_sources(spec), rtl_includes(spec)
    paths = dict.fromkeys((*package_sources(spec), *beside, *compiled_sources(spec)))
    return build_module(
        module,
        sorted(paths, key=lambda path: path.suffix != ".vlt"),
        parameters,
        {**keyword_files(spec), **texts},
        others=Others(
            packages=package_versions(spec),
            folders=(*package_includes(spec), *folders),
            included=(*own, *include_files(folders), *included_files(own, folders)),
            defines=rtl_defines(spec),
            blame=partial(blame_devices, soc),
            harmless=harmless,
        ),
        flags=("--no-timing", *(("--no-assert-case",) if has_case_pragmas(own) else ())),
    )
