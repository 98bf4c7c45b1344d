# SPDX-License-Identifier: Apache-2.0
"""The mailbox keeps its protocol, whatever host and core do at the same time."""

import random
from dataclasses import dataclass
from itertools import product
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge
from tests.benches.bus import OKAY, SLAVE, Answer, BusMaster, Request, start

from atoll.resolve.mailbox import ID, REGISTERS

BEAT = int(cocotb.plusargs["DataBytes"])
HOST, CORE = "host", "core"
BUSY, DONE = 1, 2
WORD = 0xFFFF_FFFF
RANDOM_CYCLES = 20_000
MAP = dict(REGISTERS)


def access(offset: int, value: int | None = None, enabled: int = 0xF) -> Request:
    """Return an access to the word at `offset`, or to some of its bytes."""
    lane = offset % BEAT
    data = None if value is None else value << 8 * lane
    return Request(offset - lane, enabled << lane, data)


def word(answer: Answer, offset: int) -> int:
    """Return the word of a beat that was read."""
    return answer.data >> 8 * (offset % BEAT) & WORD


@dataclass(slots=True)
class Model:
    """The table of `atoll.resolve.mailbox`, cycle by cycle."""

    busy: bool = False
    done: bool = False
    command: int = 0
    result: int = 0

    def readable(self, side: str) -> dict[int, int]:
        """Return what each register that `side` may read holds."""
        common = {MAP["ID"]: ID, MAP["STATUS"]: BUSY * self.busy + DONE * self.done}
        mine = {HOST: {MAP["RESULT"]: self.result}, CORE: {MAP["COMMAND"]: self.command}}
        return common | mine[side]

    def writable(self, side: str) -> set[int]:
        """Return the registers that `side` may write."""
        if side == CORE:
            return {MAP["RESULT"]} if self.busy else set()
        return {MAP["CLEAR"]} if self.busy else {MAP["CLEAR"], MAP["COMMAND"]}

    def write(self, offset: int, value: int) -> None:
        """Take a granted write."""
        if offset == MAP["COMMAND"]:
            self.busy, self.done, self.command = True, False, value
        elif offset == MAP["RESULT"]:
            self.busy, self.done, self.result = False, True, value
        elif not self.busy:
            self.done = False

    def answer(self, side: str, request: Request) -> tuple[int, int]:
        """Return the response to a request and the data of the beat; changes nothing."""
        lane = next((i for i in range(0, BEAT, 4) if request.enabled == 0xF << i), None)
        if lane is None:
            return SLAVE, 0
        offset = request.address + lane
        if request.data is not None:
            return (OKAY, 0) if offset in self.writable(side) else (SLAVE, 0)
        found = self.readable(side).get(offset)
        return (SLAVE, 0) if found is None else (OKAY, found << 8 * lane)

    def take(self, side: str, request: Request) -> None:
        """Do what a request that is granted asks for."""
        lane = (request.enabled & -request.enabled).bit_length() - 1
        if request.data is not None:
            self.write(request.address + lane, request.data >> 8 * lane & WORD)


def lines(dut: Any) -> tuple[int, int]:
    """Return the interrupt lines of host and core."""
    return int(dut.host_irq_o.value), int(dut.core_irq_o.value)


async def prepare(dut: Any) -> tuple[BusMaster, BusMaster]:
    """Leave reset; return the two masters."""
    await start(dut, HOST, CORE)
    return BusMaster(dut, HOST), BusMaster(dut, CORE)


@cocotb.test()
async def carries_a_step_there_and_a_result_back(dut: Any) -> None:
    """The lines follow BUSY and DONE; RESULT stays after CLEAR."""
    host, core = await prepare(dut)
    assert lines(dut) == (0, 0)
    for step, result in ((7, 0), (0, WORD), (0xDEAD_BEEF, 42)):
        (rung,) = await host.run([access(MAP["COMMAND"], step)])
        assert (rung.response, rung.answered) == (OKAY, rung.accepted + 1)
        assert lines(dut) == (0, 1)
        read = await core.run([access(MAP["COMMAND"]), access(MAP["STATUS"]), access(MAP["ID"])])
        found = [
            word(a, MAP[name]) for a, name in zip(read, ("COMMAND", "STATUS", "ID"), strict=True)
        ]
        assert found == [step, BUSY, ID]
        (told,) = await core.run([access(MAP["RESULT"], result)])
        assert told.response == OKAY
        assert lines(dut) == (1, 0)
        read = await host.run([access(MAP["STATUS"]), access(MAP["RESULT"]), access(MAP["ID"])])
        found = [
            word(a, MAP[name]) for a, name in zip(read, ("STATUS", "RESULT", "ID"), strict=True)
        ]
        assert found == [DONE, result, ID]
        assert (await host.run([access(MAP["CLEAR"], 1)]))[0].response == OKAY
        assert lines(dut) == (0, 0)
        (again,) = await host.run([access(MAP["RESULT"])])
        assert word(again, MAP["RESULT"]) == result


@cocotb.test()
async def refuses_a_second_command_while_busy(dut: Any) -> None:
    """The command under way stays; CLEAR does not end it; a result without a command is refused."""
    host, core = await prepare(dut)
    assert (await core.run([access(MAP["RESULT"], 5)]))[0].response == SLAVE
    assert lines(dut) == (0, 0)
    await host.run([access(MAP["COMMAND"], 3)])
    answers = await host.run([access(MAP["COMMAND"], 4), access(MAP["CLEAR"], 0)])
    assert [answer.response for answer in answers] == [SLAVE, OKAY]
    assert lines(dut) == (0, 1)
    (read,) = await core.run([access(MAP["COMMAND"])])
    assert word(read, MAP["COMMAND"]) == 3


@cocotb.test()
async def a_new_command_takes_the_old_result_back(dut: Any) -> None:
    """A host that forgets CLEAR sees no stale DONE."""
    host, core = await prepare(dut)
    await host.run([access(MAP["COMMAND"], 3)])
    await core.run([access(MAP["RESULT"], 9)])
    assert lines(dut) == (1, 0)
    assert (await host.run([access(MAP["COMMAND"], 4)]))[0].response == OKAY
    assert lines(dut) == (0, 1)


@cocotb.test()
@cocotb.parametrize(
    enabled=[0x0, 0x1, 0x3, 0x7, 0xE, 0xC, 0x1F, 0xFF],
    side=[HOST, CORE],
)
async def takes_whole_words_only(dut: Any, enabled: int, side: str) -> None:
    """Parts of a word, and more than one, are errors without effect."""
    master = (await prepare(dut))[side == CORE]
    for offset in (MAP["COMMAND"] & -8, MAP["RESULT"] & -8):
        requests = [access(offset, WORD, enabled), access(offset, None, enabled)]
        for answer in await master.run(requests):
            assert (answer.response, answer.data) == (SLAVE, 0)
    assert lines(dut) == (0, 0)


@cocotb.test()
async def grants_each_side_its_registers(dut: Any) -> None:
    """Every offset is tried from both sides, idle, busy and done; the model says what is right."""
    host, core = await prepare(dut)
    offsets = [*range(0, 0x40, 4), 0x804, 0xFFC]
    states: tuple[list[tuple[BusMaster, str]], ...] = (
        [],
        [(host, "COMMAND")],
        [(host, "COMMAND"), (core, "RESULT")],
    )
    sides = ((HOST, host), (CORE, core))
    for state, (side, master), offset, value in product(states, sides, offsets, (None, 0x55)):
        await host.run([access(MAP["CLEAR"], 0)])
        await core.run([access(MAP["RESULT"], 0)])
        await host.run([access(MAP["CLEAR"], 0)])
        (old,) = await host.run([access(MAP["RESULT"])])
        model = Model(result=word(old, MAP["RESULT"]))
        (seen,) = await core.run([access(MAP["COMMAND"])])
        model.command = word(seen, MAP["COMMAND"])
        for number, (by, register) in enumerate(state):
            await by.run([access(MAP[register], number + 1)])
            model.write(MAP[register], number + 1)
        request = access(offset, value)
        (answer,) = await master.run([request])
        assert (answer.response, answer.data) == model.answer(side, request)


def any_request(chance: random.Random) -> Request | None:
    """Return an access that makes sense most of the time, or nothing."""
    if chance.random() < 0.3:
        return None
    offset = chance.choice([*MAP.values()] * 4 + [0x14, 0x18, 0x804, 0xFFC])
    value = chance.choice((None, chance.getrandbits(32)))
    whole = chance.random() < 0.9
    enabled = 0xF if whole else chance.getrandbits(min(8, BEAT - offset % BEAT))
    return access(offset, value, enabled)


def drive(dut: Any, side: str, request: Request | None) -> None:
    """Put a request on the port of one side."""
    getattr(dut, f"{side}_valid_i").value = request is not None
    if request is not None:
        getattr(dut, f"{side}_addr_i").value = request.address
        getattr(dut, f"{side}_be_i").value = request.enabled
        getattr(dut, f"{side}_we_i").value = request.data is not None
        getattr(dut, f"{side}_wdata_i").value = (request.data or 0) & (1 << 8 * BEAT) - 1


def check(dut: Any, side: str, expected: tuple[int, int] | None) -> None:
    """Compare the answer of one side, or that there is none."""
    assert int(getattr(dut, f"{side}_rvalid_o").value) == (expected is not None)
    if expected is not None:
        response = int(getattr(dut, f"{side}_resp_o").value)
        assert (response, int(getattr(dut, f"{side}_rdata_o").value)) == expected


@cocotb.test()
async def survives_both_sides_at_once(dut: Any) -> None:
    """Random accesses of both sides in every cycle agree with the model, and so do the lines."""
    await prepare(dut)
    chance, model = random.Random(cocotb.RANDOM_SEED), Model()
    expected: dict[str, tuple[int, int] | None] = {HOST: None, CORE: None}
    together = rounds = 0
    for _ in range(RANDOM_CYCLES):
        await FallingEdge(dut.clk_i)
        for side in (HOST, CORE):
            check(dut, side, expected[side])
        assert lines(dut) == (model.done, model.busy)
        wanted = {side: any_request(chance) for side in (HOST, CORE)}
        expected = {
            side: None if request is None else model.answer(side, request)
            for side, request in wanted.items()
        }
        was_busy = model.busy
        for side, request in wanted.items():
            drive(dut, side, request)
            if request is not None and expected[side] == (OKAY, 0):
                model.take(side, request)
        together += all(request is not None for request in wanted.values())
        rounds += was_busy and model.done
    assert together > RANDOM_CYCLES // 4
    assert rounds > RANDOM_CYCLES // 50
