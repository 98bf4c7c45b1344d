# SPDX-License-Identifier: Apache-2.0
"""Models share Verilator's own objects with all that are compiled alike."""

from dataclasses import replace

from atoll.resolve import load_soc
from atoll_sim.build.model import design_of
from atoll_sim.build.wave_formats import WaveFormat
from atoll_sim.chip.plan import plan_chip


def test_waveforms_and_faults_change_none_of_them() -> None:
    plain = plan_chip(load_soc("lagoon"))
    designs = (
        design_of(plain, None),
        design_of(replace(plain, waves=True), WaveFormat.VCD),
        design_of(replace(plain, faults=True), None),
    )
    assert len({each.runtime_digest() for each in designs}) == 1
    assert len({each.common_digest() for each in designs}) == 3


def test_what_compiles_them_does() -> None:
    design = design_of(plan_chip(load_soc("lagoon")), None)
    others = (
        replace(design, compiler_flags="-std=c++17"),
        replace(design, make_flags=("OPT_GLOBAL=-O1",)),
    )
    assert design.runtime_digest() not in {each.runtime_digest() for each in others}
    assert replace(design, optimisation="-O1").runtime_digest() == design.runtime_digest()
