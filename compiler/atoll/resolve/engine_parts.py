# SPDX-License-Identifier: Apache-2.0
"""The emitter of an accelerator, as every stage asks it."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from operator import index
from types import MappingProxyType

from atoll.diagnostics.errors import AtollError, SourceLoc
from atoll.plugins.loading import Methods, Part, is_own, load, make_part
from atoll.resolve.soc import AcceleratorSpec, Engine, once_per_engine

EMITTER_METHODS: Methods = MappingProxyType(
    {
        "prepare": ("op", "graph", "npu", "splits"),
        "encode": ("op", "graph", "npu", "address", "splits"),
        "identity": ("npu",),
        "estimate_cycles": ("op", "graph", "npu", "commands"),
    }
)
"""What `atoll.lower.accelerator.CommandEmitter` asks for."""

RECORDS = "atoll.lower.records:RecordEmitter"
"""What makes the commands of accelerators without an emitter of their own."""

_WORD = 2**32


def emitter_of(engine: Engine) -> Part:
    """Make the emitter that the description of `engine` names.

    Raises:
        AtollError: E041, E110; there is none that can be used.
    """
    spec = engine.spec
    at = spec.places.get("emitter")
    made = load(spec.emitter, at=at)
    return _emitter(spec.emitter, made if isinstance(made, type) else None, spec.name, at)


@lru_cache(maxsize=64)
def _emitter(entry: str, _made: type | None, accelerator: str, at: SourceLoc | None) -> Part:
    """Make the emitter once of a class: it keeps nothing from call to call."""
    who = f"emitter '{entry}' of accelerator '{accelerator}'"
    return make_part(entry, who, EMITTER_METHODS, at=at)


def links(emitter: Part) -> bool:
    """Say whether an emitter makes commands that go on with another list."""
    return callable(getattr(emitter.value, "link", None))


def check_functions(engine: Engine) -> None:
    """Load each function that the description of `engine` names for an operator.

    Raises:
        AtollError: E041, E110; one is not there, or is none.
    """
    spec = engine.spec
    for kind, place, entry in _functions(spec):
        at = spec.places.get(place)
        if not callable(load(entry, at=at)):
            what = f"'{entry}' of accelerator '{spec.name}' is no function, which {kind} needs"
            raise AtollError("E110", what, at=at, remedy="name a function of Python")


@once_per_engine
def _foreign_entries(engine: Engine) -> tuple[str, ...]:
    """Return the entry points of other packages that the description of an engine names."""
    entries = (engine.spec.emitter, *(entry for _, _, entry in _functions(engine.spec)))
    return tuple(entry for entry in entries if not is_own(entry))


def code_of(*engines: Engine) -> tuple[object, ...]:
    """Return what of other packages has a say in the jobs of engines, as it is loaded now.

    A module that is loaded again has others, which are not equal. What cannot be loaded is its
    entry point.
    """
    found: list[object] = []
    for entry in (entry for each in engines for entry in _foreign_entries(each)):
        try:
            found.append(load(entry))
        except AtollError:
            found.append(entry)
    return tuple(found)


def _functions(spec: AcceleratorSpec) -> Iterator[tuple[str, str, str]]:
    """Yield the operator, the place in the description and the entry point of each function."""
    for support in spec.operators:
        kind = support.kind.upper()
        operator = f"operators.{kind}"
        for packed in support.constants:
            yield kind, f"{operator}.constants.{packed.name}", packed.pack
        for entry in filter(None, (support.reference, support.model)):
            yield kind, operator, entry


def identity_of(engine: Engine) -> Mapping[str, int]:
    """Return what registers of `engine` hold that tell what it is, by register name.

    Raises:
        AtollError: E041, E110 to E112; the emitter cannot say.
    """
    emitter = emitter_of(engine)
    identity = emitter.call("identity", engine, about=f"'{engine.name}'")
    if not isinstance(identity, Mapping) or not (identity or engine.spec.emitter == RECORDS):
        raise emitter.wrong("identity", f"{identity!r:.80}, no mapping of register names to values")
    for name, value in identity.items():
        if name not in engine.spec.registers:
            raise emitter.wrong("identity", f"'{name}', which is no register of 'registers.map'")
        if not 0 <= whole(value) < _WORD:
            raise emitter.wrong("identity", f"{value!r:.80} for '{name}', no value of 32 bits")
    return {name: index(value) for name, value in identity.items()}


def whole(value: object) -> int:
    """Return an integer of any library as an int, and -1 for anything else."""
    try:
        return -1 if isinstance(value, bool) else index(value)  # type: ignore[arg-type]
    except TypeError:
        return -1
