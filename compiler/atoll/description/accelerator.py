"""The description of an accelerator: what it runs, its parameters and its registers."""

from collections.abc import Mapping

from pydantic import Field

from atoll.description.fields import (
    MAX_ENTRIES,
    ConstantName,
    Described,
    EntryPointName,
    FileName,
    Integer,
    Name,
    PositiveSize,
    Size,
    Version,
)


class Parameter(Described):
    """One parameter of an accelerator and the values that an instance may give it."""

    default: Integer = Field(examples=["8"])
    choices: tuple[Integer, ...] | None = Field(default=None, min_length=1, max_length=MAX_ENTRIES)
    min: Integer | None = None
    max: Integer | None = None
    power_of_two: bool = Field(default=False, strict=True)
    at_least: tuple[Name, ...] = Field(
        default=(), max_length=MAX_ENTRIES, description="Parameters that it may not be less than."
    )

    def objection(self, value: int, params: Mapping[str, int]) -> str | None:
        """Say what `value` must be if it is not allowed beside the other `params`."""
        if self.choices is not None and value not in self.choices:
            return f"one of {', '.join(map(str, self.choices))}"
        if self.min is not None and value < self.min:
            return f"at least {self.min}"
        if self.max is not None and value > self.max:
            return f"at most {self.max}"
        if self.power_of_two and (value < 1 or value.bit_count() != 1):
            return "a power of two"
        floor = max(self.at_least, key=lambda name: params.get(name, 0), default=None)
        if floor is not None and value < params.get(floor, 0):
            return f"at least {params[floor]}, which is '{floor}'"
        return None


class FeatureLimit(Described):
    """The values that a feature of an operator may have, inclusive."""

    min: Integer | None = None
    max: Integer | None = None


class Operator(Described):
    """An operator that the accelerator runs within limits."""

    limits: dict[Name, FeatureLimit] = Field(default={}, max_length=MAX_ENTRIES)


class RegisterBlock(Described):
    """The control port."""

    size: PositiveSize = Field(examples=["4 KiB"])
    map: dict[ConstantName, Size] = Field(
        max_length=MAX_ENTRIES, description="Offsets by register name.", examples=["{ID: 0x00}"]
    )


class Rtl(Described):
    """The hardware: a module with the ports of docs/platform.md."""

    module: Name = Field(examples=["reef"])
    sources: tuple[FileName, ...] = Field(
        min_length=1,
        max_length=4 * MAX_ENTRIES,
        description="In compile order: names of files that Atoll ships, or with a '/' paths "
        "relative to this file.",
        examples=["[./mine.sv]"],
    )


class Accelerator(Described):
    """What all instances of an accelerator have in common."""

    accelerator: Name = Field(description="Name of the accelerator.", examples=["reef"])
    version: Version = Field(description="Version of this format.", examples=["1"])
    parameters: dict[Name, Parameter] = Field(default={}, max_length=MAX_ENTRIES)
    operators: dict[ConstantName, Operator] = Field(min_length=1, max_length=MAX_ENTRIES)
    registers: RegisterBlock = Field(examples=["{size: 4 KiB, map: {ID: 0x00}}"])
    rtl: Rtl | None = Field(default=None, examples=["{module: reef, sources: [reef.sv]}"])
    emitter: EntryPointName = Field(
        description="What makes its commands.", examples=["package.module:Class"]
    )
    model: EntryPointName = Field(
        description="Its bit-exact software model.", examples=["package.module:Class"]
    )
    driver: Name = Field(description="Its C driver in the BSP.", examples=["command_list"])
    asynchronous: bool = Field(
        strict=True, description="It works while the CPU does.", examples=["true"]
    )
    addresses: tuple[Size, ...] = Field(
        default=(),
        max_length=MAX_ENTRIES,
        description="Bytes of a command at which an address of 32 bits lies.",
        examples=["[0x04, 0x08]"],
    )
