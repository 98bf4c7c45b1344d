# SPDX-License-Identifier: Apache-2.0
"""Cores, memories and engines out of a devicetree blob, a System Devicetree's too.

Source: Devicetree Specification v0.4; System Devicetree Specification, chapter 2; the bindings
that `atoll bsp` writes.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from atoll.description.core_words import limits_of, loader_of, span_of, stack_of, targets_of
from atoll.diagnostics.units import format_size
from atoll_import.description_names import ends_as_memory
from atoll_import.engines import engine_of_kind
from atoll_import.facts import (
    Core,
    Engine,
    Facts,
    LeftOut,
    Master,
    Memory,
    Reserved,
    Source,
    memory_left_out,
)
from atoll_import.flat_tree import MAGIC, TreeNode, read_reserved, read_tree
from atoll_import.reader import Given, Importer
from atoll_import.vendor_values import core_named, count_phrase, isas_by_name, isas_of, riscv_isas

_WRITABLE: Mapping[str, bool | None] = {
    **dict.fromkeys(("mmio-sram", "mmio-dram", "mtd-ram", "xlnx,axi-bram-ctrl"), True),
    **dict.fromkeys(("atoll,rom", "mtd-rom", "cfi-flash", "jedec-flash", "soc-nv-flash"), False),
    **dict.fromkeys(("sifive,dtim0", "sifive,itim0", "sifive,sram0"), True),
    **dict.fromkeys(("sifive,maskrom0", "sifive,rom0"), False),
    **dict.fromkeys(("arm,itcm", "arm,dtcm", "nxp,imx-itcm", "nxp,imx-dtcm"), True),
    **dict.fromkeys(("arc,iccm", "arc,dccm", "arc,xccm", "arc,yccm", "st,stm32-ccm"), True),
    **dict.fromkeys(("st,stm32-backup-sram", "samsung,exynos4210-sysram"), True),
    "zephyr,memory-region": None,
}
"""Whether a memory is written to, by what its node is compatible with, whatever the version.

None says nothing of it.
"""

_BEHIND: Mapping[str, bool | None] = {
    **dict.fromkeys(("jedec,spi-nor", "nordic,qspi-nor", "st,stm32-qspi-nor"), False),
    **dict.fromkeys(("st,stm32-ospi-nor", "st,stm32-xspi-nor", "nxp,imx-flexspi-nor"), False),
    **dict.fromkeys(("nxp,imx-flexspi-hyperflash", "serial-flash"), False),
    **dict.fromkeys(("nxp,imx-flexspi-hyperram", "st,stm32-xspi-psram"), True),
    **dict.fromkeys(("atmel,at24", "atmel,at25", "atmel,at45"), None),
}
"""Memories behind a controller: their addresses are their own, but for those on a bus of cores."""

_MAPPED = {**_WRITABLE, **_BEHIND}
_REGISTERS = "it has the registers of a memory's controller, not the memory"
_NAND = "cores read a NAND flash by commands, not at addresses"
_NOT_THERE = {
    **dict.fromkeys(("xlnx,zynqmp-ocmc", "xlnx,zynq-ocmc"), _REGISTERS),
    **dict.fromkeys(("arm,pl353-nand", "spi-nand"), _NAND),
}
"""Why what is like a memory has no address at which cores see it, by what it is compatible with."""

_VERSION = re.compile(r"-(?:v?[0-9]+(?:\.[0-9]+)+[a-z]?|r[0-9]+p[0-9]+)$")

_FLASH = "soc-nv-flash"
"""Zephyr's: below a controller without ``ranges`` it has the address of the cores."""

_SERIAL = frozenset(("espressif,esp32-flash-controller", "zephyr,sim-flash"))
"""Controllers below which it has not."""

_DMA = frozenset(("dma", "dmac", "dma-controller"))
_ROUTERS = frozenset(("dma-router", "dmamux", "dma-mux"))
_CONTROLLERS = frozenset(
    (
        *("cache-controller", "flash-controller", "memory-controller", "spi", "qspi", "ospi"),
        *("xspi", "flexspi", "fspi", "hyperbus"),
    )
)
"""Devices whose further addresses are a memory's: that of a cache, or one behind them."""

_WINDOWS = frozenset(("sideband", "mmap", "mm", "dirmap", "window", "memmap", "wbuf"))
"""How ``reg-names`` call such addresses that are no word for a memory."""

_WINDOW = "how much of it is memory no file says; describe it by hand if cores use it as one"
_CARVED = "reserved-memory"
_UNMAPPED = "its address is not one of the cores: nothing above it maps it to theirs"
_ENGINE = "atoll,engine-"
_MAILBOX = "atoll,mailbox"
_SHARED_MAILBOX = "atoll,shared-mailbox"
_CONSOLE = "atoll,console"
_CLUSTER = "cpus,cluster"
_FAST, _FAST_SHIFT = "riscv,cpu-intc", 14
_OWN = ("atoll,pool", "atoll,code", "atoll,data", "atoll,stack", "atoll,guard", "atoll,core-local")
"""Nodes of our own that say nothing more."""


_NO_MAP = "no-map"
_FIRMWARE = "firmware keeps it (no-map); the memories beside it are without its bytes"
_LINUX = "Linux keeps it, whose memory has its bytes; keep pools off it if Linux runs too"
_ANYWHERE = "Linux keeps it, and finds a place for it when it starts"


class Devicetree(Importer):
    """Reads ``.dtb``."""

    suffixes = (".dtb",)

    def recognises(self, given: Given) -> bool:
        """Tell by the magic number."""
        return given.data.startswith(MAGIC)

    def read(self, given: Given) -> Facts:
        """Return what the processors of the tree see."""
        root = read_tree(given)
        tree = _Tree(given, tuple(root.walk()))
        reserved = tuple(tree.reserved_ranges(read_reserved(given)))
        memories = tuple(tree.memories())
        others = tree.others()
        left_out = [each for each in memories if isinstance(each, LeftOut)]
        left_out += tree.omissions(reserved)
        left_out += tree.further_places([each for each in memories if isinstance(each, Memory)])
        left_out += tree.windows()
        left_out += tree.idle_cores()
        if others:
            why = "a description has no place for them"
            left_out.append(LeftOut(count_phrase(others), why, given.source(0)))
        return Facts(
            name=root.string("model") or root.string("compatible"),
            cores=tuple(tree.cores()),
            memories=tuple(each for each in memories if isinstance(each, Memory)),
            engines=tuple(tree.engines()),
            masters=tuple(tree.masters()),
            left_out=tuple(left_out),
            reserved=reserved,
            console=next((at for at, _ in tree.of(_CONSOLE)), None),
        )


IMPORTER = Devicetree()


class _Tree:
    """The nodes of a tree; those that are disabled, or below such a one, are memories at most."""

    def __init__(self, given: Given, nodes: Sequence[TreeNode]) -> None:
        self._given = given
        self._all = nodes
        self._nodes = tuple(node for node in nodes if not _idle(node))
        handles = ((next(iter(node.cells("phandle")), None), node) for node in self._nodes)
        self._by_handle: Mapping[int, TreeNode] = {
            handle: node for handle, node in handles if handle is not None
        }
        names = Counter(_core_name(node) for node in self._processors())
        self._repeated = {name for name, many in names.items() if many > 1}
        self._clusters: dict[TreeNode, list[str]] = {}
        for node in self._processors():
            assert node.parent is not None
            self._clusters.setdefault(node.parent, []).append(self._core(node).name)

    def of(self, compatible: str) -> Iterator[tuple[int, TreeNode]]:
        """Yield the nodes that are compatible with something, each with its address."""
        for node in self._nodes:
            if compatible in node.strings("compatible"):
                for address, _ in node.spans():
                    yield address, node
                    break

    def cores(self) -> Iterator[Core]:
        """Yield each core; a mailbox that no node of a core names is a core too."""
        found = (
            *(
                replace(self._remote(node), mailbox=at, irq=self._line(node))
                for at, node in self.of(_MAILBOX)
            ),
            *(self._sharing(node) for _, node in self.of(_SHARED_MAILBOX)),
        )
        boxes = {core.name: core for core in found}
        for node in self._processors():
            core = self._core(node)
            if box := boxes.pop(core.name, None):
                core = replace(
                    core, mailbox=box.mailbox, irq=box.irq, shared_mailbox=box.shared_mailbox
                )
            yield core
        yield from boxes.values()

    def _remote(self, node: TreeNode) -> Core:
        """Return the core that a mailbox is of."""
        return Core(
            name=_name(node),
            kind=_kind(node),
            core=(spec := core_named(node.string("atoll,core") or "")),
            isas=_declared_isas(spec, node),
            **_words(node),
            source=self._source(node),
        )

    def _sharing(self, node: TreeNode) -> Core:
        """Return the core that a mailbox in memory is of."""
        memory = _name(node.parent) if node.parent else ""
        core = self._remote(node)
        return replace(core, name=core.name.removesuffix(".mailbox"), shared_mailbox=memory)

    def _processors(self) -> Iterator[TreeNode]:
        return (node for node in self._nodes if _is_core(node))

    def idle_cores(self) -> Iterator[LeftOut]:
        """Yield the cores that are disabled."""
        for node in self._all:
            if _is_core(node) and (why := _idle(node)):
                yield LeftOut(f"core {node.name}", why, self._source(node))

    def _core(self, node: TreeNode) -> Core:
        words = [each.rpartition(",")[2] for each in node.strings("compatible")]
        named = (core_named(word) or core_named(word.replace("-", "_")) for word in words)
        core = next((each for each in named if each), None)
        isas = _declared_isas(core, node)
        if core and not isas:
            isas = _isas(core, _isa_text(node), words)
        return Core(
            name=node.path if (name := _core_name(node)) in self._repeated else name,
            kind=_kind(node),
            word=next(iter(words), ""),
            core=core,
            isas=isas,
            said=_isa_text(node),
            clock=_clock(node),
            **_words(node),
            source=self._source(node),
        )

    def memories(self) -> Iterator[Memory | LeftOut]:
        """Yield each memory, and why it is left out if cores do not see it."""
        return (each for node in self._all if _is_memory(node) for each in self._memory(node))

    def reserved_ranges(self, blocks: Sequence[tuple[int, int]]) -> Iterator[Reserved]:
        """Yield the parts of memories that nothing may map: blocks, then nodes."""
        for begin, many in blocks:
            source = self._given.source(0, "/memreserve/")
            yield Reserved("memreserve", range(begin, begin + many), source)
        for node in self._nodes:
            if _is_reserved(node) and _NO_MAP in node.properties:
                for at, size in node.spans():
                    yield Reserved(_name(node), range(at, at + size), self._source(node))

    def omissions(self, reserved: Sequence[Reserved]) -> Iterator[LeftOut]:
        """Yield what is reserved, with the reason; one without a place has no address."""
        for each in reserved:
            yield memory_left_out(each.name, each.span.start, _FIRMWARE, each.source)
        for node in self._nodes:
            places = [at for at, _ in node.spans()]
            if _is_reserved(node) and not (places and _NO_MAP in node.properties):
                for at in places or (None,):
                    why = _ANYWHERE if at is None else _LINUX
                    yield memory_left_out(_name(node), at, why, self._source(node))

    def _memory(self, node: TreeNode) -> Iterator[Memory | LeftOut]:
        why, parts = _idle(node) or _unseen_reason(node), [*node.parts()]
        for address, size, seen in parts:
            if seen is None and _FLASH in _kinds(node):
                seen = address
            unsized = "" if size else "the file says 0 bytes"
            unmapped = _UNMAPPED if seen is None else ""
            if reason := why or unmapped or unsized:
                at = address if seen is None else seen
                many = f"{format_size(size)}: " if size else ""
                yield memory_left_out(_name(node), at, f"{many}{reason}", self._source(node))
            elif seen is not None:
                yield self._memory_at(node, seen, size)
        if not parts:
            yield memory_left_out(_name(node), None, why or "it has no address", self._source(node))

    def _memory_at(self, node: TreeNode, origin: int, size: int) -> Memory:
        known = {kind: _MAPPED[kind] for kind in _kinds(node) if kind in _MAPPED}
        writable = next((each for each in known.values() if each is not None), None)
        is_main = node.string("device_type") == "memory" and not known
        kind = next((each for each in known if known[each] is not None), "a node of memory")
        span = range(origin, origin + size)
        maps = [(names, [*_local(cluster, span)]) for cluster, names in self._clusters.items()]
        seen = [(name, local) for names, local in maps if local for name in names]
        return Memory(
            name=_name(node),
            origin=origin,
            size=size,
            writable=is_main or None if writable is None else writable,
            why=f"it is {kind}",
            cores=tuple(name for name, _ in seen),
            views=tuple((name, local[0]) for name, local in seen if origin not in local),
            source=self._source(node),
        )

    def windows(self) -> Iterator[LeftOut]:
        """Yield what of a device's addresses is like a memory, as its cache or a mapped flash."""
        for node in self._nodes:
            if _is_core(node) or _is_memory(node) or _is_reserved(node):
                continue
            parts, names = [*node.parts()], node.strings("reg-names")
            for index, (address, size, seen) in enumerate(parts if len(parts) > 1 else ()):
                word = names[index] if index < len(names) else ""
                if size and _is_window(node, word, index):
                    what = f"'{word}'" if word else f"part {index + 1}"
                    why = f"{what} of '{node.path}', {format_size(size)}: {_WINDOW}"
                    at = address if seen is None else seen
                    yield memory_left_out(_name(node), at, why, self._source(node))

    def further_places(self, memories: Sequence[Memory]) -> Iterator[LeftOut]:
        """Yield where the cores of a cluster see a memory once more, or a part of it."""
        for memory in memories:
            span = range(memory.origin, memory.origin + memory.size)
            for cluster, names in self._clusters.items():
                whole = [*_local(cluster, span)]
                kept = memory.origin if memory.origin in whole else next(iter(whole), None)
                for at in (each for each in whole if each != kept):
                    why = f"'{names[0]}' sees it there too, and a view has one address"
                    yield memory_left_out(memory.name, at, why, memory.source)
                for at in _local(cluster, span, whole=False):
                    why = f"'{names[0]}' sees a part of it there; describe that by hand"
                    yield memory_left_out(memory.name, at, why, memory.source)

    def engines(self) -> Iterator[Engine]:
        """Yield the engines that Atoll has."""
        for node in self._nodes:
            for kind in node.strings("compatible"):
                if not kind.startswith(_ENGINE):
                    continue
                for origin, _ in node.spans():
                    found = engine_of_kind(
                        kind.removeprefix(_ENGINE),
                        _name(node),
                        origin,
                        self._line(node),
                        self._source(node),
                    )
                    if found:
                        yield found
                    break

    def masters(self) -> Iterator[Master]:
        """Yield DMA controllers of others."""
        for node in self._nodes:
            if self._is_master(node):
                where = ", ".join(f"{origin:#x}" for origin, _ in node.spans())
                yield Master(name=_name(node), what=f"at {where}", source=self._source(node))

    def _is_master(self, node: TreeNode) -> bool:
        if any(kind.startswith("atoll,") for kind in node.strings("compatible")):
            return False
        name = _generic(node)
        if _is_reserved(node) or _is_memory(node):
            return False
        if name in _ROUTERS or "dma-masters" in node.properties:
            return False
        return (name in _DMA or "#dma-cells" in node.properties) and any(node.spans())

    def others(self) -> int:
        """Return how many nodes with registers say nothing that a description has."""
        known = {*_OWN, _MAILBOX, _CONSOLE}
        return sum(
            "reg" in node.properties
            and not _is_core(node)
            and not _is_memory(node)
            and not _is_reserved(node)
            and not any(
                kind in known or kind.startswith(_ENGINE) for kind in node.strings("compatible")
            )
            and not self._is_master(node)
            for node in self._nodes
        )

    def _line(self, node: TreeNode) -> int | None:
        """Return the first interrupt of a node, as a line of its core."""
        if extended := node.cells("interrupts-extended"):
            parent, cells = self._by_handle.get(extended[0]), extended[1:]
        else:
            parent, cells = self._controller(node), node.cells("interrupts")
        if not cells:
            return None
        is_fast = parent is not None and _FAST in parent.strings("compatible")
        return cells[0] - _FAST_SHIFT if is_fast else cells[0]

    def _controller(self, node: TreeNode) -> TreeNode | None:
        above: TreeNode | None = node
        while above is not None:
            if named := above.cells("interrupt-parent"):
                return self._by_handle.get(named[0])
            above = above.parent
        return None

    def _source(self, node: TreeNode) -> Source:
        return self._given.source(0, node.path)


def _name(node: TreeNode) -> str:
    return node.string("label") or node.name.partition("@")[0]


def _core_name(node: TreeNode) -> str:
    return _name(node) if "label" in node.properties else node.name


def _kind(node: TreeNode) -> str:
    """Return the kind of core that a tree of ours says."""
    said = node.string("atoll,kind")
    return said if said in ("cpu", "dsp") else ""


def _declared_isas(core: str | None, node: TreeNode) -> tuple[str, ...]:
    """Return the instruction set that a tree of ours says, if the core can have it."""
    said = node.string("atoll,isa")
    return tuple(isa for isa in (isas_of(core) if core else ()) if isa == said)


def _words(node: TreeNode) -> dict[str, Any]:
    """Return what else a tree of ours says of a core."""
    return {
        "loader": loader_of(node.string("atoll,loader") or ""),
        "code": span_of(node.string("atoll,code") or ""),
        "data": span_of(node.string("atoll,data") or ""),
        "stack": stack_of(node.string("atoll,stack") or ""),
        "limits": limits_of(node.string("atoll,limits") or ""),
        "targets": targets_of(node.string("atoll,targets") or ""),
    }


def _clock(node: TreeNode) -> int | None:
    cells = node.cells("clock-frequency")
    return next((value for (value,) in node.groups("clock-frequency", len(cells))), None)


def _generic(node: TreeNode) -> str:
    return node.name.partition("@")[0].lower()


def _is_core(node: TreeNode) -> bool:
    return node.string("device_type") == "cpu" and node.parent is not None


def _kinds(node: TreeNode) -> tuple[str, ...]:
    """Return what a node is compatible with, without the version of the block."""
    return tuple(_VERSION.sub("", kind) for kind in node.strings("compatible"))


def _is_window(node: TreeNode, word: str, index: int) -> bool:
    """Tell whether a part of ``reg`` is like a memory, by its name, or by its node without one."""
    if word:
        return ends_as_memory(word) or re.split(r"[^a-z]+", word.lower())[-1] in _WINDOWS
    return index > 0 and _generic(node) in _CONTROLLERS


def _is_reserved(node: TreeNode) -> bool:
    """Tell whether a node is a part of a memory that Linux or firmware keeps."""
    return node.parent is not None and _generic(node.parent) == _CARVED


def _is_memory(node: TreeNode) -> bool:
    """Tell whether a node is a memory, by type, what it is compatible with, or its name.

    What is reserved of a memory is none, and neither are nodes without an address of the bus that
    are no more than called so.
    """
    if node.parent is None or _is_reserved(node) or _is_core(node):
        return False
    if node.string("device_type") == "memory":
        return True
    kinds = _kinds(node)
    if _MAPPED.keys() & {*kinds} or _NOT_THERE.keys() & {*kinds}:
        return "reg" in node.properties
    names = (_generic(node), *(kind.rpartition(",")[2] for kind in kinds))
    return any(map(ends_as_memory, names)) and any(node.parts())


def _unseen_reason(node: TreeNode) -> str:
    """Say why cores do not see a memory, as far as its node tells it."""
    kinds, above = _kinds(node), node.parent
    if why := next((_NOT_THERE[kind] for kind in kinds if kind in _NOT_THERE), ""):
        return why
    if above is None or not above.widths[1] or _SERIAL & {*above.strings("compatible")}:
        return _UNMAPPED
    if not kinds or node.string("device_type") == "memory" or _MAPPED.keys() & {*kinds}:
        return ""
    kind = node.strings("compatible")[0]
    return f"Atoll knows no memory that is compatible with '{kind}'; describe it by hand"


def _idle(node: TreeNode) -> str:
    """Say why a node is not in use: it or one above is disabled."""
    above: TreeNode | None = node
    while above is not None:
        if above.string("status") not in ("", "okay", "ok"):
            whose = "it" if above is node else f"'{above.path}', which it is in,"
            return f"{whose} has the status '{above.string('status')}'"
        above = above.parent
    return ""


def _isas(core: str, said: str, words: Sequence[str]) -> tuple[str, ...]:
    """Return the instruction sets of a core by the properties of RISC-V, or by Arm's name."""
    if said:
        return riscv_isas(core, said)
    named = next((word for word in words if core_named(word) == core), "")
    return isas_by_name(core, named)


def _isa_text(node: TreeNode) -> str:
    """Return the instruction set of RISC-V that a node says."""
    if base := node.string("riscv,isa-base"):
        return "_".join((base, *node.strings("riscv,isa-extensions")))
    return node.string("riscv,isa")


def _local(cluster: TreeNode, span: range, *, whole: bool = True) -> Iterator[int]:
    """Yield where the cores of a node see a span whole: where it is, or by the map of a cluster.

    With `whole` false, where they see the first byte of each part that is not the whole of it.
    """
    if _CLUSTER not in cluster.strings("compatible"):
        yield from (span.start,) if whole else ()
        return
    address = next(iter(cluster.cells("#ranges-address-cells")), 1)
    size = next(iter(cluster.cells("#ranges-size-cells")), 1)
    above = cluster.parent.widths[0] if cluster.parent else 1
    for local, _, at, length in cluster.groups(
        "address-map", min(address, 4), 1, above, min(size, 4)
    ):
        begin, end = max(at, span.start), min(at + length, span.stop)
        if begin < end and whole == (begin == span.start and end == span.stop):
            yield local + begin - at
