# SPDX-License-Identifier: Apache-2.0
"""What work takes of energy, and parts of area: numbers of whoever describes the chip.

Nothing here has a default. What is not stated is not known, and no sum with it is.
"""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from atoll.description.fields import (
    MAX_ENTRIES,
    Described,
    Integer,
    Name,
    SourceText,
    decimal,
    must_be,
)

_MOST = 1_000_000
_MOST_UM2 = 10**12


def _positive(given: object) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given <= _MOST:
        raise must_be(f"a number above 0, at most {_MOST}")
    return float(given)


Picojoules = Annotated[
    float,
    BeforeValidator(_positive),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "maximum": _MOST}),
]
PicojoulesOrZero = Annotated[float, *decimal(0, _MOST)]
Milliwatts = Annotated[float, *decimal(0, _MOST)]
SquareMicrometres = Annotated[float, *decimal(1, _MOST_UM2)]


class Stated(Described):
    """Numbers with their source."""

    source: SourceText = Field(
        description="Where the numbers come from: a publication and its table, or one's own tool "
        "and measurement.",
        examples=["own measurement"],
    )
    basis: Literal["measured", "published", "told"] = Field(
        default="told",
        description="What they rest on: 'measured', this hardware or a simulation of its netlist; "
        "'published', the source is a publication; 'told', neither.",
        examples=["published"],
    )


class DeviceEnergy(Stated):
    """What a device takes: dynamic energy of its cycles and products, and static power."""

    active_pj_per_cycle: PicojoulesOrZero | None = Field(
        default=None,
        description="Picojoules of a cycle of its clock in which it works, without memories.",
        examples=["8.5"],
    )
    idle_pj_per_cycle: PicojoulesOrZero | None = Field(
        default=None,
        description="Picojoules of a cycle in which it waits; 0 where its clock then stands.",
        examples=["0.5"],
    )
    pj_per_mac: Picojoules | None = Field(
        default=None,
        description="Picojoules of a multiply-accumulate beside those of its cycle.",
        examples=["0.3"],
    )
    leakage_mw: Milliwatts | None = Field(
        default=None, description="Static power in milliwatts.", examples=["0.05"]
    )


class MemoryEnergy(Stated):
    """What a memory takes: dynamic energy of accesses, and static power."""

    read_pj_per_byte: Picojoules | None = Field(
        default=None, description="Picojoules of a byte that is read.", examples=["1.2"]
    )
    write_pj_per_byte: Picojoules | None = Field(
        default=None, description="Picojoules of a byte that is written.", examples=["1.4"]
    )
    leakage_mw: Milliwatts | None = Field(
        default=None, description="Static power in milliwatts.", examples=["0.2"]
    )


class Area(Stated):
    """What a part takes of the chip."""

    um2: SquareMicrometres = Field(description="Square micrometres.", examples=["21500"])
    library: Name | None = Field(
        default=None,
        description="The library of cells that a device was mapped to, without its SRAM: with "
        "'sky130_fd_sc_hd', it counts in place of Atoll's own figure in 'logic_um2' of sweeps.",
        examples=["sky130_fd_sc_hd"],
    )


class OfParameters(Described):
    """Numbers of an accelerator that hold for some of its instances."""

    params: dict[Name, Integer] = Field(
        default={},
        max_length=MAX_ENTRIES,
        description="Parameters of the instance, the defaults if not said; of instances with "
        "others nothing is stated.",
        examples=["{lanes: 8}"],
    )


class AcceleratorEnergy(DeviceEnergy, OfParameters):
    """What instances with some parameters take."""


class AcceleratorArea(Area, OfParameters):
    """What instances with some parameters take of the chip."""
