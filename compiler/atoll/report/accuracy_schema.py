# SPDX-License-Identifier: Apache-2.0
"""What `atoll run --dataset FILE --json` tells of labelled samples, as a JSON Schema."""

from atoll.report.json_shapes import COUNT, SECONDS, each, mapping_of, object_of

ACCURACY = object_of(
    **dict.fromkeys(("samples", "right", "compared_samples", "equal_samples"), COUNT),
    accuracy={"type": "number", "minimum": 0, "maximum": 1},
    confusion=each(each(COUNT)),
    wall_seconds=mapping_of(SECONDS),
)
