# SPDX-License-Identifier: Apache-2.0
"""How many bytes of a pool the size hints of pins allow each buffer."""

from collections.abc import Iterable, Mapping
from itertools import chain

from atoll.description.pins import Pin
from atoll.diagnostics.errors import SourceLoc
from atoll.ir.ceiling import Ceiling
from atoll.ir.graph import Graph
from atoll.ir.tir import Entry
from atoll.ops.registry import COPY
from atoll.place.asked_scopes import Narrowing, PinRequest
from atoll.place.requests import Requests

Asked = tuple[Pin, str, SourceLoc | None]
"""A pin, what it is for people, and where it was written."""


def ceilings_of(
    requests: Requests, graph: Graph, entry: Entry
) -> Mapping[str, tuple[Ceiling, ...]]:
    """Return the least hint for each pool of a buffer, by the buffer's name.

    Args:
        requests: what is asked.
        graph: placed.
        entry: of the program, all buffers of which are known.
    """
    copied = {op.outputs[0]: op.inputs[0] for op in graph.operators if op.kind == COPY}
    found: dict[str, dict[str, Ceiling]] = {}

    def note(buffer: str, asked: Iterable[PinRequest | Narrowing]) -> None:
        for each in asked:
            words = each.words if isinstance(each, PinRequest) else _words(each, requests)
            words += "" if each.at else " (command line)"
            for choice in each.pin.choices:
                if choice.size is not None:
                    ceiling = Ceiling(pool=choice.pool, size=choice.size, asked=words, at=each.at)
                    least = found.setdefault(buffer, {})
                    known = least.get(choice.pool, ceiling)
                    least[choice.pool] = min(known, ceiling, key=lambda one: one.size)

    for tensor in graph.tensors:
        note(tensor.view or tensor.name, requests.pins.get(tensor.name, ()))
    constants = {constant.name for constant in entry.constants}
    for buffer in entry.sizes:
        if buffer in requests.tensors:
            continue
        source = copied.get(buffer, "")
        reading = [each for each in requests.pins.get(source, ()) if each.reads]
        own = [each for each in requests.later if not each.scope and each.means(buffer)]
        roles = requests.of_role(buffer, graph, constant=buffer in constants)
        note(buffer, own or reading or roles)
    return {name: tuple(each.values()) for name, each in found.items()}


def _words(asked: Narrowing, requests: Requests) -> str:
    role = asked in chain.from_iterable(requests.roles.values())
    return f"pin '{asked.words}'" + f" of role '{asked.name}'" * role
