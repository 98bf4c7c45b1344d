# SPDX-License-Identifier: Apache-2.0
"""Targets of a core: further ways to make its code, which all its other code fits."""

from collections.abc import Iterator

from atoll.description.devices import Cpu
from atoll.description.faults import note
from atoll.isa.code_target import CodeTarget
from atoll.isa.find import NAMES, instruction_set
from atoll.resolve.draft import Draft


def check_targets(draft: Draft, name: str, cpu: Cpu) -> None:
    """Note targets whose code the core cannot run, or cannot call."""
    own = instruction_set(cpu.isa)
    abi = cpu.abi or own.abi
    for target, model in cpu.targets.items():
        key = ("devices", name, "targets", target, "isa")
        if not draft.knows(*key):
            continue
        at = draft.where.at(*key)
        isa = draft.where.at("devices", name, "isa")
        if not NAMES.fullmatch(model.isa):
            draft.faults.add(
                "E216",
                f"no back end generates code for '{model.isa}', target '{target}' of '{name}'",
                at=at,
                remedy=f"write '{cpu.isa}', or a part of it",
            )
            continue
        other = instruction_set(model.isa)
        if not own.includes(other):
            draft.faults.add(
                "E216",
                f"target '{target}' of '{name}' is for '{model.isa}', not all of which "
                f"'{cpu.isa}' has",
                at=at,
                other=note(isa, "the instruction set of the core is given here"),
                remedy=f"write '{cpu.isa}', or a part of it",
            )
        elif abi not in other.abis:
            draft.faults.add(
                "E216",
                f"target '{target}' of '{name}' is for '{model.isa}', which has no calling "
                f"convention '{abi}', the core's",
                at=at,
                other=note(isa, "the instruction set of the core is given here"),
                remedy=f"set 'devices.{name}.abi' to {other.abi}"
                if other.abi in own.abis
                else f"write '{cpu.isa}'",
            )


def code_targets(cpu: Cpu) -> Iterator[CodeTarget]:
    """Yield the targets of a core, sorted by name."""
    abi = cpu.abi or instruction_set(cpu.isa).abi
    for name, model in sorted(cpu.targets.items()):
        yield CodeTarget(name=name, instructions=instruction_set(model.isa, abi))
