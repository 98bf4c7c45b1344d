# SPDX-License-Identifier: Apache-2.0
"""Faults in what a host and another core tell each other: words lost, wrong, too early, elsewhere.

A word is a command, and its answer. Each fault but `mailbox_elsewhere` is of the word of one step.
"""

from dataclasses import replace
from random import Random

from atoll.bsp.core_images import own_sources
from atoll.bsp.headers import MAILBOX_DRIVERS, own_mailbox
from atoll.codegen.core_steps import calls_on
from atoll.ir.actions import KernelCall
from atoll.records import dataclass
from atoll.resolve.mailbox import SIDE, core_command
from atoll.resolve.soc import Cpu
from atoll_sim.mutate.mutant import Mutant, Right

HOST = "atoll_devices.c"
"""The host's source in which it sends commands and waits for answers."""

MOST_HALVES = 16
"""Halves of a mailbox by which one side may take it to be elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """What a host says to a core for one step.

    Attributes:
        mailbox: where the core sees its own, as C has it.
        operator: that the step is of.
        command: as C has it.
        alone: whether the host does nothing else until the answer.
    """

    core: Cpu
    mailbox: str
    operator: str
    command: int
    alone: bool

    @property
    def of_driver(self) -> str:
        """What the functions of the host's driver begin with."""
        return f"atoll_{MAILBOX_DRIVERS[self.core.shared_mailbox is not None]}"

    @property
    def starts(self) -> str:
        """How the host sends a command."""
        return f"  status = {self.of_driver}_start(&context_{self.core.name}, command);"

    @property
    def told(self) -> str:
        """What the core takes for its command."""
        if self.core.shared_mailbox:
            return "halves->host.command"
        return "get(ATOLL_MAILBOX_REGISTER_COMMAND)"

    @property
    def runs(self) -> str:
        """How the core runs what it was told."""
        if self.core.shared_mailbox:
            return f"      halves->core.result = (uint32_t)run({self.told});"
        return f"    const int32_t status = run({self.told});"

    @property
    def answers(self) -> str:
        """How the core ends its answer, without the spaces before."""
        if self.core.shared_mailbox:
            return "halves->core.answered = sent;"
        return f"atoll_write({self.mailbox} + ATOLL_MAILBOX_REGISTER_RESULT, (uint32_t)status);"


def word_lost(right: Right, random: Random) -> Mutant | None:
    """Let the host send nothing, and go on as if it had."""
    word = _any_word(right, random)
    return _host_fault(right, word, "ATOLL_OK", "is not sent") if word else None


def wrong_word(right: Right, random: Random) -> Mutant | None:
    """Let the host send the command of another step."""
    word = _any_word(right, random)
    others = [
        each
        for each in _words(right)
        if word and each.core == word.core and each.command != word.command
    ]
    if word is None or not others:
        return None
    other = random.choice(others)
    sent = f"{word.of_driver}_start(&context_{word.core.name}, {other.command})"
    return _host_fault(right, word, sent, f"is sent as that of '{other.operator}'")


def not_awaited(right: Right, random: Random) -> Mutant | None:
    """Let the host take it as done as soon as it has sent it."""
    word = _any_word(right, random, alone=True)
    if word is None:
        return None
    core = word.core.name
    head = f"static int32_t begin_{core}(int32_t command) {{"
    waits = f"{word.of_driver}_wait(&context_{core}, ATOLL_CORE_TIMEOUT)"
    sources = (
        (HOST, head, f"static int32_t sent_{core};\n\n{head}"),
        (HOST, word.starts, f"  sent_{core} = command;\n{word.starts}"),
        (HOST, waits, f"sent_{core} == {word.command} ? ATOLL_OK : {waits}"),
    )
    return _mutant(right, word, "is not awaited", sources)


def not_obeyed(right: Right, random: Random) -> Mutant | None:
    """Let the core answer without doing it."""
    word = _any_word(right, random)
    if word is None:
        return None
    obeys = f"run({word.told})"
    without = f"{word.told} == {word.command}u ? ATOLL_OK : {obeys}"
    return _core_fault(
        right, word, word.runs, word.runs.replace(obeys, f"({without})"), "is not run"
    )


def answer_too_early(right: Right, random: Random) -> Mutant | None:
    """Let the core answer before it has done it."""
    word = _any_word(right, random, alone=True)
    if word is None:
        return None
    if word.core.shared_mailbox:
        early = (
            f"halves->core.result = 0u; {word.answers} atoll_shared_mailbox_give(&halves->core);"
        )
    else:
        early = word.answers.replace("(uint32_t)status", "0u")
    early = f"  if ({word.told} == {word.command}u) {{ {early} }}\n{word.runs}"
    return _core_fault(right, word, word.runs, early, "is answered before it ran")


def answer_lost(right: Right, random: Random) -> Mutant | None:
    """Let the core do it, and not answer."""
    word = _any_word(right, random)
    if word is None:
        return None
    guarded = f"if ({word.told} != {word.command}u) {word.answers}"
    return _core_fault(right, word, f"  {word.answers}", f"  {guarded}", "is not answered")


def other_half_written(right: Right, random: Random) -> Mutant | None:
    """Let the core write into the half of its host."""
    word = _any_word(right, random, shared=True)
    if word is None:
        return None
    at = random.randrange(SIDE // 4 - 3)
    wrong = f"  if ({word.told} == {word.command}u) halves->host.rest[{at}] = 0u;\n{word.runs}"
    what = f"has the core write word {at + 3} of the host's half"
    return _core_fault(right, word, word.runs, wrong, what)


def mailbox_elsewhere(right: Right, random: Random) -> Mutant | None:
    """Let the core take its mailbox in memory to be some halves away."""
    word = _any_word(right, random, shared=True)
    if word is None:
        return None
    by = SIDE * random.choice([n for n in range(-MOST_HALVES, MOST_HALVES + 1) if n])
    sentence = f"'{word.core.name}' takes its mailbox to be {by:+} B away"
    made = right.mutant(word.core.name, sentence)
    texts = (f"(uintptr_t){word.mailbox}", f"(uintptr_t)({word.mailbox} + {by})")
    return replace(made, sources=((own_sources(word.core)[1], *texts),))


def _words(right: Right) -> list[Word]:
    module = right.compiled.module
    return [
        Word(
            core=core,
            mailbox=own_mailbox(right.compiled.soc, core),
            operator=step.operator,
            command=core_command(0, step.number),
            alone=isinstance(step.action, KernelCall),
        )
        for core in right.compiled.soc.remote_cpus
        for step, _ in calls_on(module, core.name)
    ]


def _any_word(
    right: Right, random: Random, *, alone: bool = False, shared: bool = False
) -> Word | None:
    """Draw a word; only one that is `alone`, only one in a mailbox in memory."""
    found = [
        each
        for each in _words(right)
        if each.alone >= alone and bool(each.core.shared_mailbox) >= shared
    ]
    return random.choice(found) if found else None


def _host_fault(right: Right, word: Word, instead: str, what: str) -> Mutant:
    """Let the host do something else in place of sending a command."""
    head, sends = word.starts.split(" = ")
    wrong = f"{head} = command == {word.command} ? {instead} : {sends}"
    return _mutant(right, word, what, ((HOST, word.starts, wrong),))


def _core_fault(right: Right, word: Word, was: str, now: str, what: str) -> Mutant:
    return _mutant(right, word, what, ((own_sources(word.core)[1], was, now),))


def _mutant(
    right: Right, word: Word, what: str, sources: tuple[tuple[str, str, str], ...]
) -> Mutant:
    sentence = f"the command of '{word.operator}' for '{word.core.name}' {what}"
    return replace(right.mutant(word.operator, sentence), sources=sources)
