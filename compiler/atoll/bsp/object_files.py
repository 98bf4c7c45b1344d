# SPDX-License-Identifier: Apache-2.0
"""What an object file of a network offers to a firmware, and what it wants of it."""

from collections.abc import Iterator, Mapping
from io import BytesIO

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from atoll.bsp.linker import POOL_SECTION, POOL_SYMBOL
from atoll.bsp.render import opening_sentence, render
from atoll.records import dataclass
from atoll.resolve.memory_views import as_seen_by
from atoll.resolve.se_scope import target_of
from atoll.resolve.soc import Cpu, ResolvedSoc

PORT_HEADER = "atoll_port.h"


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSection:
    """A section that has to be at one address.

    Attributes:
        name: of the section.
        pool: whose bytes these are.
        address: where the plan has the first of them.
        size: bytes.
        alignment: of the first byte.
    """

    name: str
    pool: str
    address: int
    size: int
    alignment: int

    def as_json(self) -> dict[str, object]:
        """Return the section for machines."""
        return {
            "section": self.name,
            "pool": self.pool,
            "address": self.address,
            "size_bytes": self.size,
            "alignment_bytes": self.alignment,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetCode:
    """What an object has for one target of its core.

    Attributes:
        target: its name.
        words: what makes it and with which options, as scopes have it.
        abi: the calling convention that it was made with.
        kernels: its functions.
        size: bytes of their code.
    """

    target: str
    words: str
    abi: str
    kernels: tuple[str, ...]
    size: int

    def as_json(self) -> dict[str, object]:
        """Return the code for machines."""
        return {
            "target": self.target,
            "made_by": self.words,
            "abi": self.abi,
            "kernels": list(self.kernels),
            "size_bytes": self.size,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectFile:
    """A relocatable ELF file of one network for one core.

    Attributes:
        file: its name.
        network: whose code it is.
        core: that runs it.
        isa: instruction set.
        abi: calling convention.
        defines: global functions and pools.
        needs: symbols that the firmware has to define.
        sections: those with constants.
        targets: what is made for targets of the core.
    """

    file: str
    network: str
    core: str
    isa: str
    abi: str
    size: int
    defines: tuple[str, ...]
    needs: tuple[str, ...]
    sections: tuple[PoolSection, ...]
    targets: tuple[TargetCode, ...] = ()

    def __str__(self) -> str:
        return f"{self.file} {self.size:,} B for {self.core} ({self.isa}, {self.abi})"

    def as_json(self) -> dict[str, object]:
        """Return the file for machines."""
        return {
            "file": self.file,
            "network": self.network,
            "core": self.core,
            "isa": self.isa,
            "abi": self.abi,
            "size_bytes": self.size,
            "defines": list(self.defines),
            "needs": list(self.needs),
            "sections": [section.as_json() for section in self.sections],
            "targets": [each.as_json() for each in self.targets],
        }


def object_file(
    code: bytes,
    *,
    file: str,
    network: str,
    core: Cpu,
    kernels: Mapping[str, tuple[str, ...]],
    origins: Mapping[str, int],
) -> ObjectFile:
    """Read an object file.

    Args:
        code: its bytes.
        file: its name.
        network: whose code it is.
        core: that runs it.
        kernels: of its targets, by name.
        origins: where the network's constants begin, by pool.
    """
    elf = ELFFile(BytesIO(code))
    table = elf.get_section_by_name(".symtab")
    assert isinstance(table, SymbolTableSection)
    known = [symbol for symbol in table.iter_symbols() if symbol["st_info"]["bind"] != "STB_LOCAL"]
    return ObjectFile(
        file=file,
        network=network,
        core=core.name,
        isa=core.isa,
        abi=core.instructions.abi,
        size=len(code),
        defines=tuple(sorted(s.name for s in known if s["st_shndx"] != "SHN_UNDEF")),
        needs=tuple(sorted(s.name for s in known if s["st_shndx"] == "SHN_UNDEF")),
        sections=tuple(_pool_sections(elf, origins)),
        targets=tuple(
            TargetCode(
                target=target,
                words=str(target_of(core, target)),
                abi=core.for_target(target).instructions.abi,
                kernels=names,
                size=sum(each["st_size"] for each in table.iter_symbols() if each.name in names),
            )
            for target, names in kernels.items()
        ),
    )


def _pool_sections(elf: ELFFile, origins: Mapping[str, int]) -> Iterator[PoolSection]:
    for section in elf.iter_sections():
        pool = section.name.removeprefix(POOL_SECTION)
        if pool != section.name:
            yield PoolSection(
                name=section.name,
                pool=pool,
                address=origins[pool],
                size=section["sh_size"],
                alignment=section["sh_addralign"],
            )


def port_header(soc: ResolvedSoc, files: tuple[ObjectFile, ...]) -> str:
    """Write ``atoll_port.h``: what a firmware has to define for these objects, and no more."""
    soc = as_seen_by(soc, soc.host)
    needs = {name for file in files for name in file.needs}
    return render(
        PORT_HEADER,
        made_from=opening_sentence(soc),
        needs=needs,
        pools=tuple(pool for pool in soc.pools if POOL_SYMBOL + pool.name in needs),
        symbol=POOL_SYMBOL,
        others=sorted(name for name in needs if not name.startswith("atoll_")),
        trace={"atoll_trace_begin", "atoll_trace_end"} & needs,
        npu=sorted(needs & {"atoll_npu_run", "atoll_npu_start", "atoll_npu_wait"}),
        npu_cache=sorted(name for name in needs if name.startswith("atoll_npu_cache_")),
        core=sorted(name for name in needs if name.startswith("atoll_core_")),
        cache=sorted(name for name in needs if name.startswith("atoll_cache_")),
        views=tuple((e.name, m) for m in soc.memories for e in soc.engines if e.name in m.views),
        heaps=sorted(name for name in needs if name.startswith("atoll_heap_")),
    )
