# SPDX-License-Identifier: Apache-2.0
"""SEScope: where a value is and what computes it, as four fields that may each be free."""

from collections.abc import Mapping
from dataclasses import field
from typing import TypeVar

from atoll.diagnostics.errors import PlacementError
from atoll.isa.code_target import CodeTarget, Generator, Optimise
from atoll.records import dataclass
from atoll.resolve.soc import Cpu, Device, Npu, ResolvedSoc
from atoll.resolve.targets import DLPACK_CPU, DLPACK_EXTENSION

FREE = -1

_TYPE_NAMES = {DLPACK_CPU: "cpu", DLPACK_EXTENSION: "ext_dev"}
_Field = TypeVar("_Field")


@dataclass(frozen=True, slots=True)
class Target:
    """A code generator with its options; equal if it says the same.

    Attributes:
        kind: such as ``llvm`` or ``reef``.
        device_type: DLPack device type of the devices that it generates code for.
        options: (name, value) pairs, sorted.
    """

    kind: str
    device_type: int
    options: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return " ".join([self.kind, *(f"-{name}={value}" for name, value in self.options)])


@dataclass(frozen=True, slots=True)
class SEScope:
    """A storage and execution scope; `FREE`, None and "" leave a field open.

    A target implies its device type, so a scope with a target never has a free device type.

    Raises:
        PlacementError: the target is for another device type.
    """

    device_type: int = FREE
    virtual_device_id: int = FREE
    target: Target | None = None
    memory_scope: str = ""

    def __post_init__(self) -> None:
        if self.target is None or self.device_type == self.target.device_type:
            return
        if self.device_type != FREE:
            raise PlacementError(
                "E047",
                f"target '{self.target}' generates code for "
                f"{device_type_name(self.target.device_type)}, "
                f"not for {device_type_name(self.device_type)}",
                remedy="name a target for that kind of device",
            )
        object.__setattr__(self, "device_type", self.target.device_type)

    def __str__(self) -> str:
        parts = {
            "device_type": "" if self.device_type == FREE else device_type_name(self.device_type),
            "virtual_device_id": "" if self.virtual_device_id == FREE else self.virtual_device_id,
            "target": self.target or "",
            "memory_scope": self.memory_scope,
        }
        given = [f"{name}={value}" for name, value in parts.items() if value != ""]
        return f"SEScope({', '.join(given) or '?'})"


def join(left: SEScope | None, right: SEScope | None) -> SEScope | None:
    """Return what satisfies both scopes, None (undefined) where a field is fixed differently."""
    if left is None or right is None:
        return None
    if any(
        _conflict(one, other, free)
        for one, other, free in (
            (left.device_type, right.device_type, FREE),
            (left.virtual_device_id, right.virtual_device_id, FREE),
            (left.target, right.target, None),
            (left.memory_scope, right.memory_scope, ""),
        )
    ):
        return None
    return default(left, right)


def default(left: SEScope, right: SEScope) -> SEScope:
    """Return `left` with its free fields from `right`.

    The target of `right` is taken only if it is for the device type that results.
    """
    device_type = _first(left.device_type, right.device_type, FREE)
    offered = right.target if right.target and right.target.device_type == device_type else None
    return SEScope(
        device_type=device_type,
        virtual_device_id=_first(left.virtual_device_id, right.virtual_device_id, FREE),
        target=left.target or offered,
        memory_scope=left.memory_scope or right.memory_scope,
    )


@dataclass(frozen=True, slots=True)
class ScopeTable:
    """The scopes of one chip, each held once; nothing outlives the table."""

    soc: ResolvedSoc
    _held: dict[SEScope, SEScope] = field(default_factory=dict, repr=False, compare=False)

    def intern(self, scope: SEScope) -> SEScope:
        """Return the one scope of this table that equals `scope`."""
        return self._held.setdefault(scope, scope)

    def of(self, name: str, memory_scope: str = "", target: str = "") -> SEScope:
        """Return the scope of a device, with all that the chip says about it.

        `target` names one of a core's, and the usual one if it is "".
        """
        device = self.soc.device(name)
        made = target_of(device, target)
        scope = SEScope(device.device_type, device.device_id, made, memory_scope)
        return self.intern(scope)

    def devices(self) -> Mapping[str, SEScope]:
        """Return the scope of every device by name."""
        return {device.name: self.of(device.name) for device in self.soc.devices}


def target_of(device: Device, name: str = "") -> Target | None:
    """Return what generates code for `device`, None for a device that runs no operators.

    `name` is of a target of a core, "" for the usual one.
    """
    match device:
        case Cpu():
            return _code_of(device, name)
        case Npu():
            params = tuple((name, str(value)) for name, value in sorted(device.params.items()))
            return Target(device.spec.name, device.device_type, params)
        case _:
            return None


def code_target(core: Cpu, target: str) -> CodeTarget | None:
    """Return the target of a core that is written like this, None for the core's own code.

    A loop program has the target of a kernel in these words, the same on all cores.
    """
    if not target:
        return None
    return next(each for each in core.targets if str(_code_of(core, each.name)) == target)


def _code_of(core: Cpu, name: str) -> Target:
    """Return what makes the code of a core for one of its targets; "" for its own."""
    found = next((each for each in core.targets if each.name == name), None)
    instructions = found.instructions if found else core.instructions
    options = {"isa": instructions.name}
    if found and instructions.abi != core.instructions.abi:
        options["abi"] = instructions.abi
    if found and found.optimise is not Optimise.SPEED:
        options["optimise"] = found.optimise.value
    if found and not found.unit:
        options["function_unit"] = "false"
    generator = (found.generator if found else None) or Generator.LLVM
    return Target(generator.value, core.device_type, tuple(sorted(options.items())))


def _first(left: _Field, right: _Field, free: _Field) -> _Field:
    return right if left == free else left


def _conflict(left: object, right: object, free: object) -> bool:
    return left not in (free, right) and right != free


def device_type_name(device_type: int) -> str:
    """Return the word for a device type of DLPack."""
    return _TYPE_NAMES.get(device_type, f"device type {device_type}")
