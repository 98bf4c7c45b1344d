"""Compile the BSP, link it with the model and report what the image takes."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from elftools.elf.elffile import ELFFile

from atoll.bsp.emitters import script_name, write_bsp
from atoll.bsp.interface import ELF_NAME, MAP_NAME, Firmware, ModelInterface, RegionUse
from atoll.bsp.link_faults import link_error
from atoll.bsp.names import c_name
from atoll.bsp.stack_check import check_stack
from atoll.bsp.toolchain import Link, Toolchain, find_toolchain
from atoll.bsp.tools import cached
from atoll.files import write_bytes
from atoll.resolve.soc import Region, ResolvedSoc

_WORKERS = 2
_ALLOCATED = 2  # SHF_ALLOC


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A model of a firmware image.

    Attributes:
        interface: what `code` implements.
        code: ELF object of the host's ABI that defines ``<model>_run``.
        origins: where the plan has the model's constants, by symbol.
    """

    interface: ModelInterface
    code: bytes
    origins: Mapping[str, int] = field(default_factory=dict)


def build_firmware(
    soc: ResolvedSoc,
    model: ModelInterface,
    model_object: bytes,
    out: Path,
    toolchain: str | None = None,
) -> Firmware:
    """Write ``bsp/``, ``obj/``, ``firmware.elf`` and ``firmware.map`` into `out`.

    Args:
        soc: the chip; the image is for its host.
        model: what `model_object` implements.
        model_object: ELF object of the host's ABI that defines ``<model>_run``.
        out: an existing folder.
        toolchain: ``zig`` or ``gcc``; None takes the host's own.

    Raises:
        ToolchainError: E071 to E075, a tool is missing or refused its input.
        PlanError: E074, code or data do not fit their region; E066 and E076, the stack.
    """
    return link_firmware(soc, (Part(interface=model, code=model_object),), out, toolchain)


def link_firmware(
    soc: ResolvedSoc, parts: Sequence[Part], out: Path, toolchain: str | None = None
) -> Firmware:
    """Write the firmware of one or more models, as `build_firmware`."""
    tools = find_toolchain(soc.host_cpu, toolchain)
    models = tuple(part.interface for part in parts)
    origins = {symbol: origin for part in parts for symbol, origin in part.origins.items()}
    sources = write_bsp(soc, models, out / "bsp", origins)
    objects = list(_compile_all(sources, out, tools))
    for part in parts:
        objects.append(f"obj/{c_name(part.interface.name)}_model.o")
        write_bytes(out / objects[-1], part.code)
    link = Link(
        folder=out,
        objects=tuple(objects),
        script=f"bsp/{script_name(soc)}",
        elf=ELF_NAME,
        map=MAP_NAME,
    )
    if log := tools.link(link):
        raise link_error(soc, log)
    return Firmware(
        folder=out,
        toolchain=tools.identity,
        use=tuple(_region_use(soc, out / ELF_NAME)),
        stack=[check_stack(soc, out / ELF_NAME, model.name) for model in models][-1],
    )


def _compile_all(sources: tuple[str, ...], out: Path, toolchain: Toolchain) -> Iterator[str]:
    """Compile what the cache does not hold; yield the objects in the order of `sources`."""
    bsp = out / "bsp"
    (out / "obj").mkdir(exist_ok=True)
    headers = b"".join(
        f"{path.name}\0".encode() + path.read_bytes() for path in sorted(bsp.glob("*.h"))
    )

    def compile_one(source: str) -> str:
        parts = (toolchain.identity, *toolchain.flags, source)
        key = sha256("\0".join(parts).encode() + headers + (bsp / source).read_bytes())
        made = cached(
            f"objects/{key.hexdigest()}.o",
            lambda target: toolchain.compile(source, target, folder=bsp),
        )
        name = f"obj/{source.replace('.', '_')}.o"
        write_bytes(out / name, made.read_bytes())
        return name

    with ThreadPoolExecutor(_WORKERS) as workers:
        yield from workers.map(compile_one, sources)


def _region_use(soc: ResolvedSoc, elf: Path) -> Iterator[RegionUse]:
    """Add up, region by region, what the loaded segments and zeroed sections take."""
    with elf.open("rb") as file:
        spans = tuple(_spans(ELFFile(file)))
    cpu = soc.host_cpu
    for region in (*(pool.region for pool in soc.pools), cpu.code, cpu.data):
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
