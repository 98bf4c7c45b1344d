# SPDX-License-Identifier: Apache-2.0
"""Where Vela puts the inputs and outputs of each operator: its tables of the allocation.

With `--separate-io-regions` the inputs of an operator are in region 3, and its outputs and whatever
else an operator of the NPU writes are in region 4, each at an offset. Nothing in the file that Vela
writes says so for every tensor but these tables, which `--verbose-allocation` prints.
"""

import re
from collections.abc import Mapping, Sequence

from atoll.records import dataclass

_REGIONS = {"FeatureMap|Input": 3, "FeatureMap|Output": 4}
_TABLE = re.compile(r"^Allocation, memory \S+, usage mask: (\S+)$")
_ROW = re.compile(r"^ *\d+ - +\d+: +(0x[0-9a-f]+) - +(0x[0-9a-f]+): +\d+: +\d+: \w+ *: (.*)$")


@dataclass(frozen=True, slots=True)
class Location:
    """The bytes that one operator has of a tensor."""

    region: int
    begin: int
    end: int


Locations = Mapping[str, tuple[Location, ...]]
"""By the name of the tensor, which several tensors may have."""


def allocations(text: str) -> Sequence[Locations]:
    """Return where tensors are, for each operator that Vela makes in their order.

    Args:
        text: what Vela said.
    """
    found: list[dict[str, tuple[Location, ...]]] = []
    region = None
    for line in text.splitlines():
        if table := _TABLE.match(line):
            region = _REGIONS.get(table[1])
            if region == min(_REGIONS.values()):
                found.append({})
        elif line.startswith(("#", "Tensor Allocation")):
            region = None
        elif region is not None and found and (row := _ROW.match(line)):
            location = Location(region, int(row[1], 16), int(row[2], 16))
            found[-1][row[3]] = (*found[-1].get(row[3], ()), location)
    return found
