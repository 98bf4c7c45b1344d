# SPDX-License-Identifier: Apache-2.0
"""Single passes for tests."""

from atoll.driver.pipeline import SPARE_STACK
from atoll.ir.graph import Graph
from atoll.ir.tir import IRModule
from atoll.lower.overlapping import Overlapping
from atoll.lower.passes import PASSES, Program, run_passes
from atoll.resolve.soc import ResolvedSoc


def specialized(module: IRModule, soc: ResolvedSoc) -> IRModule:
    """Place every kernel's buffers, as the last two passes do."""
    program = Program(
        soc=soc,
        graph=Graph("none", (), (), (), ()),
        jobs={},
        overlapping=Overlapping(),
        spare=SPARE_STACK,
        module=module,
    )
    last = [each for each in PASSES if each.name in ("separate-kernels", "specialize-storage")]
    return run_passes(program, lambda name, result: None, last).module
