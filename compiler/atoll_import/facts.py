# SPDX-License-Identifier: Apache-2.0
"""What files of any format say of a chip: the one model that every reader fills."""

from collections.abc import Mapping
from dataclasses import field
from fractions import Fraction
from pathlib import Path

from atoll.description.devices import CodeTarget, CoreLimits, Span, Stack
from atoll.records import dataclass
from atoll.resolve.soc import PoolSpeed
from atoll.vela.ini_file import VelaConfig


@dataclass(frozen=True, slots=True)
class Source:
    """Where something is said. `line` counts from 1; 0 is a file without lines."""

    path: Path
    line: int
    what: str = ""

    def __str__(self) -> str:
        place = f"{self.path.name}:{self.line}" if self.line else self.path.name
        return f"{place} {self.what}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """A core; what is None the file does not say.

    Attributes:
        name: as the file has it.
        kind: ``cpu`` or ``dsp``; empty if the file does not say.
        word: what the file calls the kind of core, such as ``CM4``; empty if it does not say.
        core: the name of the core that Atoll has for it.
        isas: the instruction sets that it can be; one if the file decides it.
        said: the instruction set as the file has it, of RISC-V.
        clock: in hertz.
        mailbox: address of its registers at the host.
        shared_mailbox: name of the memory that has its mailbox instead; empty if none has.
        irq: line of the mailbox at the host.
        loader: what brings its code, where an export of ours says it; else empty.
        code: region of its code, likewise.
        data: region of its data, likewise.
        stack: its stacks, likewise.
        limits: of its stacks, likewise.
        targets: further ways to make its code, likewise.
        source: where the file says so; None if it only follows that there is a core.
    """

    name: str
    kind: str = ""
    word: str = ""
    core: str | None = None
    isas: tuple[str, ...] = ()
    said: str = ""
    clock: int | None = None
    mailbox: int | None = None
    shared_mailbox: str = ""
    irq: int | None = None
    loader: str = ""
    code: Span | None = None
    data: Span | None = None
    stack: Stack | None = None
    limits: CoreLimits | None = None
    targets: Mapping[str, CodeTarget] = field(default_factory=dict)
    source: Source | None = None

    @property
    def has_mailbox(self) -> bool:
        """Whether the host has it run operators."""
        return self.mailbox is not None or bool(self.shared_mailbox)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A memory on the bus; what is None the file does not say.

    Attributes:
        name: as the file has it.
        origin: address of the first byte.
        others: further addresses at which devices see it too.
        views: addresses at which cores see it instead, each with the name of the core.
        space: what else has addresses of its own, in which `origin` is one; empty is the bus.
        alias: name of the memory whose bytes it shows; `undecided` if it may be one; else empty.
        perhaps: name of the memory whose bytes an undecided alias may show; else empty.
        size: bytes.
        writable: whether cores store to it: a RAM if they do, a ROM or flash if they do not.
        why: what says whether it is writable.
        cores: names of the cores of which the file says that they reach it.
        width: bytes in a cycle.
        source: where the file says so.
    """

    name: str
    origin: int
    others: tuple[int, ...] = ()
    views: tuple[tuple[str, int], ...] = ()
    space: str = ""
    alias: str = ""
    perhaps: str = ""
    size: int
    writable: bool | None
    why: str = ""
    cores: tuple[str, ...] = ()
    width: int | None = None
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolWindow:
    """Bytes of a memory that a file gives to one device as a pool.

    Attributes:
        name: of the pool.
        memory: name of the memory, where no other file has one there.
        origin: address of the first byte on the bus.
        size: bytes.
        device: name of the master.
        writable: it stores to them.
        constants: whether they are for constants; None if the file leaves it open.
        width: bytes in a cycle.
        ratio: cycles of the device in one of these.
        preference: as of pools in a description.
        why: what `preference` follows from.
        source: where the file says so.
    """

    name: str
    memory: str
    origin: int
    size: int
    device: str
    writable: bool
    constants: bool | None
    width: int
    ratio: Fraction
    preference: int
    why: str
    source: Source

    @property
    def end(self) -> int:
        """Return the first address behind it."""
        return self.origin + self.size


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """A memory of which a file says what an Ethos-U uses it for, and not where it is.

    Attributes:
        name: as the file has it.
        is_ram: RAM, else a flash.
        role: of the pool.
        speed: of the pool; None if the file does not decide it.
        size: of the pool, in bytes; None if the file does not say.
        source: where the file says so.
    """

    name: str
    is_ram: bool
    role: str
    speed: PoolSpeed | None
    size: int | None
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """An accelerator or a DMA engine that Atoll has; `moves` tells the second from the first.

    Attributes:
        accelerator: empty if the file does not say which.
        registers: None if the file does not say.
        clock: in hertz, where the file says so.
        macs: multiply-accumulates in a cycle of an Ethos-U, where it is said.
        runs_vela: it is the Ethos-U of a configuration of Vela.
        between: memories that it copies from and to, where the file says so.
    """

    name: str
    accelerator: str
    moves: bool
    registers: int | None
    irq: int | None
    clock: int | None = None
    macs: int | None = None
    runs_vela: bool = False
    between: tuple[tuple[str, str], ...] = ()
    source: Source

    @property
    def is_ethos_u(self) -> bool:
        """Return whether it is one of Arm's NPUs that Vela compiles for."""
        return self.runs_vela or self.accelerator.startswith("ethos_u")


@dataclass(frozen=True, slots=True, kw_only=True)
class Master:
    """A DMA controller that Atoll has no engine for.

    Attributes:
        name: as the file has it.
        what: what else the file says, such as its address.
        clocks: the file counts in cycles of its clock, and does not say that.
        source: where the file says so.
    """

    name: str
    what: str
    clocks: bool = False
    source: Source


@dataclass(frozen=True, slots=True)
class Reserved:
    """Bytes of memories that nothing may map, by their addresses on the bus."""

    name: str
    span: range
    source: Source


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something of a file for which the description has no place, or that needs a human."""

    what: str
    why: str
    source: Source


def memory_left_out(name: str, origin: int | None, why: str, source: Source) -> LeftOut:
    """Return that a memory is left out; `origin` is None if the file has no address of it."""
    place = "" if origin is None else f" at {origin:#x}"
    return LeftOut(f"memory {name}{place}", why, source)


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What one file, or all files together, say of a chip.

    Attributes:
        name: of the chip, as the file has it.
        console: address of Atoll's console, where an export of ours says it.
        host: name of the core that starts everything, likewise.
        windows: pools that files name.
        mpool: the memory-pool file of ST Edge AI, and the name of its device.
        areas: memories at the ports of an Ethos-U.
        vela: the configuration of Vela that they are of.
    """

    name: str = ""
    cores: tuple[Core, ...] = ()
    memories: tuple[Memory, ...] = ()
    engines: tuple[Engine, ...] = ()
    masters: tuple[Master, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    reserved: tuple[Reserved, ...] = ()
    console: int | None = None
    host: str = ""
    windows: tuple[PoolWindow, ...] = ()
    mpool: tuple[Path, str] | None = None
    areas: tuple[Area, ...] = ()
    vela: VelaConfig | None = None


MEMORY_WORDS: Mapping[str, bool] = {
    **dict.fromkeys(("rom", "flash", "irom", "bootrom", "maskrom", "spiflash", "otp"), False),
    **dict.fromkeys(("ram", "sram", "iram", "dram", "sdram", "ddr", "psram", "hyperram"), True),
    **dict.fromkeys(
        ("tcm", "dtcm", "itcm", "atcm", "btcm", "dtim", "itim", "ccm", "ccmram", "ocram", "bram"),
        True,
    ),
}
"""Whether a memory is writable whose name has this word."""

MEMORY_NOUNS = (
    frozenset(MEMORY_WORDS)
    | {
        *("memory", "mem", "ocm", "fram", "mram", "rram", "nvram", "nvm", "bbram", "lpddr", "xip"),
        *("nor", "nand", "eeprom", "hyperflash", "spm", "scratchpad", "iccm", "dccm", "sysram"),
        "lim",
    }
) - {"ccm"}
"""Words for memories in names of nodes and of models; `ccm` there is a clock's block too."""

PLACE_WORDS = frozenset(
    (
        *("main", "boot", "system", "sys", "shared", "global", "local", "core", "cpu", "user"),
        *("internal", "external", "int", "ext", "on", "off", "chip", "onchip", "bank", "low"),
        *("high", "lower", "upper", "code", "data", "program", "prog", "axi", "ahb", "spi"),
        *(
            "qspi",
            "ospi",
            "xspi",
            "quad",
            "nor",
            "mask",
            "oc",
            "mcu",
            "secure",
            "non",
            "mem",
            "memory",
            "space",
        ),
        *"abcdilmnsx",
    )
)
"""Words of a memory's name that say where it is, which is not another use."""
