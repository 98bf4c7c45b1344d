# SPDX-License-Identifier: Apache-2.0
"""What `atoll estimate --json` prints, as a JSON Schema."""

from atoll.cost.basis import WEAKEST
from atoll.ir.busy import Bound
from atoll.report.json_shapes import (
    BAND,
    BASIS,
    COUNT,
    TEXT,
    choice,
    each,
    mapping_of,
    maybe,
    object_of,
    one_or_more,
)

_TRAFFIC = object_of(
    memory=TEXT,
    **dict.fromkeys(("read_bytes", "written_bytes", "cycles"), COUNT),
    basis=BASIS,
)
_ESTIMATED = object_of(
    **dict.fromkeys(("operator", "kind", "device"), TEXT),
    helpers=each(TEXT),
    basis=BASIS,
    band=BAND,
    **dict.fromkeys(("begin", "end", "cycles"), COUNT),
    bound=choice(*Bound),
    macs=COUNT,
    parts=mapping_of(COUNT),
    memories=each(_TRAFFIC),
)
ESTIMATED_NETWORK = object_of(
    **dict.fromkeys(("soc", "model", "model_sha256"), TEXT),
    cycles=object_of(
        **dict.fromkeys(("total", "before", "network", "after", "sequential", "waiting"), COUNT),
        **dict.fromkeys(("clock_hz", "total_ns"), COUNT),
        basis=BASIS,
        weakest=choice(*WEAKEST),
        band=BAND,
        by_layer=each(_ESTIMATED),
        by_memory=each(_TRAFFIC),
    ),
    roofs=object_of(
        devices=each(object_of(device=TEXT, macs_per_cycle=maybe(COUNT), clock_hz=COUNT)),
        memories=each(object_of(memory=TEXT, bytes_per_cycle=COUNT, clock_hz=COUNT)),
    ),
    notes=each(TEXT),
)
ESTIMATE = one_or_more(ESTIMATED_NETWORK)
