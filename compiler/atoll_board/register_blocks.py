# SPDX-License-Identifier: Apache-2.0
"""The blocks of registers that the host's programs meet: one list for every format."""

from collections.abc import Iterator, Mapping
from functools import cached_property

from atoll.protocol import ConsoleRegister, GuardRegister
from atoll.records import dataclass
from atoll.resolve.mailbox import registers_of
from atoll.resolve.memory_views import as_seen_by
from atoll.resolve.soc import Engine, ResolvedSoc

REGISTER_BYTES = 4


@dataclass(frozen=True, slots=True)
class Register:
    """A register of 32 bits; its offset is in bytes."""

    name: str
    offset: int


@dataclass(frozen=True, kw_only=True)
class Block:
    """The registers of a device, or of the bench.

    Attributes:
        name: of the device, or what the block is.
        kind: blocks of one kind have the same registers; the accelerator's name, for example.
        what: a phrase.
        origin: address of the first byte.
        size: bytes.
        offsets: of the registers, in bytes by name.
        line: interrupt at the host, if there is one.
        label: what people read in the place of the name of a device.
    """

    name: str
    kind: str
    what: str
    origin: int
    size: int
    offsets: Mapping[str, int]
    line: int | None = None
    label: str = ""

    @cached_property
    def registers(self) -> tuple[Register, ...]:
        """The registers by offset."""
        named = (Register(name, offset) for name, offset in self.offsets.items())
        return tuple(sorted(named, key=lambda each: (each.offset, each.name)))


def blocks_of(soc: ResolvedSoc) -> tuple[Block, ...]:
    """Return the blocks of a chip as the host sees them, in the order of `blocks_on_bus`."""
    return blocks_on_bus(as_seen_by(soc, soc.host))


def blocks_on_bus(soc: ResolvedSoc) -> tuple[Block, ...]:
    """Return the blocks where the bus has them: of devices by ordinal, then those of the bench."""
    return tuple(_blocks(soc))


def _is_arms(engine: Engine) -> bool:
    return engine.spec.driver == "ethos_u"


def _unknown(engine: Engine) -> str:
    """Say what is not known of the registers."""
    if engine.spec.undriven:
        return ", whose registers nobody has described"
    return ", whose other registers Arm's driver knows" if _is_arms(engine) else ""


def _known_registers(engine: Engine) -> Mapping[str, int]:
    """Return the registers of the hardware: of an Ethos-U the others are those of a model."""
    registers = engine.spec.registers
    return {"ID": registers["ID"]} if _is_arms(engine) else registers


def _blocks(soc: ResolvedSoc) -> Iterator[Block]:
    for engine in soc.engines:
        yield Block(
            name=engine.name,
            kind=engine.spec.name,
            what=f"Control port of {engine.spec.name}" + _unknown(engine),
            origin=engine.registers.origin,
            size=engine.registers.size,
            offsets=_known_registers(engine),
            line=engine.irq,
            label=engine.shown,
        )
    mailbox = registers_of(held=any(core.is_held for core in soc.cpus))
    for core in soc.cpus:
        if box := core.mailbox:
            yield Block(
                name=core.name,
                kind="mailbox",
                what=f"Mailbox of core {core.name}",
                origin=box.origin,
                size=box.size,
                offsets=mailbox,
                line=core.irq,
                label=core.shown,
            )
    yield Block(
        name="atoll_console",
        kind="console",
        what="Text, trace, requests and results",
        origin=soc.console.origin,
        size=soc.console.size - soc.guard.size,
        offsets={register.name: register.value for register in ConsoleRegister},
    )
    yield Block(
        name="atoll_guard",
        kind="guard",
        what="What firewalls kept back and the bus failed; the watchdog",
        origin=soc.guard.origin,
        size=soc.guard.size,
        offsets={register.name: register.value for register in GuardRegister},
    )
