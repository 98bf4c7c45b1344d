# SPDX-License-Identifier: Apache-2.0
"""What a module takes if each operation is the plain circuit of cells of a library.

A module comes as Yosys writes it down before it maps operations to gates: adders, multiplexers,
registers, arrays. An array that a clock edge reads is SRAM, and so is a large one; others are
registers.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

ADDER, HALF_ADDER, INVERTER, NAND = "fa_1", "ha_1", "inv_1", "nand2_1"
XOR, CHOICE, CARRY, CHOICE_OF_4 = "xor2_1", "mux2_1", "maj3_1", "mux4_1"
REGISTER, WITH_RESET, LATCH = "dfxtp_1", "dfrtp_1", "dlxtp_1"
CELLS = (
    *(ADDER, HALF_ADDER, INVERTER, NAND, XOR, CHOICE, CARRY, CHOICE_OF_4),
    *(REGISTER, WITH_RESET, LATCH),
)
"""Cells of the library, without its name in front."""

Areas = Mapping[str, float]
CONSTANT = re.compile(r"\d+'[01xz-]+$|-?\d+$")
ARRAY = "$mem_v2"
LARGE = 1 << 14
"""Bits from which on an array is SRAM in any case."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A cell of Yosys.

    Attributes:
        numbers: its parameters that are numbers.
        words: what its ports are connected to, and its other parameters.
    """

    kind: str
    numbers: Mapping[str, int]
    words: Mapping[str, str]

    @property
    def constant(self) -> bool:
        """Whether an operand is a constant."""
        return any(CONSTANT.match(self.words.get(port, "")) for port in ("A", "B"))

    @property
    def width(self) -> int:
        """Bits of the longer operand, of which no more count than the result has."""
        longest = max(self.numbers["A_WIDTH"], self.numbers.get("B_WIDTH", 0))
        return min(longest, self.numbers["Y_WIDTH"])


@dataclass(slots=True)
class Module:
    """A module's operations, and the modules of its instances."""

    operations: list[Operation] = field(default_factory=list)
    instances: list[str] = field(default_factory=list)


def modules_of(text: str) -> Mapping[str, Module]:
    """Return the modules of a design in Yosys's own language."""
    found: dict[str, Module] = {}
    module, kind = Module(), ""
    numbers: dict[str, int] = {}
    words: dict[str, str] = {}
    for line in text.splitlines():
        first, _, rest = line.strip().partition(" ")
        if first == "module":
            module = found[rest] = Module()
        elif first == "cell":
            kind, numbers, words = rest.partition(" ")[0], {}, {}
        elif kind and first in ("parameter", "connect"):
            name, _, value = rest.removeprefix("signed ").removeprefix("\\").partition(" ")
            words[name] = value
            if first == "parameter" and value.isdigit():
                numbers[name] = int(value)
        elif kind and first == "end":
            if kind.startswith("$"):
                module.operations.append(Operation(kind, numbers, words))
            else:
                module.instances.append(kind)
            kind = ""
    return found


def plain_area(top: str, modules: Mapping[str, Module], areas: Areas) -> tuple[float, int]:
    """Return the area of a module with its instances, and its bits of SRAM."""
    um2, bits = 0.0, 0
    for each in modules[top].operations:
        if each.kind == ARRAY and (_is_clocked(each) or _array_bits(each) >= LARGE):
            bits += _array_bits(each)
        else:
            um2 += PLAIN[each.kind](each, areas)
    for name in modules[top].instances:
        inside = plain_area(name, modules, areas)
        um2, bits = um2 + inside[0], bits + inside[1]
    return um2, bits


def _is_clocked(array: Operation) -> bool:
    return "1" in array.words["RD_CLK_ENABLE"].partition("'")[2]


def _array_bits(array: Operation) -> int:
    return array.numbers["SIZE"] * array.numbers["WIDTH"]


def _sum(each: Operation, areas: Areas) -> float:
    return each.width * areas[HALF_ADDER if each.constant else ADDER]


def _difference(each: Operation, areas: Areas) -> float:
    return _sum(each, areas) + (0 if each.constant else each.width * areas[INVERTER])


def _product(each: Operation, areas: Areas) -> float:
    """Return rows of adders, without the columns beyond the result."""
    rows, columns = sorted((each.numbers["A_WIDTH"], each.numbers["B_WIDTH"]))
    kept = [max(0, min(columns, each.numbers["Y_WIDTH"] - row)) for row in range(rows)]
    return sum(kept) * areas[NAND] + sum(kept[1:]) * areas[ADDER]


def _bits(cell: str) -> Callable[[Operation, Areas], float]:
    """Return what counts a gate for each bit of the result, none beside a constant."""
    return lambda each, areas: 0 if each.constant else each.numbers["Y_WIDTH"] * areas[cell]


def _tree(cell: str) -> Callable[[Operation, Areas], float]:
    """Return what counts a gate for each bit of the operand but one."""
    return lambda each, areas: (each.numbers["A_WIDTH"] - 1) * areas[cell]


def _truth(each: Operation, areas: Areas) -> float:
    return (each.numbers["A_WIDTH"] + each.numbers["B_WIDTH"] - 1) * areas[NAND]


def _equal(each: Operation, areas: Areas) -> float:
    width = max(each.numbers["A_WIDTH"], each.numbers["B_WIDTH"])
    return (width - 1) * areas[NAND] + (0 if each.constant else width * areas[XOR])


def _less(each: Operation, areas: Areas) -> float:
    width = max(each.numbers["A_WIDTH"], each.numbers["B_WIDTH"])
    return width * (areas[NAND] if each.constant else areas[CARRY] + areas[INVERTER])


def _choice(each: Operation, areas: Areas) -> float:
    return each.numbers["WIDTH"] * areas[NAND if each.constant else CHOICE]


def _choices(each: Operation, areas: Areas) -> float:
    """Return an AND for each bit of each word, and the tree that joins the words."""
    return each.numbers["WIDTH"] * (each.numbers["S_WIDTH"] + 1) * 2 * areas[NAND]


def _shift_area(each: Operation, areas: Areas) -> float:
    width = max(each.numbers["A_WIDTH"], each.numbers["Y_WIDTH"])
    if CONSTANT.match(each.words["B"]):
        return 0
    return min(each.numbers["B_WIDTH"], width.bit_length()) * width * areas[CHOICE]


def _part(each: Operation, areas: Areas) -> float:
    return max(0, each.numbers["A_WIDTH"] - each.numbers["Y_WIDTH"]) * areas[CHOICE]


def _word(each: Operation, areas: Areas) -> float:
    words = (1 << each.numbers["S_WIDTH"]) - 1
    return words * each.numbers["WIDTH"] * areas[CHOICE_OF_4] / 3


def _spread(each: Operation, areas: Areas) -> float:
    return (each.numbers["WIDTH"] << each.numbers["S_WIDTH"]) * areas[NAND]


def _register(cell: str, extra: str = "") -> Callable[[Operation, Areas], float]:
    return lambda each, areas: (
        each.numbers["WIDTH"] * (areas[cell] + (areas[extra] if extra else 0))
    )


def _array(each: Operation, areas: Areas) -> float:
    """Return registers that keep what is not written, and a choice of words at each port."""
    size, width, ports = (each.numbers[key] for key in ("SIZE", "WIDTH", "RD_PORTS"))
    kept = size * width * (areas[REGISTER] + areas[CHOICE])
    return kept + ports * (size - 1) * width * areas[CHOICE_OF_4] / 3


PLAIN: Mapping[str, Callable[[Operation, Areas], float]] = {
    "$add": _sum,
    "$sub": _difference,
    "$neg": lambda each, areas: each.width * (areas[HALF_ADDER] + areas[INVERTER]),
    "$mul": _product,
    "$not": lambda each, areas: each.numbers["Y_WIDTH"] * areas[INVERTER],
    "$pos": lambda each, areas: 0,
    **dict.fromkeys(("$and", "$or"), _bits(NAND)),
    **dict.fromkeys(("$xor", "$xnor"), _bits(XOR)),
    **dict.fromkeys(("$reduce_and", "$reduce_or", "$reduce_bool", "$logic_not"), _tree(NAND)),
    **dict.fromkeys(("$reduce_xor", "$reduce_xnor"), _tree(XOR)),
    **dict.fromkeys(("$logic_and", "$logic_or"), _truth),
    **dict.fromkeys(("$eq", "$ne", "$eqx", "$nex"), _equal),
    **dict.fromkeys(("$lt", "$le", "$gt", "$ge"), _less),
    "$mux": _choice,
    "$bwmux": _register(CHOICE),
    "$pmux": _choices,
    **dict.fromkeys(("$shl", "$shr", "$sshl", "$sshr", "$shift"), _shift_area),
    "$shiftx": _part,
    "$bmux": _word,
    "$demux": _spread,
    "$dlatch": _register(LATCH),
    "$dff": _register(REGISTER),
    "$dffe": _register(REGISTER, CHOICE),
    "$adff": _register(WITH_RESET),
    "$adffe": _register(WITH_RESET, CHOICE),
    "$sdff": _register(REGISTER, NAND),
    **dict.fromkeys(("$sdffe", "$sdffce"), _register(REGISTER, CHOICE)),
    ARRAY: _array,
    "$scopeinfo": lambda each, areas: 0,
}
"""The circuit of each operation."""
