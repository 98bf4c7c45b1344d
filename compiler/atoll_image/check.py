# SPDX-License-Identifier: Apache-2.0
"""What of an image is not as the chip has it: rules yield faults of code E140, streams E172."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from atoll.bsp.linker import POOL_SECTION, POOL_SYMBOL
from atoll.diagnostics.errors import Fault, SourceLoc
from atoll.isa.instruction_set import Family
from atoll.records import dataclass
from atoll.resolve.memory_views import as_seen_by, core_as_it_sees, device_address, on_bus
from atoll.resolve.soc import Cpu, Memory, Region, RegionKind, ResolvedSoc
from atoll_image.convention import convention_faults
from atoll_image.elf import ElfImage, Span
from atoll_image.image_protection import wrong_entries
from atoll_image.npu_streams import stream_faults
from atoll_image.provided import provided_faults
from atoll_image.start_copies import wrong_copies

_WORD = 4
_CODE = (RegionKind.CODE, RegionKind.LOAD)
_STACK_TOPS = ("atoll_stack_top", "_estack", "__StackTop", "__stack_top", "_stack_top")
_STACK_LIMITS = ("atoll_stack_limit", "__StackLimit", "_sstack")
"""What linker scripts call the ends of the main stack: Atoll's, CMSIS', newlib's, vendors'."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules for the image of a core.

    Attributes:
        soc: the chip as the core sees it.
        core: likewise.
        image: what was linked.
        bus: the chip as it is on the bus, where a byte has one address.
    """

    soc: ResolvedSoc
    core: Cpu
    image: ElfImage
    bus: ResolvedSoc

    @classmethod
    def of(cls, soc: ResolvedSoc, name: str, image: ElfImage) -> "Rules":
        """Return the rules for core `name` of a chip."""
        core = soc.device(name)
        assert isinstance(core, Cpu)
        return cls(as_seen_by(soc, name), core_as_it_sees(soc, core), image, soc)

    def faults(self) -> Iterator[Fault]:
        """Yield each disagreement."""
        if wrong := tuple(convention_faults(self.image, self.core)):
            yield from wrong
            return
        yield from self._starts()
        yield from self._overlaps()
        yield from self._bytes_of_others()
        for section in self.image.sections:
            yield from self._section(section)
            if section.data:
                yield from self._load(section)
        yield from self._copies()
        yield from self._symbols()
        yield from self._protection()
        yield from stream_faults(self.soc, self.image)
        yield from provided_faults(self.soc, self.image)

    def _starts(self) -> Iterator[Fault]:
        """The core finds its first instruction, or its vectors, where it looks for them."""
        code, image = self.core.boot, self.image
        thumb = self.core.instructions.family is Family.THUMB
        entry = image.entry & ~1 if thumb else image.entry
        where = f"the entry {entry:#010x}"
        if not any(each.executable and each.begin <= entry < each.end for each in image.sections):
            yield self._fault(f"{where} is in no section with instructions")
        elif not code.origin <= entry < code.end:
            yield self._fault(f"{where} is outside of '{code.name}'")
        if not thumb:
            reset = self.core.reset_address
            if image.word(reset) is None:
                yield self._fault(f"nothing is loaded at {reset:#010x}, where the core begins")
            elif "atoll_reset" in image.symbols and entry != reset:
                yield self._fault(f"{where} is not {reset:#010x}, where the core begins")
            return
        top, handler = image.word(code.origin), image.word(code.origin + _WORD)
        if top is None or handler is None:
            yield self._fault(
                f"no vectors are loaded at {code.origin:#010x}, where '{code.name}' begins"
            )
            return
        if not any(stack.origin < top <= stack.end for stack in self.core.stacks):
            yield self._fault(
                f"the first vector sets the stack to {top:#010x}, outside of the core's"
            )
        elif top % 8:
            yield self._fault(
                f"the first vector sets the stack to {top:#010x}, not a multiple of 8"
            )
        begin = handler & ~1
        inside = any(each.executable and each.begin <= begin < each.end for each in image.sections)
        if not handler & 1 or not inside:
            yield self._fault(f"the reset vector is {handler:#010x}, which is no Thumb instruction")

    @property
    def _first(self) -> int:
        """The address of the first bytes that the core reads: an instruction, or vectors."""
        core = self.core
        thumb = core.instructions.family is Family.THUMB
        return core.boot.origin if thumb else core.reset_address

    def _overlaps(self) -> Iterator[Fault]:
        for one, two in pairwise(self.image.sections):
            if two.begin < one.end:
                yield self._fault(f"section {one} overlaps section {two}")

        copied = [each for each in self.image.sections if each.copied]
        for number, one in enumerate(copied):
            end = one.load + len(one.data)
            spans = [(each, each.load, each.load + len(each.data)) for each in copied[:number]]
            spans += [(each, each.begin, each.end) for each in self.image.sections]
            for other, begin, past in spans:
                if one.load < past and begin < end and other != one:
                    where = f"from {one.load:#010x} to {end - 1:#010x}"
                    yield self._fault(f"section {one} is loaded {where}, over section {other}")

    def _bytes_of_others(self) -> Iterator[Fault]:
        """No byte is two things at two addresses of one memory, nor touched at another one."""
        if not self.bus.aliases:
            return
        found = [(self._on_bus(each), each) for each in self.image.sections]
        for (low, one), (high, two) in pairwise(sorted(found, key=lambda it: it[0].start)):
            if high.start < low.stop and not (one.begin < two.end and two.begin < one.end):
                yield self._fault(f"section {two} has bytes of section {one} at another address")
        for span, section in found:
            for region in self.bus.regions():
                byte = max(span.start, region.origin)
                if byte < min(span.stop, region.end):
                    right = device_address(self.bus, self.core.name, byte)
                    if right - section.begin != byte - span.start:
                        where = f"which is touched at {right:#010x}"
                        yield self._fault(
                            f"section {section} has bytes of '{region.name}', {where}"
                        )

    def _on_bus(self, section: Span) -> range:
        begin = on_bus(self.bus, self.core.name, section.begin)
        return range(begin, begin + section.end - section.begin)

    def _section(self, section: Span) -> Iterator[Fault]:
        """Every byte lies in a region that holds such bytes."""
        what = f"section {section}"
        memory = self._memory(section)
        if memory is None:
            yield self._fault(f"{what} lies in no memory that '{self.core.name}' sees")
            return
        if section.writable and memory.kind == "rom":
            yield self._fault(f"{what} is written, and lies in ROM '{memory.name}'", memory.at)
            return
        touched = tuple(self._touched_regions(section))
        for region in touched:
            yield from self._in_region(section, region)
        covered = sum(
            min(section.end, each.end) - max(section.begin, each.origin) for each in touched
        )
        if covered < section.end - section.begin and section.data:
            message = f"{what} has bytes in '{memory.name}' that no region takes"
            yield self._fault(message, memory.at)

    def _in_region(self, section: Span, region: Region) -> Iterator[Fault]:
        what = f"section {section}"
        pool = next((each for each in self.soc.pools if each.region == region), None)
        own = region.name.split(".")[0] == self.core.name
        if pool is not None:
            provided = (
                pool.provided == "application" or section.name == f"{POOL_SECTION}{pool.name}"
            )
            constants = pool.holds_constants and section.name == f"{POOL_SECTION}{pool.name}"
            if not (provided or constants):
                yield self._fault(f"{what} overlaps pool '{pool.name}', which is planned", pool.at)
        elif not own:
            yield self._fault(f"{what} overlaps '{region.name}'", self.soc.memory(region.memory).at)
        elif region.kind is RegionKind.STACK and not _reserves_a_stack(section):
            yield self._fault(f"{what} overlaps '{region.name}'")
        elif section.executable and region.kind not in _CODE:
            yield self._fault(f"{what} has instructions, and lies in '{region.name}'")
        elif section.writable and region.kind in _CODE:
            yield self._fault(f"{what} is written, and lies in '{region.name}'")

    def _load(self, section: Span) -> Iterator[Fault]:
        """Bytes are there when the core begins, or where start-up code copies them from."""
        code, size = self.core.boot, len(section.data)
        what = f"section {section}"
        if section.load != section.begin:
            if section.begin <= self._first < section.end:
                held = f"'{self.core.shown}' has 'loader: {self.core.loader}'"
                where = f"is loaded at {section.load:#010x}, not where it runs, and {held}"
                yield self._fault(f"{what} holds what the core begins with, {where}")
            align = min(section.align, _WORD)
            if section.load % align:
                where = f"is copied from {section.load:#010x}, not a multiple of {align}"
                yield self._fault(f"{what} {where}")
            if not (code.origin <= section.load and section.load + size <= code.end):
                where = f"is copied from {section.load:#010x}, outside of '{code.name}'"
                yield self._fault(f"{what} {where}")
            return
        memory = self._memory(section)
        if self.core.loader in ("xip", "copy") and memory is not None and memory.kind == "ram":
            yield self._fault(f"{what} is in RAM '{memory.name}', and nothing copies it there")

    def _copies(self) -> Iterator[Fault]:
        """Start-up code copies each byte from where it is loaded, at whichever address."""

        def byte(address: int) -> int:
            return on_bus(self.bus, self.core.name, address)

        for wrong in wrong_copies(self.image, byte):
            yield self._fault(wrong)

    def _symbols(self) -> Iterator[Fault]:
        """Symbols that programs rely on have the chip's values."""
        stack = self.core.stack
        for names, value in ((_STACK_TOPS, stack.end), (_STACK_LIMITS, stack.origin)):
            for name in names:
                yield from self._symbol(name, value)
        for thread in self.core.threads:
            word = thread.name.split(".")[1]
            yield from self._symbol(f"atoll_{word}_stack_top", thread.end)
            yield from self._symbol(f"atoll_{word}_stack_limit", thread.origin)
        for pool in self.soc.pools:
            yield from self._symbol(f"{POOL_SYMBOL}{pool.name}", pool.region.origin, pool.at)

    def _symbol(self, name: str, value: int, at: SourceLoc | None = None) -> Iterator[Fault]:
        found = self.image.symbols.get(name, value)
        if found != value:
            yield self._fault(f"'{name}' is {found:#010x}, and should be {value:#010x}", at)

    def _protection(self) -> Iterator[Fault]:
        """The table that start-up code loads is the chip's."""
        for wrong in wrong_entries(self.soc, self.core, self.image):
            yield self._fault(wrong)

    def _memory(self, section: Span) -> Memory | None:
        spans = (each for each in self.soc.memories)
        inside = (
            each for each in spans if each.origin <= section.begin and section.end <= each.end
        )
        return next(inside, None)

    def _touched_regions(self, section: Span) -> Iterator[Region]:
        for region in self.soc.regions():
            if region.origin < section.end and section.begin < region.end:
                yield region

    def _fault(self, message: str, at: SourceLoc | None = None) -> Fault:
        remedy = "correct the linker script, or the description"
        return Fault(code="E140", message=message, at=at or self.core.at, remedy=remedy)


def _reserves_a_stack(section: Span) -> bool:
    """Tell whether a section only names the bytes of a stack, as scripts of vendors do."""
    return not section.data and "stack" in section.name.lower()


def disagreements(soc: ResolvedSoc, name: str, image: ElfImage) -> Sequence[Fault]:
    """Return what of the image of core `name` is not as the chip has it."""
    return tuple(Rules.of(soc, name, image).faults())
