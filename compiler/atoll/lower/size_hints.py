"""How many bytes of a pool the size hints of pins allow each buffer."""

from collections.abc import Iterator, Mapping

from atoll.description.pins import Pin
from atoll.ir.graph import Graph
from atoll.ir.tir import Entry
from atoll.ops.registry import COPY
from atoll.place.requests import Requests


def ceilings_of(requests: Requests, graph: Graph, entry: Entry) -> Mapping[str, Mapping[str, int]]:
    """Return the least hint for each pool of a buffer, by the buffer's name.

    Args:
        requests: what is asked.
        graph: placed.
        entry: of the program, all buffers of which are known.
    """
    copied = {op.outputs[0]: op.inputs[0] for op in graph.operators if op.kind == COPY}
    found: dict[str, dict[str, int]] = {}

    def note(buffer: str, pins: Iterator[Pin]) -> None:
        for choice in (choice for pin in pins for choice in pin.choices):
            if choice.size is not None:
                least = found.setdefault(buffer, {})
                least[choice.pool] = min(choice.size, least.get(choice.pool, choice.size))

    for tensor in graph.tensors:
        note(tensor.view or tensor.name, (each.pin for each in requests.pins.get(tensor.name, ())))
    constants = {constant.name for constant in entry.constants}
    for buffer in entry.sizes:
        if buffer in requests.tensors:
            continue
        source = copied.get(buffer, "")
        reading = [each.pin for each in requests.pins.get(source, ()) if each.reads]
        own = [each.pin for each in requests.later if not each.scope and each.means(buffer)]
        roles = requests.of_role(buffer, graph, constant=buffer in constants)
        note(buffer, iter(own or reading or [each.pin for each in roles]))
    return found
