# SPDX-License-Identifier: Apache-2.0
"""Answers get the identifiers of their requests, the oldest first."""

from collections import deque
from random import Random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge
from tests.benches.bus import start

UNDER_WAY = 10


@cocotb.test()
async def gives_each_answer_its_identifier(dut: Any) -> None:
    """Requests and answers come at any time, in one cycle too."""
    random = Random(cocotb.RANDOM_SEED)
    dut.request_i.value = dut.answered_i.value = dut.id_i.value = 0
    await start(dut)
    waiting: deque[int] = deque()
    for _ in range(400):
        await FallingEdge(dut.clk_i)
        asks = len(waiting) < UNDER_WAY and random.random() < 0.6
        answers = bool(waiting) and random.random() < 0.5
        identifier = random.getrandbits(16)
        dut.request_i.value, dut.id_i.value, dut.answered_i.value = asks, identifier, answers
        if answers:
            assert int(dut.id_o.value) == waiting.popleft()
        if asks:
            waiting.append(identifier)
