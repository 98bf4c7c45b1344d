"""Cores, memories and engines out of a devicetree blob, a System Devicetree's too.

Source: Devicetree Specification v0.4; System Devicetree Specification, chapter 2; the bindings
that `atoll bsp` writes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from atoll.importing.engines import engine_of_kind
from atoll.importing.facts import Core, Engine, Facts, LeftOut, Master, Memory, Source
from atoll.importing.flat_tree import MAGIC, TreeNode, read_tree
from atoll.importing.reader import Given, Importer
from atoll.importing.values import core_named, counted, is_dma, isas_of, riscv_isas

_WRITABLE = {
    "mmio-sram": True,
    "atoll,rom": False,
    "mtd-rom": False,
    "cfi-flash": False,
    "soc-nv-flash": False,
    "sifive,dtim0": True,
    "sifive,itim0": True,
    "sifive,sram0": True,
    "sifive,maskrom0": False,
    "sifive,rom0": False,
}
"""Whether a memory is written to, by what its node is compatible with."""

_ENGINE = "atoll,engine-"
_MAILBOX = "atoll,mailbox"
_CONSOLE = "atoll,console"
_CLUSTER = "cpus,cluster"
_FAST, _FAST_SHIFT = "riscv,cpu-intc", 14
_OWN = ("atoll,pool", "atoll,code", "atoll,data", "atoll,stack", "atoll,guard", "atoll,core-local")
"""Nodes of our own that say nothing more."""


class Devicetree(Importer):
    """Reads ``.dtb``."""

    suffixes = (".dtb",)

    def recognises(self, given: Given) -> bool:
        """Tell by the magic number."""
        return given.data.startswith(MAGIC)

    def read(self, given: Given) -> Facts:
        """Return what the processors of the tree see."""
        root = read_tree(given)
        nodes = [node for node in root.walk() if node.string("status") != "disabled"]
        tree = _Tree(given, nodes)
        others = tree.others()
        why = "a description has no place for them"
        return Facts(
            name=root.string("model") or root.string("compatible"),
            cores=tuple(tree.cores()),
            memories=tuple(tree.memories()),
            engines=tuple(tree.engines()),
            masters=tuple(tree.masters()),
            left_out=(LeftOut(counted(others), why, given.source(0)),) if others else (),
            console=next((at for at, _ in tree.of(_CONSOLE)), None),
        )


IMPORTER = Devicetree()


class _Tree:
    """The nodes of a tree that are not disabled."""

    def __init__(self, given: Given, nodes: Sequence[TreeNode]) -> None:
        self._given = given
        self._nodes = nodes
        handles = ((next(iter(node.cells("phandle")), None), node) for node in nodes)
        self._by_handle: Mapping[int, TreeNode] = {
            handle: node for handle, node in handles if handle is not None
        }

    def of(self, compatible: str) -> Iterator[tuple[int, TreeNode]]:
        """Yield the nodes that are compatible with something, each with its address."""
        for node in self._nodes:
            if compatible in node.strings("compatible"):
                for address, _ in node.spans():
                    yield address, node
                    break

    def cores(self) -> Iterator[Core]:
        """Yield each core; a mailbox that no node of a core names is a core too."""
        boxes = {
            _name(node): Core(
                name=_name(node), mailbox=at, irq=self._line(node), source=self._source(node)
            )
            for at, node in self.of(_MAILBOX)
        }
        for node in self._processors():
            core = self._core(node)
            box = boxes.pop(core.name, None)
            yield replace(core, mailbox=box.mailbox, irq=box.irq) if box else core
        yield from boxes.values()

    def _processors(self) -> Iterator[TreeNode]:
        for node in self._nodes:
            above = node.parent
            if node.string("device_type") == "cpu" and above is not None:
                yield node

    def _core(self, node: TreeNode) -> Core:
        words = [each.rpartition(",")[2] for each in node.strings("compatible")]
        named = (core_named(word) or core_named(word.replace("-", "_")) for word in words)
        core = next((each for each in named if each), None)
        said = node.string("atoll,isa")
        isas: tuple[str, ...] = ()
        if core:
            isas = tuple(isa for isa in isas_of(core) if isa == said)
            isas = isas or riscv_isas(core, node.string("riscv,isa"))
        return Core(
            name=_name(node) if "label" in node.properties else node.name,
            word=next(iter(words), ""),
            core=core,
            isas=isas,
            clock=_clock(node),
            source=self._source(node),
        )

    def memories(self) -> Iterator[Memory]:
        """Yield each memory that the root's addresses reach."""
        for node in self._nodes:
            kinds = [kind for kind in node.strings("compatible") if kind in _WRITABLE]
            if not kinds and node.string("device_type") != "memory":
                continue
            for origin, size in node.spans():
                if size:
                    yield Memory(
                        name=_name(node),
                        origin=origin,
                        size=size,
                        writable=_WRITABLE[kinds[0]] if kinds else True,
                        why=f"it is {kinds[0] if kinds else 'a node of memory'}",
                        cores=tuple(self._reaching(range(origin, origin + size))),
                        source=self._source(node),
                    )

    def _reaching(self, span: range) -> Iterator[str]:
        """Yield the cores that reach a byte of a span; a core of no cluster reaches all."""
        for node in self._processors():
            cluster = node.parent
            assert cluster is not None
            if _CLUSTER not in cluster.strings("compatible") or _maps(cluster, span):
                yield self._core(node).name

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
        dma = "#dma-cells" in node.properties or is_dma(node.name.partition("@")[0])
        return dma and any(True for _ in node.spans())

    def others(self) -> int:
        """Return how many nodes with registers say nothing that a description has."""
        known = {*_WRITABLE, *_OWN, _MAILBOX, _CONSOLE}
        return sum(
            "reg" in node.properties
            and node.string("device_type") not in ("cpu", "memory")
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


def _clock(node: TreeNode) -> int | None:
    cells = node.cells("clock-frequency")
    return next((value for (value,) in node.groups("clock-frequency", len(cells))), None)


def _maps(cluster: TreeNode, span: range) -> bool:
    """Tell whether the map of a cluster has a byte of a span of the root's addresses."""
    address = next(iter(cluster.cells("#ranges-address-cells")), 1)
    size = next(iter(cluster.cells("#ranges-size-cells")), 1)
    above = cluster.parent.widths[0] if cluster.parent else 1
    quartets = cluster.groups("address-map", min(address, 4), 1, above, min(size, 4))
    return any(at < span.stop and span.start < at + length for _, _, at, length in quartets)
