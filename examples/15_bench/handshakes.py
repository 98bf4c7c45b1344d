# SPDX-License-Identifier: Apache-2.0
"""Coverage of the handshakes at an accelerator's ports, and its results, in plain cocotb.

Nothing here names a device: the bench runs on any chip whose accelerators have RTL.
"""

import json
from collections import Counter
from collections.abc import Iterator

import cocotb
import numpy as np
from cocotb.triggers import RisingEdge, Timer

from atoll_sim.bench import Chip, Device, Port

TAKEN, AT_ONCE, AFTER_A_WAIT = "taken", "taken at once", "taken after a wait"
ONE, SEVERAL = "bursts of one beat", "bursts of several beats"
PRESSED_CYCLES, PRESSED_SHARE = 400, 0.5


def at_work(chip: Chip) -> list[Device]:
    """Return the accelerators in RTL that run something."""
    busy = {operator.device for operator in chip.operators}
    return [each for each in chip.devices.values() if each.control and each.name in busy]


def ports_of(device: Device) -> list[Port]:
    """Return the ports of a device: those to memory, and that of its registers."""
    return [*device.ports.values(), *([device.control] if device.control else [])]


def goals(port: Port) -> Iterator[tuple[str, str]]:
    """Yield what networks must show of a port.

    On each channel to memory on which the accelerator asks, it is heard at once and after a wait.
    Its registers are written.
    """
    if port.name == "control":
        channels = [channel for channel, _, _ in port.handshakes()]
        yield ("aw" if "aw" in channels else "request"), TAKEN
        return
    for channel, valid, _ in port.handshakes():
        if valid._name.removeprefix(f"{port.prefix}_") in port.asks:
            yield channel, AT_ONCE
            yield channel, AFTER_A_WAIT
    if port.protocol == "axi4":
        yield "ar", SEVERAL


async def watch(device: Device, port: Port, seen: Counter[tuple[str, str]]) -> None:
    """Count what happens at a port, edge by edge, until the test ends."""
    waits: Counter[str] = Counter()
    channels = list(port.handshakes())
    while True:
        await RisingEdge(device.clock)
        for channel, valid, ready in channels:
            if valid.value == 0:
                continue
            if ready.value == 0:
                waits[channel] += 1
                continue
            seen[channel, TAKEN] += 1
            seen[channel, AFTER_A_WAIT if waits.pop(channel, 0) else AT_ONCE] += 1
            if port.protocol == "axi4" and channel in ("ar", "aw"):
                beats = int(port.signals[f"{channel}len"].value) + 1
                seen[channel, ONE if beats == 1 else SEVERAL] += 1


async def press_now_and_then(chip: Chip, devices: list[Device]) -> None:
    """Hold requests up in every other stretch of cycles."""
    while True:
        for share in (0.0, PRESSED_SHARE):
            for device in devices:
                device.hold_up(share=share)
            await Timer(PRESSED_CYCLES * chip.cycle_time, "ps")


@cocotb.test()
async def every_channel_shakes_hands(dut: object) -> None:
    """At every port of accelerators that work, each goal is seen."""
    chip = Chip(dut)
    devices = at_work(chip)
    assert devices, "no accelerator in RTL works for these networks"
    seen: dict[str, Counter[tuple[str, str]]] = {}
    for device in devices:
        for port in ports_of(device):
            counts = seen[port.prefix] = Counter()
            cocotb.start_soon(watch(device, port, counts))
    await chip.start()
    cocotb.start_soon(press_now_and_then(chip, devices))
    await chip.firmware_end()
    table = {
        prefix: {f"{channel}: {what}": count for (channel, what), count in sorted(counts.items())}
        for prefix, counts in seen.items()
    }
    (chip.folder / "coverage.json").write_text(json.dumps(table, indent=2))
    holes = [
        f"{port.prefix} {channel}: {what}"
        for device in devices
        for port in ports_of(device)
        for channel, what in goals(port)
        if not seen[port.prefix][channel, what]
    ]
    assert not holes, f"never seen: {', '.join(holes)}"


@cocotb.test()
async def layers_are_right_under_pressure(dut: object) -> None:
    """However the bus holds it up, each operator leaves in memory what the reference computes."""
    chip = Chip(dut)
    for device in at_work(chip):
        device.hold_up(share=0.3, cycles=3)
    await chip.start()
    compared = 0
    async for traced in chip.events():
        if traced.event != "operator_end" or traced.operator is None:
            continue
        for name in traced.operator.outputs:
            network = traced.operator.network
            made = chip.read(name, network)
            right = chip.reference(name, traced.sample, network)
            assert np.array_equal(made, right), f"{traced.operator.name} left a wrong {name}"
            compared += 1
    assert compared
