# SPDX-License-Identifier: Apache-2.0
"""The control port of reef as software: its counters."""

import pytest

from atoll.resolve import load_soc
from atoll_sim.engines.interface import BusFault, Outcome
from atoll_sim.engines.list_registers import START, list_registers

WAITS = ("STALLS", "WAIT_READ", "WAIT_WRITE", "WAIT_WEIGHTS")


def test_a_model_counts_cycles_and_waits_for_nothing() -> None:
    (reef,) = load_soc("lagoon").npus
    offsets = reef.spec.registers
    registers = list_registers(reef, lambda *_: (Outcome(0, 0, 1), 70))
    registers.write(offsets["CONTROL"], START, "cpu", 5)
    assert registers.read(offsets["CYCLES"], "cpu", 80) == 70
    for name in WAITS:
        assert registers.read(offsets[name], "cpu", 80) == 0
        with pytest.raises(BusFault):
            registers.write(offsets[name], 1, "cpu", 80)
    with pytest.raises(BusFault):
        registers.read(offsets["WAIT_WEIGHTS"] + 4, "cpu", 80)
