# SPDX-License-Identifier: Apache-2.0
"""The pools of a memory-pool file of ST Edge AI Core, and the NPU that reaches them."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from atoll.interchange.mpool import RANKS, Window, parse_pool_file
from atoll_import.facts import Facts, LeftOut, Master, PoolWindow
from atoll_import.reader import Given, Importer

_NPU = "npu"
_FROM_FILE = "'atoll bsp' writes it as it is in the file"


class Mpool(Importer):
    """Reads ``.mpool``."""

    suffixes = (".mpool",)

    def recognises(self, given: Given) -> bool:
        """Tell by the list of pools."""
        return given.head.lstrip("\ufeff \t\r\n").startswith("{") and '"mempools"' in given.head

    def read(self, given: Given) -> Facts:
        """Return the pools that are turned on and have a place, and the NPU."""
        file = parse_pool_file(given.text, given.path)
        used = sorted((each for each in file.windows if each.is_used), key=lambda it: it.origin)
        places = _preferences(used)
        first = given.source(used[0].line if used else 1)
        return Facts(
            masters=(Master(name=_NPU, what="the NPU", clocks=True, source=first),),
            windows=tuple(_window(given, each, places[_order(each)]) for each in used),
            mpool=(given.path, _NPU),
            left_out=tuple(_omissions(given, file.windows, file.document["memory"])),
        )


IMPORTER = Mpool()


def _order(window: Window) -> tuple[int, int, Fraction]:
    """Return by what the compiler chooses among pools: least latency first, then most bytes."""
    return window.latency, -window.throughput, -window.speed


def _preferences(windows: Sequence[Window]) -> Mapping[tuple[int, int, Fraction], int]:
    return {order: place for place, order in enumerate(sorted(set(map(_order, windows))))}


def _window(given: Given, window: Window, preference: int) -> PoolWindow:
    latency, throughput = RANKS[window.latency], RANKS[window.throughput]
    return PoolWindow(
        name=window.name,
        memory=window.memory,
        origin=window.origin,
        size=window.size,
        device=_NPU,
        writable=window.writable,
        constants=_is_for_constants(window),
        width=window.width,
        ratio=window.ratio,
        preference=preference,
        why=f"latency {latency}, throughput {throughput}",
        source=given.source(window.line, window.name),
    )


def _is_for_constants(window: Window) -> bool | None:
    """Tell what a pool is for; the file leaves it open of one that constants only prefer."""
    if not window.writable:
        return True
    return None if window.constants else False


def _omissions(
    given: Given, windows: Sequence[Window], memory: Mapping[str, object]
) -> Iterator[LeftOut]:
    for each in windows:
        source = given.source(each.line, each.name)
        what = f"pool {each.name} at {each.origin:#x}"
        if not each.is_placed:
            yield LeftOut(what, f"a linker places it; {_FROM_FILE}", source)
        elif not each.is_used:
            yield LeftOut(what, f"its size is 0, which turns it off; {_FROM_FILE}", source)
    if memory.get("cacheinfo"):
        why = f"a description has no place for it; {_FROM_FILE}"
        yield LeftOut("cache of the NPU", why, given.source(1, "cacheinfo"))
