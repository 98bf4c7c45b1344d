# SPDX-License-Identifier: Apache-2.0
"""What a board support package is made from, who writes its files, and whose they are."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import PurePosixPath

from atoll.artifacts.build_tree import part_of
from atoll.artifacts.samples import Sample
from atoll.bsp.core_images import image_cores, sources_for
from atoll.bsp.emitters import bsp_files
from atoll.bsp.firmware import Part
from atoll.bsp.interface import ModelInterface
from atoll.bsp.missing_driver import without_assumptions
from atoll.diagnostics.errors import AtollError, UsageError
from atoll.driver.pipeline import Compiled
from atoll.plugins.loading import CORRECT_MEMBER
from atoll.plugins.registry import Registry
from atoll.records import dataclass
from atoll.resolve.soc import Cpu, ResolvedSoc
from atoll_board.examples import Example, example_of
from atoll_board.paths import is_path, refuse_path_clashes
from atoll_board.uart import Uart


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A file of the package.

    Attributes:
        data: what is in it.
        kept: it is the user's: made once, never written again.
    """

    data: bytes
    kept: bool = False

    @property
    def digest(self) -> str:
        """SHA-256 of the data, in hexadecimal digits."""
        return sha256(self.data).hexdigest()


def generated_entry(text: str) -> Entry:
    """Return a file that is Atoll's."""
    return Entry(data=text.encode())


def users(text: str) -> Entry:
    """Return a file that is the user's from the moment when it is there."""
    return Entry(data=text.encode(), kept=True)


@dataclass(frozen=True, kw_only=True)
class Board:
    """A chip and the networks that its firmware runs.

    Attributes:
        soc: the chip.
        parts: the networks, compiled; there may be none.
        networks: likewise, before they were machine code of the chip.
        examples: a run of each.
        selftest: the package has a self-test beside the application.
        uart: over which an image beside the application serves a host; None makes no such image.
    """

    soc: ResolvedSoc
    parts: tuple[Part, ...] = ()
    networks: tuple[Compiled, ...] = ()
    examples: tuple[Example, ...] = ()
    selftest: bool = False
    uart: Uart | None = None

    @property
    def models(self) -> tuple[ModelInterface, ...]:
        """What an application sees of each network."""
        return tuple(part.interface for part in self.parts)

    @classmethod
    def of(
        cls,
        soc: ResolvedSoc,
        compiled: Sequence[Compiled],
        samples: Sequence[Sequence[Sample]],
        *,
        selftest: bool = False,
        uart: Uart | None = None,
    ) -> "Board":
        """Return the board of networks, each with its samples; the first is the example."""
        runs = zip(compiled, samples, strict=True)
        return cls(
            soc=without_assumptions(soc),
            parts=tuple(part_of(each, position) for position, each in enumerate(compiled)),
            networks=tuple(compiled),
            examples=tuple(example_of(network, given) for network, given in runs),
            selftest=selftest,
            uart=uart,
        )

    @property
    def cores(self) -> tuple[Cpu, ...]:
        """The cores that have an image, the host first."""
        return image_cores(self.soc)

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """The text of every file that the images are built from, by its plain name."""
        origins = {symbol: at for part in self.parts for symbol, at in part.origins.items()}
        return bsp_files(self.soc, *self.models, origins=origins)

    def sources(self, core: Cpu) -> tuple[str, ...]:
        """Return the plain names of the C and assembly files of a core's image."""
        return sources_for(self.soc, core, self.texts)


ONLY_IF_NAMED = ("executorch",)
"""Emitters of what few firmwares want."""

BoardEmitter = Callable[[Board], Mapping[str, Entry]]
"""Returns files by their path in the package, with ``/`` between folders."""

EMITTERS: Registry[BoardEmitter] = Registry(
    group="atoll.board_emitters",
    noun="emitter of board support packages",
    own={
        "linker": "atoll_board.sources:linker_files",
        "startup": "atoll_board.sources:startup_files",
        "headers": "atoll_board.sources:header_files",
        "drivers": "atoll_board.sources:driver_files",
        "application": "atoll_board.sources:application_files",
        "models": "atoll_board.sources:model_files",
        "cmake": "atoll_board.cmake:cmake_files",
        "protection": "atoll_board.protection_headers:protection_files",
        "selftest": "atoll_board.selftest:selftest_files",
        "serial": "atoll_board.serial:serial_files",
        "svd": "atoll_board.svd:svd_files",
        "systemrdl": "atoll_board.systemrdl:systemrdl_files",
        "ipxact": "atoll_board.ipxact:ipxact_files",
        "gdb": "atoll_board.gdb:gdb_files",
        "renode": "atoll_board.renode:renode_files",
        "openocd": "atoll_board.openocd:openocd_files",
        "cmsis-pack": "atoll_board.cmsis_pack:cmsis_pack_files",
        "rust": "atoll_board.rust:rust_files",
        "python": "atoll_board.python:python_files",
        "metadata": "atoll_board.metadata:metadata_files",
        "sbom": "atoll_board.sbom:sbom_files",
        "compile-commands": "atoll_board.compile_commands:compile_commands_files",
        "devicetree": "atoll_board.devicetree.host:devicetree_files",
        "system-devicetree": "atoll_board.devicetree.system:system_files",
        "ethos_u": "atoll_board.ethos_u:ethos_u_files",
        "vela": "atoll_board.vela:vela_files",
        "mpool": "atoll_board.mpool:mpool_files",
        "executorch": "atoll_board.executorch:executorch_files",
        "freertos": "atoll_board.freertos.files:freertos_files",
        "zephyr": "atoll_board.zephyr.files:zephyr_files",
    },
    interface=("board",),
)


def package_files(board: Board, only: Sequence[str] = ()) -> Mapping[str, Mapping[str, Entry]]:
    """Return the files of a package by emitter, and by path in it.

    Args:
        board: the chip and its networks.
        only: names of emitters; none means all but `ONLY_IF_NAMED`.

    Raises:
        UsageError: E094; there is no such emitter.
        ToolchainError: E071, E075; see `atoll.bsp.emitters.bsp_files`.
        AtollError: E111, E112; another package's emitter failed, or returned no files.
    """
    require_emitters(only)
    usual = only or [name for name in EMITTERS.names() if name not in ONLY_IF_NAMED]
    wanted = [name for name in EMITTERS.names() if name in usual]
    files = {name: _emit(name, board) for name in wanted}
    refuse_path_clashes((path, name) for name in wanted for path in files[name])
    return files


def require_emitters(only: Sequence[str]) -> None:
    """Refuse a name of no emitter.

    Raises:
        UsageError: E094.
    """
    unknown = [name for name in only if name not in EMITTERS.names()]
    if unknown:
        remedy = f"use some of {', '.join(EMITTERS.names())}"
        raise UsageError("E094", f"no {EMITTERS.noun} '{unknown[0]}'", remedy=remedy)


def _emit(name: str, board: Board) -> Mapping[str, Entry]:
    """Call an emitter; another package's is not trusted."""
    emitted: object = EMITTERS.get(name)(board)
    if name in EMITTERS.own or (
        isinstance(emitted, Mapping) and all(map(_is_entry, emitted.items()))
    ):
        return emitted  # type: ignore[return-value]
    message = f"{EMITTERS.noun} '{name}' returned {emitted!r:.80}, no files by path"
    raise AtollError("E112", message, remedy=CORRECT_MEMBER)


def _is_entry(item: tuple[object, object]) -> bool:
    path, entry = item
    return isinstance(entry, Entry) and isinstance(path, str) and is_path(PurePosixPath(path))
