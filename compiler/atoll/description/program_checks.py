# SPDX-License-Identifier: Apache-2.0
"""Hold the program of an accelerator, and its formulas, against what there is."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import partial

from atoll.description.accelerator import Accelerator, Operator
from atoll.description.accelerator_checks import check_layouts, known_words
from atoll.description.edits import set_key
from atoll.description.faults import Faults
from atoll.description.operators import PLACE, PROPERTIES
from atoll.description.programs import Failure, Step, Steps
from atoll.description.remedies import add, like, remove, rename_fix, value_fix, write
from atoll.description.tree import SourceMap
from atoll.diagnostics.edit import Fix, Remedy
from atoll.program.expressions import Applied, Expression, names_of, parse
from atoll.records import dataclass

_KEYS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "write": (("value",), ()),
    "wait": (("mask", "equals"), ()),
    "push": (("buffer",), ("offset", "bytes")),
    "pop": (("buffer",), ("offset", "bytes")),
    "repeat": (("times", "do"), ()),
}
"""What each verb of a step needs, and what it may have besides."""

_USUAL = {"value": 0, "mask": 1, "equals": 1, "buffer": "output", "times": 1, "do": []}
"""What is missing in a step, for example."""

_ONCE = ("open", "clear", "close", "abort")
_DIVISIONS = ("//", "%", "ceil")

Path = tuple[str, ...]


def check_program(accelerator: Accelerator, where: SourceMap, faults: Faults) -> None:
    """Note steps that cannot be done, and names in formulas that stand for nothing."""
    checks = _Checks(accelerator, where, faults)
    for kind, operator in accelerator.operators.items():
        checks.operator(kind, operator)
    checks.tell_strangers()
    checks.tell_moves()
    check_layouts(accelerator, where, faults, checks.formula)
    known = frozenset(accelerator.parameters)
    for name, port in accelerator.ports.data.items():
        if port.bytes is not None:
            checks.formula(port.bytes, known, ("ports", "data", name, "bytes"))
    if accelerator.macs_per_cycle is not None:
        at = ("macs_per_cycle",)
        checks.formula(accelerator.macs_per_cycle, known, at, step=at)
    told = accelerator.rtl.parameters if accelerator.rtl else None
    for name, text in (told or {}).items():
        checks.formula(text, known, ("rtl", "parameters", name))
    program = accelerator.program
    if program is None:
        return
    for register in program.identity:
        checks.register(register, ("program", "identity", register))
    for number, failure in enumerate(program.errors):
        place = ("program", "errors", str(number))
        checks.register(failure.read, (*place, "read"))
        checks.failure(failure, place)
    for part in _ONCE:
        scope = _Scope(frozenset(), frozenset(), frozenset())
        checks.steps(getattr(program, part), scope, ("program", part))


@dataclass(frozen=True, slots=True)
class _Scope:
    """What the formulas and steps of an operator may name.

    Attributes:
        names: in formulas.
        buffers: of push and pop.
        counts: of the repetitions around.
    """

    names: frozenset[str]
    buffers: frozenset[str]
    counts: frozenset[str]

    def within(self, count: str) -> "_Scope":
        """Return what steps inside a repetition may name."""
        return _Scope(self.names | {count}, self.buffers, self.counts | {count})


@dataclass(frozen=True, slots=True)
class _Stranger:
    """A name that is not defined for some operators."""

    kinds: list[str]
    remedy: Remedy


@dataclass(frozen=True, slots=True)
class _Checks:
    accelerator: Accelerator
    where: SourceMap
    faults: Faults
    strangers: dict[tuple[Path, str], _Stranger] = field(default_factory=dict)
    """Undefined names in steps that several operators share, by place and name."""
    moves: list[Path] = field(default_factory=list)
    """Steps by which the host moves data, of an accelerator that has data ports of its own."""

    def operator(self, kind: str, operator: Operator) -> None:
        """Judge the formulas of an operator, and the steps that run it."""
        at: Path = ("operators", kind)
        words = known_words(kind, operator)
        if words is None:
            return
        buffers = {*words.operands, *operator.constants}
        known = {*self.accelerator.parameters, *words.features, *words.quantities}
        known |= {f"{name}.{each}" for name in buffers for each in PROPERTIES}
        known |= {f"{name}.{each}" for name in words.inner for each in PROPERTIES if each != PLACE}
        for name, formula in operator.values.items():
            self.formula(formula, frozenset(known), (*at, "values", name))
            known.add(name)
        if operator.cost is not None:
            self.formula(operator.cost, frozenset(known), (*at, "cost"))
        program = self.accelerator.program
        if program is None:
            return
        scope = _Scope(frozenset(known), frozenset(buffers), frozenset())
        if operator.run:
            self.steps(operator.run, scope, (*at, "run"))
        elif program.run:
            self.steps(program.run, scope, ("program", "run"), kind)
        else:
            remedy = remove(*at) | "write its steps under 'run', or 'program.run'"
            self._add("E160", f"no steps run {kind}", at, remedy)

    def tell_strangers(self) -> None:
        """Note each name in shared steps once, with the operators for which it is none."""
        for (at, name), stranger in self.strangers.items():
            *others, last = stranger.kinds
            kinds = f"{', '.join(others)} and {last}" if others else last
            self._add("E161", f"'{name}' is not defined here for {kinds}", at, stranger.remedy)

    def tell_moves(self) -> None:
        """Note the first of the steps by which the host moves data and need not."""
        if self.moves:
            what = "the host does not push or pop for an accelerator that has data ports of its own"
            first = self.moves[0]
            no_ports = Remedy("write 'data: {}' under 'ports'", (value_fix(("ports", "data"), {}),))
            self._add("E160", what, first, remove(*first[:-1]) | no_ports)

    def failure(self, failure: Failure, at: Path) -> None:
        """Note an error of a register without its bits, or of a field with others."""
        if failure.mask is None and "." not in failure.read:
            what = f"nothing says which bits of '{failure.read}' mean this error"
            self._add("E160", what, at, add((*at, "mask"), 1) + ", for example")
        if failure.mask is not None and "." in failure.read:
            what = f"'{failure.read}' is a field and needs no mask"
            self._add("E160", what, (*at, "mask"), remove(*at, "mask"))

    def steps(self, steps: Steps, scope: _Scope, at: Path, kind: str = "") -> None:
        """Judge steps, and those inside them."""
        for number, step in enumerate(steps):
            self._step(step, scope, (*at, str(number)), kind)

    def _step(self, step: Step, scope: _Scope, at: Path, kind: str) -> None:
        verbs = [verb for verb in _KEYS if getattr(step, verb) is not None]
        if len(verbs) != 1:
            listed = ", ".join(_KEYS)
            remedy = remove(*at) | "write each step as an item of the list"
            self._add("E160", f"a step has one of {listed}", at, remedy)
            return
        (verb,) = verbs
        self._keys(step, verb, at)
        if verb != "repeat":
            self.register(getattr(step, verb), (*at, verb))
        if verb == "wait" and step.wait is not None:
            self._equal(step, at)
        if verb in ("push", "pop"):
            self._check_moves(step, verb, scope, at)
        elif step.rises:
            what = f"'{verb}' takes no 'rises'"
            self._add("E160", what, (*at, "rises"), remove(*at, "rises"))
        for key in ("value", "offset", "bytes", "times"):
            if (formula := getattr(step, key)) is not None:
                self.formula(formula, scope.names, (*at, key), kind, scope.counts)
        if step.repeat is not None and step.do is not None:
            if step.repeat in scope.names:
                what = f"the counter '{step.repeat}' has a name that is already in use"
                remedy = write((*at, "repeat"), f"{step.repeat}_count") | "choose another name"
                self._add("E160", what, (*at, "repeat"), remedy)
            self.steps(step.do, scope.within(step.repeat), (*at, "do"), kind)

    def _equal(self, step: Step, at: Path) -> None:
        """Note what a field can never equal."""
        bits = self.accelerator.registers.bits(step.wait or "")
        if bits and step.equals is not None and not 0 <= step.equals < 1 << bits[1] - bits[0] + 1:
            what = f"{step.wait} has {bits[1] - bits[0] + 1} bits and cannot be {step.equals}"
            path = (*at, "equals")
            self._add("E160", what, path, write(path, 1) | "another value that fits")

    def _keys(self, step: Step, verb: str, at: Path) -> None:
        needed, optional = _KEYS[verb]
        if verb == "wait" and "." in (step.wait or ""):
            needed = ("equals",)
        every = {key for pair in _KEYS.values() for keys in pair for key in keys}
        for key in needed:
            if getattr(step, key) is None:
                what = f"this step lacks '{key}', which '{verb}' needs"
                self._add("E160", what, at, add((*at, key), _USUAL[key]) + ", for example")
        for key in sorted(every - {*needed, *optional}):
            if getattr(step, key) is not None:
                path = (*at, key)
                self._add("E160", f"'{verb}' takes no '{key}'", path, remove(*path))

    def _check_moves(self, step: Step, verb: str, scope: _Scope, at: Path) -> None:
        if self.accelerator.ports.data:
            self.moves.append((*at, verb))
        path = (*at, "buffer")
        if step.buffer is not None and step.buffer not in scope.buffers:
            what = f"there is no buffer '{step.buffer}'"
            remedy = like(step.buffer, scope.buffers, partial(value_fix, path), at)
            self._add("E161", what, path, remedy)
        elif verb == "pop" and step.buffer not in (None, "output"):
            what = f"'{step.buffer}' is an input: steps cannot write it"
            self._add("E160", what, path, write(path, "output"))

    def register(self, name: str, at: Path) -> None:
        """Note a register that there is not."""
        block = self.accelerator.registers
        step = at[:-1] if at[0] == "operators" or at[1] not in ("identity", "errors") else at
        step = at[:-1] if at[1] == "errors" else step
        become = partial(rename_fix if at[:2] == ("program", "identity") else value_fix, at)
        register, dot, _ = name.partition(".")
        fields = [f"{each}.{field}" for each, named in block.fields.items() for field in named]
        known = fields if dot else [*block.map]
        if register not in block.map:
            what = f"there is no register '{register}'"
            self._add("E161", what, at, like(name, known, become, step))
        elif dot and name not in fields:
            own = [each for each in fields if each.startswith(f"{register}.")]
            what = f"register '{register}' has no field '{name.removeprefix(register + dot)}'"
            self._add("E161", what, at, like(name, own, become, step))

    def formula(
        self,
        text: str,
        known: frozenset[str],
        at: Path,
        kind: str = "",
        counts: frozenset[str] = frozenset(),
        step: Path = (),
    ) -> None:
        """Note names that stand for nothing, and divisions by what may be 0.

        A `kind` is given where several kinds of operators share the formula, and a `step` that may
        go where a number cannot stand for a name.
        """
        expression = parse(text)
        for name in sorted(names_of(expression) - known):
            remedy = like(name, known, partial(_with_name, at, text, name), step)
            if kind:
                stranger = _Stranger([], remedy)
                self.strangers.setdefault((at, name), stranger).kinds.append(kind)
            else:
                self._add("E161", f"'{name}' is not defined here", at, remedy)
        for part in _parts(expression):
            if part.operation in _DIVISIONS and names_of(part.right) & counts:
                what = f"'{text}' divides by a counter, which starts at 0"
                self._add("E160", what, at, write(at, 1) | "divide by something else")

    def _add(self, code: str, message: str, at: Path, remedy: Remedy) -> None:
        place = self.where.at(*at) or self.where.key_at(*at)
        self.faults.add(code, message, at=place, remedy=remedy)


def _with_name(at: Path, text: str, old: str, new: str) -> Fix:
    """Return the fix that writes another name in a formula."""
    return (set_key(at, re.sub(rf"(?<![\w.]){re.escape(old)}(?![\w.])", new, text)),)


def _parts(expression: Expression) -> Iterator[Applied]:
    if isinstance(expression, Applied):
        yield expression
        yield from _parts(expression.left)
        yield from _parts(expression.right)
