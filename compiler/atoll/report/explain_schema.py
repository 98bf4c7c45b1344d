# SPDX-License-Identifier: Apache-2.0
"""What `atoll explain --json` tells of a network, as a JSON Schema."""

from atoll.report.json_shapes import (
    BAND,
    BASIS,
    COUNT,
    FLAG,
    NUMBER,
    PLACE,
    RATIO,
    TEXT,
    choice,
    each,
    mapping_of,
    maybe,
    object_of,
)

ACCESS = choice("none", "ro", "rw")
STEPS = each({"type": "array", "items": COUNT, "minItems": 2, "maxItems": 2})
_BUFFER = object_of(
    **dict.fromkeys(("name", "what", "scope", "place", "rule"), TEXT),
    **dict.fromkeys(("size_bytes", "offset_bytes", "address"), maybe(COUNT)),
    seen_at=mapping_of(COUNT),
    live_steps=STEPS,
    uses=each(object_of(step=maybe(COUNT), operator=TEXT, device=TEXT, access=ACCESS)),
    alternatives=each(object_of(place=TEXT, lacks=each(TEXT), remark=TEXT)),
    views=each(TEXT),
    asked=each(object_of(request=TEXT, at=maybe(object_of(path=TEXT, line=COUNT, column=COUNT)))),
    left=each(TEXT),
)
_STREAM = object_of(
    **dict.fromkeys(("operator", "source", "target", "mover"), TEXT),
    **dict.fromkeys(("size_bytes", "parts", "copy_cycles", "cycles"), COUNT),
    streamed=FLAG,
    direct_cycles=maybe(COUNT),
)
_SCOPE = object_of(
    **dict.fromkeys(("device_type", "target", "memory_scope"), maybe(TEXT)),
    virtual_device_id=maybe(COUNT),
)
_SCOPED = object_of(
    name=TEXT,
    asked=each(object_of(scope=_SCOPE, source=TEXT, place=TEXT, at=maybe(PLACE))),
    joined=_SCOPE,
    default=_SCOPE,
    rule=TEXT,
    device=maybe(TEXT),
)
CANDIDATES = object_of(
    soc=TEXT,
    model=TEXT,
    model_sha256=TEXT,
    candidates=each(
        object_of(
            candidate=TEXT,
            choices=object_of(
                overlap=object_of(commands=COUNT, apart=choice("all", "slower", "none")),
                **dict.fromkeys(("fused", "spread", "unlike_cores"), FLAG),
                spared_pools=each(TEXT),
                stripes=each(object_of(first=TEXT, last=TEXT, stripes=COUNT)),
                devices=mapping_of(TEXT),
                apart=mapping_of(TEXT),
                streams=maybe(object_of(share=NUMBER, every=FLAG)),
            ),
            outcome=choice("chosen", "refused", "slower", "not clearly faster", "not as asked"),
            cycles=maybe(COUNT),
            used_bytes=mapping_of(COUNT),
            lacks_bytes=mapping_of(COUNT),
            why=TEXT,
        )
    ),
)
EXPLAINED = object_of(
    soc=TEXT,
    model=TEXT,
    model_sha256=TEXT,
    buffers=each(_BUFFER),
    operators=each(
        object_of(
            **dict.fromkeys(("operator", "device", "reason"), TEXT),
            rejected=mapping_of(TEXT),
            basis=BASIS,
            turns_to=maybe(TEXT),
            within_band=each(TEXT),
            costs=mapping_of(
                object_of(cycles=COUNT, copy_cycles=COUNT, basis=BASIS, band=BAND),
            ),
        )
    ),
    targets=each(
        object_of(
            **dict.fromkeys(("operator", "device", "target", "reason"), TEXT),
            measured=mapping_of(object_of(least=RATIO, greatest=RATIO, operators=COUNT)),
        )
    ),
    scopes=object_of(
        devices=each(object_of(name=TEXT, scope=_SCOPE, place=TEXT)),
        operators=each(_SCOPED),
        tensors=each(_SCOPED),
    ),
    coverage=each(
        object_of(
            **dict.fromkeys(("device", "kind"), TEXT),
            **dict.fromkeys(("operators", "macs", "cycles"), COUNT),
            basis=BASIS,
        )
    ),
    left_out=mapping_of(TEXT),
    notes=each(TEXT),
    cuts=each(
        object_of(
            **dict.fromkeys(("first", "last"), TEXT),
            **dict.fromkeys(("stripes", "whole_bytes", "stripe_bytes"), COUNT),
            **dict.fromkeys(("whole_cycles", "cycles"), COUNT),
            basis=BASIS,
            apart=mapping_of(TEXT),
        )
    ),
    streaming=maybe(
        object_of(
            operators=each(_STREAM),
            cycles=COUNT,
            direct_cycles=maybe(COUNT),
            basis=BASIS,
        )
    ),
)
