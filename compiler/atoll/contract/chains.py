# SPDX-License-Identifier: Apache-2.0
"""Which operators an engine begins by itself, derived from the program; and lists that agree.

An engine may go from one list of commands to the next without the host, if the host would only
hear of one end and start again. Knows nothing of who chains lists, or of the code that starts them.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise

from atoll.diagnostics.errors import Fault, PlanError
from atoll.ir.tir import AcceleratorRun, EngineAction, Entry, IRModule, Step
from atoll.memory.problem import MemoryPlan
from atoll.resolve.engine_parts import emitter_of, links
from atoll.resolve.memory_views import device_address
from atoll.resolve.soc import Engine, ResolvedSoc


def chained_steps(entry: Entry, soc: ResolvedSoc) -> Iterator[tuple[Step, Step]]:
    """Yield each step that an engine begins by itself, behind the one before it."""
    able = {engine.name for engine in soc.engines if links(emitter_of(engine))}
    for before, step in pairwise(entry.steps):
        runs = [each.action for each in (before, step) if isinstance(each.action, AcceleratorRun)]
        engines = {run.device for run in runs}
        idle_host = not before.after and not step.before
        if len(runs) == 2 and len(engines) == 1 and engines <= able and idle_host:
            yield before, step


def check_chains(
    module: IRModule, plan: MemoryPlan, lists: Mapping[str, bytes], soc: ResolvedSoc
) -> None:
    """Accept lists of commands that go on with another one where an engine may, nowhere else.

    Args:
        module: its steps say how many commands each list has.
        plan: where the lists are.
        lists: by name, padded to their planned sizes, as an image has them.
        soc: the chip.

    Raises:
        PlanError: E197.
    """
    if faults := tuple(_faults(module, plan, lists, soc)):
        raise PlanError.all(faults)


def _faults(
    module: IRModule, plan: MemoryPlan, lists: Mapping[str, bytes], soc: ResolvedSoc
) -> Iterator[Fault]:
    chained = {one.number: two for one, two in chained_steps(module.entry, soc)}
    for step in module.entry.steps:
        if isinstance(step.action, EngineAction):
            engine = soc.device(step.action.device)
            assert isinstance(engine, Engine)
            if links(emitter_of(engine)):
                following = chained.get(step.number)
                yield from _list_faults(step, following, chained, (plan, lists, soc), engine)


def _list_faults(
    step: Step,
    following: Step | None,
    chained: Mapping[int, Step],
    image: tuple[MemoryPlan, Mapping[str, bytes], ResolvedSoc],
    engine: Engine,
) -> Iterator[Fault]:
    """Yield a fault if what is behind the commands of a step is not what should be there."""
    plan, lists, soc = image
    assert isinstance(step.action, EngineAction)
    link, wanted = b"", "end"
    if following:
        assert isinstance(following.action, EngineAction)
        at = device_address(soc, engine.name, plan.address(following.action.commands))
        count = following.action.count + (following.number in chained)
        link = emitter_of(engine).call("link", at, count)
        wanted = f"go on with the {count} of '{following.operator}' at {at:#010x}"
    size = len(emitter_of(engine).call("link", 0, 1))
    behind = lists[step.action.commands][step.action.count * size :]
    if behind != link.ljust(len(behind), b"\0"):
        yield Fault(
            code="E197",
            message=f"the commands of operator '{step.operator}' on '{engine.name}' do not"
            f" {wanted}, as the steps of the program require",
            at=engine.spec.places.get("emitter"),
            remedy="this is a bug in Atoll: report it with the chip and the network",
        )
