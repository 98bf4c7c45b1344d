# SPDX-License-Identifier: Apache-2.0
"""Build options: where the user wants operators to run and tensors to be.

They come from a YAML file, the command line, or both; a word of the command line wins.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from atoll.description.fields import Described, Version, number
from atoll.description.identifiers import identifier
from atoll.description.messages import validate
from atoll.description.on_device import EXAMPLE, Annotations, entry_of
from atoll.description.pins import (
    ROLES,
    WORD,
    Pin,
    Pins,
    RolePins,
    Scopes,
    SetScopes,
    pin_of,
    scope_of,
)
from atoll.description.tree import Entry, Listing, Node, Plain, Scalar, SourceMap, Table, merge
from atoll.description.whom import NAMES
from atoll.diagnostics.errors import Fault, UsageError
from atoll.records import dataclass

MAX_REQUESTS = 4096

_NAMED = re.compile(WORD)
_DEVICE = re.compile(r"[A-Za-z_][\w.-]{0,255}")
_NAMED_OR_PATTERN = re.compile(NAMES)
_ROLE = re.compile("|".join(ROLES))
_REGION = re.compile(rf"{NAMES}|{WORD}\.\.{WORD}")

Word = Annotated[str, Field(max_length=256)]


Places = Annotated[
    dict[str, Word],
    Field(max_length=MAX_REQUESTS, description="The device that runs an operator."),
]
Pinned = Annotated[
    dict[str, Pins],
    Field(max_length=MAX_REQUESTS, description="The pools that may hold a tensor, in order."),
]
Scoped = Annotated[
    dict[str, Scopes],
    Field(
        max_length=MAX_REQUESTS,
        description="The storage scope of a buffer, or of all whose names match a pattern.",
        examples=["{softmax_9_out: global.sram, conv_2d_*_out: global.workspace}"],
    ),
]
SetScopeList = Annotated[
    tuple[SetScopes, ...],
    Field(
        max_length=MAX_REQUESTS,
        description="Storage scopes of what operators, or those of a region, write and read.",
        examples=["[{from: conv_2d_0, to: add_3, scope: global.sram, applies: out}]"],
    ),
]
Roles = Annotated[
    RolePins, Field(description="Pools, in order, for all tensors of a role without a pin.")
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
    dict[str, Annotated[Word, AfterValidator(identifier)]],
    Field(
        max_length=MAX_REQUESTS,
        description="The target of its core that the code of an operator is made for, 'own' for "
        "the core's own code, by the operator's name or a pattern of names.",
        examples=[{"conv_2d_*": "scalar"}],
    ),
]


USUAL_STRATEGY = "usual"
StrategyName = Annotated[Word, Field(examples=[USUAL_STRATEGY])]


class NetworkBuild(Described):
    """What a user asks of one of the networks that share a firmware."""

    place: Places = Field(default={})
    pin: Pinned = Field(default={})
    pin_roles: Roles = RolePins()
    scopes: Scoped = Field(default={})
    set_scope: SetScopeList = ()
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
    robust: bool | None = Field(
        default=None, description="As 'robust' of the whole file, which counts otherwise."
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
    strategy: StrategyName | None = Field(
        default=None, description="As 'strategy' of the whole file, which counts otherwise."
    )
    cuts: Cuts = ()


class Build(Described):
    """What a user asks of one build; every key may be left out."""

    version: Version = Field(default=1, description="Version of this format.", examples=["1"])
    place: Places = Field(default={})
    pin: Pinned = Field(default={})
    pin_roles: Roles = RolePins()
    scopes: Scoped = Field(default={})
    set_scope: SetScopeList = ()
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
    robust: bool = Field(
        default=False,
        description="Whether devices are chosen by the high ends of the bands of estimates, and "
        "not by the estimates themselves.",
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
    strategy: StrategyName = Field(
        default=USUAL_STRATEGY,
        description="What proposes ways to compile a network, of which the fastest by estimate is "
        "taken: Atoll's 'usual' one, or that of a package.",
    )
    cuts: Cuts = ()
    networks: dict[str, NetworkBuild] = Field(
        default={},
        max_length=MAX_REQUESTS,
        description="The same for each of several networks, by its name: that of its file.",
    )

    @property
    def named(self) -> frozenset[str]:
        """The operators and tensors that somebody asks something of, and patterns of them."""
        operators = (op for asked in self.set_scope for op in asked.names)
        names = {*self.place, *self.targets, *self.pin, *self.scopes, *self.free, *operators}
        return frozenset(names)


@dataclass(frozen=True, slots=True)
class BuildRequests:
    """Build options with the place of every key and value."""

    model: Build = field(default_factory=Build)
    where: SourceMap = field(default_factory=lambda: SourceMap(Table({}, None)), compare=False)

    def plain(self) -> Mapping[str, Plain]:
        """Return the same options as data that `read_requests` takes."""
        return {
            "place": dict(self.model.place),
            "pin": {name: _plain(pins) for name, pins in self.model.pin.items()},
            "free": list(self.model.free),
            "overlap": self.model.overlap,
            **({"threads": dict(self.model.threads)} if self.model.threads else {}),
            **({"targets": dict(self.model.targets)} if self.model.targets else {}),
            **({} if self.model.spread else {"spread": False}),
            **({"robust": True} if self.model.robust else {}),
            **({} if self.model.tile == "auto" else {"tile": self.model.tile}),
            **({} if self.model.stream == "auto" else {"stream": self.model.stream}),
            **({} if self.model.rewrite else {"rewrite": False}),
            **({} if self.model.strategy == USUAL_STRATEGY else {"strategy": self.model.strategy}),
            **self._lists(),
            **({"cuts": [cut.model_dump() for cut in self.model.cuts]} if self.model.cuts else {}),
        }

    def _lists(self) -> Mapping[str, Plain]:
        model = self.model
        roles: dict[str, Plain] = {
            role: _plain(pins) for role in ROLES if (pins := getattr(model.pin_roles, role))
        }
        scopes: dict[str, Plain] = {
            name: [str(each) for each in asked] for name, asked in model.scopes.items()
        }
        regions: list[Plain] = [each.plain() for each in model.set_scope]
        annotations: list[Plain] = [each.plain() for each in model.on_device]
        found: dict[str, Plain] = {
            "pin_roles": roles,
            "scopes": scopes,
            "set_scope": regions,
            "on_device": annotations,
        }
        return {key: value for key, value in found.items() if value}


def _plain(pins: Iterable[Pin]) -> list[Plain]:
    return [pin.plain() for pin in pins]


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What the command line asks of one network.

    Attributes:
        place: ``OPERATOR=DEVICE`` texts.
        pin: ``TENSOR=POOL[@SIZE][,POOL...][:in|out|both]`` texts; all those of one tensor count
            together.
        pin_role: ``ROLE=POOL[@SIZE][,POOL...]`` texts.
        scope: ``TENSOR=SCOPE[:in|out|both]`` texts.
        set_scope: ``OPERATOR=SCOPE[:in|out|both]`` or ``FIRST..LAST=SCOPE`` texts, added to the
            file's.
        free: names of tensors, added to the file's.
        on_device: ``OPERATORS=DEVICE`` and ``FROM..TO=FIELD:VALUE,...`` texts, added to the file's.
        thread: ``CORE=THREAD`` texts.
        target: ``OPERATORS=TARGET`` texts.
    """

    place: Sequence[str] = ()
    pin: Sequence[str] = ()
    pin_role: Sequence[str] = ()
    scope: Sequence[str] = ()
    set_scope: Sequence[str] = ()
    free: Sequence[str] = ()
    on_device: Sequence[str] = ()
    thread: Sequence[str] = ()
    target: Sequence[str] = ()
    robust: bool | None = None


def requests_from(
    root: Node,
    words: Words | None = None,
    overlap: str | None = None,
    spread: bool | None = None,
) -> BuildRequests:
    """Return the build options of a document with those of the command line on top.

    Args:
        root: the document.
        words: what the command line asks.
        overlap: ``none``, ``free`` or ``all``.
        spread: whether operators may be spread over cores.

    Raises:
        DescriptionError: a key is unknown, a value ill-typed.
        UsageError: E090, a text of the command line is malformed or contradicts another one.
    """
    if not isinstance(root, Table):
        return BuildRequests(validate(Build, SourceMap(root)), SourceMap(root))
    words = words or Words()
    places = _assignments("--place", words.place, _NAMED, _DEVICE.fullmatch, "conv_2d_0=npu")
    pins = _assignments("--pin", words.pin, _NAMED_OR_PATTERN, pin_of, "logits=dtcm@8KiB,sram:out")
    roles = _assignments("--pin-role", words.pin_role, _ROLE, pin_of, "workspace=dtcm@8KiB,sram")
    scopes = _assignments("--scope", words.scope, _NAMED_OR_PATTERN, scope_of, "logits=global.sram")
    threads = _assignments("--thread", words.thread, _DEVICE, _DEVICE.fullmatch, "cpu=net")
    targets = _assignments(
        "--target", words.target, _NAMED_OR_PATTERN, _DEVICE.fullmatch, "'conv_2d_*=scalar'"
    )
    given: dict[str, Plain] = {
        "place": _singles("--place", places),
        "threads": _singles("--thread", threads),
        "targets": _singles("--target", targets),
        "pin": _pins_of(pins),
        "pin_roles": _pins_of(roles),
        "scopes": {name: list(values) for name, values in scopes.items()},
        "overlap": overlap,
        "spread": spread,
        "robust": words.robust,
    }
    given = {key: value for key, value in given.items() if value not in ({}, None)}
    root = merge(root, node_of(given))
    root = _with_items(root, "set_scope", _regions(words.set_scope))
    root = _with_items(root, "on_device", _annotations(words.on_device))
    where = SourceMap(_with_items(root, "free", words.free))
    return BuildRequests(validate(Build, where), where)


def _pins_of(texts: Mapping[str, Sequence[str]]) -> dict[str, Plain]:
    """Return pins as data; what is given apart stays apart."""
    return {name: _plain(filter(None, map(pin_of, values))) for name, values in texts.items()}


def _regions(texts: Sequence[str]) -> list[Plain]:
    found = _assignments("--set-scope", texts, _REGION, scope_of, "conv_2d_0..add_3=global.sram")
    made: list[Plain] = []
    for name, values in found.items():
        first, dots, last = name.partition("..")
        whom = {"from": first, "to": last} if dots else {"operators": name}
        for value in values:
            scope, _, side = value.partition(":")
            made.append({**whom, "scope": scope, **({"applies": side} if side else {})})
    return made


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
    names: re.Pattern[str],
    reads: Callable[[str], object],
    example: str,
) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    faults = []
    for text in texts:
        name, equals, value = text.partition("=")
        if equals and names.fullmatch(name.strip()) and reads(value.strip()):
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


def _annotations(texts: Sequence[str]) -> Sequence[Plain]:
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
