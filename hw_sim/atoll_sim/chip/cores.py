"""The RTL cores that a chip may name, and how each is set up from its description."""

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path

from atoll.errors import Fault
from atoll.resolve.soc import Cpu

PICORV32_ISAS = ("rv32i", "rv32e", "rv32im", "rv32em", "rv32ic", "rv32ec", "rv32imc", "rv32emc")

WAITIRQ = 0x0800_400B
"""PicoRV32's `waitirq x0`: stand still until an interrupt line is high."""

BACK_TO_IT = 0xFFDF_F06F
"""`j .-4`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """A kind of core.

    Attributes:
        module: adapter of the core to the system bus, below `atoll_sim/rtl`.
        package: Python distribution that brings the core's own source.
        source: that source, as the distribution names it.
        isas: instruction sets it can be set to.
        lines: interrupt lines that devices may use.
        parameters: of the adapter, for one core of a chip.
        asleep: a program that does nothing, for a core without firmware.
        shown: signals below the adapter that waveforms show, with their bits.
    """

    module: str
    package: str
    source: str
    isas: tuple[str, ...]
    lines: range
    parameters: Callable[[Cpu], Mapping[str, str]]
    asleep: bytes
    shown: tuple[tuple[str, int], ...]

    def path(self) -> Path:
        """Return the core's own source."""
        return Path(str(distribution(self.package).locate_file(self.source)))


def _picorv32(cpu: Cpu) -> Mapping[str, str]:
    base, extensions = cpu.isa[:5], cpu.isa[5:]
    return {
        "ResetAddress": f"32'h{cpu.code.origin:08x}",
        "HasM": f"1'b{int('m' in extensions)}",
        "HasC": f"1'b{int('c' in extensions)}",
        "HasE": f"1'b{int(base.endswith('e'))}",
    }


CORES: Mapping[str, Core] = {
    "picorv32": Core(
        module="atoll_picorv32",
        package="pythondata-cpu-picorv32",
        source="pythondata_cpu_picorv32/verilog/picorv32.v",
        isas=PICORV32_ISAS,
        lines=range(3, 32),
        parameters=_picorv32,
        asleep=struct.pack("<II", WAITIRQ, BACK_TO_IT),
        shown=(("u_core.reg_pc", 32), ("u_core.irq_pending", 32)),
    ),
}


def core_faults(cpu: Cpu) -> list[Fault]:
    """Return why the simulator cannot build `cpu`; nothing if it can."""
    core = CORES.get(cpu.rtl)
    if core is None:
        known = ", ".join(sorted(CORES))
        return [
            Fault(
                code="E080",
                message=f"device '{cpu.name}' names the RTL core '{cpu.rtl}', which is unknown",
                at=cpu.at,
                remedy=f"set 'rtl' to one of: {known}",
            )
        ]
    if cpu.isa not in core.isas:
        return [
            Fault(
                code="E080",
                message=f"device '{cpu.name}': core '{cpu.rtl}' cannot run '{cpu.isa}'",
                at=cpu.at,
                remedy=f"set 'isa' to one of: {', '.join(core.isas)}",
            )
        ]
    return []
