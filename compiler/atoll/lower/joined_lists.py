# SPDX-License-Identifier: Apache-2.0
"""Lists of commands that an engine runs one after the other, though the host starts only the first.

Each ends with a command that goes on with the next one (`atoll.lower.accelerator.Linking`). The
host would do nothing between them but hear of one end and start again.
"""

from collections.abc import Callable, Iterator, Sequence

from atoll.ir.tir import AcceleratorRun, EngineAction, Step
from atoll.plugins.loading import Part
from atoll.resolve.engine_parts import emitter_of, links
from atoll.resolve.soc import Engine, ResolvedSoc


def join_lists(steps: Sequence[Step], soc: ResolvedSoc) -> Iterator[tuple[Step, ...]]:
    """Yield steps in their order, those together whose lists are one for the host."""
    together: list[Step] = []
    for step in steps:
        if together and not _follows(together[-1], step, soc):
            yield tuple(together)
            together = []
        together.append(step)
    if together:
        yield tuple(together)


def _follows(before: Step, step: Step, soc: ResolvedSoc) -> bool:
    """Tell whether the host has nothing to do between two steps."""
    one, two = before.action, step.action
    if not (isinstance(one, AcceleratorRun) and isinstance(two, AcceleratorRun)):
        return False
    engine = soc.device(two.device)
    assert isinstance(engine, Engine)
    alike = one.device == two.device and not (before.after or step.before)
    return alike and links(emitter_of(engine))


def with_links(
    steps: Sequence[Step], soc: ResolvedSoc, lists: dict[str, bytes], address: Callable[[str], int]
) -> None:
    """Put the commands that go on with another list behind those of its predecessor.

    Args:
        steps: of the program.
        soc: the chip.
        lists: bytes of each list with room for one more command; changed.
        address: of a list, where the engine sees it.

    Raises:
        AtollError: E111, E112; an emitter fails, or returns no such command.
    """
    for together in join_lists(steps, soc):
        for place, step in enumerate(together[:-1]):
            following = together[place + 1]
            assert isinstance(step.action, EngineAction)
            assert isinstance(following.action, EngineAction)
            engine = soc.device(step.action.device)
            assert isinstance(engine, Engine)
            count = following.action.count + (following is not together[-1])
            begin = address(following.action.commands)
            command = link_command(emitter_of(engine), begin, count)
            data = lists[step.action.commands]
            at = step.action.count * len(command)
            lists[step.action.commands] = data[:at] + command + data[at + len(command) :]


def link_command(emitter: Part, address: int, count: int) -> bytes:
    """Return the command that goes on with another list.

    Raises:
        AtollError: E111, E112; the emitter fails, or returns no bytes.
    """
    made = emitter.call("link", address, count)
    if not isinstance(made, bytes) or not made:
        raise emitter.wrong("link", f"{made!r:.80}, no bytes of a command")
    return made
