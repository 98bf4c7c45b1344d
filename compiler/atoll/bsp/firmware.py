# SPDX-License-Identifier: Apache-2.0
"""Compile the BSP, link it with the models core by core, and report what the images take."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from pathlib import Path

from elftools.elf.elffile import ELFFile

from atoll.bsp.c_names import c_name
from atoll.bsp.calling_convention import check_convention
from atoll.bsp.core_image import image_source, image_source_name
from atoll.bsp.core_images import elf_names, image_cores, script_name, works_of
from atoll.bsp.emitters import write_bsp
from atoll.bsp.interface import Firmware, Image, ModelInterface, RegionUse
from atoll.bsp.link_faults import link_error
from atoll.bsp.toolchain import Link, Toolchain, find_toolchain
from atoll.diagnostics.errors import PlanError
from atoll.diagnostics.progress import Steps, tell
from atoll.records import dataclass
from atoll.resolve.memory_views import as_seen_by, core_as_it_sees
from atoll.resolve.remedy.whole_need import with_room
from atoll.resolve.soc import Cpu, Region, ResolvedSoc
from atoll.stack.elf_check import check_stack
from atoll.stack.target_stacks import target_stacks
from atoll.utils.files import write_bytes, write_text
from atoll.utils.kept import name_of
from atoll.utils.tools import cache_file
from atoll.utils.workers import run_in_background

_WORKERS = 2
_ALLOCATED = 2  # SHF_ALLOC


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A model of a firmware.

    Attributes:
        interface: what the model's code implements.
        codes: returns an ELF object for each core with an image, by its name: the host's defines
            ``<model>_run``, another one's ``<model>_<core>_step``. It is made at the first call.
        origins: where the host sees the model's constants, by symbol.
        kernels: by core and target, the functions whose code is made for the target.
    """

    interface: ModelInterface
    codes: Callable[[], Mapping[str, bytes]]
    origins: Mapping[str, int] = field(default_factory=dict)
    kernels: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)


def link_firmware(
    soc: ResolvedSoc,
    parts: Sequence[Part],
    out: Path,
    toolchain: str | None = None,
    definitions: tuple[str, ...] = (),
) -> Firmware:
    """Write ``bsp/``, ``obj/``, and for the host ``firmware.elf`` and ``firmware.map`` into `out`.

    Every other core with a mailbox has ``obj/<core>/``, ``<core>.elf`` and ``<core>.map``.

    Args:
        soc: the chip.
        parts: the models.
        out: an existing folder.
        toolchain: ``zig`` or ``gcc``; None takes each core's own.
        definitions: macros for the sources of the BSP, such as ``ATOLL_NPU_TIMEOUT=1000``.

    Raises:
        ToolchainError: E071 to E075, a tool is missing or refused its input.
        PlanError: E074, code or data do not fit their region; E066 and E076, the stack.
    """
    images = {
        core.name: _link_image(soc, core, parts, link, tools)
        for core, link, tools in _compile_images(soc, parts, out, toolchain, definitions)
    }
    return Firmware(folder=out, images=tuple(images[core.name] for core in image_cores(soc)))


def link_unchecked(
    soc: ResolvedSoc,
    parts: Sequence[Part],
    out: Path,
    toolchain: str | None = None,
    edit: Callable[[str], str] = lambda script: script,
    edit_source: Callable[[str, str], str] = lambda _, text: text,
) -> tuple[Path, ...]:
    """Write firmware that may be wrong on purpose, as `link_firmware`; no stack is checked.

    Args:
        soc: the chip.
        parts: the models.
        out: an existing folder.
        toolchain: as `link_firmware`.
        edit: changes the host's linker script before it is used.
        edit_source: changes a source or header of the BSP, given its name and text.

    Returns:
        The ELF files, the host's first.
    """
    elves = {}
    for core, link, tools in _compile_images(soc, parts, out, toolchain, (), edit_source):
        script = out / link.script
        if core.name == soc.host:
            write_text(script, edit(script.read_text(encoding="utf-8")))
        if log := tools.link(link):
            raise with_room(link_error(soc, core, log), soc)
        elves[core.name] = out / link.elf
    return tuple(elves[core.name] for core in image_cores(soc))


def _compile_images(
    soc: ResolvedSoc,
    parts: Sequence[Part],
    out: Path,
    toolchain: str | None,
    definitions: tuple[str, ...] = (),
    edit_source: Callable[[str, str], str] | None = None,
) -> Iterator[tuple[Cpu, Link, Toolchain]]:
    """Yield for each core what to link, once all of it is there.

    Cores whose images the host's has come first, and are linked before the next is asked for.
    """
    images = tuple(zip(image_cores(soc), elf_names(soc), strict=True))
    models = tuple(part.interface for part in parts)
    origins = {symbol: origin for part in parts for symbol, origin in part.origins.items()}
    sources = write_bsp(soc, models, out / "bsp", origins)
    if edit_source:
        for path in (out / "bsp").iterdir():
            write_text(path, edit_source(path.name, path.read_text(encoding="utf-8")))
    for core, elf in sorted(images, key=lambda image: not image[0].is_held):
        tools = find_toolchain(core, toolchain, definitions)
        folder = "obj" if core.name == soc.host else f"obj/{core.name}"
        objects = []
        files = sources[core.name]
        if core.name == soc.host:
            files += tuple(_write_held_images(soc, out, images))
        with _begin_compiling(files, out, folder, core, tools) as compiled:
            codes = [part.codes() for part in parts]
            steps = Steps(len(files), tell)
            for each in compiled:
                objects.append(each)
                step = f"file {len(objects)} of {len(files)} compiled"
                steps.tell(len(objects), f"building the firmware of '{core.name}': {step}")
        for part, code in zip(parts, codes, strict=True):
            objects.append(f"{folder}/{c_name(part.interface.name)}_model.o")
            write_bytes(out / objects[-1], code[core.name])
        link = Link(
            folder=out,
            objects=tuple(objects),
            script=f"bsp/{script_name(soc, core)}",
            elf=elf,
            map=elf.removesuffix(".elf") + ".map",
            objects_folder=folder,
        )
        yield core, link, tools


def _write_held_images(
    soc: ResolvedSoc, out: Path, images: Sequence[tuple[Cpu, str]]
) -> Iterator[str]:
    """Write the images of cores that the host loads as sources of the host's; yield their names."""
    for core, elf in images:
        if core.is_held:
            write_text(out / "bsp" / image_source_name(core), image_source(soc, core, out / elf))
            yield image_source_name(core)


def _link_image(
    soc: ResolvedSoc, core: Cpu, parts: Sequence[Part], link: Link, tools: Toolchain
) -> Image:
    """Link the image of one core and hold its stack against the core's limits."""
    tell(f"building the firmware of '{core.name}': linking")
    if log := tools.link(link):
        raise with_room(link_error(soc, core, log), soc)
    elf = link.folder / link.elf
    models = tuple(part.interface for part in parts)
    works = {work.entry: work.thread for work in works_of(soc, core, models)}
    try:
        stack = check_stack(core, elf, works, core_as_it_sees(soc, core))
    except PlanError as error:
        raise with_room(error, soc) from error
    return Image(
        core=core.name,
        elf=link.elf,
        map=link.map,
        toolchain=tools.identity,
        use=tuple(_region_use(soc, core, elf)),
        stack=stack,
        targets=target_stacks(elf, [part.kernels.get(core.name, {}) for part in parts]),
    )


def _begin_compiling(
    sources: tuple[str, ...], out: Path, folder: str, core: Cpu, toolchain: Toolchain
) -> AbstractContextManager[Iterator[str]]:
    """Begin to compile what the cache does not hold; give the objects in the order of `sources`."""
    bsp = out / "bsp"
    (out / folder).mkdir(parents=True, exist_ok=True)
    headers = {path.name: path.read_bytes() for path in bsp.glob("*.h")}

    def compile_one(source: str) -> str:
        text = (bsp / source).read_bytes()
        named = sorted(_headers_named(text, headers))
        given: tuple[bytes | str, ...] = (source, text, *named, *(headers[name] for name in named))
        made = cache_file(
            f"objects/{name_of(toolchain.identity, *toolchain.flags, *given)}.o",
            lambda target: toolchain.compile(source, target, folder=bsp),
        )
        name = f"{folder}/{source.replace('.', '_')}.o"
        code = made.read_bytes()
        check_convention(code, source, core)
        write_bytes(out / name, code)
        return name

    return run_in_background(compile_one, sources, _WORKERS)


def _headers_named(text: bytes, headers: Mapping[str, bytes]) -> set[str]:
    """Return which headers a source names, or a header that it names does; it reads no others."""
    found: set[str] = set()
    waiting = [text]
    while waiting:
        text = waiting.pop()
        new = {name for name in headers if name.encode() in text} - found
        found |= new
        waiting += (headers[name] for name in new)
    return found


def _region_use(soc: ResolvedSoc, core: Cpu, elf: Path) -> Iterator[RegionUse]:
    """Add up, region by region, what the loaded segments and zeroed sections take."""
    with elf.open("rb") as file:
        spans = tuple(_spans(ELFFile(file)))
    seen = as_seen_by(soc, core.name)
    own = core_as_it_sees(soc, core)
    for region in (*(pool.region for pool in seen.pools), *own.code_regions, own.data):
        ends = [min(end, region.end) for start, end in spans if _starts_in(region, start)]
        if used := max(ends, default=region.origin) - region.origin:
            yield RegionUse(region=region.name, used=used, size=region.size)


def _spans(image: ELFFile) -> Iterator[tuple[int, int]]:
    for segment in image.iter_segments("PT_LOAD"):
        yield segment["p_paddr"], segment["p_paddr"] + segment["p_filesz"]
    for section in image.iter_sections():
        if section["sh_flags"] & _ALLOCATED:
            yield section["sh_addr"], section["sh_addr"] + section["sh_size"]


def _starts_in(region: Region, address: int) -> bool:
    return region.origin <= address < region.end
