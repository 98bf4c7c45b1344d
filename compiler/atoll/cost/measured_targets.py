# SPDX-License-Identifier: Apache-2.0
"""How many times as long operators take whose code is made for another target: measured in RTL.

The rows are those of `python -m benchmarks.code_targets`. A core, a target or a kind of operator
that is not there was not measured, and nothing is said of it.
"""

from collections.abc import Mapping

from atoll.cost.data.picorv32 import MEASURED_DATA_LATENCY, MEASURED_LATENCY
from atoll.isa.code_target import Generator
from atoll.isa.function_unit import DOT4
from atoll.records import dataclass
from atoll.resolve.se_scope import target_of
from atoll.resolve.soc import Cpu, ResolvedSoc


@dataclass(frozen=True, slots=True)
class Times:
    """The cycles of code over those of the reference code of its core.

    Attributes:
        least: of all operators that were measured.
        greatest: likewise.
        operators: how many these are.
    """

    least: float
    greatest: float
    operators: int

    @property
    def middle(self) -> float:
        """Between the two."""
        return (self.least + self.greatest) / 2

    def over(self, other: "Times") -> "Times":
        """Return how many times as long this takes as `other`, at least and at most."""
        return Times(self.least / other.greatest, self.greatest / other.least, self.operators)


TOOLCHAIN = "zig"
"""What compiled the C that was measured."""

REFERENCE = Times(1.0, 1.0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """The code of a core that others were held against, and where.

    Attributes:
        code: of which target, as scopes have it.
        latencies: of the memories of instructions and of stacks.
        dot4: the core has a function unit that adds four products, with an answer in each cycle.
    """

    code: str
    latencies: tuple[int, int] = (MEASURED_LATENCY, MEASURED_DATA_LATENCY)
    dot4: bool = False


REFERENCES: Mapping[str, Reference] = {
    "ibex": Reference(code="llvm -isa=rv32imc_zba_zbb_zbs"),
    "picorv32": Reference(code="llvm -isa=rv32imc"),
    "vexriscv_cfu": Reference(code="llvm -isa=rv32im", latencies=(1, 1), dot4=True),
}
"""By core."""

MEASURED_TARGETS: Mapping[str, Mapping[str, Mapping[str, Times]]] = {
    "ibex": {
        "llvm -isa=rv32imc": {
            "add": Times(0.999, 1.15, 4),
            "conv_2d": Times(0.981, 1.035, 4),
            "depthwise_conv_2d": Times(1.029, 1.35, 4),
            "quantize": Times(0.922, 1.011, 4),
        },
        "llvm -isa=rv32imc_zba_zbb_zbs -optimise=size": {
            "add": Times(1.0, 1.72, 4),
            "conv_2d": Times(1.026, 2.252, 4),
            "depthwise_conv_2d": Times(0.989, 1.882, 4),
            "quantize": Times(0.993, 1.027, 4),
        },
        "llvm -isa=rv32im": {
            "add": Times(1.121, 1.367, 4),
            "conv_2d": Times(1.143, 1.255, 4),
            "depthwise_conv_2d": Times(1.123, 1.586, 4),
            "quantize": Times(1.115, 1.295, 4),
        },
    },
    "picorv32": {
        "c -isa=rv32imc": {
            "add": Times(0.796, 1.742, 8),
            "cast": Times(0.984, 1.112, 6),
            "conv_2d": Times(1.002, 1.926, 7),
            "depthwise_conv_2d": Times(1.069, 2.03, 7),
            "div": Times(0.878, 1.068, 4),
            "fully_connected": Times(1.026, 1.184, 4),
            "maximum": Times(1.079, 1.15, 8),
            "quantize": Times(1.004, 1.109, 9),
            "transpose_conv": Times(1.145, 1.535, 4),
        },
        "llvm -isa=rv32im": {
            "add": Times(0.941, 1.067, 8),
            "cast": Times(1.0, 1.014, 7),
            "conv_2d": Times(0.923, 1.054, 13),
            "depthwise_conv_2d": Times(0.936, 1.003, 8),
            "div": Times(0.973, 0.985, 4),
            "fully_connected": Times(0.952, 1.038, 4),
            "maximum": Times(0.916, 1.006, 8),
            "quantize": Times(0.97, 1.075, 11),
            "transpose_conv": Times(0.948, 1.045, 6),
        },
        "llvm -isa=rv32imc -optimise=size": {
            "add": Times(1.002, 1.69, 8),
            "cast": Times(0.993, 1.008, 6),
            "conv_2d": Times(1.017, 2.228, 11),
            "depthwise_conv_2d": Times(1.001, 1.858, 7),
            "div": Times(1.003, 1.034, 4),
            "fully_connected": Times(1.03, 2.139, 4),
            "maximum": Times(1.032, 1.161, 8),
            "quantize": Times(0.971, 1.27, 9),
            "transpose_conv": Times(1.227, 1.571, 4),
        },
    },
    "vexriscv_cfu": {
        "llvm -function_unit=false -isa=rv32im": {
            "add": Times(0.998, 1.0, 4),
            "conv_2d": Times(1.0, 2.388, 4),
            "depthwise_conv_2d": Times(0.983, 1.0, 4),
            "quantize": Times(1.0, 1.0, 5),
        },
    },
}
"""By core, target and kind of operator; kinds of which fewer than four operators were measured are
left out.
"""


def times_of(core: Cpu, target: str, kind: str, soc: ResolvedSoc) -> Times | None:
    """Return how long operators of a kind take with code for a target of a core.

    Args:
        core: whose code it is; one with a data cache, another function unit or memories of other
            latencies than in the measurement was not measured.
        target: its name, "" for the core's own code.
        kind: of the operator.
        soc: the chip of the core.

    Returns:
        What is comparable among the targets of one core; None if it was not measured.
    """
    reference = REFERENCES.get(core.spec.name)
    code, data = (soc.memory(region.memory) for region in (core.code, core.stack))
    latencies = (code.read_latency, data.read_latency)
    if core.cache or reference is None or reference.latencies != latencies:
        return None
    if bool(core.unit) != reference.dot4 or not _is_dot4(core):
        return None
    words = str(target_of(core, target))
    if words.startswith(Generator.C) and (core.toolchain != TOOLCHAIN or core.commands):
        return None
    if words == reference.code:
        return REFERENCE
    return MEASURED_TARGETS.get(core.spec.name, {}).get(words, {}).get(kind)


def _is_dot4(core: Cpu) -> bool:
    """Tell whether the function unit of a core, if it has one, is like the measured one."""
    if core.unit is None:
        return True
    four = core.unit.meaning(DOT4)
    return four is not None and four.latency == 1 and not core.unit.kernels
