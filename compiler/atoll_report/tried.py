# SPDX-License-Identifier: Apache-2.0
"""What would make the slowest operators faster: changes of the chip, compiled and estimated."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import atoll
from atoll.api.compilation import compile_with
from atoll.diagnostics.progress import report_to, silent, tell
from atoll.diagnostics.units import format_size, nanoseconds
from atoll.records import dataclass

SLOWEST = 3

_ENGINE = frozenset({"compute", "read", "write", "weights", "start"})
_MOVING = frozenset({"read", "write", "weights"})

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the chip; `values` are by dotted key, as `Soc.with_` takes them."""

    what: str
    values: Mapping[str, str | int]


def try_changes(
    made: atoll.Compilation, estimates: Sequence[Json], seconds: float
) -> list[dict[str, Any]]:
    """Return what changes would do to the slowest operators, the best for each operator first.

    Args:
        made: networks on a chip that can be changed.
        estimates: of them, as ``atoll estimate --json`` prints them.
        seconds: no try begins later.
    """
    end = time.monotonic() + seconds
    chip = made.soc.to_json()
    tried: dict[tuple[tuple[str, str | int], ...], list[Json] | str] = {}
    found = []
    for number, estimate in enumerate(estimates):
        layers = sorted(estimate["cycles"]["by_layer"], key=lambda each: -each["cycles"])
        for layer in layers[:SLOWEST]:
            rows = []
            for change in _changes(chip, layer):
                key = tuple(change.values.items())
                if key not in tried:
                    left = end - time.monotonic()
                    tell(f"trying what would be faster: change {len(tried) + 1}")
                    tried[key] = _try(made, change) if left > 0 else "not tried: the time was up"
                rows.append(_row(estimate, layer, change, tried[key], number))
            found += sorted(rows, key=_merit) or [_nothing(estimate, layer)]
    return found


def _merit(row: Json) -> tuple[int, int]:
    unknown = row["total_then_ns"] is None
    return (1, 0) if unknown else (0, row["total_then_ns"])


def _try(made: atoll.Compilation, change: Change) -> list[Json] | str:
    """Return the estimates on the changed chip, or why there are none."""
    try:
        chip = made.soc.with_(change.values)
        networks = [each.network for each in made]
        with report_to(silent):
            again = compile_with(chip, networks, [each._compiled.options for each in made])
    except atoll.AtollError as error:
        return f"not possible: {error.faults[0].message}"
    return [each.to_json() for each in atoll.estimate(again)]


def _row(
    estimate: Json, layer: Json, change: Change, outcome: list[Json] | str, number: int
) -> dict[str, Any]:
    row = _nothing(estimate, layer) | {"what": change.what, "changes": dict(change.values)}
    if isinstance(outcome, str):
        return row | {"why_not": outcome}
    then = outcome[number]["cycles"]
    same = [each for each in then["by_layer"] if each["operator"] == layer["operator"]]
    if not same:
        row["why_not"] = "the operator is in other parts then"
    elif same[0]["device"] != layer["device"]:
        row["why_not"] = f"it runs on {same[0]['device']} then"
    else:
        row["why_not"] = ""
    return row | {
        "total_then_ns": then["total_ns"],
        "operator_then_ns": _time(then, same[0]) if same else None,
    }


def _nothing(estimate: Json, layer: Json) -> dict[str, Any]:
    return {
        **{key: layer[key] for key in ("operator", "device", "bound")},
        "model": estimate["model"],
        "what": "no change is known that might help",
        "changes": {},
        "operator_ns": _time(estimate["cycles"], layer),
        "total_ns": estimate["cycles"]["total_ns"],
        **dict.fromkeys(("operator_then_ns", "total_then_ns")),
        "why_not": "",
    }


def _time(cycles: Json, layer: Json) -> int:
    """Return what an operator takes; its cycles are of a host whose clock may be another."""
    return nanoseconds(layer["cycles"], cycles["clock_hz"])


def _changes(chip: Json, layer: Json) -> Iterator[Change]:
    """Yield changes of the chip that might make an operator faster."""
    bound, device = layer["bound"], layer["device"]
    if bound in _ENGINE:
        yield from _wider_engine(chip, device)
    if bound in _MOVING and layer["memories"]:
        busiest = max(layer["memories"], key=lambda each: each["cycles"])["memory"]
        yield from _wider_port(chip, busiest, device)
        yield from _nearer_pools(chip, device, busiest)
    if bound in ("driver", "start"):
        yield _faster_clock(chip, chip["host"])
    if bound == "core":
        yield _faster_clock(chip, device)
        yield from _more_on_engines(chip, layer["kind"])


def _parameters(chip: Json, device: str) -> Mapping[str, int]:
    found: Mapping[str, int] = next(
        (each["parameters"] for each in chip["accelerators"] if each["device"] == device), {}
    )
    return found


def _wider_engine(chip: Json, device: str) -> Iterator[Change]:
    parameters = _parameters(chip, device)
    key = f"devices.{device}.params"
    if data := parameters.get("data_bytes"):
        yield Change("twice the width of its bus", {f"{key}.data_bytes": 2 * data})
    for name in ("output_lanes", "input_lanes", "macs"):
        if lanes := parameters.get(name):
            values = {f"{key}.{name}": 2 * lanes}
            if data and data < 2 * lanes:
                values[f"{key}.data_bytes"] = 2 * lanes
            yield Change(f"twice the {name.replace('_', ' ')}", values)


def _wider_port(chip: Json, memory: str, device: str) -> Iterator[Change]:
    width = next(
        each["width_bytes_per_cycle"] for each in chip["memories"] if each["memory"] == memory
    )
    wider: dict[str, str | int] = {f"memories.{memory}.width": 2 * width}
    yield Change(f"a port of {memory} that is twice as wide", wider)
    if (data := _parameters(chip, device).get("data_bytes")) and data <= width:
        both = wider | {f"devices.{device}.params.data_bytes": 2 * width}
        yield Change(f"likewise, and {device}'s bus as wide", both)


def _nearer_pools(chip: Json, device: str, memory: str) -> Iterator[Change]:
    """Yield pools that the device does not reach and that are faster than where it waits."""
    rates = {each["pool"]: _rate(each) for each in chip["speeds"]}
    reach = {each["pool"]: each["access"] for each in chip["reach"]}
    here = max(
        (rates[each["pool"]] for each in chip["pools"] if each["memory"] == memory), default=(0, 0)
    )
    for pool in chip["pools"]:
        name = pool["pool"]
        if reach[name].get(device) == "none" and rates[name] > here:
            how = "ro" if pool["role"] == "constants" else "rw"
            size = format_size(pool["size_bytes"])
            yield Change(f"a way to {name} ({size})", {f"pools.{name}.reach.{device}": how})


def _rate(speed: Json) -> tuple[int, int]:
    return speed["read_bytes_per_cycle"] * speed["clock_hz"], -speed["latency_cycles"]


def _faster_clock(chip: Json, device: str) -> Change:
    hertz = next(each["clock_hz"] for each in chip["devices"] if each["device"] == device)
    return Change(f"twice the clock of {device}", {f"devices.{device}.clock": f"{2 * hertz} Hz"})


def _more_on_engines(chip: Json, kind: str) -> Iterator[Change]:
    """Yield engines of the chip that do such operators, but may not."""
    for each in chip["accelerators"]:
        if kind not in each["runs"] and each["runs"] != ["copy"]:
            runs = f"[{', '.join((*each['runs'], kind)).upper()}]"
            yield Change(f"{each['device']} runs {kind}", {f"devices.{each['device']}.runs": runs})
