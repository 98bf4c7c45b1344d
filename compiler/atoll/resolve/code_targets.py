# SPDX-License-Identifier: Apache-2.0
"""Targets of a core: further ways to make its code, which all its other code fits."""

from collections.abc import Iterator
from typing import Any

from atoll.description.devices import CodeTarget as Model
from atoll.description.devices import Cpu
from atoll.description.faults import note
from atoll.description.remedies import remove, rename, value_fix, write
from atoll.diagnostics.edit import Remedy
from atoll.isa.code_target import OWN, CodeTarget, Generator, Optimise
from atoll.isa.find import NAMES, instruction_set
from atoll.isa.instruction_set import InstructionSet, passes_integers_alike
from atoll.resolve.draft import Draft


def check_targets(draft: Draft, name: str, cpu: Cpu) -> None:
    """Note targets whose code the core cannot run, or cannot call."""
    for target, model in cpu.targets.items():
        _Checked(draft, name, cpu, target, model).check()


class _Checked:
    def __init__(self, draft: Draft, name: str, cpu: Cpu, target: str, model: Model) -> None:
        self._draft, self._cpu, self._target, self._model = draft, cpu, target, model
        self._device, self._key = name, ("devices", name, "targets", target)
        self._who = f"target '{target}' of '{name}'"

    def check(self) -> None:
        """Note what is wrong with a target."""
        own = instruction_set(self._cpu.isa)
        if self._target == OWN:
            self._fault(
                "E194",
                f"{self._who} has the name of the core's own code",
                at=self._draft.where.key_at(*self._key),
                remedy=rename(self._key, f"{OWN}_code"),
            )
        if not self._model.function_unit and self._cpu.function_unit is None:
            self._fault(
                "E194",
                f"{self._who} is to do without a function unit, which the core has not",
                at=self._draft.where.at(*self._key, "function_unit"),
                remedy=remove(*self._key, "function_unit"),
            )
        isa = self._model.isa
        if not self._draft.knows(*self._key):
            return
        if isa is not None and not NAMES.fullmatch(isa):
            self._wrong_isa(f"no back end generates code for '{isa}', {self._who}")
        elif isa is not None and not own.includes(instruction_set(isa)):
            self._wrong_isa(
                f"{self._who} is for '{isa}', not all of which '{self._cpu.isa}' has",
                own=True,
            )
        elif self._cpu.abi in (None, *own.abis):
            self._convention(own, instruction_set(isa or self._cpu.isa))

    def _wrong_isa(self, message: str, *, own: bool = False) -> None:
        isa = self._draft.where.at("devices", self._device, "isa")
        self._fault(
            "E216",
            message,
            at=self._draft.where.at(*self._key, "isa"),
            other=note(isa, "the instruction set of the core is given here") if own else None,
            remedy=write((*self._key, "isa"), self._cpu.isa) | "a part of it",
        )

    def _convention(self, own: InstructionSet, instructions: InstructionSet) -> None:
        """Floats may be passed otherwise, since operators pass none; all else must not."""
        wanted, abi = self._cpu.abi or own.abi, self._model.abi
        fitting = [each for each in instructions.abis if passes_integers_alike(each, wanted)]
        key = "isa" if abi is None else "abi"
        if abi is not None and abi not in instructions.abis:
            message = f"{self._who} is for '{instructions.name}', which has no calling convention "
            message += f"'{abi}'"
        elif (abi or next(iter(fitting), None)) not in fitting:
            found = abi or instructions.abi
            message = f"{self._who} has the calling convention '{found}', which passes integers "
            message += f"otherwise than '{wanted}', the core's"
        else:
            return
        right = fitting if abi is not None and fitting else [self._cpu.isa]
        self._fault(
            "E195",
            message,
            at=self._draft.where.at(*self._key, key),
            other=note(
                self._draft.where.at("devices", self._device, "abi" if self._cpu.abi else "isa"),
                "the calling convention of the core comes from here",
            ),
            remedy=Remedy(
                "write " + " or ".join(f"'{each}'" for each in right),
                tuple(value_fix((*self._key, key), each) for each in right),
            ),
        )

    def _fault(self, code: str, message: str, **more: Any) -> None:
        self._draft.faults.add(code, message, **more)


def code_targets(cpu: Cpu) -> Iterator[CodeTarget]:
    """Yield the targets of a core, sorted by name."""
    wanted = cpu.abi or instruction_set(cpu.isa).abi
    for name, model in sorted(cpu.targets.items()):
        isa = model.isa or cpu.isa
        usual = wanted if wanted in instruction_set(isa).abis else None
        yield CodeTarget(
            name=name,
            instructions=instruction_set(isa, model.abi or usual),
            optimise=Optimise(model.optimise),
            generator=Generator(model.generator) if model.generator else None,
            unit=model.function_unit,
        )
