# SPDX-License-Identifier: Apache-2.0
"""The SoC description, field for field. Nothing here is derived; see `atoll.resolve`."""

from typing import Any, Literal

from pydantic import Field, model_validator

from atoll.description.aliases import NO_ALIAS, complete_aliases
from atoll.description.devices import Device, Limits
from atoll.description.energy import Area, MemoryEnergy
from atoll.description.fields import (
    MAX_ENTRIES,
    Access,
    Address,
    Alignment,
    Areas,
    Bandwidth,
    Banks,
    ChipName,
    Delay,
    Described,
    FilePath,
    Frequency,
    Granule,
    Latency,
    MachineName,
    MasterNumber,
    MemoryAddress,
    MemorySize,
    MemoryViews,
    PositiveSize,
    Preference,
    SectionName,
    Size,
    SourceText,
    Version,
    Width,
)

CONSOLE = 0xF000_0000


class Isolation(Described):
    """What keeps masters off parts of a memory, at the memory: an MPC, a RIF, an IOPMP, an xPU."""

    granule: Granule = Field(
        description="It tells nothing smaller apart: what has other rights begins at a multiple.",
        examples=["4 KiB"],
    )
    masters: dict[ChipName, MasterNumber] = Field(
        min_length=1,
        max_length=MAX_ENTRIES,
        description="The number by which it knows each device that reaches the memory.",
    )
    areas: Areas | None = Field(
        default=None,
        description="How many areas it can tell apart; as many as there are by default.",
        examples=["16"],
    )


class Memory(Described):
    """One physical memory on the bus, or other addresses of one (`alias_of`)."""

    origin: MemoryAddress = Field(
        description="Address of the first byte.", examples=["0x2000_0000"]
    )
    size: MemorySize = Field(description="Bytes it holds.", examples=["256 KiB"])
    kind: Literal["rom", "ram"] = Field(description="rom or ram.", examples=["ram"])
    width: Width = Field(default=4, description="Bytes moved per cycle.")
    banks: Banks = Field(default=1, description="Interleaved banks that work in one cycle.")
    read_latency: Latency = Field(default=1, description="Cycles from a read to its data.")
    cached: bool = Field(
        default=True, strict=True, description="Cores with a data cache keep lines of it."
    )
    sector: PositiveSize | None = Field(
        default=None,
        description="Bytes that flash erases at once; without it debuggers program nothing.",
        examples=["4 KiB"],
    )
    reach: Access | None = Field(
        default=None, description="What devices may do with its pools where nothing else says so."
    )
    views: MemoryViews = Field(
        default={},
        max_length=MAX_ENTRIES,
        description="Address of the first byte at each device that sees it elsewhere.",
        examples=[{"npu": "0x3000_0000"}],
    )
    isolation: Isolation | None = Field(
        default=None,
        description="The unit that keeps masters off parts of it, if it has one.",
    )
    energy: MemoryEnergy | None = Field(
        default=None,
        description="What its accesses take of energy.",
        examples=["{source: own measurement, read_pj_per_byte: 1.2}"],
    )
    area: Area | None = Field(
        default=None,
        description="What it takes of the chip.",
        examples=["{source: own synthesis, um2: 21500}"],
    )
    alias_of: ChipName | None = Field(
        default=None,
        description="The memory whose bytes these are, at other addresses; 'none' says that they"
        " are bytes of their own. What is not written here is as that memory has it.",
        examples=["sram"],
    )
    offset: Size | None = Field(
        default=None, description="Of an alias: its first byte, counted from the memory's."
    )

    @property
    def real(self) -> str | None:
        """The memory that it is an alias of."""
        return None if self.alias_of == NO_ALIAS else self.alias_of


class Pool(Described):
    """A window of one memory in which the planner may place buffers."""

    memory: ChipName = Field(description="The memory that holds it.", examples=["sram"])
    role: Literal["constants", "workspace", "both", "state"] = Field(
        description="Weights and tables, activations, both, or state that outlives a run.",
        examples=["workspace"],
    )
    reach: dict[ChipName, Access] = Field(
        default={}, max_length=MAX_ENTRIES, description="What each device may do with it."
    )
    others: Access | None = Field(
        default=None, description="What each device may do with it that 'reach' does not name."
    )
    offset: Size | None = Field(
        default=None, description="First byte, counted from the memory's origin."
    )
    size: PositiveSize | None = Field(default=None, description="All that is left by default.")
    alignment: Alignment = Field(default=16, description="Every buffer starts at a multiple.")
    preference: Preference = Field(default=0, description="Smaller numbers are tried first.")
    read_bandwidth: Bandwidth | None = Field(
        default=None, description="Bytes read per cycle; the memory's width by default."
    )
    write_bandwidth: Bandwidth | None = Field(
        default=None, description="Bytes written per cycle; the memory's width by default."
    )
    latency: Delay | None = Field(
        default=None,
        description="Cycles from a burst's request to its first data; the memory's by default.",
    )
    burst: PositiveSize | None = Field(
        default=None, description="Most bytes of one burst; no limit by default."
    )
    clock: Frequency | None = Field(
        default=None, description="Clock of bandwidth and latency; the host's by default."
    )
    heap: Size = Field(
        default=0, description="Bytes at its end for buffers that are sized at run time."
    )
    provided: Literal["internal", "application"] = Field(
        default="internal",
        description="Who defines its bytes: the image, or the application that calls the model.",
    )
    section: SectionName | None = Field(
        default=None,
        description="Section of the application's own that lies there, such as DTCM.",
    )


class Interface(Described):
    """How compiled models meet the application."""

    map_inputs: bool = Field(
        default=False, strict=True, description="Inputs are written where the plan put them."
    )
    map_outputs: bool = Field(
        default=False, strict=True, description="Outputs are read where the plan put them."
    )


class Qemu(Described):
    """The machine of QEMU that the chip is, for `--cpu qemu`."""

    machine: MachineName = Field(
        description="What `qemu-system-... -machine help` calls it. The chip's memories lie where "
        "the machine has memory; its console is a page of the machine's RAM outside of them.",
        examples=["mps2-an385"],
    )


class MemoryPools(Described):
    """The memory-pool file of ST Edge AI that goes with the chip, for `atoll bsp`."""

    device: ChipName = Field(
        description="The NPU that ST Edge AI compiles for; the file has the pools that it reaches.",
        examples=["npu"],
    )
    file: FilePath = Field(
        description="The vendor's file, relative to this one: what a description has no place for "
        "is written as it is there.",
        examples=["./stm32n6.mpool"],
    )


class VelaFile(Described):
    """The configuration file of Vela that goes with the chip, for `atoll bsp`."""

    file: FilePath = Field(
        description="The file, relative to this one: what a description has no place for is "
        "written as it is there.",
        examples=["./vela.ini"],
    )
    system_config: SourceText = Field(
        description="Name of its system configuration that counts.",
        examples=["Ethos_U55_High_End_Embedded"],
    )
    memory_mode: SourceText = Field(
        description="Name of its memory mode that counts.", examples=["Shared_Sram"]
    )


class Soc(Described):
    """A whole chip."""

    soc: ChipName = Field(description="Name of the chip.", examples=["my_chip"])
    version: Version = Field(description="Version of this format.", examples=["1"])
    extends: str | None = Field(default=None, description="A description to start from.")
    devices: dict[ChipName, Device] = Field(
        min_length=1, max_length=MAX_ENTRIES, description="Cores, accelerators, DMA engines."
    )
    memories: dict[ChipName, Memory] = Field(min_length=1, max_length=MAX_ENTRIES)
    pools: dict[ChipName, Pool] = Field(min_length=1, max_length=MAX_ENTRIES)
    host: ChipName | None = Field(
        default=None, description="The core that starts everything; the first CPU by default."
    )
    default_device: ChipName | None = Field(
        default=None, description="Where operators go that nothing constrains."
    )
    console: Address = Field(default=CONSOLE, description="Address of the bench's registers.")
    limits: Limits = Limits()
    interface: Interface = Interface()
    qemu: Qemu | None = Field(default=None, examples=["{machine: mps2-an385}"])
    mpool: MemoryPools | None = Field(
        default=None, examples=["{device: npu, file: ./stm32n6.mpool}"]
    )
    vela: VelaFile | None = Field(
        default=None,
        examples=["{file: ./vela.ini, system_config: My_Chip, memory_mode: Shared_Sram}"],
    )

    @model_validator(mode="before")
    @classmethod
    def _complete_aliases(cls, data: Any) -> Any:
        return complete_aliases(data)
