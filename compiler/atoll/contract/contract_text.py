# SPDX-License-Identifier: Apache-2.0
"""`contract.json`: the contract for machines, without positions in the user's files."""

from collections.abc import Iterable, Iterator
from itertools import takewhile

from atoll.contract.contract import Contract, Lifetime, Phase, Span


def contract_json(contract: Contract) -> dict[str, object]:
    """Return the contract with addresses in hexadecimal and operators by number."""
    shared = _sharers(contract.lifetimes)
    return {
        "inputs": _spans(contract.inputs),
        "outputs": _spans(contract.outputs),
        "states": _spans(contract.states),
        "constants": _spans(contract.constants),
        "phases": [_phase(phase) for phase in contract.phases.values()],
        "lifetimes": [
            {
                "buffer": each.span.buffer,
                "alignment": each.alignment,
                "constant": each.constant,
                "first": each.first,
                "last": each.last,
                "shares_bytes_with": shared[each.span.buffer],
            }
            for each in contract.lifetimes
        ],
        "copies": [
            {
                "number": copy.number,
                "operator": copy.operator,
                "device": copy.device,
                "source": copy.source.buffer,
                "destination": copy.destination.buffer,
                "bytes": copy.destination.size,
            }
            for copy in contract.copies
        ],
        "areas": [
            {
                "area": area.name,
                "kind": area.kind,
                "device": area.device,
                "address": f"{area.address:#010x}",
                "size": area.size,
                "limit": area.limit,
            }
            for area in contract.areas
        ],
    }


def _phase(phase: Phase) -> dict[str, object]:
    return {
        "number": phase.number,
        "operator": phase.operator,
        "device": phase.device,
        "reads": _spans(phase.reads),
        "writes": _spans(phase.writes),
        "heaps": _spans(phase.heaps),
        "overlaps": [list(pair) for pair in phase.overlaps],
        **({"parts": [_phase(part) for part in phase.parts]} if phase.parts else {}),
    }


def _spans(spans: Iterable[Span]) -> list[dict[str, object]]:
    return [
        {"buffer": s.buffer, "pool": s.pool, "address": f"{s.address:#010x}", "size": s.size}
        for s in spans
    ]


def _sharers(lifetimes: Iterable[Lifetime]) -> dict[str, list[str]]:
    """List for each buffer the ones that have some of its bytes at another time."""
    shared: dict[str, list[str]] = {each.span.buffer: [] for each in lifetimes}
    for low, high in _find_overlaps([each.span for each in lifetimes]):
        shared[low.buffer].append(high.buffer)
        shared[high.buffer].append(low.buffer)
    return {buffer: sorted(others) for buffer, others in shared.items()}


def _find_overlaps(spans: Iterable[Span]) -> Iterator[tuple[Span, Span]]:
    ordered = sorted(spans, key=lambda span: (span.address, span.buffer))
    for index, low in enumerate(ordered):
        above = takewhile(lambda span, end=low.end: span.address < end, ordered[index + 1 :])  # type: ignore[misc]
        yield from ((low, high) for high in above)
