"""Build options: where the user wants operators to run and tensors to be.

They come from a YAML file, the command line, or both; a word of the command line wins.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from atoll.description.fields import Described, Version, must_be, number
from atoll.description.messages import validate
from atoll.description.on_device import EXAMPLE, NAMES, Annotations, entry_of
from atoll.description.tree import Entry, Listing, Node, Plain, Scalar, SourceMap, Table, merge
from atoll.errors import Fault, UsageError

MAX_REQUESTS = 4096
SIDES = ("in", "out", "both")

_WORD = r"[A-Za-z_]\w{0,255}"
_DEVICE = r"[A-Za-z_][\w.-]{0,255}"
_PIN = re.compile(rf"({_WORD})(?::({'|'.join(SIDES)}))?")
_EXPECTED_PIN = "POOL, POOL:in, POOL:out, POOL:both, {pool: POOL, applies: in}, or a list of these"


class Pin(Described):
    """One pool for one tensor.

    Attributes:
        applies: ``out`` where it is written, ``in`` where operators read it, ``both``.
    """

    pool: str
    applies: Literal["in", "out", "both"] = "both"

    def __str__(self) -> str:
        return f"{self.pool}:{self.applies}"


def _pins(value: object) -> tuple[Pin, ...]:
    items = value if isinstance(value, list | tuple) else [value]
    if not items:
        raise must_be(_EXPECTED_PIN)
    return tuple(map(_pin, items))


def _pin(value: Any) -> Pin:
    match value:
        case str() if found := _PIN.fullmatch(value):
            return Pin(pool=found[1], applies=found[2] or "both")
        case {"pool": str(pool), **rest} if not rest:
            return Pin(pool=pool)
        case {"pool": str(pool), "applies": "in" | "out" | "both" as applies, **rest} if not rest:
            return Pin(pool=pool, applies=applies)
        case _:
            raise must_be(_EXPECTED_PIN)


_SHORT = {"type": "string", "pattern": f"^{_PIN.pattern}$"}
_LONG = {
    "type": "object",
    "properties": {"pool": {"type": "string"}, "applies": {"enum": list(SIDES)}},
    "required": ["pool"],
    "additionalProperties": False,
}
_ONE = {"anyOf": [_SHORT, _LONG]}
Pins = Annotated[
    tuple[Pin, ...],
    BeforeValidator(_pins),
    WithJsonSchema({"anyOf": [_SHORT, _LONG, {"type": "array", "items": _ONE, "minItems": 1}]}),
]
Word = Annotated[str, Field(max_length=256)]


Places = Annotated[
    dict[str, Word],
    Field(max_length=MAX_REQUESTS, description="The device that runs an operator."),
]
Pinned = Annotated[
    dict[str, Pins], Field(max_length=MAX_REQUESTS, description="The pool that holds a tensor.")
]
Freed = Annotated[
    tuple[Word, ...],
    Field(
        max_length=MAX_REQUESTS,
        description="Tensors that may be copied although they are pinned.",
        examples=["[logits]"],
    ),
]
Overlap = Literal["none", "free", "all"]


class CutRequest(Described):
    """A chain of operators that is cut into stripes of rows."""

    first: Word = Field(description="The first operator.")
    last: Word = Field(description="The last one; all between them belong to the chain.")
    stripes: Annotated[int, *number(2, 4096)] = Field(description="How many stripes.")


Tile = Literal["auto", "never"]
Stream = Literal["auto", "never", "always"]
Cuts = Annotated[
    tuple[CutRequest, ...],
    Field(
        max_length=MAX_REQUESTS,
        description="Chains of operators that are cut into stripes of rows, and no others.",
        examples=["[{first: conv_2d_0, last: depthwise_conv_2d_3, stripes: 8}]"],
    ),
]


Threads = Annotated[
    dict[str, Word],
    Field(
        max_length=MAX_REQUESTS,
        description="The thread of a core on whose stack networks run, 'main' for the main stack; "
        "by default the one that 'stack.runs' of the core names.",
        examples=[{"cpu": "net"}],
    ),
]


Targets = Annotated[
    dict[str, Word],
    Field(
        max_length=MAX_REQUESTS,
        description="The target of its core that the code of an operator is made for, by the "
        "operator's name or a pattern of names.",
        examples=[{"conv_2d_*": "scalar"}],
    ),
]


class NetworkBuild(Described):
    """What a user asks of one of the networks that share a firmware."""

    place: Places = Field(default={})
    pin: Pinned = Field(default={})
    free: Freed = ()
    on_device: Annotations = ()
    threads: Threads = Field(default={})
    targets: Targets = Field(default={})
    overlap: Overlap | None = Field(
        default=None, description="As 'overlap' of the whole file, which counts otherwise."
    )
    spread: bool | None = Field(
        default=None, description="As 'spread' of the whole file, which counts otherwise."
    )
    tile: Tile | None = Field(
        default=None, description="As 'tile' of the whole file, which counts otherwise."
    )
    stream: Stream | None = Field(
        default=None, description="As 'stream' of the whole file, which counts otherwise."
    )
    rewrite: bool | None = Field(
        default=None, description="As 'rewrite' of the whole file, which counts otherwise."
    )
    cuts: Cuts = ()


class Build(Described):
    """What a user asks of one build; every key may be left out."""

    version: Version = Field(default=1, description="Version of this format.", examples=["1"])
    place: Places = Field(default={})
    pin: Pinned = Field(default={})
    free: Freed = ()
    on_device: Annotations = ()
    threads: Threads = Field(default={})
    targets: Targets = Field(default={})
    overlap: Overlap = Field(
        default="free",
        description="Whether an operator's output may lie over its input: nowhere, where it costs "
        "no time, or wherever it saves memory. If memory is short, 'free' turns to 'all'.",
    )
    spread: bool = Field(
        default=True,
        description="Whether an operator may be spread over cores of one kind, each of which makes "
        "a part of it, where that is faster.",
    )
    tile: Tile = Field(
        default="auto",
        description="Whether a network whose tensors do not fit is cut: 'auto' cuts chains of "
        "operators into stripes of rows, so that tensors between them need not exist as a whole.",
    )
    stream: Stream = Field(
        default="auto",
        description="Whether a DMA engine copies constants to where accelerators read them faster, "
        "ahead of their use: where that is estimated to be faster or nothing else fits, nowhere, "
        "or wherever it can.",
    )
    rewrite: bool = Field(
        default=True,
        description="Whether operators are left out or joined where all outputs stay the same: "
        "those on constants, without effect, without a reader, made twice, and padding.",
    )
    cuts: Cuts = ()
    networks: dict[str, NetworkBuild] = Field(
        default={},
        max_length=MAX_REQUESTS,
        description="The same for each of several networks, by its name: that of its file.",
    )


@dataclass(frozen=True, slots=True)
class BuildRequests:
    """Build options with the place of every key and value."""

    model: Build = field(default_factory=Build)
    where: SourceMap = field(default_factory=lambda: SourceMap(Table({}, None)), compare=False)

    def plain(self) -> Mapping[str, Plain]:
        """Return the same options as data that `read_requests` takes."""
        return {
            "place": dict(self.model.place),
            "pin": {name: [str(pin) for pin in pins] for name, pins in self.model.pin.items()},
            "free": list(self.model.free),
            "overlap": self.model.overlap,
            **({"threads": dict(self.model.threads)} if self.model.threads else {}),
            **({"targets": dict(self.model.targets)} if self.model.targets else {}),
            **({} if self.model.spread else {"spread": False}),
            **({} if self.model.tile == "auto" else {"tile": self.model.tile}),
            **({} if self.model.stream == "auto" else {"stream": self.model.stream}),
            **({} if self.model.rewrite else {"rewrite": False}),
            **self._annotations(),
            **({"cuts": [cut.model_dump() for cut in self.model.cuts]} if self.model.cuts else {}),
        }

    def _annotations(self) -> Mapping[str, Plain]:
        entries: list[Plain] = [each.plain() for each in self.model.on_device]
        return {"on_device": entries} if entries else {}


def requests_from(
    root: Node,
    place: Sequence[str] = (),
    pin: Sequence[str] = (),
    free: Sequence[str] = (),
    overlap: str | None = None,
    spread: bool | None = None,
    on_device: Sequence[str] = (),
    thread: Sequence[str] = (),
    target: Sequence[str] = (),
) -> BuildRequests:
    """Return the build options of a document with those of the command line on top.

    Args:
        root: the document.
        place: ``OPERATOR=DEVICE`` texts.
        pin: ``TENSOR=POOL[:in|out|both]`` texts; all those of one tensor count together.
        free: names of tensors, added to the file's.
        overlap: ``none``, ``free`` or ``all``.
        spread: whether operators may be spread over cores.
        on_device: ``OPERATORS=DEVICE`` and ``FROM..TO=FIELD:VALUE,...``, added to the file's.
        thread: ``CORE=THREAD`` texts.
        target: ``OPERATORS=TARGET`` texts.

    Raises:
        DescriptionError: a key is unknown, a value ill-typed.
        UsageError: E090, a text of the command line is malformed or contradicts another one.
    """
    if not isinstance(root, Table):
        return BuildRequests(validate(Build, SourceMap(root)), SourceMap(root))
    places = _assignments("--place", place, re.compile(_DEVICE), "conv_2d_0=npu")
    pins = _assignments("--pin", pin, _PIN, "logits=sram:out")
    threads = _assignments("--thread", thread, re.compile(_WORD), "cpu=net")
    targets = _assignments(
        "--target", target, re.compile(_WORD), "'conv_2d_*=scalar'", re.compile(NAMES)
    )
    given: dict[str, Plain] = {
        "place": _singles("--place", places),
        "threads": _singles("--thread", threads),
        "targets": _singles("--target", targets),
        "pin": {name: list(values) for name, values in pins.items()},
        "overlap": overlap,
        "spread": spread,
    }
    given = {key: value for key, value in given.items() if value not in ({}, None)}
    root = merge(root, node_of(given))
    annotations = _annotated(on_device)
    root = _with_items(_with_items(root, "free", free), "on_device", annotations)
    where = SourceMap(root)
    return BuildRequests(validate(Build, where), where)


def read_requests(data: Any) -> BuildRequests:
    """Return the build options that `BuildRequests.plain` gave.

    Raises:
        DescriptionError: it did not give these.
    """
    where = SourceMap(node_of(data))
    return BuildRequests(validate(Build, where), where)


def node_of(data: Plain) -> Node:
    """Return `data` as a document that nobody wrote down."""
    match data:
        case dict():
            return Table({key: Entry(None, node_of(value)) for key, value in data.items()}, None)
        case list():
            return Listing(tuple(map(node_of, data)), None)
        case _:
            return Scalar(data, None)


def _assignments(
    option: str,
    texts: Iterable[str],
    pattern: re.Pattern[str],
    example: str,
    names: re.Pattern[str] = re.compile(_WORD),
) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    faults = []
    for text in texts:
        name, equals, value = text.partition("=")
        if equals and names.fullmatch(name.strip()) and pattern.fullmatch(value.strip()):
            found.setdefault(name.strip(), []).append(value.strip())
        else:
            message = f"'{option} {text}' is not understood"
            faults.append(Fault(code="E090", message=message, remedy=f"write {option} {example}"))
    if faults:
        raise UsageError.all(faults)
    return found


def _singles(option: str, found: Mapping[str, Sequence[str]]) -> dict[str, Plain]:
    for name, values in found.items():
        if len(set(values)) > 1:
            first, second = sorted(set(values))[:2]
            raise UsageError(
                "E090",
                f"'{option} {name}={first}' and '{option} {name}={second}' contradict each other",
                remedy="delete one of them",
            )
    return {name: values[0] for name, values in found.items()}


def _annotated(texts: Sequence[str]) -> Sequence[Plain]:
    entries = [entry_of(text) for text in texts]
    faults = [
        Fault(
            code="E090",
            message=f"'--on-device {text}' is not understood",
            remedy=f"write {EXAMPLE}",
        )
        for text, entry in zip(texts, entries, strict=True)
        if entry is None
    ]
    if faults:
        raise UsageError.all(faults)
    return [entry for entry in entries if entry is not None]


def _with_items(root: Node, key: str, given: Sequence[Plain]) -> Node:
    """Add what the command line gives to a list of the file."""
    assert isinstance(root, Table)
    entry = root.entries.get(key)
    if not given or (entry and not isinstance(entry.value, Listing)):
        return root
    before = entry.value.items if entry and isinstance(entry.value, Listing) else ()
    at = entry.value.at if entry else None
    items = (*before, *map(node_of, given))
    key_at = entry.key_at if entry else None
    return Table({**root.entries, key: Entry(key_at, Listing(items, at))}, root.at)
