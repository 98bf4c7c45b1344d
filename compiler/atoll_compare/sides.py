# SPDX-License-Identifier: Apache-2.0
"""What can be compared: a chip, or the folder of a build."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from atoll.api.chips import Overrides, SocSource, is_text, load_soc
from atoll.artifacts.build_tree import MARKER, RESOLVED
from atoll.diagnostics.errors import UsageError
from atoll.resolve.export import from_json
from atoll_compare.chip_values import Thing, Value, size, things_of

_PLAN = "plan.json"


def things_at(source: SocSource, overrides: Overrides = ()) -> tuple[Thing, ...]:
    """Return what there is at `source`: of a chip, and of a build's memory plans too.

    Args:
        source: a chip, what `load_soc` takes, or the folder of a build.
        overrides: values that win over a description.

    Raises:
        AtollError: the description is wrong; E009, E096, the folder of a build is damaged.
        UsageError: E090, a build would be changed.
    """
    folder = None if is_text(source) or not isinstance(source, str | Path) else Path(source)
    if folder is None or not (folder / MARKER).is_file():
        return things_of(load_soc(source, overrides=overrides)._resolved)
    if overrides:
        remedy = "build the chip again with --set, and compare that"
        raise UsageError("E090", f"--set changes a chip, and '{folder}' is a build", remedy=remedy)
    chip = from_json(_read(folder / RESOLVED))
    plans = sorted(folder.rglob(_PLAN))
    return (*things_of(chip), *(each for path in plans for each in _plan(path, folder)))


def _plan(path: Path, folder: Path) -> Iterator[Thing]:
    """Yield what a network takes of each pool, and its buffers."""
    place = path.parent.relative_to(folder).name
    network = f"{place}." if place else ""
    try:
        plan: Any = json.loads(_read(path))
        for name, pool in plan["pools"].items():
            used = size(int(pool["used_bytes"]))
            if not used.number:
                continue
            yield Thing("use of pool", f"{network}{name}", used.text, {"size": used})
        for name, buffer in plan["buffers"].items():
            where = f"{buffer['pool']}, offset {int(buffer['offset_bytes'])}"
            values = {"origin": Value(where), "size": size(int(buffer["size_bytes"]))}
            summary = f"{values['size'].text} in {where}"
            yield Thing("buffer", f"{network}{name}", summary, values)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as fault:
        raise _damage(path) from fault


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise _damage(path) from fault


def _damage(path: Path) -> UsageError:
    return UsageError("E096", f"'{path}' cannot be read", remedy="build the folder again")
