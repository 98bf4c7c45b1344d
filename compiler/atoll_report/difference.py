# SPDX-License-Identifier: Apache-2.0
"""What differs: changes of a chip in words, and two reports side by side."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from atoll.api.differences import Change
from atoll.records import dataclass
from atoll_report.node import Node
from atoll_report.timeline import how_known

_TABLES = {"devices": "device", "memories": "memory", "aliases": "alias", "pools": "pool"}
"""Tables of a chip, and the key that names a row of each."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A figure of two reports."""

    name: str
    before: Node
    after: Node

    @property
    def kind(self) -> str:
        """Tell ``same``, ``more``, ``less`` or ``other``."""
        old, new = self.before.raw, self.after.raw
        if old == new:
            return "same"
        if isinstance(old, int) and isinstance(new, int):
            return "more" if new > old else "less"
        return "other"


@dataclass(frozen=True, slots=True)
class Block:
    """A table of pairs.

    Attributes:
        pairs: what both reports have, and differs.
        same: how many others they have that do not differ.
        gone: names of what only the first has.
        new: names of what only the second has.
    """

    title: str
    pairs: tuple[Pair, ...]
    same: int
    gone: tuple[str, ...]
    new: tuple[str, ...]


def content(documents: Node) -> Mapping[str, object] | None:
    """Return what fills the page."""
    before = documents.get("before")
    if not (documents["diff"].known or before.known):
        return None
    return {
        "changes": documents["diff"].get("changes"),
        "before": before,
        "compared": documents["diff"].known,
        "blocks": [
            each for each in _blocks(before, documents) if each.pairs or each.new or each.gone
        ]
        if before
        else [],
    }


def changes_between(before: Node, after: Node) -> tuple[Change, ...] | None:
    """Return the differences of what two reports both know; None if there is nothing."""
    blocks = [
        each for each in _blocks(before, after) if each.pairs or each.same or each.gone or each.new
    ]
    return tuple(change for each in blocks for change in _changes(each)) if blocks else None


def _changes(block: Block) -> Iterator[Change]:
    title = block.title
    for name in block.gone:
        yield Change(title, name, "", None, None, f"{title}: {name} is gone")
    for name in block.new:
        yield Change(title, name, "", None, None, f"{title}: {name} is new")
    for pair in (each for each in block.pairs if each.kind != "same"):
        text = f"{title}: {pair.name} is {pair.after}, was {pair.before}"
        yield Change(title, pair.name, "", _value(pair.before), _value(pair.after), text)


def _value(node: Node) -> str | int | None:
    raw = node.raw
    return raw if raw is None or type(raw) in (str, int) else str(node)


def _blocks(before: Node, after: Node) -> Iterator[Block]:
    for name in _names(before, after, "plan"):
        old, new = _of(before, "plan", name), _of(after, "plan", name)
        yield _block(f"{name}: bytes used of each pool", _pool_use(old), _pool_use(new), keep=True)
        yield _block(f"{name}: places of buffers", _addresses(old), _addresses(new))
        yield _block(f"{name}: sizes of buffers", _sizes(old), _sizes(new))
    for key in ("run", "estimate"):
        for name in _names(before, after, key):
            old, new = _of(before, key, name), _of(after, key, name)
            title = _how(old, new) if key == "run" else "estimated"
            if all(each is None or _total(each) for each in (old, new)):
                head = f"{name}: cycles from reset to exit, {title}"
                before_it, after_it = ({**_total(each), **_band(each)} for each in (old, new))
                yield _block(head, before_it, after_it, keep=True)
                yield _block(f"{name}: cycles of operators, {title}", _cycles(old), _cycles(new))
            yield _block(f"{name}: devices of operators, {title}", _devices(old), _devices(new))
    for name in _names(before, after, "run"):
        old, new = _of(before, "run", name), _of(after, "run", name)
        yield _block(f"{name}: proof", _proof(old), _proof(new), keep=True)
    for key, name in _TABLES.items() if before["chip"] and after["chip"] else ():
        old_rows, new_rows = _rows(before, key, name), _rows(after, key, name)
        gone, new_names = _only(old_rows, new_rows), _only(new_rows, old_rows)
        both = [row for row in old_rows if row in new_rows]
        block = _block(
            f"Chip: {key}",
            {
                f"{row}: {column}": old_rows[row][column]
                for row in both
                for column in old_rows[row].raw
            },
            {
                f"{row}: {column}": new_rows[row][column]
                for row in both
                for column in new_rows[row].raw
            },
        )
        yield replace(block, gone=gone, new=new_names)


def _block(
    title: str, old: Mapping[str, Node], new: Mapping[str, Node], *, keep: bool = False
) -> Block:
    pairs = [Pair(name, old[name], new[name]) for name in old if name in new]
    shown = tuple(each for each in pairs if keep or each.kind != "same")
    return Block(title, shown, len(pairs) - len(shown), _only(old, new), _only(new, old))


def _only(first: Mapping[str, Node], second: Mapping[str, Node]) -> tuple[str, ...]:
    return tuple(name for name in first if name not in second)


def _names(before: Node, after: Node, key: str) -> Iterable[str]:
    """Return the networks of two sides, of which each knows something of this kind."""
    sides = (before, after) if before[key] and after[key] else ()
    return dict.fromkeys(each["model"].raw for side in sides for each in side[key])


def _how(old: Node | None, new: Node | None) -> str:
    """Return how the cycles of two runs came to be."""
    ways = {how_known(each): None for each in (old, new) if each is not None and _total(each)}
    return ", then ".join(ways) or "measured"


def _of(side: Node, key: str, name: str) -> Node | None:
    return next((each for each in side[key] if each["model"].raw == name), None)


def _rows(side: Node, key: str, name: str) -> Mapping[str, Node]:
    return {row[name].raw: row for row in side["chip"].get(key)}


def _pool_use(plan: Node | None) -> Mapping[str, Node]:
    return {name: use["used_bytes"] for name, use in plan["pools"].items()} if plan else {}


def _addresses(plan: Node | None) -> Mapping[str, Node]:
    return {name: each["address"] for name, each in plan["buffers"].items()} if plan else {}


def _sizes(plan: Node | None) -> Mapping[str, Node]:
    return {name: each["size_bytes"] for name, each in plan["buffers"].items()} if plan else {}


def _total(found: Node | None) -> Mapping[str, Node]:
    known = found is not None and found["cycles"]["total"]
    return {"total": found["cycles"]["total"]} if found is not None and known else {}


def _band(found: Node | None) -> Mapping[str, Node]:
    """Return how far an estimate may be off."""
    told = found is not None and "band" in found["cycles"].raw
    return {"band": found["cycles"]["band"]} if found is not None and told else {}


def _cycles(found: Node | None) -> Mapping[str, Node]:
    layers = found["cycles"]["by_layer"] if found is not None and _total(found) else ()
    return {each["operator"].raw: each["cycles"] for each in layers}


def _devices(found: Node | None) -> Mapping[str, Node]:
    layers = found["cycles"]["by_layer"] if found is not None else ()
    return {each["operator"].raw: each["device"] for each in layers}


def _proof(run: Node | None) -> Mapping[str, Node]:
    if run is None:
        return {}
    return {
        "bit-exact": run["bit_exact"],
        "results compared": run["layers_compared"],
        "accesses judged": run["placement"]["accesses"],
        "samples": run["samples"],
        "cores played by": run["cpu"],
        "accelerators played by": run["accelerator"],
    }
