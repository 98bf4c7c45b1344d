# SPDX-License-Identifier: Apache-2.0
"""Link a small program for a core of a chip, and state its simulation."""

import subprocess
import sys
from pathlib import Path

from atoll.isa.instruction_set import InstructionSet
from atoll.resolve.soc import ResolvedSoc
from atoll_sim.trace.simulation import SimRequest


def link(source: Path, script: str, folder: Path, target: InstructionSet, *options: str) -> Path:
    """Compile or assemble `source`, link it by a linker script, and return the image.

    Args:
        source: C or assembly, with `_start`.
        script: the linker script's text.
        folder: where image and script are written.
        target: what is compiled for.
        options: of `zig cc`, besides.
    """
    elf, layout, zig = folder / "small.elf", folder / "small.ld", target.zig
    layout.write_text(script, encoding="utf-8")
    words = ["-nostdlib", "-ffreestanding", "-target", zig.target, f"-mcpu={zig.cpu}"]
    words += [*zig.options, f"-Wl,-T,{layout}", "-Wl,-e,_start", "-Wl,-z,max-page-size=4"]
    words += [*options, str(source), "-o", str(elf)]
    command = [sys.executable, "-m", "ziglang", "cc", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return elf


def request(soc: ResolvedSoc, elf: Path, **changes: object) -> SimRequest:
    """State the simulation of a program that asks for no sample."""
    return SimRequest(
        executable=Path(),
        elves=(elf,),
        soc=soc,
        run_dir=elf.parent,
        samples=(),
        inputs=(),
        outputs=(),
        **changes,  # type: ignore[arg-type]
    )
