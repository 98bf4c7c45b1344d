"""Estimate what an operator costs on a core, from cycles measured in RTL."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from atoll.ir.graph import Graph, Operator
from atoll.ops.elementwise import add_factors
from atoll.ops.quantization import quantize_multiplier
from atoll.ops.registry import kind_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Cycles of a core that takes about five for an instruction.

    Attributes:
        mac: for each multiply-accumulate.
        tap: for each element of a pooling window, at each position of the window.
        read: for each element of the first input.
        made: for each element of the results.
        rescaled: besides, for each multiplier of an addition that is no power of two.
    """

    mac: int = 0
    tap: int = 0
    read: int = 0
    made: int = 0
    rescaled: int = 0


_HALF = 2**30  # the multiplier of a power of two
_CONVOLUTION = Rates(mac=36, made=80)

RATES: Mapping[str, Rates] = MappingProxyType(
    {
        "conv_2d": _CONVOLUTION,
        "fully_connected": _CONVOLUTION,
        "depthwise_conv_2d": Rates(mac=50, made=80),
        "add": Rates(made=105, rescaled=52),
        "mul": Rates(made=150),
        "max_pool_2d": Rates(tap=19),
        "average_pool_2d": Rates(tap=26),
        "mean": Rates(read=26),
        "softmax": Rates(made=1000),
        "quantize": Rates(made=100),
        "pad": Rates(made=12),
        "concatenation": Rates(made=10),
        "reshape": Rates(made=6),
        "copy": Rates(made=5),
    }
)
"""Measured on PicoRV32 with rv32imc kernels in a memory of latency 2, by test_estimates.py too."""


def core_cycles(op: Operator, graph: Graph) -> int:
    """Predict the cycles that a core is busy with `op`."""
    rates = RATES.get(op.kind, _CONVOLUTION)
    features = kind_of(op).features(op, graph)
    made = sum(tensor.elements for tensor in graph.results(op))
    window = features.get("kernel_h", 1) * features.get("kernel_w", 1)
    read = graph.tensor(op.inputs[0]).elements
    return (
        rates.mac * features["macs"]
        + rates.tap * made * window
        + rates.read * read
        + rates.made * made
        + rates.rescaled * made * _rescalings(op, graph)
    )


def _rescalings(op: Operator, graph: Graph) -> int:
    """Count the multipliers of an addition with which a core really multiplies."""
    if op.kind != "add":
        return 0
    factors = add_factors(op, graph)
    return sum(quantize_multiplier(factor)[0] != _HALF for factor in factors)
