# SPDX-License-Identifier: Apache-2.0
"""What `atoll validate --json` prints, as a JSON Schema."""

from atoll.report.json_shapes import (
    COUNT,
    FLAG,
    NUMBER,
    TEXT,
    Shape,
    each,
    mapping_of,
    maybe,
    object_of,
)

_MUTANT = object_of(
    **dict.fromkeys(("kind", "area", "subject", "fault", "by", "number", "detail"), TEXT),
    **dict.fromkeys(("buffer", "at"), TEXT),
    address=maybe(COUNT),
    caught=FLAG,
    shadow=FLAG,
    equivalent=TEXT,
)
_KIND = object_of(
    kind=TEXT,
    detectable=FLAG,
    **dict.fromkeys(("injected", "right", "restarted", "silently_wrong"), COUNT),
    **dict.fromkeys(("hung", "recovered"), COUNT),
    error_codes=mapping_of(COUNT),
    passed=FLAG,
)
_FAULT = object_of(
    **dict.fromkeys(("kind", "place", "at", "end"), TEXT),
    offset_cycles=COUNT,
    what=NUMBER,
    status=maybe(NUMBER),
    cycles=COUNT,
    right=FLAG,
    recovered=FLAG,
)
_CAMPAIGN = object_of(
    soc=TEXT,
    model=TEXT,
    seed=NUMBER,
    cycles=COUNT,
    passed=FLAG,
    kinds=each(_KIND),
    faults=each(_FAULT),
)


_LEFT_OUT = object_of(**dict.fromkeys(("missing", "where", "by"), TEXT))
_CACHES = object_of(soc=TEXT, model=TEXT, passed=FLAG, right=TEXT, trials=each(_LEFT_OUT))


def validation_shape(report: Shape) -> Shape:
    """Return the schema; `report` is that of one run."""
    network = object_of(
        soc=TEXT, model=TEXT, passed=FLAG, right_build=report, mutants=each(_MUTANT)
    )
    return object_of(
        passed=FLAG, networks=each(network), faults=each(_CAMPAIGN), caches=each(_CACHES)
    )
