"""What the compiler hands to the BSP, and what the BSP hands back."""

from dataclasses import dataclass
from pathlib import Path

from atoll.bsp.elf_stack import StackBound
from atoll.units import format_size

ELF_NAME = "firmware.elf"
MAP_NAME = "firmware.map"


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """A tensor that crosses the interface of a model, in its planned buffer.

    Attributes:
        name: tensor name; C names are made from it.
        size: bytes.
        address: absolute address of the planned buffer.
        dtype: a key of `atoll.ir.graph.ITEM_BYTES`.
    """

    name: str
    size: int
    address: int
    dtype: str = "int8"


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolShare:
    """Bytes of one pool that a model takes: up to its highest workspace or constant."""

    pool: str
    workspace: int
    constants: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenPool:
    """A pool whose bytes the application defines.

    Attributes:
        size: bytes that the model needs of it.
        alignment: of the first byte.
    """

    pool: str
    size: int
    alignment: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInterface:
    """What an application must know of a compiled model.

    Attributes:
        name: prefix of every C name; the object file defines ``<name>_run``.
        inputs: in the model's order.
        outputs: in the model's order.
        shares: what the model takes of each pool that it uses.
        pools: those that the application provides.
        devices: accelerators that the model runs.
        map_inputs: the run function takes no inputs; they are written where the plan put them.
        map_outputs: likewise for outputs.
    """

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    shares: tuple[PoolShare, ...] = ()
    pools: tuple[GivenPool, ...] = ()
    devices: tuple[str, ...] = ()
    map_inputs: bool = False
    map_outputs: bool = False

    @property
    def parameters(self) -> tuple[str, ...]:
        """The structs that the run function takes, as `atoll.memory.run_arguments`."""
        given = {
            "inputs": self.inputs and not self.map_inputs,
            "outputs": self.outputs and not self.map_outputs,
            "pools": self.pools,
            "devices": self.devices,
        }
        return tuple(name for name, members in given.items() if members)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionUse:
    """Bytes that the linked image takes of a region of the host core or of a pool."""

    region: str
    used: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Firmware:
    """A linked image.

    Attributes:
        folder: the build folder that holds it.
        toolchain: name and version of the tools that made it.
        use: regions with contents, pools first.
        stack: most bytes of stack that the whole image can use, interrupts apart.
    """

    folder: Path
    toolchain: str
    use: tuple[RegionUse, ...]
    stack: StackBound

    @property
    def elf(self) -> Path:
        """The file that a loader or the simulator takes."""
        return self.folder / ELF_NAME

    @property
    def map(self) -> Path:
        """The linker's map of `elf`."""
        return self.folder / MAP_NAME

    def summary(self) -> str:
        """Say in one line what the image takes of each region."""
        parts = (f"{use.region} {use.used} B of {format_size(use.size)}" for use in self.use)
        return f"{ELF_NAME}: {', '.join(parts)}, stack {self.stack.bytes} B"
