# SPDX-License-Identifier: Apache-2.0
"""What the compiler hands to the BSP, and what the BSP hands back."""

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from types import MappingProxyType

from atoll.diagnostics.units import format_size
from atoll.records import dataclass
from atoll.stack.bound import StackBound

ELF_NAME = "firmware.elf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """A tensor that crosses the interface of a model, in its planned buffer.

    Attributes:
        name: tensor name; C names are made from it.
        size: bytes.
        address: of the planned buffer, as the host sees it.
        dtype: a key of `atoll.ir.graph.ITEM_BYTES`.
        shape: elements per dimension.
        scale: a number n stands for scale * (n - zero_point), None if it stands for itself.
        zero_point: likewise.
    """

    name: str
    size: int
    address: int
    dtype: str = "int8"
    shape: tuple[int, ...] = ()
    scale: float | None = None
    zero_point: int = 0


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
        section: that the linker script puts there.
    """

    pool: str
    size: int
    alignment: int
    section: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenConstants:
    """The constants of a model in a pool whose bytes the application defines.

    Attributes:
        data: their bytes, gaps zero.
        offset: of the first one from the pool's origin, behind those of other models.
        alignment: of the pool's first byte.
        section: that the linker script puts at the pool's origin.
    """

    pool: str
    data: bytes
    offset: int
    alignment: int
    section: str

    @property
    def size(self) -> int:
        """Return how many bytes it has."""
        return len(self.data)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInterface:
    """What an application must know of a compiled model.

    Attributes:
        name: prefix of every C name; the host's object file defines ``<name>_run``.
        suffix: of the model's file.
        inputs: in the model's order.
        outputs: in the model's order.
        shares: what the model takes of each pool that it uses.
        pools: those that the application provides for workspaces.
        constants: what the application defines of the model's constants.
        devices: accelerators and other cores that the model runs.
        map_inputs: the run function takes no inputs; they are written where the plan put them.
        map_outputs: likewise for outputs.
        states: what the model keeps from run to run, until its reset function is called.
        threads: (core, thread) where it does not run on the core's main stack.
    """

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    shares: tuple[PoolShare, ...] = ()
    pools: tuple[GivenPool, ...] = ()
    constants: tuple[GivenConstants, ...] = ()
    devices: tuple[str, ...] = ()
    map_inputs: bool = False
    map_outputs: bool = False
    states: tuple[Port, ...] = ()
    suffix: str = ".tflite"
    threads: tuple[tuple[str, str], ...] = ()

    def thread_on(self, core: str) -> str:
        """Return the thread of a core that the model runs on, "" for the main one."""
        return dict(self.threads).get(core, "")

    @property
    def parameters(self) -> tuple[str, ...]:
        """The structs that the run function takes, as `atoll.codegen.run_arguments`."""
        given = {
            "inputs": self.inputs and not self.map_inputs,
            "outputs": self.outputs and not self.map_outputs,
            "pools": self.pools,
            "parameters": self.constants,
            "devices": self.devices,
        }
        return tuple(name for name, members in given.items() if members)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionUse:
    """Bytes that the linked image takes of a region of its core or of a pool."""

    region: str
    used: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """The linked image of one core.

    Attributes:
        core: its name.
        elf: name of the file in the build folder.
        map: likewise, the linker's map of `elf`.
        toolchain: name, version and target of the tools that made it.
        use: regions with contents, pools first.
        stack: most bytes of stack that the whole image can use, interrupts apart.
        targets: most bytes of it that kernels of each target can use, None where names of several
            networks hide it; targets without kernels are left out.
    """

    core: str
    elf: str
    map: str
    toolchain: str
    use: tuple[RegionUse, ...]
    stack: StackBound
    targets: Mapping[str, int | None] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """Return what the image takes, for programs."""
        return {
            "core": self.core,
            "elf": self.elf,
            "map": self.map,
            "toolchain": self.toolchain,
            "regions": [
                {"region": use.region, "used_bytes": use.used, "size_bytes": use.size}
                for use in self.use
            ],
            "stack_bytes": self.stack.bytes,
            "targets": {name: {"stack_bytes": size} for name, size in self.targets.items()},
        }

    def summary(self) -> str:
        """Say in one line what the image takes of each region."""
        parts = (f"{use.region} {use.used} B of {format_size(use.size)}" for use in self.use)
        known = (f"{name} {size} B" for name, size in self.targets.items() if size is not None)
        kernels = ", ".join(known)
        stack = f"{self.stack.bytes} B" + (f" (kernels for {kernels})" if kernels else "")
        return f"{self.elf}: {', '.join(parts)}, stack {stack}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Firmware:
    """The linked images of a chip.

    Attributes:
        folder: the build folder that holds them.
        images: one for each core that runs operators, the host's first.
    """

    folder: Path
    images: tuple[Image, ...]

    @property
    def host(self) -> Image:
        """The image of the host."""
        return self.images[0]

    @property
    def elf(self) -> Path:
        """The host's file that a loader or the simulator takes."""
        return self.folder / self.host.elf

    @property
    def elves(self) -> tuple[Path, ...]:
        """The files of all cores, the host's first."""
        return tuple(self.folder / image.elf for image in self.images)

    @property
    def map(self) -> Path:
        """The linker's map of `elf`."""
        return self.folder / self.host.map

    @property
    def toolchain(self) -> str:
        """Name, version and target of the tools that made the host's image."""
        return self.host.toolchain

    @property
    def use(self) -> tuple[RegionUse, ...]:
        """Regions of all images with contents, pools and the host's first."""
        return tuple(use for image in self.images for use in image.use)

    @property
    def stack(self) -> StackBound:
        """Most bytes of the host's stack that its image can use, interrupts apart."""
        return self.host.stack

    @property
    def stacks(self) -> Mapping[str, StackBound]:
        """Likewise by core."""
        return MappingProxyType({image.core: image.stack for image in self.images})

    def summary(self) -> str:
        """Say in one line what the images take of each region."""
        return "; ".join(image.summary() for image in self.images)
