# SPDX-License-Identifier: Apache-2.0
"""Tests of an engine: a known answer of each operator, and its access to each place of the chip."""

from collections.abc import Iterator, Mapping

from atoll.records import dataclass
from atoll.resolve.soc import Access, Engine, Pool, ResolvedSoc
from atoll_selftest.constants import Constants
from atoll_selftest.places import Place, access_of, places
from atoll_selftest.sample_operators import Answer, answers
from atoll_selftest.steps import ALIGNMENT, Routes, Runner, Step, block, workspaces


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineTest:
    """What an engine is asked to do, and whether it may.

    Attributes:
        engine: who.
        operator: the operator that it runs, for a known answer; "" for an access.
        place: what it touches, for an access.
        access: READ or WRITE.
        allowed: it must work; else it must be refused.
        steps: in order.
    """

    engine: str
    operator: str = ""
    place: str = ""
    access: Access = Access.NONE
    allowed: bool = True
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Untried:
    """What the self-test leaves out, and why, for people."""

    what: str
    why: str


Tests = Iterator[EngineTest | Untried]


def engine_tests(soc: ResolvedSoc, constants: Constants, begins: Mapping[str, int]) -> Tests:
    """Yield the tests of all engines.

    Args:
        soc: the chip.
        constants: takes weights, inputs and commands.
        begins: bytes at the start of pools that hold constants, all of the self-test's included.
    """
    routes = Routes(soc, constants, begins)
    for engine in soc.engines:
        known = tuple(answers(engine, soc))
        target = next(iter(_targets(soc, engine)), None)
        if engine.spec.undriven:
            yield Untried(what=engine.name, why="nothing says how it is driven")
        elif not known:
            yield Untried(what=engine.name, why="no operator is known that suits it")
        elif constants.pool_for(engine) is None:
            yield Untried(what=engine.name, why="it reads no pool of constants")
        elif target is None:
            yield Untried(what=engine.name, why="it writes no workspace pool")
        else:
            tester = _Tester(soc, engine, constants, routes, target)
            for answer in known:
                yield from tester.fixed_input(answer)
            yield from tester.accesses(known[0])


def _targets(soc: ResolvedSoc, engine: Engine) -> Iterator[Pool]:
    return (pool for pool in workspaces(soc, engine) if pool.reach[engine.name] is Access.WRITE)


class _Tester:
    """Makes the tests of one engine."""

    def __init__(
        self,
        soc: ResolvedSoc,
        engine: Engine,
        constants: Constants,
        routes: Routes,
        target: Pool,
    ):
        self._soc, self._engine, self._constants = soc, engine, constants
        self._routes, self._target = routes, target

    def fixed_input(self, answer: Answer) -> Tests:
        """Yield the test whose result is known: inputs are constants."""
        name, kind = self._engine.name, answer.operator.kind
        steps = self._write_results(self._runner(answer), self._target, answer)
        if steps is None:
            yield Untried(what=f"{kind} of {name}", why=f"pool '{self._target.name}' is too small")
        else:
            yield EngineTest(engine=name, operator=kind, steps=steps)

    def accesses(self, answer: Answer) -> Tests:
        """Yield the tests of reading and of writing at each place."""
        runner = self._runner(answer)
        for place in places(self._soc):
            if place.read_alone:
                continue
            granted = access_of(self._soc, self._engine, place)
            for access in (Access.READ, Access.WRITE):
                allowed = granted in (Access.WRITE, access)
                steps = self._steps(runner, answer, place, access, allowed=allowed)
                if steps is None:
                    what = f"access of {self._engine.name} to {place.name}"
                    yield Untried(what=what, why="it is too small")
                    continue
                yield EngineTest(
                    engine=self._engine.name,
                    place=place.name,
                    access=access,
                    allowed=allowed,
                    steps=steps,
                )

    def _runner(self, answer: Answer) -> tuple[Runner, Mapping[str, int]]:
        """Return what makes commands for an operator, and where its inputs are as constants."""
        runner = Runner(self._soc, self._engine, answer, self._constants)
        pool = self._constants.pool_for(self._engine)
        assert pool is not None, "asked before"
        data, offsets = block(answer.inputs)
        origin = self._constants.put(pool, data, ALIGNMENT)
        return runner, {name: origin + offset for name, offset in offsets.items()}

    def _steps(
        self,
        made: tuple[Runner, Mapping[str, int]],
        answer: Answer,
        place: Place,
        access: Access,
        *,
        allowed: bool,
    ) -> tuple[Step, ...] | None:
        if place.pool and allowed and access is Access.WRITE:
            return self._write_results(made, place.pool, answer)
        if place.pool and allowed:
            return self._read(made, place.pool, answer)
        runner, inputs = made
        data, offsets = block(answer.inputs if access is Access.READ else answer.outputs)
        at = _inside(place, len(data))
        if at is None:
            return None
        tried = {name: at + offset for name, offset in offsets.items()}
        judged = range(at, at + len(data))
        if access is Access.WRITE:
            return (runner.run({**inputs, **tried}, judged),)
        outputs = self._outputs(self._target, answer)
        return None if outputs is None else (runner.run({**tried, **outputs}, judged),)

    def _write_results(
        self,
        made: tuple[Runner, Mapping[str, int]],
        pool: Pool,
        answer: Answer,
        judged: range = range(0),
    ) -> tuple[Step, ...] | None:
        """Write results to a pool and look at them; `judged` is what counts, if not that."""
        runner, inputs = made
        outputs = self._outputs(pool, answer)
        if outputs is None:
            return None
        run = runner.run({**inputs, **outputs}, judged or _span(outputs, answer.outputs))
        return (
            *self._clear_results(pool, outputs, answer),
            run,
            *self._checks(pool, outputs, answer),
        )

    def _read(
        self, made: tuple[Runner, Mapping[str, int]], pool: Pool, answer: Answer
    ) -> tuple[Step, ...] | None:
        """Bring inputs to a pool if somebody can, read them there, and look at the results."""
        runner, inputs = made
        outputs = self._outputs(self._target, answer)
        if outputs is None:
            return None
        if pool is self._constants.pool_for(self._engine):
            return self._write_results(made, self._target, answer, _span(inputs, answer.inputs))
        data, offsets = block(answer.inputs)
        behind = _up(len(block(answer.outputs)[0]))
        at = self._routes.spot(pool, behind, len(data))
        if at is None:
            return None
        read = {name: at + offset for name, offset in offsets.items()}
        filled = self._routes.fill(pool, at, data)
        run = runner.run({**read, **outputs}, range(at, at + len(data)))
        if filled is None:
            return (run,)
        cleared = self._clear_results(self._target, outputs, answer)
        return (*cleared, *filled, run, *self._checks(self._target, outputs, answer))

    def _outputs(self, pool: Pool, answer: Answer) -> Mapping[str, int] | None:
        data, offsets = block(answer.outputs)
        at = self._routes.spot(pool, 0, len(data))
        return None if at is None else {name: at + offset for name, offset in offsets.items()}

    def _clear_results(
        self, pool: Pool, outputs: Mapping[str, int], answer: Answer
    ) -> Iterator[Step]:
        """Yield the steps after which no earlier result can be taken for the right one."""
        for name, data in answer.outputs.items():
            opposite = bytes(byte ^ 0xFF for byte in data)
            yield from self._routes.fill(pool, outputs[name], opposite) or ()

    def _checks(self, pool: Pool, outputs: Mapping[str, int], answer: Answer) -> Iterator[Step]:
        for name, data in answer.outputs.items():
            yield from self._routes.check(pool, outputs[name], data)


def _span(addresses: Mapping[str, int], buffers: Mapping[str, bytes]) -> range:
    """Return the addresses from the first byte of buffers to their last."""
    ends = (addresses[name] + len(data) for name, data in buffers.items())
    return range(min(addresses.values()), max(ends))


def _inside(place: Place, size: int) -> int | None:
    """Return an aligned address at which so many bytes lie in a place, its last ones if need be."""
    at = (place.origin + place.size - size) // ALIGNMENT * ALIGNMENT
    return at if at >= place.origin else None


def _up(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
