# SPDX-License-Identifier: Apache-2.0
"""What `atoll check-image --json` prints, as a JSON Schema."""

from atoll.report.json_shapes import COUNT, FLAG, RATIO, TEXT, Shape, each, maybe, object_of

_PATH = each(object_of(function=TEXT, bytes=COUNT))
_STACK_USE: dict[str, Shape] = {
    **dict.fromkeys(("stack_bytes", "entry_bytes", "interrupt_bytes"), maybe(COUNT)),
    "stack": each(
        object_of(
            **dict.fromkeys(("function", "begun_by"), TEXT),
            handles_exception=FLAG,
            pushed_bytes=COUNT,
            bytes=maybe(COUNT),
            path=_PATH,
            not_bounded=each(object_of(function=TEXT, why=TEXT)),
        )
    ),
    "other_stacks": each(
        object_of(
            **dict.fromkeys(("function", "thread"), TEXT),
            **dict.fromkeys(("top_address", "room_bytes", "bytes"), maybe(COUNT)),
            path=_PATH,
        )
    ),
    "assumes": each(TEXT),
}
_DISAGREEMENTS = each(object_of(message=TEXT, at=maybe(TEXT)))
_HELD = object_of(
    **dict.fromkeys(("soc", "core", "image"), TEXT),
    usage=each(
        object_of(
            **dict.fromkeys(("memory", "region"), TEXT),
            **dict.fromkeys(("first_address", "size_bytes"), COUNT),
            **dict.fromkeys(("used_bytes", "free_bytes"), maybe(COUNT)),
            used_share=maybe(RATIO),
        )
    ),
    sections=each(
        object_of(
            section=TEXT,
            **dict.fromkeys(("first_address", "size_bytes", "loaded_bytes"), COUNT),
            copied_from_address=maybe(COUNT),
        )
    ),
    **_STACK_USE,
    disagreements=_DISAGREEMENTS,
    parameters_known=FLAG,
    not_known=each(TEXT),
)
CHECK_IMAGE: Shape = {
    "anyOf": [_HELD, object_of(image=TEXT, **_STACK_USE, disagreements=_DISAGREEMENTS)]
}
