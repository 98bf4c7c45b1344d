# SPDX-License-Identifier: Apache-2.0
"""Drawn chips with lists of pools for tensors and constants, of which any may lack room."""

from dataclasses import dataclass
from random import Random

_HEAD = """\
soc: drawn
version: 1
host: cpu
devices:
  cpu: {{kind: cpu, isa: rv32imc, core: {core}, {protection}
        stack: {{memory: ram, size: 4 KiB}}, limits: {{max_stack_alloca_size: {alloca}}}}}
{devices}
memories:
  rom: {{origin: 0x0, size: 512 KiB, kind: rom, read_latency: 2}}
  rom2: {{origin: 0x0100_0000, size: 512 KiB, kind: rom}}
  ram: {{origin: 0x1000_0000, size: 64 KiB, kind: ram}}
  a: {{origin: 0x2000_0000, size: 64 KiB, kind: ram, width: 8}}
  b: {{origin: 0x2100_0000, size: 64 KiB, kind: ram, width: 8}}
  c: {{origin: 0x2200_0000, size: 64 KiB, kind: ram}}
pools:
{pools}
"""
_DEVICES = {
    "npu": "{kind: npu, accelerator: reef, params: {vector: 2}, registers: 0x4000_0000, irq: 3}",
    "npu2": "{kind: npu, accelerator: reef, runs: [FULLY_CONNECTED, ADD, MUL], "
    "registers: 0x4001_0000, irq: 4}",
    "dma": "{kind: dma, engine: ripple, registers: 0x4002_0000, irq: 5, "
    "moves: [[a, b], [b, a], [a, c], [c, a], [b, c], [c, b]]}",
}
_SIZES = ("64 KiB", "4 KiB", "2 KiB", "1600", "800", "256", "64")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A chip, and lists of pools.

    Attributes:
        text: the description.
        pins: a name or a pattern, with the pools that it may lie in, best first.
    """

    text: str
    pins: dict[str, tuple[str, ...]]


def draw_chip(chance: Random, activations: list[str], constants: list[str]) -> Drawn:
    """Draw a chip of two to four devices, whose pools have room or not, and lists of its pools."""
    devices = sorted(chance.sample(sorted(_DEVICES), chance.randint(1, 3)))
    works = {
        name: f"memory: {name}, role: workspace, size: {chance.choice(_SIZES)}" for name in "abc"
    }
    stores = {
        "w": f"memory: rom, role: constants, size: {chance.choice(('64 KiB', '1 KiB'))}",
        "v": "memory: rom2, role: constants, size: 64 KiB",
    }
    reach = {name: _reach(chance, ["cpu", *devices]) for name in works}
    stored = {name: chance.choice((("w",), ("v",), ("w", "v"))) for name in ("cpu", *devices)}
    reach |= {
        pool: {name: "ro" if pool in stored[name] else "none" for name in stored} for pool in stores
    }
    pools = [
        f"  {name}: {{{words}, reach: {{{_words(reach[name])}}}}}"
        for name, words in (works | stores).items()
    ]
    safe = chance.random() < 0.4
    text = _HEAD.format(
        core="ibex" if safe else "picorv32",
        protection="protection: true," if safe else "",
        alloca=chance.choice((0, 64, 1024)),
        devices="\n".join(f"  {name}: {_DEVICES[name]}" for name in devices),
        pools="\n".join(pools),
    )
    pins = {
        name: tuple(chance.sample(sorted(group), chance.randint(2, len(group))))
        for names, group in ((activations, works), (constants, stores))
        for name in chance.sample(names, min(len(names), chance.randint(0, 2)))
    }
    return Drawn(text, pins or {activations[0]: ("a", "b")})


def _reach(chance: Random, devices: list[str]) -> dict[str, str]:
    """Draw who reaches a workspace: the host nearly always, a DMA engine where it moves."""
    odds = {"cpu": 0.9, "dma": 1.0}
    return {name: "rw" if chance.random() < odds.get(name, 0.65) else "none" for name in devices}


def _words(reach: dict[str, str]) -> str:
    return ", ".join(f"{name}: {access}" for name, access in reach.items())
