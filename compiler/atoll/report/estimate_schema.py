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
_PART = object_of(
    part=TEXT,
    **dict.fromkeys(("operators_pj", "between_pj", "idle_pj", "leakage_pj"), maybe(COUNT)),
    total_pj=maybe(COUNT),
    source=TEXT,
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
    energy=maybe(
        object_of(
            **dict.fromkeys(("total_pj", "operators_pj", "outside_pj"), maybe(COUNT)),
            basis=BASIS,
            weakest=choice(*WEAKEST),
            by_layer=each(
                object_of(
                    operator=TEXT,
                    total_pj=maybe(COUNT),
                    **dict.fromkeys(("devices_pj", "memories_pj"), mapping_of(maybe(COUNT))),
                    basis=BASIS,
                )
            ),
            **dict.fromkeys(("by_device", "by_memory"), each(_PART)),
            **dict.fromkeys(("lacks", "without"), each(TEXT)),
        )
    ),
    area=maybe(
        object_of(
            total_um2=maybe(COUNT),
            parts_um2=mapping_of(maybe(COUNT)),
            basis=BASIS,
            weakest=choice(*WEAKEST),
            lacks=each(TEXT),
        )
    ),
    notes=each(TEXT),
)
ESTIMATE = one_or_more(ESTIMATED_NETWORK)
