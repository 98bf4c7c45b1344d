"""Run a small program in assembly on an instruction-set simulator."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from atoll.isa.find import instruction_set
from atoll.resolve import load_soc
from atoll.resolve.memory_views import core_as_it_sees
from atoll_sim.iss.engines import modelled
from atoll_sim.iss.run import simulate
from atoll_sim.trace.simulation import SimRequest, SimResult


def run_program(
    folder: Path,
    core: str,
    isa: str,
    text: str,
    *,
    written_for: str = "",
    overrides: Sequence[str] = (),
    **changes: object,
) -> SimResult:
    """Assemble `text`, which begins at `_start`, and run it on lagoon with a core.

    The assembler takes `written_for` instead of `isa`, if it is given.
    """
    soc = load_soc("lagoon", (f"devices.cpu.core={core}", f"devices.cpu.isa={isa}", *overrides))
    source, elf, script = folder / "test.S", folder / "test.elf", folder / "test.ld"
    source.write_text(text)
    host = core_as_it_sees(soc, soc.host_cpu)
    reset, zig = host.reset_address, instruction_set(written_for or isa).zig
    script.write_text(f"SECTIONS {{ . = {reset}; .text : {{ *(.text*) }} }}")
    command = [sys.executable, "-m", "ziglang", "cc", "-nostdlib", "-ffreestanding"]
    command += ["-target", zig.target, f"-mcpu={zig.cpu}", *zig.options, f"-Wl,-T,{script}"]
    command += ["-Wl,-e,_start", "-Wl,-z,max-page-size=4", str(source), "-o", str(elf)]
    subprocess.run(command, check=True, capture_output=True)
    request = SimRequest(
        executable=Path(),
        elves=(elf,),
        soc=soc,
        run_dir=folder,
        samples=(),
        inputs=(),
        outputs=(),
        **changes,  # type: ignore[arg-type]
    )
    return simulate(request, lambda memory: modelled(soc, memory))
