# SPDX-License-Identifier: Apache-2.0
"""Bindings, in Zephyr's format, of what no binding of Zephyr's own describes.

Source: Zephyr 4.1, "Devicetree bindings syntax".
"""

from collections.abc import Iterator, Mapping, Sequence

from atoll.resolve.soc import Cpu
from atoll_board.cortex_m import is_cortex_m
from atoll_board.devicetree.core_nodes import core_compatible
from atoll_board.devicetree.node import to_dashes
from atoll_board.devicetree.shared_nodes import names_of
from atoll_board.package import Board, Entry, generated_entry
from atoll_board.render import render

_BLOCKS = {
    "atoll,mailbox": "Registers through which a core runs operators for the host",
    "atoll,console": "Text, trace, requests and results of the test bench",
    "atoll,guard": "What firewalls kept back and the bus failed, and the watchdog",
}


def binding_files(board: Board, cores: Sequence[Cpu]) -> Mapping[str, Entry]:
    """Return ``dts/bindings/`` for the trees of cores."""
    return {
        f"dts/bindings/atoll/{values['compatible']}.yaml": generated_entry(
            render("zephyr/binding.yaml", board, **values)
        )
        for values in _bindings(board, cores)
    }


def _bindings(board: Board, cores: Sequence[Cpu]) -> Iterator[dict[str, object]]:
    yield {
        "compatible": "atoll,pool",
        "kind": "pool",
        "title": "A pool, in which buffers of networks are planned",
    }
    for compatible, title in _BLOCKS.items():
        yield {"compatible": compatible, "kind": "registers", "title": title}
    for core in (core for core in cores if not is_cortex_m(core)):
        yield {
            "compatible": core_compatible(core)[0],
            "kind": "core",
            "title": f"A core of the kind {core.spec.name}",
        }
    for engine in board.soc.engines:
        yield {
            "compatible": f"atoll,engine-{to_dashes(engine.spec.name)}",
            "kind": "engine",
            "title": f"The engine {engine.spec.name}",
            "parameters": names_of(engine),
        }
