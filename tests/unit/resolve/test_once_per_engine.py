# SPDX-License-Identifier: Apache-2.0
"""What follows from an engine alone is found once, and is no part of it."""

import copy
import pickle
from dataclasses import replace

from tests.unit.sweep.sweeps import DIGITS

from atoll.driver.pipeline import compile_file
from atoll.resolve import load_soc
from atoll.resolve.soc import Engine, once_per_engine


def test_it_is_found_once_and_again_for_an_engine_that_differs() -> None:
    asked = []

    @once_per_engine
    def find_clock(engine: Engine) -> int:
        asked.append(engine)
        return engine.clock

    (engine, *_) = load_soc("lagoon").npus
    assert [find_clock(engine), find_clock(engine)] == [engine.clock] * 2
    assert len(asked) == 1
    assert find_clock(replace(engine, clock=7)) == 7


def test_engines_that_were_asked_equal_others_and_are_copied_without() -> None:
    soc = load_soc("lagoon", ("devices.npu.clock=37 MHz",))
    compile_file(soc, DIGITS)
    (engine, *_), (other, *_) = soc.npus, load_soc("lagoon", ("devices.npu.clock=37 MHz",)).npus
    assert engine.known
    assert engine == other
    for same in (pickle.loads(pickle.dumps(engine)), copy.deepcopy(engine), replace(engine)):
        assert same == engine
        assert not same.known
