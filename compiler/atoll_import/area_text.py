# SPDX-License-Identifier: Apache-2.0
"""Memories at the ports of an Ethos-U, their pools, and the key `vela`, in a description."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from atoll.description.edits import to_yaml_line
from atoll.description.undecided import UNDECIDED
from atoll.diagnostics.units import format_frequency, format_size
from atoll.resolve.soc import PoolSpeed
from atoll.vela.ini_file import VelaConfig
from atoll_import.description_names import PLAIN_PATH, path_from
from atoll_import.facts import Area

_PLAIN_NAME = re.compile(r"[ -~]{1,200}")
_WIDTHS = (4, 8, 16)
"""What a memory of a description can move in a cycle, in bytes; the first by default."""


def area_memory(area: Area, name: str) -> str:
    """Return the entry of a memory, whose address and size no configuration of Vela says."""
    moved = area.speed.read_bandwidth if area.speed else 0
    width = next(width for width in _WIDTHS if width >= moved)
    wide = f", width: {width}" if width != _WIDTHS[0] else ""
    kind = "ram" if area.is_ram else "rom"
    return f"  {name}: {{origin: {UNDECIDED}, size: {UNDECIDED}, kind: {kind}{wide}}}"


def area_pool(area: Area, name: str, reach: Mapping[str, str]) -> Iterator[str]:
    """Yield the entry of the pool in a memory; `reach` has what each device may do with it."""
    yield f"  {name}:"
    yield f"    memory: {name}"
    if area.size is not None:
        yield f"    size: {format_size(area.size)}"
    yield f"    role: {area.role}"
    yield f"    reach: {to_yaml_line(dict(reach))}"
    for key, text in speed_keys(area.speed).items() if area.speed else ():
        yield f"    {key}: {text}"


def speed_keys(speed: PoolSpeed) -> Mapping[str, str]:
    """Return the keys of a pool that say how fast it is."""
    return {
        "read_bandwidth": str(speed.read_bandwidth),
        "write_bandwidth": str(speed.write_bandwidth),
        "latency": str(speed.latency),
        **({"burst": str(speed.burst)} if speed.burst else {}),
        "clock": format_frequency(speed.clock),
    }


def vela_text(config: VelaConfig, folder: Path) -> str:
    """Return the key `vela` of a description in `folder`; odd names in it are questions."""
    path = path_from(folder, config.path)
    names = {"system_config": config.system, "memory_mode": config.mode}
    entries = {"file": path if PLAIN_PATH.fullmatch(path) else UNDECIDED} | {
        key: name if _PLAIN_NAME.fullmatch(name) else UNDECIDED for key, name in names.items()
    }
    return to_yaml_line(entries)
