# SPDX-License-Identifier: Apache-2.0
"""What the shadow memory can find: name, promise, sentence and remedy of every rule."""

from atoll.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleText:
    """The words of one rule.

    Texts are formats of ``device``, ``kind`` (read, write or fetch), ``buffer``, ``other`` and
    ``pool``; those of the rules of ports, whose key is `RTL`, of ``device``, ``count``, ``kind``,
    ``register``, ``owed``, ``channel`` and ``instruction``.

    Attributes:
        symbol: in C++; ``NO_REACH`` is ``kNoReach``.
        number: of the promise in docs/semantics.md.
        key: of the description's value that decides.
    """

    symbol: str
    name: str
    number: str
    detail: str
    key: str
    remedy: str


_POOL = "pools.{pool}.memory"
_REACH = "pools.{pool}.reach.{device}"
PLAN = "build again; if Atoll made this plan, report it"
"""What helps where Atoll's own plan, firmware or hardware is wrong."""

FOREIGN = "have {device} leave '{pool}' to the cores that it belongs to, or " + PLAN
"""What helps where a region is no pool, so that nothing in a description opens it."""

RTL = "rtl.module"
"""Rules of an accelerator's or function unit's ports: its own description is the place."""

RULES = (
    RuleText(
        symbol="NO_BUFFER",
        name="outside any live buffer",
        number="M2",
        detail="no live buffer holds this byte, which {device} {kind}s",
        key=_POOL,
        remedy=PLAN,
    ),
    RuleText(
        symbol="NO_REACH",
        name="device without reach",
        number="C3",
        detail="{device} does not reach {pool} to {kind} it",
        key=_REACH,
        remedy="give '{device}' access in pools.{pool}.reach, or pin the buffer to a pool that it"
        " reaches",
    ),
    RuleText(
        symbol="UNWRITTEN",
        name="read before write",
        number="M2",
        detail="nobody has written this byte of '{buffer}' in this lifetime",
        key=_POOL,
        remedy="run the operator or copy that writes '{buffer}' first, or " + PLAN,
    ),
    RuleText(
        symbol="STALE",
        name="stale read",
        number="M2",
        detail="the lifetime of '{buffer}' is over",
        key=_POOL,
        remedy="keep '{buffer}' until its last reader is done, or " + PLAN,
    ),
    RuleText(
        symbol="CLOBBER",
        name="overlap clobber",
        number="M3",
        detail="'{buffer}' is live and {device} may not write it now{instead}",
        key=_POOL,
        remedy="give '{buffer}' bytes of its own, or " + PLAN,
    ),
    RuleText(
        symbol="OVERWRITTEN",
        name="overwritten before read",
        number="M3",
        detail="the bytes hold '{other}'{writer}",
        key=_POOL,
        remedy="give '{buffer}' bytes of its own, or " + PLAN,
    ),
    RuleText(
        symbol="READ_ONLY",
        name="write to read-only",
        number="M6",
        detail="{device} may only read here",
        key=_REACH,
        remedy="let {device} write to a workspace pool",
    ),
    RuleText(
        symbol="PAST_END",
        name="past the end of a buffer",
        number="M3",
        detail="{device} goes on past the end of '{buffer}'",
        key=_POOL,
        remedy="compare the sizes in the commands or the kernel with plan.json",
    ),
    RuleText(
        symbol="WRONG_OPERATOR",
        name="wrong operator",
        number="M2",
        detail="what {device} is running may not {kind} '{buffer}'",
        key="devices.{device}.kind",
        remedy="run the operators in the order of the plan, or " + PLAN,
    ),
    RuleText(
        symbol="STACK_LIMIT",
        name="stack below its limit",
        number="K1",
        detail="the stack of {device} grew past what it may use",
        key="devices.{device}.limits.max_stack_size",
        remedy="raise devices.{device}.limits.max_stack_size and the stack's size, or lower"
        " max_stack_alloca_size",
    ),
    RuleText(
        symbol="FOREIGN_STACK",
        name="stack of another device",
        number="C6",
        detail="only its own core may touch {pool}",
        key=_POOL,
        remedy=PLAN,
    ),
    RuleText(
        symbol="MISALIGNED",
        name="misaligned buffer",
        number="M3",
        detail="'{buffer}' does not start at a multiple of its alignment",
        key="pools.{pool}.alignment",
        remedy="let the plan align '{buffer}', or " + PLAN,
    ),
    RuleText(
        symbol="COPY_DIFFERS",
        name="copy moved other bytes",
        number="P5",
        detail="'{buffer}' is not the copy of '{other}' that was planned",
        key="devices.{device}.kind",
        remedy="compare the copy's commands with contract.json",
    ),
    RuleText(
        symbol="UNDER_WAY",
        name="touched while under way",
        number="P6",
        detail="another device is still working on '{buffer}'",
        key="devices.{device}.kind",
        remedy="wait for the copy or operator that is under way first",
    ),
    RuleText(
        symbol="NO_CODE",
        name="fetch outside code",
        number="M1",
        detail="{device} has no code here",
        key="devices.{device}.kind",
        remedy="look for a damaged return address or function pointer",
    ),
    RuleText(
        symbol="BLOCKED",
        name="blocked by the firewall",
        number="C3",
        detail="{device} has no window for this {kind}, though the contract allows it",
        key=_REACH,
        remedy="build the chip from the description that the network was planned for",
    ),
    RuleText(
        symbol="CONTENT",
        name="constant differs",
        number="M6",
        detail="'{buffer}' does not hold what was compiled, as a run begins",
        key=_POOL,
        remedy="build the firmware again, and load all of it",
    ),
    RuleText(
        symbol="EARLY",
        name="done too early",
        number="A1",
        detail="{device} says that it is done, and {owed}",
        key=RTL,
        remedy="raise done and the interrupt only when every request is answered",
    ),
    RuleText(
        symbol="NO_INTERRUPT",
        name="no interrupt",
        number="A2",
        detail="{device} was done and raised no interrupt: the host found out by reading a"
        " register, {count:,} cycles after the last access to memory",
        key=RTL,
        remedy="raise the interrupt whenever what was started has ended",
    ),
    RuleText(
        symbol="BUSY_AND_DONE",
        name="busy and done",
        number="A1",
        detail="{register} of {device} reads {count:#x}: it says that it works and that it is done",
        key=RTL,
        remedy="take done back at a start, and say it again when what was started has ended",
    ),
    RuleText(
        symbol="STAYS",
        name="interrupt not cleared",
        number="A3",
        detail="{device} keeps its interrupt high {count} cycles after the host took it back",
        key=RTL,
        remedy="lower the interrupt when the host writes what 'clear' says",
    ),
    RuleText(
        symbol="FELL",
        name="interrupt dropped",
        number="A3",
        detail="{device} lowers its interrupt before the host took it back",
        key=RTL,
        remedy="keep a level high until the host writes what 'clear' says; if the line only"
        " pulses, say 'interrupt: edge'",
    ),
    RuleText(
        symbol="NO_WORK",
        name="spurious interrupt",
        number="A4",
        detail="{device} raises its interrupt, and nothing was started since reset or the last one",
        key=RTL,
        remedy="raise the interrupt only when what was started has ended, and reset what it comes"
        " from",
    ),
    RuleText(
        symbol="NOT_ENABLED",
        name="interrupt not enabled",
        number="A4",
        detail="{device} raises its interrupt, which the host has not enabled",
        key=RTL,
        remedy="raise the interrupt only while it is enabled",
    ),
    RuleText(
        symbol="BAD_REGISTER",
        name="wrong identity",
        number="A5",
        detail="{register} of {device} reads {count:#x}",
        key=RTL,
        remedy="let {register} read what the description says at any time",
    ),
    RuleText(
        symbol="BAD_RESET",
        name="wrong value after reset",
        number="A5",
        detail="{register} of {device} reads {count:#x} before anything was started",
        key=RTL,
        remedy="reset what {register} shows: busy, done and error are 0",
    ),
    RuleText(
        symbol="REFUSED",
        name="register refuses",
        number="A5",
        detail="{device} answers a {kind} of {register} with an error",
        key=RTL,
        remedy="answer what the driver does without an error",
    ),
    RuleText(
        symbol="WRONGLY_TAKEN",
        name="register takes",
        number="A5",
        detail="{device} answers a {kind} of {register} without an error, which nothing allows",
        key=RTL,
        remedy="answer it with an error; if there is such a register, name it in 'registers.map';"
        " if the module never answers with an error, let 'rtl.ports' have null for that port",
    ),
    RuleText(
        symbol="UNASKED",
        name="request without work",
        number="A6",
        detail="{device} asks for memory, and has no work: nothing was started, or it said that it"
        " was done",
        key=RTL,
        remedy="ask only between the start and the end of what was started, and reset what makes"
        " requests",
    ),
    RuleText(
        symbol="WAVERS",
        name="unstable request",
        number="A7",
        detail="{device} changes or withdraws a request that was not accepted, at {channel}",
        key=RTL,
        remedy="hold a request, with all that belongs to it, until it is accepted",
    ),
    RuleText(
        symbol="TOO_MANY",
        name="more ends than commands",
        number="A8",
        detail="{register} of {device} counts {count:,}, more commands than it was given",
        key=RTL,
        remedy="count a command once, when it has ended",
    ),
    RuleText(
        symbol="NO_END",
        name="never done",
        number="A9",
        detail="{device} has not ended what was started {count:,} cycles before",
        key=RTL,
        remedy="look at what it waits for with --waves; its model, --accelerator {device}=model,"
        " shows whether the commands are right",
    ),
    RuleText(
        symbol="UNIT_RESTS",
        name="function unit does not answer",
        number="A9",
        detail="the function unit of {device} does not {kind} {instruction}, which its core waits"
        " for",
        key=RTL,
        remedy="answer each request; 'rvalid' may come in any later cycle, but must come",
    ),
)
"""By their numbers."""

BY_NAME = {rule.name: rule for rule in RULES}
