# SPDX-License-Identifier: Apache-2.0
"""Field types of the descriptions: names, sizes, addresses and clocks with their units.

Each type refuses with a pydantic error of type `EXPECTED` whose message completes the
sentence "the value must be ...".
"""

import re
import shlex
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from atoll.diagnostics.units import format_size, parse_frequency, parse_size

EXPECTED = "expected"
MAX_ENTRIES = 64
ADDRESS_SPACE = 2**32
"""What 32 bits address: registers, and all that a chip touches of its memories."""

WIDE_SPACE = 2**48
"""Where the memories of a chip end at the latest that has a core of 64 bits."""

MOST_OF_A_GROUP = 16
_MOST_SAID = 2**64

_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
_LAYOUT = re.compile(r"(?=.*N)(?=.*H)(?=.*W)(?=.*C)[NHWC]{4}c?")
_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]{0,31}")
_PLACE = re.compile(r"[A-Z][A-Z0-9_]{0,31}(\.[A-Z][A-Z0-9_]{0,31})?")
_ENTRY_POINT = re.compile(
    r"([A-Za-z_][A-Za-z0-9_.]{0,127}|\.{1,2}/[A-Za-z0-9_./-]{1,127}\.py):[A-Za-z_][A-Za-z0-9_]{0,63}"
)
_PATH = re.compile(r"[^\x00-\x1f\x7f-\x9f]{1,256}")
_SOURCE = re.compile(r"[^\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]{1,200}")
_PARAMETER = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_PACKAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_MODULE = re.compile(r"[A-Za-z_][A-Za-z0-9_$]{0,63}")
_PORT = re.compile(r"!?[A-Za-z_][A-Za-z0-9_$]{0,63}")
_PORTS = re.compile(r"!?[A-Za-z_{][A-Za-z0-9_${}]{0,63}")
_KNOWN_PORTS = re.compile(r"[a-z][a-z0-9_]{0,40}\*?")
_TIE = re.compile(r"open|[0-9]{1,9}|0x[0-9a-fA-F]{1,8}|[0-9]{0,4}'[bdhBDH][0-9a-fA-F_]{1,64}")
_SECTION = re.compile(r"[.A-Za-z_][A-Za-z0-9_.]{0,63}")
_MACRO = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_DRIVER = re.compile(r"[a-z][a-z0-9_]{0,31}|\.{1,2}/([A-Za-z0-9_.-]+/)*[a-z][a-z0-9_]{0,31}\.c")
_MACHINE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_FILE = re.compile(r"(\.\.?/)*[A-Za-z0-9_][A-Za-z0-9_./-]{0,127}")
_MAX_QUANTITY_LENGTH = 32
_WORD_BITS = 32
_MOST_LINE = 1023
SOFTWARE = "software"
"""The software interrupt of a RISC-V core in place of a line."""

_KEYWORD = re.compile(
    "auto|bool|break|case|char|const|continue|default|do|double|else|enum|extern|false|float|for"
    "|goto|if|inline|int|long|register|restrict|return|short|signed|sizeof|static|struct|switch"
    "|true|typedef|typeof|union|unsigned|void|volatile|while"
)


class Described(BaseModel):
    """Base of every description model: immutable, and unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


def must_be(expectation: str) -> PydanticCustomError:
    """Return the error that says what a value must be."""
    return PydanticCustomError(EXPECTED, "{expectation}", {"expectation": expectation})


def word(pattern: re.Pattern[str], expectation: str) -> Callable[[object], str]:
    """Return a validator that takes texts of a pattern only."""

    def read(value: object) -> str:
        if isinstance(value, str) and pattern.fullmatch(value):
            return value
        raise must_be(expectation)

    return read


def text(pattern: re.Pattern[str], expectation: str) -> tuple[BeforeValidator, WithJsonSchema]:
    """Return the parts of a type of texts of a pattern."""
    schema = {"type": "string", "pattern": f"^({pattern.pattern})$"}
    return BeforeValidator(word(pattern, expectation)), WithJsonSchema(schema)


def _macro_value(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise must_be("a whole number or a text")
    if not re.fullmatch(r"[\x21-\x7e]{0,64}", str(value)):
        raise must_be("a text without spaces")
    return str(value)


def _tie(value: object) -> str:
    if isinstance(value, bool) or not _TIE.fullmatch(str(value)):
        raise must_be("'open' for an output, a number for an input")
    return str(value)


def is_name(word: str) -> bool:
    """Tell whether a description can call something so."""
    return bool(_NAME.fullmatch(word)) and not _KEYWORD.fullmatch(word)


def _name(value: object) -> str:
    if isinstance(value, str) and _KEYWORD.fullmatch(value):
        raise must_be("a name that is no keyword of C")
    return word(_NAME, "a name of at most 32 of a-z, 0-9 and _, starting with a letter")(value)


def _mailbox(value: object) -> object:
    if isinstance(value, str) and _NAME.fullmatch(value):
        return value
    what = "an address such as 0x4000_0000, or the name of a memory"
    return _quantity(_parse_address, 0, ADDRESS_SPACE - 1, what)(value)


def _step_value(value: object) -> object:
    if isinstance(value, str) and _NAME.fullmatch(value):
        return value
    what = "a word such as 0x8000_0001, or a name of what is written"
    return _quantity(_parse_address, 0, 2**_WORD_BITS - 1, what)(value)


def _signal_line(value: object) -> object:
    if value == SOFTWARE:
        return value
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST_LINE:
        raise must_be(f"a line from 0 to {_MOST_LINE}, or '{SOFTWARE}'")
    return value


def _pair(value: object) -> object:
    if isinstance(value, list) and len(value) == 2:
        return value
    raise must_be("a pair of names such as [flash, sram]")


def _quantity(
    parse: Callable[[str], int], low: int, high: int, what: str, shown: Callable[[int], str] = str
) -> Callable[[Any], int]:
    def read(value: object) -> int:
        number = value
        if isinstance(value, str) and len(value) <= _MAX_QUANTITY_LENGTH:
            try:
                number = parse(value)
            except ValueError:
                raise must_be(what) from None
        if not isinstance(number, int) or isinstance(number, bool):
            raise must_be(what)
        if not low <= number <= high:
            raise must_be(f"{what}, at least {shown(low)} and at most {shown(high)}")
        return number

    return read


def _size(low: int, high: int = ADDRESS_SPACE) -> Callable[[Any], int]:
    return _quantity(parse_size, low, high, "a size such as 64 KiB", format_size)


def _granule(value: object) -> int:
    what = "a power of two such as 4 KiB, at least 16 B and at most 16 MiB"
    size = _quantity(parse_size, 16, 2**24, what, format_size)(value)
    if size.bit_count() != 1:
        raise must_be(what)
    return size


def _parse_address(text: str) -> int:
    return int(text, 0)


def _number(low: int, high: int, *, power: bool = False) -> Callable[[object], int]:
    what = f"a {'power of two' if power else 'whole number'}, at least {low} and at most {high}"

    def read(value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise must_be(what)
        if power and value.bit_count() != 1:
            raise must_be(what)
        return value

    return read


def _range(low: int, high: int) -> WithJsonSchema:
    return WithJsonSchema({"type": "integer", "minimum": low, "maximum": high})


def _command(*needed: str) -> tuple[BeforeValidator, WithJsonSchema]:
    what = f"a command line with {', '.join(needed)} and every quote closed"

    def read(value: object) -> str:
        try:
            words = shlex.split(value) if isinstance(value, str) else []
        except ValueError:
            words = []
        if not all(any(name in each for each in words) for name in needed):
            raise must_be(what)
        return str(value)

    pattern = "".join(f"(?=.*{re.escape(name)})" for name in needed)
    return BeforeValidator(read), WithJsonSchema({"type": "string", "pattern": f"^{pattern}"})


def _bits(value: object) -> object:
    pair = [value, value] if isinstance(value, int) else value
    if isinstance(pair, list) and len(pair) == 2:
        low, high = pair
        whole = all(isinstance(each, int) and not isinstance(each, bool) for each in pair)
        if whole and 0 <= low <= high < _WORD_BITS:
            return tuple(pair)
    raise must_be("a bit from 0 to 31, or the lowest and the highest such as [4, 7]")


def number(low: int, high: int) -> tuple[BeforeValidator, WithJsonSchema]:
    """Return what annotates a whole number between two bounds, inclusive."""
    return BeforeValidator(_number(low, high)), _range(low, high)


def decimal(low: float, high: float) -> tuple[BeforeValidator, WithJsonSchema]:
    """Return what annotates a number between two bounds, inclusive."""

    def check(given: object) -> float:
        if isinstance(given, bool) or not isinstance(given, int | float):
            raise must_be(f"a number from {low} to {high}")
        if not low <= given <= high:
            raise must_be(f"a number from {low} to {high}")
        return float(given)

    schema = {"type": "number", "minimum": low, "maximum": high}
    return BeforeValidator(check), WithJsonSchema(schema)


def _powers(low: int, high: int) -> WithJsonSchema:
    allowed = [1 << shift for shift in range(64) if low <= 1 << shift <= high]
    return WithJsonSchema({"enum": allowed})


def _schema(pattern: str, low: int, high: int) -> WithJsonSchema:
    number = {"type": "integer", "minimum": low, "maximum": high}
    return WithJsonSchema({"anyOf": [number, {"type": "string", "pattern": pattern}]})


def _addresses(space: int) -> tuple[BeforeValidator, WithJsonSchema]:
    """Return what annotates an address below `space`."""
    what = "an address such as 0x4000_0000"
    read = _quantity(_parse_address, 0, space - 1, what)
    return BeforeValidator(read), _schema(r"^0x[0-9a-fA-F_]+$", 0, space - 1)


_SIZE_PATTERN = r"^([0-9][0-9_]*(\.[0-9]+)?\s*(B|KiB|MiB|GiB)|0x[0-9a-fA-F_]+|[0-9][0-9_]*)$"
_CLOCK_PATTERN = r"^([0-9][0-9_]*(\.[0-9]+)?\s*(Hz|kHz|MHz|GHz)|[0-9][0-9_]*)$"

Name = Annotated[
    str,
    BeforeValidator(_name),
    WithJsonSchema({"type": "string", "pattern": f"^{_NAME.pattern}$"}),
]
ChipName = Annotated[
    str,
    BeforeValidator(_name),
    WithJsonSchema({"type": "string", "pattern": "^[a-z][a-z0-9_.-]{0,31}$"}),
]
"""A name of the chip, already mapped by `identifiers`: files may have '-' and '.' in it."""

Label = Annotated[
    str, *text(re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,31}"), "a name such as always-on-cpu")
]
ConstantName = Annotated[
    str,
    BeforeValidator(word(_CONSTANT, "a name of capital letters such as CONV_2D")),
    WithJsonSchema({"type": "string", "pattern": f"^{_CONSTANT.pattern}$"}),
]
LayoutOrder = Annotated[
    str,
    BeforeValidator(word(_LAYOUT, "an order of axes such as NHWC, NCHW or NCHWc")),
    WithJsonSchema({"type": "string", "pattern": f"^{_LAYOUT.pattern}$"}),
]
EntryPointName = Annotated[
    str,
    BeforeValidator(
        word(_ENTRY_POINT, "an entry point such as package.module:Class or ./file.py:function")
    ),
    WithJsonSchema({"type": "string", "pattern": f"^{_ENTRY_POINT.pattern}$"}),
]
FileName = Annotated[
    str,
    BeforeValidator(word(_FILE, "a file name such as reef_array.sv")),
    WithJsonSchema({"type": "string", "pattern": f"^{_FILE.pattern}$"}),
]
CompileCommand = Annotated[str, *_command("{source}", "{object}")]
LinkCommand = Annotated[str, *_command("{script}", "{elf}", "{objects}")]
MachineName = Annotated[
    str,
    BeforeValidator(word(_MACHINE, "the name of a machine such as mps2-an385")),
    WithJsonSchema({"type": "string", "pattern": f"^{_MACHINE.pattern}$"}),
]
Pair = Annotated[tuple[ChipName, ChipName], BeforeValidator(_pair)]
Size = Annotated[
    int,
    BeforeValidator(_size(0)),
    _schema(_SIZE_PATTERN, 0, ADDRESS_SPACE),
]
PositiveSize = Annotated[
    int,
    BeforeValidator(_size(1)),
    _schema(_SIZE_PATTERN, 1, ADDRESS_SPACE),
]
MemorySize = Annotated[
    int,
    BeforeValidator(_size(1, _MOST_SAID)),
    _schema(_SIZE_PATTERN, 1, WIDE_SPACE),
]
"""Of a whole memory: a larger one is understood, and refused with what to do instead."""

Address = Annotated[int, *_addresses(ADDRESS_SPACE)]
MemoryAddress = Annotated[int, *_addresses(WIDE_SPACE)]
"""Where a memory begins: past 4 GiB only a core of 64 bits sees it."""

Mailbox = Annotated[
    int | str,
    BeforeValidator(_mailbox),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": ADDRESS_SPACE - 1},
                {"type": "string", "pattern": "^(0x[0-9a-fA-F_]+|[a-z][a-z0-9_.-]{0,31})$"},
            ]
        }
    ),
]
StepValue = Annotated[
    int | str,
    BeforeValidator(_step_value),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": 2**_WORD_BITS - 1},
                {"type": "string", "pattern": "^(0x[0-9a-fA-F_]+|[a-z][a-z0-9_]{0,31})$"},
            ]
        }
    ),
]
Mask = Annotated[
    int,
    BeforeValidator(_quantity(_parse_address, 1, 2**_WORD_BITS - 1, "bits such as 0x10")),
    _schema(r"^0x[0-9a-fA-F_]+$", 1, 2**_WORD_BITS - 1),
]
Frequency = Annotated[
    int,
    BeforeValidator(_quantity(parse_frequency, 1, 10**11, "a frequency such as 100 MHz")),
    _schema(_CLOCK_PATTERN, 1, 10**11),
]

IrqLine = Annotated[int, *number(0, _MOST_LINE)]
SignalLine = Annotated[
    int | str,
    BeforeValidator(_signal_line),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": _MOST_LINE},
                {"const": SOFTWARE},
            ]
        }
    ),
]
Hart = Annotated[int, *number(0, 4094)]
Preference = Annotated[int, *number(-1000, 1000)]
Latency = Annotated[int, *number(1, 64)]
Integer = Annotated[int, *number(-(2**31), 2**32)]
Version = Annotated[Literal[1], BeforeValidator(_number(1, 1))]
Width = Annotated[int, BeforeValidator(_number(4, 16, power=True)), _powers(4, 16)]
Bandwidth = Annotated[int, *number(1, 256)]
Delay = Annotated[int, *number(0, 1024)]
Banks = Annotated[int, BeforeValidator(_number(1, 16, power=True)), _powers(1, 16)]
CacheLine = Annotated[int, BeforeValidator(_number(8, 256, power=True)), _powers(8, 256)]
Granule = Annotated[
    int,
    BeforeValidator(_granule),
    _schema(_SIZE_PATTERN, 16, 2**24),
]
MasterNumber = Annotated[int, *number(0, 31)]
Areas = Annotated[int, *number(1, 1024)]
DeviceCount = Annotated[int, *number(1, MOST_OF_A_GROUP)]
CacheWays = Annotated[int, *number(1, 64)]
Alignment = Annotated[int, BeforeValidator(_number(1, 4096, power=True)), _powers(1, 4096)]

Access = Literal["rw", "ro", "none"]
Views = dict[ChipName, Address]
MemoryViews = dict[ChipName, MemoryAddress]
RegisterPlace = Annotated[
    str, *text(_PLACE, "a register such as STATUS, or a field of one such as STATUS.BUSY")
]
ParameterName = Annotated[str, *text(_PARAMETER, "the name of a parameter such as ResetAddress")]
PackageName = Annotated[str, *text(_PACKAGE, "the name of a Python package")]
FilePath = Annotated[str, *text(_PATH, "the path of a file")]
SourceText = Annotated[str, *text(_SOURCE, "one line of at most 200 characters")]
SectionName = Annotated[
    str, *text(_SECTION, "the name of a section of an ELF file, such as DTCM or .ext_ram")
]
PortName = Annotated[str, *text(_PORT, "the name of a port, such as clock or !reset")]
PortNames = Annotated[
    str, *text(_PORTS, "the name of a port, such as clock or !reset, or as M_AXI_{SIGNAL}")
]
KnownPorts = Annotated[str, *text(_KNOWN_PORTS, "a port such as clk_i, or many such as m_axi_*")]
ModuleName = Annotated[str, *text(_MODULE, "the name of a module such as mine")]
PortTie = Annotated[
    str,
    BeforeValidator(_tie),
    WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "string"}]}),
]
MacroName = Annotated[str, *text(_MACRO, "the name of a macro such as LANES")]
Bits = Annotated[
    tuple[int, int],
    BeforeValidator(_bits),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": 31},
                {
                    "type": "array",
                    "items": {"type": "integer", "minimum": 0, "maximum": 31},
                    "minItems": 2,
                    "maxItems": 2,
                },
            ]
        }
    ),
]
MacroValue = Annotated[
    str,
    BeforeValidator(_macro_value),
    WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "string"}]}),
]
DriverName = Annotated[
    str, *text(_DRIVER, "the name of a driver such as command_list, or a path such as ./mine.c")
]

Share = Annotated[float, *decimal(0, 10)]


class BandOf(Described):
    """How far an estimate may be off, as shares of it."""

    low: Share = Field(description="How far the truth may lie below it.", examples=["0.2"])
    high: Share = Field(description="How far the truth may lie above it.", examples=["0.3"])
