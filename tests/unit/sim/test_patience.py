# SPDX-License-Identifier: Apache-2.0
"""A simulation waits as long as its networks are estimated to take, and longer."""

from pathlib import Path
from types import ModuleType

from atoll.driver.pipeline import BuildOptions, compile_file, expected_cycles
from atoll.resolve import load_soc
from atoll_sim.simulate.rtl_run import request_for, requests_for
from atoll_sim.trace.simulation import STALL_CYCLES


def test_a_layer_of_the_core_may_take_longer_than_a_firmware_that_hangs(
    tmp_path: Path, tflite_builder: ModuleType, tflite_samples: ModuleType
) -> None:
    network = tflite_samples.long_convolution(tflite_builder)
    (tmp_path / "long.tflite").write_bytes(tflite_builder.write(network))
    compiled = compile_file(
        load_soc("lagoon"), tmp_path / "long.tflite", BuildOptions(accelerators=False)
    )
    cycles = sum(each.cycles for each in expected_cycles(compiled).values())
    assert cycles > STALL_CYCLES
    one = request_for(compiled, (), ({},), Path(), tmp_path)
    assert one.stall_cycles > 2 * cycles
    several = requests_for((compiled, compiled), (), [({},) * 100] * 2, Path(), tmp_path)
    assert several.stall_cycles == one.stall_cycles
    assert several.max_cycles > 2 * 200 * cycles
